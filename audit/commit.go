package audit

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// patience bounds how long a record may take: the lock, the disk and the
	// required sinks together.
	patience = 10 * time.Second
	// batchMax and batchBytes bound one commit.
	batchMax   = 1024
	batchBytes = 8 << 20
)

// The states of a request. Whoever leaves queued first decides.
const (
	queued int32 = iota
	taken
	abandoned
)

// request is one record on its way through the committer.
type request struct {
	entry
	// prepare, if set, is called under the lock and gives the lines that go
	// in place of entry; all of them are synced.
	prepare func() ([]*entry, error)
	// inside, if set, is called under the lock before anything is written. It
	// gives the lines that it wrote itself.
	inside func() ([][]byte, error)
	// finished, if set, is told whether the line is in the file, also when
	// nobody waits for it any more.
	finished func(inFile bool)

	state    atomic.Int32
	answered bool  // used by the committer alone
	failed   error // of inside
	done     chan error
}

// submit hands a request to the committer and waits for its answer. When ctx
// ends first, a request that is still queued is withdrawn; one that is being
// written is waited for, up to the patience.
func (w *Writer) submit(ctx context.Context, r *request) error {
	hard := time.NewTimer(patience)
	defer hard.Stop()
	late := false
	body := r.body
	r.done = make(chan error, 1)
	if !w.enqueue(r) {
		return w.refuseClosed()
	}
	select {
	case err := <-r.done:
		recycle(body)
		return err
	case <-ctx.Done():
		if r.state.CompareAndSwap(queued, abandoned) {
			return w.gaveUp(r, ctx.Err())
		}
	case <-hard.C:
		late = true
	}
	if !late {
		select {
		case err := <-r.done:
			recycle(body)
			return err
		case <-hard.C:
		}
	}
	if r.state.CompareAndSwap(queued, abandoned) {
		return w.gaveUp(r, context.DeadlineExceeded)
	}
	return unavailable(w.path, context.DeadlineExceeded)
}

func (w *Writer) gaveUp(r *request, err error) error {
	if r.finished != nil {
		r.finished(false)
	}
	return unavailable(w.path, err)
}

func (w *Writer) refuseClosed() error {
	return refuse(w.path, ReasonClosed, "the audit log %s is shut down; this process takes no more calls", w.path)
}

func (w *Writer) enqueue(r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopping {
		return false
	}
	w.queue = append(w.queue, r)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return true
}

// take gives the next requests that somebody still waits for.
func (w *Writer) take() []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, size := 0, 0
	for n < min(len(w.queue), w.batch) && size < batchBytes {
		size += len(w.queue[n].body)
		n++
	}
	out := make([]*request, 0, n)
	for _, r := range w.queue[:n] {
		if r.state.CompareAndSwap(queued, taken) {
			out = append(out, r)
		}
	}
	rest := copy(w.queue, w.queue[n:])
	clear(w.queue[rest:])
	w.queue = w.queue[:rest]
	return out
}

func (w *Writer) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue)
}

// run is the committer: one goroutine that owns the chain. Whatever is queued
// while a batch is being synced makes the next batch, so that many callers
// share one sync and nobody waits for a timer.
func (w *Writer) run() {
	defer close(w.stopped)
	tick, stop := w.syncing.ticker()
	defer stop()
	for open := true; open; {
		select {
		case _, open = <-w.wake:
		case <-tick:
		}
		for w.waiting() > 0 {
			w.commit()
			w.settle(false)
		}
		w.settle(!open)
	}
}

// commit writes one batch.
func (w *Writer) commit() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	unlock, err := w.chain.lock(ctx)
	// Only now: what came in while we waited for the lock goes along.
	b := &batch{w: w, requests: w.take()}
	if err != nil {
		b.finish(unavailable(w.path, err))
		return
	}
	err = b.write()
	if err == nil && w.syncing.interval > 0 && b.inFile > 0 {
		w.chain.loose.began(w.now())
	}
	unlock()
	if err == nil || len(b.lines) > 0 {
		if sinkErr := w.sinks.deliver(ctx, b.lines, b.synced); sinkErr != nil && err == nil {
			err = sinkErr
			b.inFileOnly = true
		}
	}
	b.finish(err)
}

// batch is one commit.
type batch struct {
	w        *Writer
	requests []*request
	entries  []*entry   // in file order: those without sync first
	owners   []*request // of each entry, nil for lines of our own
	inFile   int        // entries that are in the file for good
	lines    [][]byte   // for the sinks

	synced     bool
	tight      bool // an outage lasts: what calls need does not fit
	told       bool // of the outage that is over
	inFileOnly bool // in the file, but a required sink failed
}

// write appends the batch under the lock.
func (b *batch) write() error {
	c := b.w.chain
	t, err := c.refresh(false)
	if err == nil {
		err = c.again()
	}
	if err != nil {
		return unavailable(b.w.path, err)
	}
	if t != nil {
		b.w.untold = append(b.w.untold, t.event())
	}
	if err := b.insides(); err != nil {
		return unavailable(b.w.path, err)
	}
	if err := b.probe(); err != nil {
		return unavailable(b.w.path, err)
	}
	if err := b.collect(); err != nil {
		return unavailable(b.w.path, err)
	}
	var early func(n int)
	if !b.w.sinks.required() {
		early = b.answerEarly
	}
	n, err := c.append(b.entries, early)
	b.inFile = n
	b.synced = n == len(b.entries) && n > 0 && b.entries[n-1].sync
	for _, e := range b.entries[:n] {
		if e.written != nil {
			e.written(e)
		}
	}
	if n > 0 && !b.w.sinks.none() {
		b.lines = append(b.lines, c.lines(b.entries[:n])...)
	}
	if err != nil {
		return unavailable(b.w.path, err)
	}
	b.w.untold = nil
	b.w.live.advance(c.place.base+c.end, b.w.calls)
	b.w.keeper.grew(c)
	return nil
}

// probe looks, after the disk was full, whether the log has room again for what
// was refused. A batch that holds as much says so itself.
func (b *batch) probe() error {
	need := b.w.health.needs()
	if need == 0 || slices.ContainsFunc(b.requests, func(r *request) bool { return len(r.body) >= need }) {
		return nil
	}
	ok, err := b.w.chain.fits(need)
	b.tight = !ok
	return err
}

// insides runs what has to be done while nobody writes. What fails there is
// for who asked for it: the calls of the batch go on.
func (b *batch) insides() error {
	for _, r := range b.requests {
		if r.inside == nil {
			continue
		}
		lines, err := r.inside()
		b.lines = append(b.lines, lines...)
		if err == nil {
			continue
		}
		r.failed = err
		if _, err := b.w.chain.refresh(false); err != nil {
			return err
		}
	}
	return b.w.chain.settled()
}

// collect puts the lines in order: first those that ask for no sync, then
// what the log has to tell about itself, then the others.
func (b *batch) collect() error {
	if err := b.gather(false); err != nil {
		return err
	}
	own := b.w.untold
	// An outage is over when a required sink that was down is up again.
	if ev := b.w.health.recovered(b.w.chain.now()); ev != nil && !b.tight && b.w.sinks.ready() == nil {
		own = append(own[:len(own):len(own)], *ev)
		b.told = true
	}
	for _, ev := range own {
		body, err := encodeEvent(b.w.id, ev, nil)
		if err != nil {
			return err
		}
		b.add(nil, &entry{body: body, sync: true})
	}
	return b.gather(true)
}

// gather adds the lines of the requests that ask for a sync, or do not.
func (b *batch) gather(sync bool) error {
	for _, r := range b.requests {
		switch {
		case r.sync != sync:
		case r.prepare == nil:
			b.add(r, &r.entry)
		default:
			entries, err := r.prepare()
			if err != nil {
				return err
			}
			for _, e := range entries {
				b.add(r, e)
			}
		}
	}
	return nil
}

func (b *batch) add(owner *request, e *entry) {
	if b.w.syncing.interval > 0 {
		e.sync = false
	}
	b.entries = append(b.entries, e)
	b.owners = append(b.owners, owner)
}

// answerEarly answers the requests of the first n entries, which asked for no
// sync, while the sync of the others goes on.
func (b *batch) answerEarly(n int) {
	for _, r := range b.owners[:n] {
		if r != nil {
			r.answer(true, nil)
		}
	}
}

// finish answers everybody who has no answer yet. Health changes first: who
// is refused finds the log red.
func (b *batch) finish(err error) {
	refused := 0
	for _, r := range b.requests {
		if !r.answered && err != nil {
			refused++
			b.w.health.refusedSize(len(r.body))
		}
	}
	if err != nil || !b.tight { // a small record that fits ends no outage
		b.w.health.report(err, refused, b.told, b.w.chain.now())
	}
	for _, r := range b.requests {
		if !r.answered {
			r.answer(err == nil || b.inFileOnly, err)
		}
	}
}

func (r *request) answer(inFile bool, err error) {
	r.answered = true
	if err == nil {
		err = r.failed
	}
	if r.finished != nil {
		r.finished(inFile)
	}
	r.done <- err
}
