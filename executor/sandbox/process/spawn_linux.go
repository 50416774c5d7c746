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
	handle *os.File // of the process; nil before its start and after its end
	after  []func() // run between the end of the process and gone
	ended  bool     // they run, or have run
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

func (s *spawned) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handle != nil {
		_ = unix.PidfdSendSignal(int(s.handle.Fd()), unix.SIGKILL, nil, 0)
	}
}

// await returns when the process of handle has ended and is in no list of
// processes any more. It is no child of this one.
func await(handle *os.File) {
	raw, err := handle.SyscallConn()
	if err == nil {
		err = raw.Read(func(fd uintptr) bool { return ended(fd, 0) })
	}
	if err != nil { // a kernel whose descriptors of processes cannot be waited for beside others
		_ = ended(handle.Fd(), -1)
	}
	// The end is told a moment before; who is traced may stay longer.
	for wait := 10 * time.Microsecond; wait < time.Second; wait *= 2 {
		if unix.PidfdSendSignal(int(handle.Fd()), 0, nil, 0) == unix.ESRCH {
			return
		}
		time.Sleep(wait)
	}
}

// ended reports whether a process has ended, and waits for that so many
// milliseconds; below 0 without a bound.
func ended(handle uintptr, wait int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, wait)
		if err != unix.EINTR {
			return n > 0
		}
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
