package executor

import (
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Ended is what a Meter learns of a call that is settled: words of this
// program, the name of a tool of the catalog, and times. Nothing of what the
// caller sent is in it. Reason can stem from the code of a tool.
type Ended struct {
	Tool      string // "" where there is none of that name
	Origin    decision.Origin
	Outcome   fault.Outcome
	Code      fault.Code // "" where the outcome is OK
	Reason    string
	RiskLevel string // "" where nothing was decided
	// Decided, Asked and Ran say whether the call came to that step; the times
	// of the others are 0.
	Decided, Asked, Ran             bool
	Decide, Approve, Execute, Total time.Duration
	// Record is how long the close record took.
	Record time.Duration
}

// Meter counts settled calls. It is safe for concurrent use.
type Meter interface {
	Ended(Ended)
}

// measure tells the Meter about a settled call. One that panics costs the call
// nothing: its record is written.
func (e *Engine) measure(r *run, res Result) {
	if e.Meter == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			e.panicked(r, p)
		}
	}()
	m := Ended{
		Origin: r.in.Origin, Outcome: res.Outcome, Decided: r.decision != nil, Asked: r.human.Channel != nil, Ran: r.opened,
		Decide: r.clock.decide, Approve: r.clock.approve, Execute: r.clock.execute, Total: time.Since(r.clock.began), Record: r.clock.recording,
	}
	if r.tool != nil && r.hidden == nil {
		m.Tool = r.tool.Spec.Name
	}
	if res.Err != nil {
		m.Code, m.Reason = res.Err.Code, res.Err.Reason
	}
	if r.decision != nil {
		m.RiskLevel = r.decision.RiskLevel
	}
	e.Meter.Ended(m)
}

// settling measures the record of a call, and ends with it what is measured of
// the call.
func (e *Engine) settling(ctx context.Context, r *run, res *Result) (done func()) {
	recorded, ended := r.clock.track(&r.clock.recording), r.begins(ctx, "record")
	return func() {
		recorded()
		ended()
		r.endTrace(*res)
		e.measure(r, *res)
	}
}

// retryMillis rounds up: who comes back a part of a millisecond early is refused
// again.
func retryMillis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }
