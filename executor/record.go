package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/optional"
	"github.com/toolwarrant/toolwarrant/spec"
)

// recordPatience is how long a close record may take once the caller is gone:
// a client that leaves must not be able to lose its record.
const recordPatience = 10 * time.Second

// record writes the one close record of the call and makes the answer. An
// answer whose record cannot be written does not leave.
func (e *Engine) record(ctx context.Context, r *run, failed error) (out Result) {
	defer e.settling(ctx, r, &out)()
	res, body := e.ending(r, fault.From(failed))
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordPatience)
	defer cancel()
	if err := e.closed(detached, body, r); err != nil {
		e.Logger.Error().Str("error", r.logged(err)).Str("cause", r.logged(errors.Unwrap(err))).Str("callId", r.callID).Msg("the close record could not be written; the answer is withheld")
		return Result{CallID: r.callID, Outcome: fault.AuditUnavailable.Outcome(), Err: fault.From(err), Decision: r.decision}
	}
	e.endClaim(detached, r, res)
	return res
}

// ending makes the answer and its record. Where a part panics over it, the
// call ends as an internal failure, with a record that holds only what no
// part has to be asked for.
func (e *Engine) ending(r *run, f *fault.Error) (res Result, body audit.Call) {
	defer func() {
		if p := recover(); p != nil {
			f := e.panicked(r, p)
			res = Result{CallID: r.callID, Outcome: f.Code.Outcome(), Err: f, Decision: r.decision}
			body = r.bareBody(audit.PhaseClose, f)
			body.Outcome, body.Duration, body.Usage = &res.Outcome, r.clock.record(), r.usage
		}
	}()
	if f != nil && f.Code == fault.Internal {
		e.Logger.Error().Str("error", r.logged(f.Unwrap())).Str("callId", r.callID).Msg(r.clipped(f.Message))
	}
	res = Result{
		CallID: r.callID, Outcome: fault.OK, Value: r.value, Err: r.outward(f), Logs: r.logs,
		Decision: r.decision, Usage: r.usage, Note: r.note,
		ApprovalID: r.waitsFor, RetryAfterMs: retryMillis(r.retryAfter),
	}
	if f != nil {
		res.Outcome = f.Code.Outcome()
	}
	body = r.body(e, audit.PhaseClose, f)
	body.Outcome, body.Shadow = &res.Outcome, e.shadowed(r)
	body.Duration = r.clock.record()
	body.Usage, body.Result = r.usage, r.result()
	body.Sandbox = e.recordedCommands(r)
	return res, body
}

// closed writes a close record. Whether one that panics has written it nobody
// knows, so that the answer is withheld then too.
func (e *Engine) closed(ctx context.Context, body audit.Call, r *run) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e.panicked(r, p)
			err = fault.New(fault.AuditUnavailable, "panic", "an internal failure kept the record of call %s from being written; the server's log has it", r.callID)
		}
	}()
	err = e.Audit.Close(ctx, body, e.recordMask(r))
	if err == nil || errors.Is(err, fault.New(fault.AuditUnavailable, "", "")) {
		return err
	}
	return fault.New(fault.AuditUnavailable, "unexpected", "the record of call %s could not be written; the server's log says more", r.callID).Because(err)
}

// panicked notes a panic in the server's log and is what the call ends with.
func (e *Engine) panicked(r *run, p any) *fault.Error {
	e.Logger.Error().Str("callId", r.callID).Str("panic", r.clipped(fmt.Sprint(p))).Bytes("stack", debug.Stack()).Msg("a step of the call panicked")
	return fault.New(fault.Internal, "panic", "an internal failure ended the call; the server's log has it under callId %s", r.callID)
}

// logged is an error as the log of the server may show it: a cause can quote
// what the code or its arguments held.
func (r *run) logged(err error) string {
	if err == nil {
		return ""
	}
	return r.clipped(err.Error())
}

// clipped is a text as the log of the server may show it.
func (r *run) clipped(text string) string {
	if r.private != nil {
		return r.private.clipped(text)
	}
	return r.mask.Clipped(text)
}

// outward is the error as it leaves: masked, without the cause.
func (r *run) outward(f *fault.Error) *fault.Error {
	if f == nil {
		return nil
	}
	out := *f
	out.Message, out.Reason, out.Pointer = r.mask.Clipped(f.Message), r.mask.Clipped(f.Reason), maskedPointer(r.mask, f.Pointer)
	return &out
}

// maskedPointer masks the names in a pointer: escaped as they are in it, they
// would not be found.
func maskedPointer(m *mask.Set, pointer string) string {
	if m.Empty() || pointer == "" {
		return pointer
	}
	var out jsontext.Pointer
	for name := range jsontext.Pointer(pointer).Tokens() {
		out = out.AppendToken(m.String(name))
	}
	return string(out)
}

// bareBody is the part of a record that needs no other part of the engine: a
// call can be recorded with it whatever went wrong.
func (r *run) bareBody(phase audit.Phase, f *fault.Error) audit.Call {
	p := r.in.Principal
	c := audit.Call{
		Phase: phase, CallID: r.callID, RelatedCallID: optional.Of(r.related), TraceID: optional.Of(r.in.TraceID),
		Origin:    r.in.Origin,
		Principal: &audit.Principal{Subject: p.Subject, Method: p.Method, ClientID: p.ClientID, Groups: p.Groups},
		Tool:      &decision.Tool{Name: r.in.Name},
		HITL:      &r.human, RiskSignals: []decision.Signal{}, Reasons: r.reasons(),
		ParamsDigest: optional.Of(r.paramsDigest), TestMode: optional.Of(r.in.TestMode),
	}
	if p.Method == "" { // nobody was authenticated
		c.Principal = nil
		if r.in.Name == "" {
			c.Tool = nil
		}
	}
	if f != nil {
		c.Error = &audit.Error{Code: f.Code, Reason: optional.Of(f.Reason), Message: f.Message}
	}
	if r.decision != nil {
		c.Drop = r.decision.Record.Drop
	}
	return c
}

// body is what every record of this call has in common.
func (r *run) body(e *Engine, phase audit.Phase, f *fault.Error) audit.Call {
	c := r.bareBody(phase, f)
	iso := e.Runtime.Isolation()
	c.Isolation = &iso
	if r.decision == nil {
		e.undecided(r, &c)
	}
	if r.tool != nil {
		s := r.tool.Spec
		c.Tool = &decision.Tool{ToolID: s.ToolID, Name: s.Name, Category: s.Category, SpecDigest: s.Digest()}
	}
	if d := r.decision; d != nil {
		p := e.privately(r)
		c.Params, c.Drop = p.args, p.drop
		if c.Error != nil && len(p.kept) > 0 {
			c.Error.Message = p.clipped(c.Error.Message)
			if workerCodes[c.Error.Code] && c.Error.Reason != nil { // the code of the tool may have chosen it
				c.Error.Reason = optional.Of(p.mask.String(*c.Error.Reason))
			}
		}
		c.Policy = &audit.Policy{Revision: d.PolicyRevision, ProfileChain: d.ProfileChain}
		c.ToolSafety, c.Effective = &d.ToolSafety, &d.EffectivePolicy
		c.RiskLevel, c.RiskSignals = &d.RiskLevel, d.RiskSignals
		c.Decision = r.decided(e, p)
	}
	return c
}

// decided is the decision as the records of this call have it. It is made
// once per decision: ask, open and close repeat it.
func (r *run) decided(e *Engine, p *private) *audit.Decision {
	d := r.decision
	if r.recorded != nil && r.recorded.ID == d.DecisionID {
		return r.recorded
	}
	now := r.decideAt.UTC().Format(time.RFC3339Nano)
	in, err := decision.InputDigest(d.PolicyRevision, d.Tool.SpecDigest, r.in.Principal, r.in.Origin, r.paramsDigest, now, r.standing())
	if err != nil {
		e.Logger.Error().Str("error", r.logged(err)).Str("callId", r.callID).Msg("the policy input has no digest")
	}
	r.recorded = &audit.Decision{ID: d.DecisionID, DecidedAt: d.DecidedAt, InputDigest: in, Input: r.principalInput(p.args), MaskedPointers: []string{}}
	for _, ptr := range p.kept {
		r.recorded.MaskedPointers = append(r.recorded.MaskedPointers, "/params"+ptr, "/decision/input/call/args"+ptr)
	}
	return r.recorded
}

// withholds reports whether the arguments of a call about which nothing was
// decided are kept off the record, since the tool or the operator says that
// some of it is not for the log: which part it is would be for the decision.
func (e *Engine) withholds(r *run) bool {
	if p, ok := e.Policy.(interface{ HidesArguments() bool }); ok && p.HidesArguments() {
		return true
	}
	return r.tool != nil && keepsArgs(r.tool.Spec)
}

// undecided puts the arguments of such a call into its record as they were
// received, or leaves them out, and with them what the error says of them.
func (e *Engine) undecided(r *run, c *audit.Call) {
	if !e.withholds(r) {
		c.Params = r.in.Args
		if r.args != nil {
			c.Params = r.args
		}
		return
	}
	if c.Error != nil && c.Error.Code == fault.InvalidArguments && (c.Error.Reason == nil || !spec.NamesParamsOnly(*c.Error.Reason)) {
		c.Error.Message = "***"
	}
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
