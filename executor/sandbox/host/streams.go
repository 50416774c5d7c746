package host

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/capture"
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
		d := &drain{from: near, kept: capture.New(limit, to), done: make(chan struct{})}
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
			d.kept.Finish(time.After(0))
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
// and puts what was kept into r, before what r.Stderr has already.
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
	_, _ = s.err.kept.Write(r.Stderr) // of the agent, which is the last
	grace := time.After(writerPatience)
	s.out.kept.Finish(grace)
	s.err.kept.Finish(grace)
	r.Stdout = s.out.kept.Bytes()
	r.Stderr = s.err.kept.Bytes()
	r.Truncated = s.out.kept.Truncated() || s.err.kept.Truncated()
}

// drain reads a stream to its end, so that nobody blocks on it.
type drain struct {
	from *os.File
	kept *capture.Writer
	done chan struct{}
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

func (d *drain) run() {
	defer close(d.done)
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	for {
		n, err := d.from.Read(*buffer)
		_, _ = d.kept.Write((*buffer)[:n])
		if err != nil {
			return
		}
	}
}
