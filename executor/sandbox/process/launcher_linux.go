package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// launcher is the process whose children agents are. The kernel copies the page
// tables of whoever starts a process in a new user namespace: this program may
// have a gigabyte, and the launcher has nothing.
type launcher struct {
	conn *wire.Conn
	proc *os.Process
	done chan struct{} // closed when it and its agents are gone
	room chan struct{} // has a token for each order that is not answered

	sending sync.Mutex // held over waiting and the send, so that both have one order

	watches sync.WaitGroup // a watch for each agent

	mu      sync.Mutex
	over    bool
	waiting []*order // in the order in which they were sent
	agents  map[*spawned]struct{}
}

// order is one agent that was asked for.
type order struct {
	agent *spawned
	reply chan error
}

// mostOrders is how many orders may be unanswered: all fit into the socket, so
// that sending one never waits, also where the launcher is stopped.
const mostOrders = 64

// launcher gives the one that runs, or starts one: somebody may have ended it.
func (f *Factory) launcher(ctx context.Context) (*launcher, error) {
	f.launching.Lock()
	defer f.launching.Unlock()
	if f.noMore {
		return nil, errClosed
	}
	if f.launches != nil && !f.launches.ended() {
		return f.launches, nil
	}
	near, far, err := wire.Pair()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	l := &launcher{conn: near, done: make(chan struct{}), room: make(chan struct{}, mostOrders), agents: map[*spawned]struct{}{}}
	attr := &os.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=2"}, Files: []*os.File{f.null, f.null, f.null, far},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	err = f.starter.Do(ctx, func() (err error) {
		l.proc, err = os.StartProcess(f.program.path(), []string{agent.Name, agent.Launch}, attr)
		return err
	})
	if err != nil {
		_ = near.Close()
		return nil, fmt.Errorf("the process that starts agents: %w", err)
	}
	go l.listen()
	f.launches = l
	return l, nil
}

func (l *launcher) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

var errLauncherGone = errors.New("the process that starts agents has ended, and all sandboxes with it; the next sandbox starts another")

// launch has s started. On an error s is gone, or is going to be.
func (l *launcher) launch(ctx context.Context, s *spawned, what wire.Launch, far *os.File) error {
	o := &order{agent: s, reply: make(chan error, 1)}
	var err error
	select {
	case l.room <- struct{}{}:
		if err = l.send(o, what, far); err != nil {
			<-l.room
		}
	case <-ctx.Done():
		err = fmt.Errorf("the process that starts agents is busy, or somebody has stopped it: %w", context.Cause(ctx))
	}
	if err != nil {
		s.end()
		_ = s.conn.Close()
		return err
	}
	select {
	case err := <-o.reply:
		return err
	case <-ctx.Done():
		go func() {
			if <-o.reply == nil {
				s.discard()
			}
		}()
		return fmt.Errorf("the process that starts agents does not answer: %w", context.Cause(ctx))
	}
}

// send asks for the agent of o. On an error o is not waiting.
func (l *launcher) send(o *order, what wire.Launch, far *os.File) error {
	l.sending.Lock()
	defer l.sending.Unlock()
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return errLauncherGone
	}
	l.waiting = append(l.waiting, o)
	l.mu.Unlock()
	err := l.conn.Send(wire.Message{Kind: wire.KindLaunch, Launch: &what}, far)
	if err == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil // it is being answered
	}
	l.waiting = l.waiting[:len(l.waiting)-1]
	return fmt.Errorf("the process that starts agents: %w", err)
}

// listen hears of starts until the launcher is gone.
func (l *launcher) listen() {
	for {
		m, files, err := l.conn.Receive()
		if err != nil && !errors.Is(err, wire.ErrFiles) {
			break
		}
		if m.Kind != wire.KindLaunched || m.Launched == nil || !l.launched(*m.Launched, files, err) {
			break
		}
	}
	l.end()
}

// watch does what is to be done after the end of an agent.
func (l *launcher) watch(s *spawned, handle *os.File) {
	defer l.watches.Done()
	await(handle)
	l.mu.Lock()
	delete(l.agents, s)
	l.mu.Unlock()
	s.end()
}

// drop answers an order whose agent did not start, or may have without a
// descriptor of it: then it ends by itself, since nobody is left who would
// configure it.
func (o *order) drop(why error) {
	_ = o.agent.conn.Close()
	if o.agent.group != nil {
		o.agent.group.Kill()
	}
	o.agent.end()
	o.reply <- why
}

// launched takes the answer to the oldest order; unread is what became of its
// descriptor. It reports false when there is no order that this could be of.
func (l *launcher) launched(told wire.Launched, files []*os.File, unread error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		for _, f := range files {
			_ = f.Close()
		}
		return false
	}
	o := l.waiting[0]
	l.waiting = l.waiting[1:]
	<-l.room
	var err error
	if told.Error != "" {
		err = errors.New(told.Error)
	}
	if told.PID <= 0 || len(files) != 1 {
		for _, f := range files {
			_ = f.Close()
		}
		switch {
		case err != nil:
		case unread != nil:
			err = unread
		default:
			err = errors.New("the process that starts agents is of another build: put the two from one build together")
		}
		go o.drop(err)
		return true
	}
	o.agent.pid = told.PID
	o.agent.mu.Lock()
	o.agent.handle = files[0]
	o.agent.mu.Unlock()
	l.agents[o.agent] = struct{}{}
	l.watches.Add(1)
	go l.watch(o.agent, files[0])
	if err != nil { // it started, and its group is not what it should be
		go func() {
			o.agent.discard()
			o.reply <- err
		}()
		return true
	}
	o.reply <- nil
	return true
}

// end ends what is left when the launcher has gone.
func (l *launcher) end() {
	l.mu.Lock()
	l.over = true
	waiting, agents := l.waiting, l.agents
	l.waiting, l.agents = nil, nil
	l.mu.Unlock()
	_ = l.conn.Close()
	_ = l.proc.Kill()
	_, _ = l.proc.Wait()
	var all sync.WaitGroup
	for _, o := range waiting {
		<-l.room
		all.Go(func() { o.drop(errLauncherGone) })
	}
	for s := range agents {
		s.kill()
	}
	all.Wait()
	l.watches.Wait()
	close(l.done)
}

// close ends the launcher and all agents.
func (l *launcher) close() {
	_ = l.conn.Close()
	<-l.done
}
