package wasm

import (
	"context"
	"errors"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/capture"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
	"github.com/toolwarrant/toolwarrant/fault"
)

// killed is how a command ends that was ended.
const (
	killed     = 9
	codeKilled = 128 + killed
)

// writerPatience is for a live writer to take the rest.
const writerPatience = 250 * time.Millisecond

func checkCommand(c sandbox.Command) error {
	if len(c.Argv) == 0 {
		return wrong("/argv", "a command needs at least a name; the module gets it as its argument 0")
	}
	size := 0
	for i, a := range c.Argv {
		if strings.ContainsRune(a, 0) {
			return wrong("/argv/"+strconv.Itoa(i), "an argument has a zero byte")
		}
		size += len(a)
	}
	for i, e := range c.Env {
		if err := sandbox.CheckEnv(e); err != nil {
			return wrong("/env/"+strconv.Itoa(i), "%v", err)
		}
		size += len(e)
	}
	if size > frame.MaxRequest/8 {
		return wrong("/argv", "arguments and environment have %d bytes, where %d are the most", size, frame.MaxRequest/8)
	}
	switch {
	case c.Dir != "" && (!path.IsAbs(c.Dir) || strings.ContainsRune(c.Dir, 0)):
		return wrong("/dir", "the folder must be absolute: %q", c.Dir)
	case c.Timeout < 0 || c.MaxOutput < 0:
		return wrong("/timeout", "a timeout or a bound of output is below 0")
	}
	return nil
}

// Exec runs the module once.
func (b *box) Exec(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	if err := checkCommand(c); err != nil {
		return sandbox.Result{}, err
	}
	if err := b.take(); err != nil {
		return sandbox.Result{}, err
	}
	defer b.give()
	if ctx.Err() != nil {
		return sandbox.Result{}, cancelledBy(ctx)
	}
	s, err := b.load(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	return b.call(ctx, s, c)
}

func (b *box) call(ctx context.Context, s *server, c sandbox.Command) (sandbox.Result, error) {
	limit := b.spec.Limits.Timeout
	if c.Timeout > 0 {
		limit = min(limit, c.Timeout)
	}
	most := c.MaxOutput
	if most <= 0 {
		most = sandbox.DefaultMaxOutput
	}
	b.running(s.kill)
	if b.over() {
		s.kill()
	}
	var end ending
	timer := time.AfterFunc(limit, func() { end.because(timedOut); s.kill() })
	stop := context.AfterFunc(ctx, func() { end.because(cancelled); s.kill() })
	out, errs := capture.New(most, c.Stdout), capture.New(most, c.Stderr)
	began := time.Now()
	report, err := s.call(frame.Request{Argv: c.Argv, Env: environment(b.spec, c), MaxOutput: most, Timeout: limit}, c.Stdin, out, errs)
	wall := time.Since(began)
	b.running(nil)
	if late := !timer.Stop(); !stop() || late || err != nil || s.doomed.Load() {
		s.stop() // it is killed, perhaps just after its last word
	}
	grace := time.After(writerPatience)
	out.Finish(grace)
	errs.Finish(grace)
	r := sandbox.Result{
		ExitCode: report.Code & 0xff, Stdout: out.Bytes(), Stderr: errs.Bytes(), Truncated: out.Truncated() || errs.Truncated(),
		Usage: sandbox.Usage{Wall: wall, CPU: max(0, report.CPU), PeakMemory: max(0, report.Memory)},
	}
	if err == nil {
		if report.Error != "" {
			r.Stderr = append(r.Stderr, report.Error+"\n"...)
		}
		switch {
		case report.TimedOut:
			r.ExitCode, r.Signal, r.TimedOut, r.LimitHit = codeKilled, killed, true, sandbox.WallClock
		case report.MemoryHit:
			r.LimitHit = sandbox.Memory
		case r.Truncated:
			r.LimitHit = sandbox.Output
		}
		return r, nil
	}
	return b.broken(ctx, s, r, end.why(), err)
}

// broken is the result of a command whose runner ended before it.
func (b *box) broken(ctx context.Context, s *server, r sandbox.Result, why reason, err error) (sandbox.Result, error) {
	r.ExitCode, r.Signal = codeKilled, killed
	r.Usage.CPU, r.Usage.PeakMemory = s.end.Usage.CPU, s.end.Usage.PeakMemory
	said := s.said()
	switch {
	case why == timedOut:
		r.TimedOut, r.LimitHit = true, sandbox.WallClock
	case why == cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.TimedOut, r.LimitHit = true, sandbox.WallClock
	case why == cancelled:
		return r, cancelledBy(ctx)
	case b.over():
		return r, closed()
	case s.end.LimitHit != "":
		r.LimitHit = s.end.LimitHit
	case strings.Contains(said, "out of memory"), strings.Contains(said, "cannot allocate memory"):
		// What the runner's own runtime says where a resource limit of the
		// process holds it, and not a group.
		r.LimitHit = sandbox.Memory
	case s.end.Signal != 0:
		// Reset, Stop, or someone outside.
	default:
		return r, sandbox.Errorf(sandbox.ErrFailed, "the runner of the module failed: %v %s", err, said)
	}
	return r, nil
}

func cancelledBy(ctx context.Context) error {
	return fault.New(fault.Interrupted, "cancelled", "the command was cancelled").Because(context.Cause(ctx))
}

// ending remembers the first reason for which a command was ended.
type ending struct {
	mu    sync.Mutex
	first reason
}

type reason int

const (
	byItself reason = iota
	timedOut
	cancelled
)

func (e *ending) because(r reason) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.first == byItself {
		e.first = r
	}
}

func (e *ending) why() reason {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.first
}
