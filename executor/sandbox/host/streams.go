package host

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// Streams are the pipes of one command and what reads and writes our ends: its
// output is kept up to a bound, and read beyond it.
type Streams struct {
	Child    []*os.File // standard input, output and error, as it gets them
	stdin    *os.File   // nil: empty
	out, err *drain
}

// NewStreams makes the pipes of c.
func NewStreams(c sandbox.Command) (s *Streams, err error) {
	s = &Streams{}
	defer func() {
		if err != nil {
			s.Abandon()
		}
	}()
	var in *os.File
	if c.Stdin == nil {
		in, err = os.Open(os.DevNull)
	} else {
		in, s.stdin, err = os.Pipe()
	}
	if err != nil {
		return s, err
	}
	s.Child = append(s.Child, in)
	limit := c.MaxOutput
	if limit == 0 {
		limit = sandbox.DefaultMaxOutput
	}
	for i, to := range []io.Writer{c.Stdout, c.Stderr} {
		near, far, err := os.Pipe()
		if err != nil {
			return s, err
		}
		d := &drain{from: near, limit: limit, live: newFeed(to), done: make(chan struct{})}
		if s.Child = append(s.Child, far); i == 0 {
			s.out = d
		} else {
			s.err = d
		}
	}
	return s, nil
}

// Abandon closes everything, where no command started.
func (s *Streams) Abandon() {
	for _, f := range s.Child {
		_ = f.Close()
	}
	if s.stdin != nil {
		_ = s.stdin.Close()
	}
	for _, d := range []*drain{s.out, s.err} {
		if d != nil {
			_ = d.from.Close()
			d.live.finish(time.After(0))
		}
	}
}

// Begin copies, after the start.
func (s *Streams) Begin(c sandbox.Command) {
	if s.stdin != nil {
		go func() {
			defer func() { _ = recover() }() // a reader of the caller's
			defer s.stdin.Close()
			_, _ = io.Copy(struct{ io.Writer }{s.stdin}, struct{ io.Reader }{c.Stdin})
		}()
	}
	go s.out.run()
	go s.err.run()
}

// Finish waits for the rest of the output, after the last process has ended,
// and puts what was kept into r.
func (s *Streams) Finish(r *sandbox.Result) {
	if s.stdin != nil {
		_ = s.stdin.Close()
	}
	patience := time.After(drainPatience)
	for _, d := range []*drain{s.out, s.err} {
		select {
		case <-d.done:
		case <-patience:
			// A process handed its end to one that nobody has any more.
			_ = d.from.SetReadDeadline(time.Now())
			<-d.done
		}
		_ = d.from.Close()
	}
	grace := time.After(writerPatience)
	s.out.live.finish(grace)
	s.err.live.finish(grace)
	r.Stdout = s.out.kept
	r.Stderr = append(s.err.kept, r.Stderr...)
	r.Truncated = s.out.cut || s.err.cut
}

// drain keeps the first bytes of a stream and reads the rest, so that nobody
// blocks on it.
type drain struct {
	from  *os.File
	limit int64
	live  *feed
	kept  []byte
	cut   bool
	done  chan struct{}
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

func (d *drain) run() {
	defer close(d.done)
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	for {
		n, err := d.from.Read(*buffer)
		take := min(int64(n), d.limit-int64(len(d.kept)))
		d.kept = append(d.kept, (*buffer)[:take]...)
		d.cut = d.cut || take < int64(n)
		d.live.give(d.kept[int64(len(d.kept))-take:])
		if err != nil {
			return
		}
	}
}

// feed hands output to a writer of the caller's, which may be slow, fail or
// panic; what it does not take in time is lost to it.
type feed struct {
	chunks chan []byte
	done   chan struct{}
}

// feedChunks is how far a writer may be behind.
const feedChunks = 256

func newFeed(to io.Writer) *feed {
	if to == nil {
		return nil
	}
	f := &feed{chunks: make(chan []byte, feedChunks), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer func() { _ = recover() }()
		for b := range f.chunks {
			if _, err := to.Write(b); err != nil {
				return
			}
		}
	}()
	return f
}

// give is called by one goroutine. What it gives is not changed afterwards:
// kept only grows.
func (f *feed) give(b []byte) {
	if f == nil || len(b) == 0 {
		return
	}
	select {
	case f.chunks <- b[:len(b):len(b)]:
	default:
	}
}

func (f *feed) finish(grace <-chan time.Time) {
	if f == nil {
		return
	}
	close(f.chunks)
	select {
	case <-f.done:
	case <-grace:
	}
}
