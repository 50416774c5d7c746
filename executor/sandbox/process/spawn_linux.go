package process

import (
	"context"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// spawned is an agent that waits for its configuration.
type spawned struct {
	conn *wire.Conn
	pid  int
	gone chan struct{}
	// group is the control group that it was started in, which ends with it and
	// bounds nothing yet; nil: it is in none.
	group *cgroup.Group

	mu     sync.Mutex
	by     *launcher
	handle *os.File    // of the process; nil before its start and after its end
	look   *time.Timer // for its end; nil: it was not killed
	after  []func()    // run between the end of the process and gone
	ended  bool        // they run, or have run
}

// spawn starts an agent.
func (f *Factory) spawn(ctx context.Context, ownNetwork bool) (*spawned, error) {
	near, far, err := wire.Pair()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	s := &spawned{conn: near, gone: make(chan struct{})}
	order := wire.Launch{OwnNetwork: ownNetwork}
	if f.groups != nil && f.groups.Starts() {
		if s.group, err = f.groups.New(cgroup.Limits{}); err != nil {
			_ = near.Close()
			return nil, err
		}
		s.after = append(s.after, func() { _ = s.group.Close() })
		order.Group = s.group.Place()
	}
	l, err := f.launcher(ctx)
	if err != nil {
		s.end()
		_ = near.Close()
		return nil, err
	}
	if err := l.launch(ctx, s, order, far); err != nil {
		return nil, err
	}
	return s, nil
}

// end does what is to be done after the end of the process.
func (s *spawned) end() {
	s.mu.Lock()
	after, handle := s.after, s.handle
	s.after, s.handle, s.ended = nil, nil, true
	if s.look != nil {
		s.look.Stop()
	}
	s.mu.Unlock()
	if handle != nil {
		_ = handle.Close()
	}
	for _, f := range after {
		f()
	}
	close(s.gone)
}

// atEnd has f run when the process has ended and before gone is closed. It
// reports false when it is too late for that.
func (s *spawned) atEnd(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.after = append(s.after, f)
	return true
}

// lookAfter is how long after the kill of an agent its end is looked for, where
// the launcher has not told of it: somebody may have stopped that one.
const lookAfter = 2 * time.Second

func (s *spawned) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handle == nil {
		return
	}
	_ = unix.PidfdSendSignal(int(s.handle.Fd()), unix.SIGKILL, nil, 0)
	if s.look == nil {
		s.look = time.AfterFunc(lookAfter, s.lookForEnd)
	}
}

// lookForEnd is for an agent that was killed.
func (s *spawned) lookForEnd() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.handle == nil:
	case ended(s.handle, 0):
		go s.by.forget(s.pid, s)
	default:
		s.look.Reset(lookAfter)
	}
}

// discard ends an agent that was not used.
func (s *spawned) discard() {
	s.kill()
	<-s.gone
	_ = s.conn.Close()
}

// stash keeps agents that are started and unused.
type stash struct {
	f    *Factory
	want int
	ctx  context.Context // of what fills it
	stop context.CancelFunc

	mu     sync.Mutex
	ready  []*spawned
	filled bool // somebody fills it
	over   bool
	wait   sync.WaitGroup
}

// refillAfter is how long after the take of an agent the next one starts: it
// needs a processor that the command of the first one needs as well.
const refillAfter = 20 * time.Millisecond

// take gives one, or nil, and has the stash filled again.
func (s *stash) take() *spawned {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.want <= 0 {
		return nil
	}
	if !s.filled {
		s.filled = true
		s.wait.Add(1)
		time.AfterFunc(refillAfter, s.fill)
	}
	for len(s.ready) > 0 {
		one := s.ready[0]
		s.ready = s.ready[1:]
		select {
		case <-one.gone:
			_ = one.conn.Close()
			continue
		default:
			return one
		}
	}
	return nil
}

func (s *stash) fill() {
	defer s.wait.Done()
	for {
		s.mu.Lock()
		if s.over || len(s.ready) >= s.want {
			s.filled = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(s.ctx, startDeadline)
		one, err := s.f.spawn(ctx, true)
		cancel()
		s.mu.Lock()
		if err != nil || s.over {
			s.filled = false
			s.mu.Unlock()
			if err == nil {
				one.discard()
			}
			return
		}
		s.ready = append(s.ready, one)
		s.mu.Unlock()
	}
}

func (s *stash) close() {
	s.mu.Lock()
	s.over = true
	ready := s.ready
	s.ready = nil
	s.mu.Unlock()
	s.stop()
	s.wait.Wait()
	for _, one := range ready {
		one.discard()
	}
}
