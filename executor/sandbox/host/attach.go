package host

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// process is a sandbox.Process.
type process struct {
	run    *running
	stdin  *os.File
	stdout *stream
	stderr *stream

	done   chan struct{}
	result sandbox.Result
	err    error
}

// Attach starts a process with streams of its own.
func (b *box) Attach(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if err := b.check(c); err != nil {
		return nil, err
	}
	w, err := b.take(ctx, false)
	if err != nil {
		return nil, err
	}
	p, err := b.attach(ctx, c, w)
	if err != nil {
		b.give(w)
		return nil, err
	}
	return p, nil
}

func (b *box) attach(ctx context.Context, c sandbox.Command, w *work) (*process, error) {
	inst, err := b.ready(ctx)
	if err != nil {
		return nil, err
	}
	near, far, err := pipes()
	if err != nil {
		return nil, sandbox.Errorf(sandbox.ErrFailed, "no pipes for a command: %v", err).Because(err)
	}
	p := &process{stdin: near[0], stdout: &stream{f: near[1]}, stderr: &stream{f: near[2]}, done: make(chan struct{})}
	p.run = b.begin(inst, w)
	if err := p.run.send(c, true, far); err != nil {
		p.release()
		return nil, b.unsent(inst, err)
	}
	b.mu.Lock()
	b.attached = append(b.attached, p)
	b.mu.Unlock()
	var timer *time.Timer
	if c.Timeout > 0 {
		timer = time.AfterFunc(c.Timeout, func() { p.run.end(byTime) })
	}
	go func() {
		p.result, p.err = p.run.await(b)
		if timer != nil {
			timer.Stop()
		}
		_ = p.stdin.Close()
		b.give(w)
		close(p.done)
	}()
	return p, nil
}

// pipes makes the three pipes of a process: our ends, and its own.
func pipes() (near, far []*os.File, err error) {
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			for _, f := range append(near, far...) {
				_ = f.Close()
			}
			return nil, nil, err
		}
		if i == 0 {
			r, w = w, r
		}
		near, far = append(near, r), append(far, w)
	}
	return near, far, nil
}

func (p *process) Stdin() io.WriteCloser { return p.stdin }
func (p *process) Stdout() io.Reader     { return p.stdout }
func (p *process) Stderr() io.Reader     { return p.stderr }

// Wait waits for the end.
func (p *process) Wait() (sandbox.Result, error) {
	<-p.done
	return p.result, p.err
}

// Kill ends it and all that it started, and waits until they have ended.
func (p *process) Kill() error {
	p.run.end(byCaller)
	<-p.done
	return nil
}

// release closes our ends.
func (p *process) release() {
	_ = p.stdin.Close()
	p.stdout.close()
	p.stderr.close()
}

// stream is an output that is closed when it has been read to its end.
type stream struct {
	f    *os.File
	once sync.Once
}

func (s *stream) close() { s.once.Do(func() { _ = s.f.Close() }) }

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.f.Read(b)
	if err != nil {
		s.close()
		if err != io.EOF {
			err = io.EOF // closed with the sandbox
		}
	}
	return n, err
}
