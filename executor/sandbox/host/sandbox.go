package host

import (
	"context"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// New makes the sandbox. Nothing is started yet.
func New(o Options) sandbox.Sandbox { return &box{o: o} }

// box is a sandbox.Sandbox.
type box struct {
	o Options

	mu       sync.Mutex
	inst     *Instance
	work     *work // what runs
	over     bool  // terminated
	reported bool  // Options.Closed was called
	attached []*process
}

// work is one thing that the sandbox does: a command or a reset.
type work struct {
	done chan struct{}
	kill func() // ends it, without waiting
}

func (b *box) ID() string                       { return b.o.ID }
func (b *box) Backend() string                  { return b.o.Backend }
func (b *box) Enforcement() sandbox.Enforcement { return b.o.Enforcement.Clone() }

func (b *box) errClosed() error {
	return sandbox.Errorf(sandbox.ErrClosed, "the sandbox %s was closed", b.o.ID)
}

// take claims the sandbox for one thing. wait waits for what runs; else that
// is ErrBusy.
func (b *box) take(ctx context.Context, wait bool) (*work, error) {
	for {
		b.mu.Lock()
		if b.over {
			b.mu.Unlock()
			return nil, b.errClosed()
		}
		now := b.work
		if now == nil {
			w := &work{done: make(chan struct{})}
			b.work = w
			b.mu.Unlock()
			return w, nil
		}
		b.mu.Unlock()
		if !wait {
			return nil, sandbox.Errorf(sandbox.ErrBusy, "the sandbox %s runs a command; wait for its end, or use another sandbox", b.o.ID)
		}
		select {
		case <-now.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (b *box) give(w *work) {
	b.mu.Lock()
	b.work = nil
	b.mu.Unlock()
	close(w.done)
}

// ready gives the instance and starts it where there is none. The caller has
// taken the sandbox.
func (b *box) ready(ctx context.Context) (*Instance, error) {
	b.mu.Lock()
	inst := b.inst
	b.mu.Unlock()
	if inst != nil {
		select {
		case <-inst.Gone:
		default:
			return inst, nil
		}
	}
	inst, err := b.o.Start(ctx)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	over := b.over
	b.inst = inst
	b.mu.Unlock()
	if over { // while it started
		inst.end()
		return nil, b.errClosed()
	}
	return inst, nil
}

// end kills an instance and waits until nothing is left.
func (i *Instance) end() {
	i.Kill()
	if i.Network != nil {
		i.Network.Close()
	}
	<-i.Gone
	_ = i.Conn.Close()
}

// drop ends the instance. The next command starts another.
func (b *box) drop(inst *Instance) {
	inst.end()
	b.mu.Lock()
	if b.inst == inst {
		b.inst = nil
	}
	b.mu.Unlock()
}

// Start makes the sandbox ready.
func (b *box) Start(ctx context.Context) error {
	w, err := b.take(ctx, false)
	if err != nil {
		return err
	}
	defer b.give(w)
	_, err = b.ready(ctx)
	return err
}

// interrupt ends what runs now.
func (b *box) interrupt() {
	b.mu.Lock()
	var kill func()
	if b.work != nil {
		kill = b.work.kill
	}
	b.mu.Unlock()
	if kill != nil {
		kill()
	}
}

// Reset ends what runs and removes what was left.
func (b *box) Reset(ctx context.Context) error {
	b.interrupt()
	w, err := b.take(ctx, true)
	if err != nil {
		return err
	}
	defer b.give(w)
	b.mu.Lock()
	inst := b.inst
	b.mu.Unlock()
	if inst == nil {
		return nil // there is nothing to be removed
	}
	deadline := time.Now().Add(resetPatience)
	if at, ok := ctx.Deadline(); ok && at.Before(deadline) {
		deadline = at
	}
	_ = inst.Conn.SetDeadline(deadline)
	err = inst.Conn.Send(wire.Message{Kind: wire.KindReset})
	var m wire.Message
	if err == nil {
		m, err = inst.receive(wire.KindDone)
	}
	_ = inst.Conn.SetDeadline(time.Time{})
	switch {
	case err != nil:
		b.drop(inst)
		return sandbox.Errorf(sandbox.ErrFailed, "the sandbox %s could not be reset: its agent did not answer; it starts anew", b.o.ID).Because(err)
	case m.Error != "":
		b.drop(inst)
		return sandbox.Errorf(sandbox.ErrFailed, "the sandbox %s could not be reset: %s; it starts anew", b.o.ID, m.Error)
	}
	return nil
}

// Stop ends the sandbox, with a warning to what runs.
func (b *box) Stop(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, stopPatience)
		defer cancel()
	}
	b.mu.Lock()
	inst, now, over := b.inst, b.work, b.over
	b.mu.Unlock()
	if over {
		return b.errClosed()
	}
	if inst == nil {
		return nil
	}
	if now != nil && now.kill != nil {
		const terminate = 15
		_ = inst.Conn.Send(wire.Message{Kind: wire.KindSignal, Signal: terminate})
		select {
		case <-now.done:
		case <-ctx.Done():
		}
	}
	b.drop(inst)
	return nil
}

// Terminate ends the sandbox for good.
func (b *box) Terminate() error {
	b.mu.Lock()
	b.over = true
	inst := b.inst
	b.mu.Unlock()
	if inst != nil {
		b.drop(inst)
	}
	return nil
}

// Close gives back all that the sandbox holds.
func (b *box) Close() error {
	_ = b.Terminate()
	b.mu.Lock()
	now := b.work
	b.mu.Unlock()
	if now != nil {
		<-now.done
		_ = b.Terminate() // what started meanwhile
	}
	b.mu.Lock()
	first, attached := !b.reported, b.attached
	b.reported, b.attached = true, nil
	b.mu.Unlock()
	for _, p := range attached {
		p.release()
	}
	if first && b.o.Closed != nil {
		b.o.Closed()
	}
	return nil
}

// check tells what is wrong with c itself.
func (b *box) check(c sandbox.Command) error {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return sandbox.Errorf(sandbox.ErrSpec, "the command is empty; name a program").At("", "/argv", 0, 0)
	}
	for _, a := range c.Argv {
		if strings.ContainsRune(a, 0) {
			return sandbox.Errorf(sandbox.ErrSpec, "an argument of the command has a zero byte").At("", "/argv", 0, 0)
		}
	}
	for _, e := range c.Env {
		if err := sandbox.CheckEnv(e); err != nil {
			return sandbox.Errorf(sandbox.ErrSpec, "%v", err).At("", "/env", 0, 0)
		}
	}
	switch {
	case c.Dir != "" && (!path.IsAbs(c.Dir) || strings.ContainsRune(c.Dir, 0)):
		return sandbox.Errorf(sandbox.ErrSpec, "the working directory must be absolute: %q", c.Dir).At("", "/dir", 0, 0)
	case c.Timeout < 0 || c.MaxOutput < 0:
		return sandbox.Errorf(sandbox.ErrSpec, "a timeout or a bound of output is below 0").At("", "/timeout", 0, 0)
	}
	return nil
}

// Alive tells at once, without asking the agent, that the sandbox has not
// ended. One that was not started yet has not.
func (b *box) Alive() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || b.inst == nil {
		return !b.over
	}
	select {
	case <-b.inst.Gone:
		return false
	default:
		return true
	}
}
