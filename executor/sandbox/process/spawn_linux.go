package process

import (
	"context"
	"os"
	"sync"
	"syscall"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// The users of a sandbox as the host sees them, where root makes it: numbers
// that nobody has. Inside, the agent is 0 and commands are commandID.
const (
	agentHostID   = 0x70000000
	commandHostID = agentHostID + 1
	commandID     = 1000
)

const spaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP

// attributes are those of an agent, which is root in namespaces of its own.
func attributes(ownNetwork bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Cloneflags: spaces, Setsid: true, Pdeathsig: syscall.SIGKILL,
		Credential: &syscall.Credential{},
	}
	if ownNetwork {
		a.Cloneflags |= syscall.CLONE_NEWNET
	}
	if os.Geteuid() == 0 {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: agentHostID, Size: 1}, {ContainerID: commandID, HostID: commandHostID, Size: 1}}
		a.GidMappings = a.UidMappings
		a.GidMappingsEnableSetgroups = true
		return a
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	a.Credential.NoSetGroups = true
	return a
}

// spawned is an agent that waits for its configuration.
type spawned struct {
	conn *wire.Conn
	proc *os.Process
	gone chan struct{}
	// group is the control group that it was started in, which ends with it and
	// bounds nothing yet; nil: it is in none.
	group *cgroup.Group

	mu    sync.Mutex
	after []func() // run between the end of the process and gone
	ended bool     // they run, or have run
}

// spawn starts an agent.
func (f *Factory) spawn(ctx context.Context, ownNetwork bool) (*spawned, error) {
	near, far, err := wire.Pair()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	s := &spawned{conn: near, gone: make(chan struct{})}
	attr := &os.ProcAttr{Dir: "/", Env: []string{"GOMAXPROCS=4"}, Files: []*os.File{f.null, f.null, f.null, far}, Sys: attributes(ownNetwork)}
	if f.groups != nil && f.groups.Starts() {
		if s.group, err = f.groups.New(cgroup.Limits{}); err != nil {
			_ = near.Close()
			return nil, err
		}
		s.after = append(s.after, func() { _ = s.group.Close() })
	}
	start := func() (err error) {
		s.proc, err = os.StartProcess(f.program.path(), []string{agent.Name}, attr)
		return err
	}
	err = f.starter.Do(ctx, func() error {
		if s.group != nil {
			return s.group.Start(attr.Sys, start)
		}
		return start()
	})
	if err != nil && s.proc == nil {
		_ = near.Close()
		for _, f := range s.after {
			f()
		}
		return nil, err
	}
	go func() {
		_, _ = s.proc.Wait()
		s.mu.Lock()
		after := s.after
		s.after, s.ended = nil, true
		s.mu.Unlock()
		for _, f := range after {
			f()
		}
		close(s.gone)
	}()
	if err != nil { // it started, and its group is not what it should be
		s.discard()
		return nil, err
	}
	return s, nil
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

func (s *spawned) kill() { _ = s.proc.Kill() }

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

	mu     sync.Mutex
	ready  []*spawned
	filled bool // somebody fills it
	over   bool
	wait   sync.WaitGroup
}

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
		go s.fill()
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
		one, err := s.f.spawn(context.Background(), true)
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
	s.wait.Wait()
	for _, one := range ready {
		one.discard()
	}
}
