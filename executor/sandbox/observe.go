package sandbox

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Observe gives a sandbox that is sb and tells listeners of each command: of
// Exec when it ends, of Attach when the process ends or could not be started,
// always before Exec or Process.Wait returns. spec is that of sb.
//
// Listeners are called one after another, in the goroutine of the command, so
// that whoever has the result knows that the record of it is complete. A panic
// of one is recovered. One that may be slow or block belongs behind a Queue;
// one that writes arguments down belongs behind Masked.
func Observe(sb Sandbox, spec Spec, listeners ...Listener) Sandbox {
	if len(listeners) == 0 {
		return sb
	}
	return &observed{Sandbox: sb, o: observer{sb, spec, listeners}}
}

type observed struct {
	Sandbox
	o observer
}

// Exec is that of the sandbox, and an Event.
func (o *observed) Exec(ctx context.Context, c Command) (Result, error) { return o.o.exec(ctx, c) }

// Attach is that of the sandbox, and an Event at the end of the process.
func (o *observed) Attach(ctx context.Context, c Command) (Process, error) { return o.o.attach(ctx, c) }

// An observer runs commands in sb and reports them.
type observer struct {
	sb        Sandbox
	spec      Spec
	listeners []Listener
}

func (o observer) exec(ctx context.Context, c Command) (Result, error) {
	began := time.Now()
	r, err := o.sb.Exec(ctx, c)
	o.report(c, began, r, err)
	return r, err
}

func (o observer) attach(ctx context.Context, c Command) (Process, error) {
	began := time.Now()
	p, err := o.sb.Attach(ctx, c)
	if err != nil {
		o.report(c, began, Result{}, err)
		return nil, err
	}
	w := &watched{Process: p, told: make(chan struct{})}
	go func() {
		defer close(w.told)
		w.err = guarded(func() (err error) { w.result, err = p.Wait(); return err })
		o.report(c, began, w.result, w.err)
	}()
	return w, nil
}

// A watched process has a goroutine that waits for its end, which comes at the
// latest with that of the sandbox.
type watched struct {
	Process
	told   chan struct{}
	result Result
	err    error
}

// Wait is that of the process, after the listeners were told.
func (w *watched) Wait() (Result, error) {
	<-w.told
	return w.result, w.err
}

func (o observer) report(c Command, began time.Time, r Result, err error) {
	if len(o.listeners) == 0 {
		return
	}
	e := Event{
		SandboxID: o.sb.ID(), Backend: o.sb.Backend(), Image: imageName(o.spec.Image), Argv: c.Argv, Mounts: o.spec.Mounts,
		ExitCode: r.ExitCode, TimedOut: r.TimedOut, LimitHit: r.LimitHit, Error: reasonOf(err),
		Usage: r.Usage, Network: o.spec.Net().Name(), Connections: r.Net,
		Partial: partial(o.spec, o.sb.Enforcement()), Began: began, CorrelationID: c.CorrelationID,
	}
	if err != nil {
		e.ExitCode = -1
	}
	for _, l := range o.listeners {
		tell(l, e)
	}
}

// tell gives l an event of its own: what it does to it nobody else sees.
func tell(l Listener, e Event) {
	defer func() { _ = recover() }()
	e.Argv, e.Mounts, e.Connections, e.Partial = slices.Clone(e.Argv), slices.Clone(e.Mounts), slices.Clone(e.Connections), maps.Clone(e.Partial)
	l(e)
}

func imageName(image string) string { return cmp.Or(image, "host") }

// reasonOf is the reason of err, for events; "" for nil.
func reasonOf(err error) string {
	var f *fault.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return cmp.Or(f.Reason, string(f.Code))
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline"
	}
	return ErrFailed.Reason
}

// partial says in words what of spec is enforced less than asked.
func partial(spec Spec, have Enforcement) map[string]string {
	var m map[string]string
	for _, d := range spec.Shortfall(have) {
		if m == nil {
			m = map[string]string{}
		}
		s := have[d]
		text := s.Level.String()
		if s.By != "" {
			text += ": " + s.By
		}
		m[string(d)] = text
	}
	return m
}

// Masked gives a listener that passes events on to l with each argument as
// mask gives it. When mask panics, l gets no argument at all.
func Masked(l Listener, mask func(string) string) Listener {
	return func(e Event) {
		e.Argv = masked(e.Argv, mask)
		l(e)
	}
}

func masked(argv []string, mask func(string) string) (out []string) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	out = make([]string, len(argv))
	for i, a := range argv {
		out[i] = mask(a)
	}
	return out
}

// A Queue delivers events to a slow listener, in order, from a goroutine of
// its own. An event that finds it full is dropped and counted: a listener that
// blocks delays no command. What must not be lost, such as an audit record,
// listens without one.
type Queue struct {
	events  chan Event
	dropped atomic.Int64
	mu      sync.RWMutex
	closed  bool
	done    chan struct{}
}

// NewQueue makes a queue of at most size events in front of l.
func NewQueue(l Listener, size int) *Queue {
	q := &Queue{events: make(chan Event, max(size, 1)), done: make(chan struct{})}
	go func() {
		defer close(q.done)
		for e := range q.events {
			tell(l, e)
		}
	}()
	return q
}

// Listen is the Listener that fills the queue.
func (q *Queue) Listen(e Event) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if !q.closed {
		select {
		case q.events <- e:
			return
		default:
		}
	}
	q.dropped.Add(1)
}

// Dropped is how many events were not delivered.
func (q *Queue) Dropped() int64 { return q.dropped.Load() }

// Close takes no more events and waits until those in the queue are delivered
// or ctx ends; then it gives the error of ctx.
func (q *Queue) Close(ctx context.Context) error {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.events)
	}
	q.mu.Unlock()
	select {
	case <-q.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
