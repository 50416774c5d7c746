package approval

import (
	"context"
	"sync"
	"time"
)

// EventKind is what happened to a question.
type EventKind string

// The kinds of events.
const (
	EventAsked   EventKind = "asked"   // somebody is asked
	EventSettled EventKind = "settled" // it is answered, or its time is over: see State
	EventUsed    EventKind = "used"    // the accepted call runs
	EventEnded   EventKind = "ended"   // the accepted call has ended
)

// Event is one change of one question.
type Event struct {
	Kind    EventKind
	Pending Pending // as it is now; it may have changed again since
}

// feedBuffer is how far a subscriber may fall behind.
const feedBuffer = 256

// Feed tells what happens to the questions of a store, also what other
// processes do to them. Safe for concurrent use.
type Feed struct {
	gate *Gate

	known map[string]seen // of whoever looks

	mu          sync.Mutex
	subscribers map[chan Event]struct{}
}

// NewFeed makes a feed. It tells nothing until Run runs: first Prime, then Run.
func NewFeed(g *Gate) *Feed {
	return &Feed{gate: g, subscribers: map[chan Event]struct{}{}}
}

// Subscribe gives the events from now on, until ctx ends. The channel is
// closed then, and also when its reader is so slow that events would have to
// be left out: it has to list the questions anew and subscribe again.
func (f *Feed) Subscribe(ctx context.Context) <-chan Event {
	c := make(chan Event, feedBuffer)
	f.mu.Lock()
	f.subscribers[c] = struct{}{}
	f.mu.Unlock()
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.drop(c)
	})
	return c
}

// drop ends a subscription. mu is held.
func (f *Feed) drop(c chan Event) {
	if _, ok := f.subscribers[c]; ok {
		delete(f.subscribers, c)
		close(c)
	}
}

func (f *Feed) tell(kind EventKind, p Pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.subscribers {
		select {
		case c <- Event{kind, p}:
		default:
			f.drop(c)
		}
	}
}

// Prime takes notice of what is there: none of it is an event.
func (f *Feed) Prime(ctx context.Context) {
	if f.known = f.look(ctx, nil, nil); f.known == nil {
		f.known = map[string]seen{}
	}
}

// Run looks after each change of this process, and every so often for those
// of others, until ctx ends. failed gets why the store cannot be listed; it
// may be nil. Only one Run may run for each Gate.
func (f *Feed) Run(ctx context.Context, every time.Duration, failed func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-f.gate.changed:
		}
		f.known = f.look(ctx, f.known, failed)
	}
}

// seen is what the feed has told of a question.
type seen struct {
	state State
	ended bool
}

// look tells what is new. known is nil at first.
func (f *Feed) look(ctx context.Context, known map[string]seen, failed func(error)) map[string]seen {
	all, err := f.gate.List(ctx)
	if err != nil && ctx.Err() == nil && failed != nil {
		failed(err)
	}
	if err != nil && len(all) == 0 {
		return known
	}
	next := make(map[string]seen, len(all))
	for _, p := range all {
		is := seen{p.State, p.Outcome != nil}
		next[p.ID] = is
		was, old := known[p.ID]
		if known == nil || was == is {
			continue
		}
		if !old {
			f.tell(EventAsked, p)
			was = seen{state: StatePending}
		}
		f.steps(was, is, p)
	}
	if err != nil { // what cannot be read now is not forgotten
		for id, s := range known {
			if _, ok := next[id]; !ok {
				next[id] = s
			}
		}
	}
	return next
}

// steps tells what lies between two looks at a question.
func (f *Feed) steps(was, is seen, p Pending) {
	if was.state == StatePending && is.state != StatePending {
		f.tell(EventSettled, p)
	} else if was.state == StateAccepted && is.state != StateAccepted && is.state != StateConsumed {
		f.tell(EventSettled, p) // refused or expired after all
	}
	if is.state == StateConsumed && was.state != StateConsumed {
		f.tell(EventUsed, p)
	}
	if is.ended && !was.ended {
		f.tell(EventEnded, p)
	}
}

// telling is a store that says when this process changed it.
type telling struct {
	Store
	changed chan struct{}
}

func (t telling) note(err error) {
	if err != nil {
		return
	}
	select {
	case t.changed <- struct{}{}:
	default: // somebody is going to look anyway
	}
}

// Create stores p.
func (t telling) Create(ctx context.Context, p Pending) error {
	err := t.Store.Create(ctx, p)
	t.note(err)
	return err
}

// Transition moves id from one state to another.
func (t telling) Transition(ctx context.Context, id string, from, to State, change func(*Pending)) (Pending, error) {
	p, err := t.Store.Transition(ctx, id, from, to, change)
	t.note(err)
	return p, err
}
