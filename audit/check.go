package audit

import (
	"context"
	"crypto/sha256"
	"runtime"
	"sync"
)

// checked is a line with all that can be said of it by itself.
type checked struct {
	rawLine
	leaf   [sha256.Size]byte
	head   Head
	isHead bool
	sum    bool // its sum holds
	json   bool // it is one JSON value; only looked at where the line is not too long
	reads  bool // its members have the types of a record; only looked at like json
}

// checkLine looks at one line. What it costs is nearly all of a verification, and
// no line needs another one for it.
func checkLine(hash *hasher, l rawLine) checked {
	c := checked{rawLine: l}
	if l.torn {
		return c
	}
	c.leaf = hash.leaf(l.bytes)
	c.head, c.isHead = parseHead(l.bytes)
	if !l.tooLong {
		c.sum = sumHolds(l.bytes)
		c.json, c.reads = readable(l.bytes)
	}
	return c
}

// batchSize is how many bytes of lines are checked at a time; a few batches
// for each processor are all that a verification holds in memory.
const batchSize = 256 << 10

// checkBatch is some lines on their way through the processors.
type checkBatch struct {
	data  []byte
	lines []rawLine // into data, once it is complete
	sizes []int
	out   []checked
	done  chan struct{}
}

var checkBatches = sync.Pool{New: func() any { return &checkBatch{data: make([]byte, 0, batchSize+maxLine/16)} }}

func (b *checkBatch) add(l rawLine) {
	b.data = append(b.data, l.bytes...)
	b.sizes = append(b.sizes, len(l.bytes))
	l.bytes = nil
	b.lines = append(b.lines, l)
}

func (b *checkBatch) run() {
	hash, at := newHasher(), 0
	for i, l := range b.lines {
		l.bytes = b.data[at : at+b.sizes[i] : at+b.sizes[i]]
		at += b.sizes[i]
		b.out = append(b.out, checkLine(hash, l))
	}
	close(b.done)
}

func (b *checkBatch) free() {
	if cap(b.data) > 2*maxLine {
		return
	}
	b.data, b.lines, b.sizes, b.out = b.data[:0], b.lines[:0], b.sizes[:0], b.out[:0]
	checkBatches.Put(b)
}

// checkAll gives the lines of a file to f, in their order, checked by all
// processors. It returns how many lines it gave.
func (s *source) checkAll(ctx context.Context, f func(n int, c *checked) error) (n int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	procs := runtime.GOMAXPROCS(0)
	work, order := make(chan *checkBatch, procs), make(chan *checkBatch, 2*procs)
	var workers sync.WaitGroup
	for range procs {
		workers.Go(func() {
			for b := range work {
				b.run()
			}
		})
	}
	read := make(chan error, 1)
	go func() {
		defer close(order)
		defer close(work)
		read <- s.batches(ctx, func(b *checkBatch) error {
			b.done = make(chan struct{})
			select {
			case order <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
			work <- b
			return nil
		})
	}()
	for b := range order {
		<-b.done
		for i := range b.out {
			if n++; err == nil {
				err = f(n, &b.out[i])
			}
		}
		b.free()
		if err != nil {
			cancel()
		}
	}
	workers.Wait()
	if e := <-read; err == nil {
		err = e
	}
	return n, err
}

// batches reads the file in batches of whole lines.
func (s *source) batches(ctx context.Context, give func(*checkBatch) error) error {
	b := checkBatches.Get().(*checkBatch)
	_, err := s.lines(ctx, 0, true, func(_ int, _ int64, l rawLine) error {
		b.add(l)
		if len(b.data) < batchSize {
			return nil
		}
		full := b
		b = checkBatches.Get().(*checkBatch)
		return give(full)
	})
	if len(b.lines) > 0 {
		if e := give(b); err == nil {
			err = e
		}
	}
	return err
}
