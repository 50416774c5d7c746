package executor

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// recordPatience is how long a close record may take once the caller is gone:
// a client that leaves must not be able to lose its record.
const recordPatience = 10 * time.Second

// record writes the one close record of the call and makes the answer. An
// answer whose record cannot be written does not leave.
func (e *Engine) record(ctx context.Context, r *run, failed error) Result {
	f := fault.From(failed)
	if f != nil && f.Code == fault.Internal {
		e.Logger.Error().Str("error", r.logged(f.Unwrap())).Str("callId", r.callID).Msg(r.mask.Clipped(f.Message))
	}
	res := Result{
		CallID: r.callID, Outcome: fault.OK, Value: r.value, Err: r.outward(f), Logs: r.logs,
		Decision: r.decision, Pending: r.pending, Usage: r.usage,
	}
	if f != nil {
		res.Outcome = f.Code.Outcome()
	}
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordPatience)
	defer cancel()
	body := r.body(e, audit.PhaseClose, f)
	body.Outcome, body.Shadow = &res.Outcome, e.shadowed(r)
	body.Duration = r.clock.record()
	body.Usage, body.Result = r.usage, resultDigest(r.value)
	if err := e.Audit.Close(detached, body, r.mask); err != nil {
		af := fault.From(err)
		e.Logger.Error().Str("error", r.logged(err)).Str("callId", r.callID).Msg("the close record could not be written; the answer is withheld")
		return Result{CallID: r.callID, Outcome: fault.AuditUnavailable.Outcome(), Err: af, Decision: r.decision}
	}
	return res
}

// logged is an error as the log of the server may show it: a cause can quote
// what the code or its arguments held.
func (r *run) logged(err error) string {
	if err == nil {
		return ""
	}
	return r.mask.Clipped(err.Error())
}

// outward is the error as it leaves: masked, without the cause.
func (r *run) outward(f *fault.Error) *fault.Error {
	if f == nil {
		return nil
	}
	out := *f
	out.Message, out.Reason, out.Pointer = r.mask.Clipped(f.Message), r.mask.Clipped(f.Reason), r.mask.String(f.Pointer)
	return &out
}

// body is what every record of this call has in common.
func (r *run) body(e *Engine, phase audit.Phase, f *fault.Error) audit.Call {
	p := r.in.Principal
	iso := e.Runtime.Isolation()
	c := audit.Call{
		Phase: phase, CallID: r.callID, RelatedCallID: optional(r.related), TraceID: optional(r.in.TraceID),
		Origin:    r.in.Origin,
		Principal: &audit.Principal{Subject: p.Subject, Method: p.Method, ClientID: p.ClientID, Groups: p.Groups},
		Tool:      &decision.Tool{Name: r.in.Name},
		HITL:      &r.human, RiskSignals: []decision.Signal{}, Reasons: r.reasons(),
		ParamsDigest: optional(r.paramsDigest), Isolation: &iso,
	}
	var kept []string
	c.Params, kept = r.loggedArgs()
	if r.tool != nil {
		s := r.tool.Spec
		c.Tool = &decision.Tool{ToolID: s.ToolID, Name: s.Name, Category: s.Category, SpecDigest: s.Digest()}
	}
	if d := r.decision; d != nil {
		c.Policy = &audit.Policy{Revision: d.PolicyRevision, ProfileChain: d.ProfileChain}
		c.ToolSafety, c.Effective = &d.ToolSafety, &d.EffectivePolicy
		c.RiskLevel, c.RiskSignals = &d.RiskLevel, d.RiskSignals
		c.Decision = r.decided(e, c.Params, kept)
	}
	if f != nil {
		c.Error = &audit.Error{Code: f.Code, Reason: optional(f.Reason), Message: f.Message}
	}
	return c
}

// decided is the decision as the records of this call have it. It is made
// once per decision: ask, open and close repeat it.
func (r *run) decided(e *Engine, args json.RawMessage, kept []string) *audit.Decision {
	d := r.decision
	if r.recorded != nil && r.recorded.ID == d.DecisionID {
		return r.recorded
	}
	now := r.decideAt.UTC().Format(time.RFC3339Nano)
	in, err := decision.InputDigest(d.PolicyRevision, d.Tool.SpecDigest, r.in.Principal, r.in.Origin, r.paramsDigest, now, nil)
	if err != nil {
		e.Logger.Error().Str("error", r.logged(err)).Str("callId", r.callID).Msg("the policy input has no digest")
	}
	r.recorded = &audit.Decision{ID: d.DecisionID, DecidedAt: d.DecidedAt, InputDigest: in, Input: r.principalInput(args), MaskedPointers: []string{}}
	for _, name := range kept {
		ptr := string(jsontext.Pointer("").AppendToken(name))
		r.recorded.MaskedPointers = append(r.recorded.MaskedPointers, "/params"+ptr, "/decision/input/call/args"+ptr)
	}
	return r.recorded
}

// loggedArgs are the arguments without those that the policy keeps out. What
// came before there was a decision is kept as it was received, unless the
// tool says that some of it is not for the log.
func (r *run) loggedArgs() (json.RawMessage, []string) {
	args := r.in.Args
	if r.args != nil {
		args = r.args
	}
	switch {
	case r.decision != nil:
		return redact(args, r.decision.Mask)
	case r.tool != nil && keepsArgs(r.tool.Spec):
		return nil, nil
	}
	return args, nil
}

// keepsArgs reports whether a tool says that some argument is not for the log.
func keepsArgs(s *spec.Spec) bool {
	return slices.ContainsFunc(s.Extra, func(f spec.Field) bool { return f.Name == "x-toolwarrant-mask" })
}

func (r *run) reasons() []decision.Reason {
	switch {
	case r.hidden != nil:
		return r.hidden
	case r.decision != nil && r.decision.Reasons != nil:
		return r.decision.Reasons
	}
	return []decision.Reason{}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
