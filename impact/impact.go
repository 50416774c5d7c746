// Package impact says what a change of policy changes: for every tool of a
// catalog (Diff), and for every call of an audit log (Replay).
//
// A third question is answered while calls run: what would another policy
// have said (Judge)? A server records it, and Shadow counts the records.
//
// It decides nothing. The questions are put to package resolver, once under
// each policy, and the two answers are compared by one table (dimensions.go),
// which is the only place that says what "wider" means. It imports resolver,
// audit and the vocabulary below them; services, the command line and whoever
// else has two decisions to compare may import it.
//
// Threat model. A reviewer relies on "nothing is widened". So whatever cannot
// be compared is not passed over: a policy that cannot decide is an error,
// two lists of which neither holds the other are reported as wider and
// tighter at once, and a recorded call that cannot be decided again the way it
// was decided then is counted as such, with the reason.
package impact

import (
	"context"
	"errors"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Direction says what a change means for what tools may do.
type Direction string

// The directions. Changed is a change that permits neither more nor less.
const (
	Widened   Direction = "widened"
	Tightened Direction = "tightened"
	Changed   Direction = "changed"
)

// Opposite is the direction of the change back.
func (d Direction) Opposite() Direction {
	switch d {
	case Widened:
		return Tightened
	case Tightened:
		return Widened
	}
	return Changed
}

// Change is one difference between two answers.
type Change struct {
	Path      string    `json:"path"` // as in a decision, joined by dots
	Old       any       `json:"old"`  // null where there was nothing
	New       any       `json:"new"`
	Direction Direction `json:"direction"`
	// Added and Removed are the entries of a list that came and went. A list
	// that is wider and tighter at once is two changes, each with the entries
	// that make it one. Absent for a single value.
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// Answer is what one policy says about one tool for one caller.
type Answer struct {
	// Decision is nil where the layers reject the tool.
	Decision *decision.Decision
	// Rejected says why they do.
	Rejected []decision.Reason
	// Visible says whether the tool is there for the caller at all.
	Visible bool
}

// AnswerOf reads what Resolve gave. Only a rejection is an answer among the
// errors: a policy that cannot decide has none.
func AnswerOf(d *decision.Decision, err error, visible bool) (Answer, error) {
	if err == nil {
		return Answer{Decision: d, Visible: visible}, nil
	}
	var rejected *resolver.Rejection
	if !errors.As(err, &rejected) {
		return Answer{}, err
	}
	a := Answer{Visible: visible}
	for _, f := range rejected.All {
		a.Rejected = append(a.Rejected, decision.Reason{ID: f.Reason, Message: f.Message, Path: f.Pointer})
	}
	return a, nil
}

// CallAnswer is AnswerOf for a call of a tool that is there. A policy that
// fails over a call refuses it; but one that ran out of time says nothing.
func CallAnswer(d *decision.Decision, err error) (Answer, error) {
	if f := fault.From(err); f != nil && f.Code == fault.PolicyUnavailable && f.Reason != "eval-timeout" && f.Reason != "canceled" {
		return Answer{Rejected: []decision.Reason{{ID: f.Reason, Message: f.Message}}, Visible: true}, nil
	}
	return AnswerOf(d, err, true)
}

// Hidden is the id of the reason where a policy hides a tool by no rule that
// denies it too.
const Hidden = "hidden"

// Decider is a policy that is asked about calls. *resolver.Resolver is one.
type Decider interface {
	Visible(ctx context.Context, p decision.Principal, tools []resolver.Tool) ([]bool, error)
	Resolve(ctx context.Context, req resolver.Request) (*decision.Decision, error)
}

// WholeAnswer is what a policy makes of a call from its lookup on, and the
// revision that said so, "" where the answer does not tell. A tool that is not
// there runs for nobody, whatever else is decided.
func WholeAnswer(ctx context.Context, p Decider, req resolver.Request) (Answer, string, error) {
	seen, err := p.Visible(ctx, req.Principal, []resolver.Tool{req.Tool})
	if err != nil {
		return Answer{}, "", err
	}
	visible := len(seen) == 1 && seen[0]
	d, err := p.Resolve(ctx, req)
	a, err := AnswerOf(d, err, visible)
	if err != nil || a.Decision == nil {
		return a, "", err
	}
	revision := d.PolicyRevision
	if !visible {
		a.Decision, a.Rejected = nil, d.Reasons
		if len(a.Rejected) == 0 {
			a.Rejected = []decision.Reason{{ID: Hidden}}
		}
	}
	return a, revision, nil
}

func (a Answer) allow() bool { return a.Decision != nil && a.Decision.Allow }

// reasons are why nothing may run, of a denial and of a rejection alike.
func (a Answer) reasons() []decision.Reason {
	if a.Decision == nil {
		return a.Rejected
	}
	return a.Decision.Reasons
}

// Gate is what a caller refuses: nothing, a widening, or any change.
type Gate string

// The gates.
const (
	GateNone     Gate = "none"
	GateWidening Gate = "widening"
	GateAny      Gate = "any"
)

// ParseGate reads the value of --fail-on.
func ParseGate(s string) (Gate, error) {
	switch g := Gate(s); g {
	case GateNone, GateWidening, GateAny:
		return g, nil
	}
	return GateNone, fault.New(fault.Usage, "fail-on", "unknown gate %q; want one of widening, any, none", s)
}

// Refuses reports whether a result with these changes does not pass.
func (g Gate) Refuses(widened, any bool) bool {
	return g == GateWidening && widened || g == GateAny && any
}
