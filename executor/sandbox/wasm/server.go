package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/capture"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

// loadTimeout bounds how long a runner takes to load compiled code.
const loadTimeout = 30 * time.Second

// server is a runner that has the module loaded.
type server struct {
	proc sandbox.Process
	w    *frame.Writer
	r    *frame.Reader
	said func() string

	// doomed: it was told to end. It may still answer, but not to be asked.
	doomed atomic.Bool
	gone   chan struct{} // closed with the end of the process
	end    sandbox.Result
	err    error
}

// startServer starts one and waits until the module is loaded.
func startServer(ctx context.Context, b *box) (*server, error) {
	c, err := json.Marshal(config(b.spec))
	if err != nil {
		return nil, err
	}
	// The runner lives longer than the command that was the first to need it.
	proc, err := b.inner.Attach(context.WithoutCancel(ctx), sandbox.Command{Argv: []string{atRunner, runner.Serve, string(c)}})
	if err != nil {
		return nil, err
	}
	s := &server{
		proc: proc, said: listen(proc.Stderr()), gone: make(chan struct{}),
		w: frame.NewWriter(proc.Stdin()), r: frame.NewReader(proc.Stdout(), frame.MaxBody),
	}
	go func() {
		s.end, s.err = proc.Wait()
		close(s.gone)
	}()
	b.running(s.kill)
	if b.over() { // terminated before the line above
		s.kill()
	}
	bounded, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	stop := context.AfterFunc(bounded, s.kill)
	err = s.hello()
	inTime := stop()
	b.running(nil)
	if err != nil || !inTime || s.doomed.Load() {
		s.stop()
		switch {
		case b.over():
			return nil, closed()
		case ctx.Err() != nil:
			return nil, cancelledBy(ctx)
		case bounded.Err() != nil:
			return nil, sandbox.Errorf(sandbox.ErrFailed, "the module was not loaded within %v", loadTimeout)
		case s.doomed.Load():
			return nil, sandbox.Errorf(sandbox.ErrFailed, "the sandbox was stopped or reset while it loaded the module; the next command loads it")
		case s.end.LimitHit == sandbox.Memory:
			return nil, sandbox.Errorf(sandbox.ErrFailed, "the module does not fit into the memory of the sandbox when it is loaded; give it more (Limits.MemoryMB)")
		}
		return nil, sandbox.Errorf(sandbox.ErrFailed, "the module was not loaded: %v %s", err, s.said())
	}
	return s, nil
}

func (s *server) hello() error {
	kind, body, err := s.r.Read()
	switch {
	case err != nil:
		return err
	case kind == frame.Done:
		var r frame.Report
		if err := json.Unmarshal(body, &r); err != nil {
			return err
		}
		return errors.New(r.Error)
	case kind != frame.Hello || string(body) != strconv.Itoa(runner.Version):
		return fmt.Errorf("the runner is of another build than this program; install both from one")
	}
	return nil
}

// dead tells that it takes no command any more.
func (s *server) dead() bool {
	if s.doomed.Load() {
		return true
	}
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

func (s *server) kill() {
	s.doomed.Store(true)
	_ = s.proc.Kill()
}

// stop ends the process and waits for it.
func (s *server) stop() {
	s.kill()
	<-s.gone
	_ = s.proc.Stdin().Close()
}

// call runs one command. out and err take what the module writes. An error
// means that the runner is of no use any more.
func (s *server) call(req frame.Request, in io.Reader, out, errs io.Writer) (frame.Report, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return frame.Report{}, err
	}
	if err := s.w.Write(frame.Run, body); err != nil {
		return frame.Report{}, err
	}
	buf := make([]byte, frame.MaxBody)
	for {
		kind, body, err := s.r.Read()
		if err != nil {
			return frame.Report{}, err
		}
		switch kind {
		case frame.Out:
			_, err = out.Write(body)
		case frame.Err:
			_, err = errs.Write(body)
		case frame.Need:
			err = s.answer(in, buf)
		case frame.Done:
			var r frame.Report
			err := json.Unmarshal(body, &r)
			return r, err
		default:
			err = fmt.Errorf("the runner sent a frame of kind %q", rune(kind))
		}
		if err != nil {
			return frame.Report{}, err
		}
	}
}

// answer reads what the module asked for; the end of the runner ends the
// waiting, not the read itself: that is up to whoever gave the reader.
func (s *server) answer(in io.Reader, buf []byte) error {
	if in == nil {
		return s.w.Write(frame.In, nil)
	}
	type got struct {
		n   int
		err error
	}
	read := make(chan got, 1)
	go func() {
		for {
			n, err := in.Read(buf)
			if n > 0 || err != nil {
				read <- got{n, err}
				return
			}
		}
	}()
	select {
	case g := <-read:
		return s.w.Write(frame.In, buf[:g.n]) // a failing reader is one that ended
	case <-s.gone:
		return io.ErrUnexpectedEOF
	}
}

// listen reads all that the runner says about itself, and gives its end when the
// process is at its own.
func listen(r io.Reader) (text func() string) {
	var t capture.Tail
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&t, r)
	}()
	return func() string {
		select {
		case <-done:
		case <-time.After(time.Second):
		}
		return t.String()
	}
}
