package impact

import (
	"context"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// A record holds a part of a decision: the verdict, the level, the grants, and
// how it asked for approval. The rest (limits, isolation, mask, who may approve
// and for how long) is what the policy of then says again. What the record does
// hold goes before that: it is what was.

// asAnswer is what a record says was decided.
func asAnswer(rec audit.Record) Answer {
	return Answer{Decision: recorded(&decision.Decision{}, rec), Visible: true}
}

// recorded puts what a record holds in the place of what d says.
func recorded(d *decision.Decision, rec audit.Record) *decision.Decision {
	out := *d
	out.Allow, out.Reasons = len(rec.Reasons) == 0, ids(rec.Reasons)
	out.RiskSignals, out.ProfileChain = rec.RiskSignals, rec.Policy.ProfileChain
	if rec.RiskLevel != nil {
		out.RiskLevel = *rec.RiskLevel
	}
	if rec.Effective != nil {
		out.EffectivePolicy = *rec.Effective
		out.EffectivePolicy.FS.BasePath = d.EffectivePolicy.FS.BasePath // the installation's, not the policy's
	}
	if approvalKnown(rec) {
		h := &out.HumanInTheLoop
		h.Mode = rec.HITL.Mode
		if rec.HITL.RuleID != nil {
			h.RuleID = *rec.HITL.RuleID
		}
		if rec.HITL.FourEyes != nil {
			h.Approvers.FourEyes = *rec.HITL.FourEyes
		}
	}
	return &out
}

// approvalKnown: a call that ended before anybody could be asked does not
// tell whether somebody would have been.
func approvalKnown(rec audit.Record) bool {
	if rec.HITL == nil || rec.HITL.Mode == "" || len(rec.Reasons) > 0 {
		return false
	}
	return rec.HITL.RuleID != nil || rec.HITL.Outcome != audit.HITLNotRequired || rec.Outcome != nil && *rec.Outcome != fault.Denied
}

// kept is what a record would keep of an answer, so that both have the same
// parts.
func kept(a Answer, rec audit.Record) Answer {
	if a.Decision == nil {
		a.Rejected = ids(a.Rejected)
		return a
	}
	d := a.Decision
	out := &decision.Decision{
		Allow: d.Allow, RiskLevel: d.RiskLevel, RiskSignals: d.RiskSignals, Reasons: ids(d.Reasons),
		ProfileChain: d.ProfileChain, EffectivePolicy: d.EffectivePolicy,
	}
	out.EffectivePolicy.FS.BasePath = ""
	if approvalKnown(rec) {
		h := &out.HumanInTheLoop
		h.Mode = d.HumanInTheLoop.Mode
		if rec.HITL.RuleID != nil {
			h.RuleID = d.HumanInTheLoop.RuleID
		}
		if rec.HITL.FourEyes != nil {
			h.Approvers.FourEyes = d.HumanInTheLoop.Approvers.FourEyes
		}
	}
	return Answer{Decision: out, Visible: a.Visible}
}

// ids leaves the texts out: a record masks and cuts them.
func ids(list []decision.Reason) []decision.Reason {
	out := make([]decision.Reason, len(list))
	for i, r := range list {
		out[i] = decision.Reason{ID: r.ID}
	}
	return out
}

// sides gives the two answers to compare for a call that was decided again.
// Where the policy of then cannot be asked they have what the record holds, and
// the gap says why.
func (r *replay) sides(ctx context.Context, rec audit.Record, req resolver.Request, hidden []string, after Answer) (Answer, Answer, *Gap, error) {
	if r.options.Policy == nil { // that policy gave after: the record is all there is beside it
		return asAnswer(rec), kept(after, rec), nil, nil
	}
	then, gap, err := after.Decision, (*Gap)(nil), error(nil)
	if then == nil || r.options.Policy.Revision() != rec.Policy.Revision {
		then, gap, err = r.then(ctx, rec, req, hidden)
	}
	if err != nil || gap != nil {
		return asAnswer(rec), kept(after, rec), gap, err
	}
	if after.Decision == nil {
		after.Rejected = ids(after.Rejected)
	} else {
		d := *after.Decision
		d.Reasons = ids(d.Reasons)
		after.Decision = &d
	}
	return Answer{Decision: recorded(then, rec), Visible: true}, after, nil, nil
}

// then is what the policy that decided a recorded call says of it again, or
// why that is not known.
func (r *replay) then(ctx context.Context, rec audit.Record, req resolver.Request, hidden []string) (*decision.Decision, *Gap, error) {
	p, gap, err := r.policyOfThen(ctx, rec.Policy.Revision)
	if err != nil || gap != nil {
		return nil, gap, err
	}
	a, read, err := decideAgain(ctx, p, req, hidden, true)
	if err != nil && ctx.Err() != nil {
		return nil, nil, err
	}
	if len(read) > 0 {
		g := gapOf("masked", inputPointer+read[0], "a rule of the policy of then reads a value that the log does not have")
		return nil, &g, nil
	}
	if err != nil || a.Decision == nil {
		g := gapOf("policy-unusable", "/decision", "the policy of then gives no decision any more")
		return nil, &g, nil
	}
	return a.Decision, nil, nil
}

// policyOfThen is the policy of a revision. One that does not compile here is
// tried once.
func (r *replay) policyOfThen(ctx context.Context, revision string) (*resolver.Resolver, *Gap, error) {
	if r.options.Policy.Revision() == revision {
		return r.options.Policy, nil, nil
	}
	if why, known := r.unusable[revision]; known {
		g := gapOf("policy-unusable", "/policy/revision", why)
		return nil, &g, nil
	}
	p, gap, err := r.recordedPolicy(ctx, revision)
	if err == nil || ctx.Err() != nil {
		return p, gap, err
	}
	why := "the policy of this revision cannot be asked: " + fault.From(err).Message
	if len(r.unusable) < maxRows {
		r.unusable[revision] = why
	}
	g := gapOf("policy-unusable", "/policy/revision", why)
	return nil, &g, nil
}

// unrecorded names the dimensions that a record does not hold.
func unrecorded(rec audit.Record) []string {
	out := []string{"limits", "isolation.minimum", "mask", approvers + "groups", "humanInTheLoop.channels",
		"humanInTheLoop.expirySeconds", "humanInTheLoop.outOfBandExpirySeconds", "humanInTheLoop.prompt"}
	if !approvalKnown(rec) {
		out = append(out, approvalMode)
	}
	if !approvalKnown(rec) || rec.HITL.FourEyes == nil {
		out = append(out, approvers+"fourEyes")
	}
	return out
}

// ownRun reports whether an author ran an own document, which nobody has to
// see.
func ownRun(rec audit.Record) bool {
	return rec.Origin == decision.OriginCLITest || rec.HITL != nil && rec.HITL.Outcome == audit.HITLOwnTest
}

// masked is a policy that is asked with an input of which parts are not known.
type masked struct {
	policy *resolver.Resolver
	hidden []string // pointers into the input
	read   []string // those at which it looked
}

// Visible is of Decider, for one tool.
func (m *masked) Visible(ctx context.Context, p decision.Principal, tools []resolver.Tool) ([]bool, error) {
	seen, read, err := m.policy.VisibleHidden(ctx, p, tools[0], m.hidden)
	m.read = append(m.read, read...)
	return []bool{seen}, err
}

// Resolve is of Decider.
func (m *masked) Resolve(ctx context.Context, req resolver.Request) (*decision.Decision, error) {
	d, read, err := m.policy.ResolveHidden(ctx, req, m.hidden)
	m.read = append(m.read, read...)
	return d, err
}

// decideAgain gives the answer of a policy to a recorded call, as the executor
// would have it: first whether the caller sees the tool at all, unless own.
// read are those of the hidden parts of the input at which the policy looked.
func decideAgain(ctx context.Context, p *resolver.Resolver, req resolver.Request, hidden []string, own bool) (Answer, []string, error) {
	var asked Decider = p
	m := &masked{policy: p, hidden: hidden}
	if len(hidden) > 0 {
		asked = m
	}
	if own {
		d, err := asked.Resolve(ctx, req)
		a, err := CallAnswer(d, err)
		return a, m.read, err
	}
	a, _, err := WholeAnswer(ctx, asked, req)
	if err != nil {
		a, err = CallAnswer(nil, err)
	}
	return a, m.read, err
}
