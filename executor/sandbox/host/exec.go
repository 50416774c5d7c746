package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
	"github.com/toolwarrant/toolwarrant/fault"
)

// How a command came to be ended by us.
type cause int32

const (
	notEnded cause = iota
	byTime
	byCaller
)

const (
	killed     = 9
	exitKilled = 128 + killed
)

// ending ends a command once, and its agent when that does not help.
type ending struct {
	inst *Instance
	mu   sync.Mutex
	why  cause
	last *time.Timer
	over bool
}

// end asks the agent to kill everything, and kills it when it does not.
func (e *ending) end(why cause) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.why != notEnded || e.over {
		return
	}
	e.why = why
	// First the clock: an agent that does not read may keep the message waiting.
	e.last = time.AfterFunc(killPatience, e.inst.Kill)
	if err := e.inst.Conn.Send(wire.Message{Kind: wire.KindSignal, Signal: killed}); err != nil {
		e.inst.Kill()
	}
}

// finish gives the cause, after the end, and whether the agent is being killed:
// then no other command may be given to it.
func (e *ending) finish() (why cause, agentKilled bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	return e.why, e.last != nil && !e.last.Stop()
}

// Exec runs c to its end.
func (b *box) Exec(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	if err := b.check(c); err != nil {
		return sandbox.Result{}, err
	}
	w, err := b.take(ctx, false)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer b.give(w)
	inst, err := b.ready(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	s, err := NewStreams(c)
	if err != nil {
		return sandbox.Result{}, sandbox.Errorf(sandbox.ErrFailed, "no pipes for a command: %v", err).Because(err)
	}
	timeout := b.o.Spec.Limits.Timeout
	if c.Timeout > 0 && c.Timeout < timeout {
		timeout = c.Timeout
	}
	run := b.begin(inst, w)
	if err := run.send(c, false, s.Child); err != nil {
		s.Abandon()
		return sandbox.Result{}, b.unsent(inst, err)
	}
	s.Begin(c)
	timer := time.AfterFunc(timeout, func() { run.end(byTime) })
	stop := context.AfterFunc(ctx, func() { run.end(byCaller) })
	r, err := run.await(b)
	timer.Stop()
	stop()
	s.Finish(&r)
	if err != nil {
		return sandbox.Result{}, err
	}
	if run.why == byCaller {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			r.TimedOut, r.LimitHit = true, sandbox.WallClock
			return r, nil
		}
		return r, fault.New(fault.Interrupted, "cancelled", "the command was cancelled").Because(context.Cause(ctx))
	}
	if r.Truncated && r.LimitHit == "" {
		r.LimitHit = sandbox.Output
	}
	return r, nil
}

// running is one command from its start to its end.
type running struct {
	ending
	began time.Time
	log   *allow.Log
}

func (b *box) begin(inst *Instance, w *work) *running {
	r := &running{ending: ending{inst: inst}, began: time.Now()}
	if inst.Meter != nil {
		inst.Meter.Begin()
	}
	if inst.Network != nil {
		r.log = inst.Network.Log()
	}
	b.mu.Lock()
	w.kill = func() { r.end(byCaller) }
	b.mu.Unlock()
	return r
}

// send starts the command. The descriptors are closed here.
func (r *running) send(c sandbox.Command, attach bool, files []*os.File) error {
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	return r.inst.Conn.Send(wire.Message{Kind: wire.KindExec, Exec: &wire.Exec{Argv: c.Argv, Env: c.Env, Dir: c.Dir, Attach: attach}}, files...)
}

// unsent is the error of a command that did not reach the agent.
func (b *box) unsent(inst *Instance, err error) error {
	if errors.Is(err, syscall.EMSGSIZE) || errors.Is(err, syscall.ENOBUFS) {
		return sandbox.Errorf(sandbox.ErrSpec, "the arguments and the environment of the command are too large; pass them on standard input or in a file").At("", "/argv", 0, 0)
	}
	b.drop(inst)
	return sandbox.Errorf(sandbox.ErrFailed, "the sandbox %s ended before the command began; the next one starts it anew", b.o.ID).Because(err)
}

// await waits for the end of the command and makes the result, without
// output. An instance that broke is dropped.
func (r *running) await(b *box) (sandbox.Result, error) {
	m, err := r.inst.receive(wire.KindExited)
	why, agentKilled := r.finish()
	result := sandbox.Result{ExitCode: exitKilled, Signal: killed}
	result.Usage = sandbox.Usage{PeakMemory: -1, NetIn: -1, NetOut: -1}
	if err == nil {
		e := m.Exited
		result.ExitCode, result.Signal = e.Code, e.Signal
		result.Usage.CPU = time.Duration(e.UserUS+e.SystemUS) * time.Microsecond
		result.Usage.PeakMemory, result.Usage.Orphans = e.MaxRSS, e.Orphans
	}
	if r.inst.Meter != nil {
		r.inst.Meter.End(&result)
	}
	result.Usage.Wall = time.Since(r.began)
	if r.log != nil {
		r.inst.Network.Cut() // nobody is left on the inner side
		var missed int
		if result.Net, missed = r.log.Connections(); missed > 0 {
			result.Net = append(result.Net, sandbox.Connection{Host: strconv.Itoa(missed) + " more", Reason: allow.MoreEntries})
		}
		result.Usage.NetIn, result.Usage.NetOut = r.log.Bytes()
		r.log.Close()
	}
	if agentKilled && err == nil {
		b.drop(r.inst)
	}
	if why == byTime {
		result.TimedOut, result.LimitHit = true, sandbox.WallClock
	}
	if err == nil {
		if m.Exited.Error != "" && m.Exited.Code == 0 {
			return result, sandbox.Errorf(sandbox.ErrFailed, "the agent could not run the command: %s", m.Exited.Error)
		}
		result.Stderr = startError(m.Exited)
		return result, nil
	}
	b.drop(r.inst)
	b.mu.Lock()
	over := b.over
	b.mu.Unlock()
	switch {
	case over:
		return result, b.errClosed()
	case why != notEnded || result.LimitHit != "":
		return result, nil // it took its agent with it
	}
	return result, sandbox.Errorf(sandbox.ErrFailed, "the sandbox %s ended while the command ran; the next one starts it anew", b.o.ID).Because(err)
}

// startError is what a shell would have said of a command that could not
// start.
func startError(e *wire.Exited) []byte {
	if e.Error == "" {
		return nil
	}
	return []byte("sandbox: " + e.Error + "\n")
}

// receive waits for one kind of message. Anything else is a broken agent.
func (i *Instance) receive(kind string) (wire.Message, error) {
	m, files, err := i.Conn.Receive()
	for _, f := range files {
		_ = f.Close()
	}
	switch {
	case err != nil:
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return m, err
	case m.Kind != kind, kind == wire.KindExited && m.Exited == nil:
		return m, fmt.Errorf("a message of kind %.20q in place of %s", m.Kind, kind)
	}
	return m, nil
}
