package sandbox

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// late is how much longer than its deadline a probe may take before the Set
// goes on without it.
const late = time.Second

// A member is a back end in a Set, with its last probe. A probe belongs to the
// Set and not to the caller who happened to ask first: the end of that
// caller's context must not become a failed probe for the others.
type member struct {
	Factory
	set *Set

	mu      sync.Mutex
	running chan struct{} // closed at the end of the probe; nil = none runs
	last    Availability
	until   time.Time // last counts until then
}

// begin starts a probe, unless one runs or the last one counts. It gives the
// channel to wait on, or nil.
func (m *member) begin() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running != nil {
		return m.running
	}
	if time.Now().Before(m.until) || m.set.ctx.Err() != nil {
		return nil
	}
	done := make(chan struct{})
	m.running = done
	m.set.probes.Go(func() {
		a := m.probe()
		m.mu.Lock()
		defer m.mu.Unlock()
		keep := m.set.opts.Keep
		if !a.OK {
			keep = m.set.opts.KeepFailed
		}
		m.last, m.until, m.running = a, time.Now().Add(keep), nil
		close(done)
	})
	return done
}

// probe is one probe with its deadline. What a probe does wrong, a panic or
// an answer that never comes, is a reason like others.
func (m *member) probe() Availability {
	ctx, cancel := context.WithTimeout(m.set.ctx, m.set.opts.ProbeTimeout)
	defer cancel()
	began := time.Now()
	answer := make(chan Availability, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				answer <- Availability{Reason: fmt.Sprintf("the probe panicked: %v", r)}
			}
		}()
		answer <- m.Probe(ctx)
	}()
	overdue := make(<-chan time.Time)
	ended := ctx.Done()
	for {
		select {
		case a := <-answer:
			a.Took = time.Since(began)
			return a
		case <-ended:
			ended = nil
			t := time.NewTimer(late)
			defer t.Stop()
			overdue = t.C
		case <-overdue:
			return Availability{Reason: "the probe did not end within " + m.set.opts.ProbeTimeout.String(), Took: time.Since(began)}
		}
	}
}

// wait gives what the probe says, from the last one where that counts. Each
// time that it has waited for the time of hedge it starts a probe of the next
// of others.
func (m *member) wait(ctx context.Context, others []*member) Availability {
	done := m.begin()
	if done != nil {
		next := time.NewTicker(hedge)
		defer next.Stop()
	waiting:
		for {
			select {
			case <-done:
				break waiting
			case <-ctx.Done():
				return Availability{Reason: "the probe had not ended when its caller gave up"}
			case <-next.C:
				if len(others) > 0 {
					others[0].begin()
					others = others[1:]
				}
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.until.IsZero() {
		return Availability{Reason: "the set of back ends is closed"}
	}
	a := m.last
	a.Enforcement = a.Enforcement.Clone()
	return a
}
