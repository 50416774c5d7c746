package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// fakes is a back end without any isolation, whose faults a test chooses. It
// counts what exists.
type fakes struct {
	create, start, reset, close func(n int) error // n counts the calls
	takes                       time.Duration     // each of them

	mu                     sync.Mutex
	creates, resets, ends  int
	open, most             int
	made                   []*fake
	starts, execs, attachs atomic.Int32
}

func (f *fakes) ID() string    { return "fake" }
func (f *fakes) Priority() int { return 1 }
func (f *fakes) Probe(context.Context) sandbox.Availability {
	return sandbox.Availability{OK: true, Enforcement: everything()}
}

func step(fault func(int) error, n int) error {
	if fault == nil {
		return nil
	}
	return fault(n)
}

func (f *fakes) Create(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	f.mu.Lock()
	f.creates++
	n := f.creates
	f.mu.Unlock()
	time.Sleep(f.takes)
	if err := step(f.create, n); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open++
	f.most = max(f.most, f.open)
	s := &fake{f: f, id: fmt.Sprintf("fake-%d", n), gone: make(chan struct{})}
	f.made = append(f.made, s)
	return s, nil
}

func (f *fakes) left() (open, most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open, f.most
}

func (f *fakes) last() *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made[len(f.made)-1]
}

type fake struct {
	f      *fakes
	id     string
	once   sync.Once
	dead   sync.Once
	gone   chan struct{} // closed at its end
	busy   atomic.Bool
	dirty  atomic.Value // what a command left
	served atomic.Int32
}

func (s *fake) ID() string                       { return s.id }
func (s *fake) Backend() string                  { return "fake" }
func (s *fake) Enforcement() sandbox.Enforcement { return without(sandbox.Disk) }
func (s *fake) Stop(context.Context) error       { return nil }
func (s *fake) Start(context.Context) error {
	return step(s.f.start, int(s.f.starts.Add(1)))
}

func (s *fake) Alive() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

// Exec understands: leave TEXT (and say what was left before), hang (ends with
// ctx), stuck (ends with the sandbox only), fail, panic, sleep.
func (s *fake) Exec(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	s.f.execs.Add(1)
	if !s.busy.CompareAndSwap(false, true) {
		return sandbox.Result{}, sandbox.Errorf(sandbox.ErrBusy, "busy")
	}
	defer s.busy.Store(false)
	if !s.Alive() {
		return sandbox.Result{}, sandbox.Errorf(sandbox.ErrClosed, "closed")
	}
	s.served.Add(1)
	switch c.Argv[0] {
	case "leave":
		before, _ := s.dirty.Swap(c.Argv[1]).(string)
		return sandbox.Result{Stdout: []byte(before)}, nil
	case "sleep":
		time.Sleep(time.Millisecond)
	case "hang":
		select {
		case <-ctx.Done():
			return sandbox.Result{}, ctx.Err()
		case <-s.gone:
			return sandbox.Result{}, sandbox.Errorf(sandbox.ErrClosed, "closed")
		}
	case "stuck":
		<-s.gone
		return sandbox.Result{}, sandbox.Errorf(sandbox.ErrClosed, "closed")
	case "fail":
		return sandbox.Result{}, sandbox.Errorf(sandbox.ErrFailed, "broke")
	case "panic":
		panic("a defect")
	}
	return sandbox.Result{ExitCode: 3, Net: []sandbox.Connection{{Host: "h"}}}, nil
}

func (s *fake) Attach(context.Context, sandbox.Command) (sandbox.Process, error) {
	s.f.attachs.Add(1)
	if !s.Alive() {
		return nil, sandbox.Errorf(sandbox.ErrClosed, "closed")
	}
	return &fakeProcess{s: s, killed: make(chan struct{})}, nil
}

func (s *fake) Reset(context.Context) error {
	s.f.mu.Lock()
	s.f.resets++
	n := s.f.resets
	s.f.mu.Unlock()
	time.Sleep(s.f.takes)
	if s.busy.Load() {
		panic("a reset while a command runs")
	}
	s.dirty.Store("")
	return step(s.f.reset, n)
}

func (s *fake) Terminate() error {
	s.dead.Do(func() { close(s.gone) })
	return nil
}

func (s *fake) Close() error {
	s.Terminate()
	s.once.Do(func() {
		time.Sleep(s.f.takes)
		s.f.mu.Lock()
		s.f.open--
		s.f.mu.Unlock()
	})
	s.f.mu.Lock()
	s.f.ends++
	n := s.f.ends
	s.f.mu.Unlock()
	return step(s.f.close, n)
}

type fakeProcess struct {
	s      *fake
	once   sync.Once
	killed chan struct{}
}

func (p *fakeProcess) Stdin() io.WriteCloser { return nil }
func (p *fakeProcess) Stdout() io.Reader     { return &bytes.Buffer{} }
func (p *fakeProcess) Stderr() io.Reader     { return &bytes.Buffer{} }
func (p *fakeProcess) Kill() error           { p.once.Do(func() { close(p.killed) }); return nil }
func (p *fakeProcess) Wait() (sandbox.Result, error) {
	select {
	case <-p.killed:
	case <-p.s.gone:
	}
	return sandbox.Result{ExitCode: 137, Signal: 9}, nil
}

func cmd(argv ...string) sandbox.Command { return sandbox.Command{Argv: argv} }

func warmable() sandbox.Spec {
	s := asked()
	s.Warmable = true
	return s
}
