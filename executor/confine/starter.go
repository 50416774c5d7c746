package confine

import (
	"context"
	"errors"
	"runtime"
)

// A Starter runs functions, one after another, all on one thread that lives
// as long as the Starter. Processes are started through it: the signal that
// ends a child when its parent dies (Pdeathsig) is sent when the THREAD that
// started it ends, and Go ends threads as it likes. It is safe for concurrent
// use.
type Starter struct {
	requests chan func()
	stop     <-chan struct{}
}

// NewStarter starts the thread. It ends when stop is closed, and with it, on
// Linux, the children that asked for it; nil keeps it as long as the process.
func NewStarter(stop <-chan struct{}) *Starter {
	s := &Starter{requests: make(chan func()), stop: stop}
	go func() {
		runtime.LockOSThread()
		for {
			select {
			case f := <-s.requests:
				f()
			case <-stop:
				return
			}
		}
	}()
	return s
}

var errStopped = errors.New("no process is started any more: it was closed")

// Do runs f on the thread and waits for it. Its error is that of f, or of ctx
// when that ended before f could begin.
func (s *Starter) Do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case s.requests <- func() { done <- f() }:
		return <-done
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.stop:
		return errStopped
	}
}
