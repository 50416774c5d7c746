package executor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
)

// approve lets the call through only when a human accepted exactly it, or
// when the decision asks for none.
func (e *Engine) approve(ctx context.Context, r *run) error {
	h := r.decision.HumanInTheLoop
	r.human.Mode, r.human.RuleID, r.human.FourEyes = h.Mode, &h.RuleID, &h.Approvers.FourEyes
	if r.in.State != "" {
		// The client says that it was asked. Whatever the policy asks now, a
		// state that does not belong to this call is refused.
		return e.resume(ctx, r)
	}
	switch {
	case r.ownRun():
		r.human.Outcome = audit.HITLOwnTest
		return nil
	case h.Required():
	case h.AutoApproved:
		r.human.Outcome = audit.HITLAutoApproved
		return nil
	default:
		return nil
	}
	binding, err := r.binding()
	if err != nil {
		return err
	}
	// Asking a human who may not accept would only teach them to say yes.
	inBand := r.in.Asker != nil && slices.Contains(h.Channels, r.in.Asker.Channel()) && approval.MayAccept(r.in.Principal, h.Approvers)
	if !inBand {
		if !slices.Contains(h.Channels, approval.ChannelOutOfBand) {
			return r.refused(audit.HITLUnsupported, approval.Denied(approval.ReasonUnsupported))
		}
		return e.outOfBand(ctx, r, binding)
	}
	channel := r.in.Asker.Channel()
	expiry := time.Duration(h.ExpirySeconds) * time.Second
	p, err := e.pose(ctx, r, binding, channel, expiry)
	if err != nil {
		return err
	}
	defer r.clock.track(&r.clock.approve)()
	asking, cancel := context.WithTimeout(ctx, expiry)
	defer cancel()
	answer, err := r.in.Asker.Ask(asking, p.Question)
	switch {
	case asking.Err() != nil && ctx.Err() == nil:
		answer.Action = approval.ActionTimeout
	case errors.Is(err, approval.ErrStopping):
		return e.unasked(ctx, r, p, err)
	case err != nil:
		e.Logger.Warn().Str("error", r.logged(err)).Str("callId", r.callID).Str("channel", channel).Msg("asking for approval failed")
		answer.Action = approval.ActionCancel
	case answer.Action == approval.ActionDeferred:
		state, err := e.Approvals.Seal(p)
		if err != nil {
			return err
		}
		r.ask = &InputRequired{State: state, Prompt: p.Question.Prompt, ExpirySeconds: h.ExpirySeconds}
		return errSuspended
	}
	return e.settle(ctx, r, p, answer.Action, answer.Approver)
}

const (
	// maxPrompt bounds what a human is asked to read, and what is kept of it.
	maxPrompt = 256 << 10
	// maxWaiting bounds the out-of-band questions of one caller.
	maxWaiting = 100
)

// pose records the question and then keeps it: nobody is asked anything that
// is not on record.
func (e *Engine) pose(ctx context.Context, r *run, b approval.Binding, channel string, expiry time.Duration) (approval.Pending, error) {
	q := e.question(r)
	if len(q.Prompt) > maxPrompt {
		return approval.Pending{}, r.refused(audit.HITLUnsupported, fault.New(fault.ApprovalDenied, "too-large",
			"The arguments are too large for a human to look at (%d bytes, at most %d). The tool was not run.", len(q.Prompt), maxPrompt))
	}
	r.human.Channel, r.human.PromptDigest = &channel, &q.PromptDigest
	r.human.Outcome = audit.HITLPending
	expires := e.Now().Add(expiry).UTC().Format(time.RFC3339Nano)
	r.human.ExpiresAt = &expires
	body := r.body(e, audit.PhaseAsk, nil)
	if err := e.Audit.Ask(ctx, body, e.recordMask(r)); err != nil {
		return approval.Pending{}, err
	}
	p, err := e.Approvals.Pose(ctx, approval.Posed{
		Binding: b, Question: q, Channel: channel, Approvers: r.decision.HumanInTheLoop.Approvers, Origin: r.in.Origin, Expiry: expiry,
	})
	if err != nil {
		e.Logger.Error().Str("error", r.logged(err)).Str("callId", r.callID).Msg("the question could not be kept")
		return p, r.refused(audit.HITLUnsupported, unreachable(err))
	}
	return p, nil
}

// question is what the human sees: every argument, masked, with characters
// that hide or reorder text made visible.
func (e *Engine) question(r *run) approval.Question {
	args := "(the arguments could not be masked and are not shown)"
	if masked, _, err := r.mask.JSON(r.args); err == nil {
		args = string(masked)
	}
	prompt := approval.Prompt(r.decision.HumanInTheLoop.Prompt, r.tool.Spec.Name, args, r.decision.RiskLevel)
	return approval.Question{
		Tool: r.tool.Spec.Name, Prompt: prompt, Args: mask.Visible(args), ArgsDigest: r.paramsDigest,
		RiskLevel: r.decision.RiskLevel, RiskSignals: r.decision.RiskSignals,
		PromptDigest: digest.Bytes([]byte(prompt)),
	}
}

// settle takes a human's answer, decides again under the policy now in force
// and claims the acceptance.
func (e *Engine) settle(ctx context.Context, r *run, p approval.Pending, action approval.Action, by approval.Approver) error {
	// A client that leaves while it is asked must not leave its question open.
	ctx = context.WithoutCancel(ctx)
	r.humanAnswered(p, by, e.Now())
	if _, err := e.Approvals.Conclude(ctx, p.ID, action, by); err != nil {
		return r.approvalFault(err)
	}
	r.human.Outcome = audit.HITLMismatch // until it is known to be the same
	if err := e.decide(ctx, r); err != nil {
		return err
	}
	b, err := r.binding()
	if err != nil {
		return err
	}
	if _, err := e.Approvals.Consume(ctx, p.ID, b); err != nil {
		return r.approvalFault(err)
	}
	r.human.Outcome = audit.HITLAccepted
	return nil
}

// unasked ends a call whose human could not answer because the process stops.
// It is no refusal: nobody has said anything, and the next process can ask.
func (e *Engine) unasked(ctx context.Context, r *run, p approval.Pending, cause error) error {
	r.humanAnswered(p, approval.Approver{}, e.Now())
	r.human.Approver = nil
	if _, err := e.Approvals.Settle(context.WithoutCancel(ctx), p.ID, approval.ActionCancel, approval.Approver{}); err != nil {
		return r.approvalFault(err)
	}
	return r.refused(audit.HITLCancelled, fault.New(fault.Interrupted, "stopping",
		"the server stopped before anybody answered the question about this call; the tool was not run; call it again in a moment").Because(cause))
}

// resume is the second request of a call whose client asked its human. This
// request was decided anew a moment ago, so that a policy that changed since
// the question was put is a mismatch.
func (e *Engine) resume(ctx context.Context, r *run) error {
	defer r.clock.track(&r.clock.approve)()
	b, err := r.binding()
	if err != nil {
		return err
	}
	by := approval.Approver{Subject: r.in.Principal.Subject, Groups: r.in.Principal.Groups, Method: approval.ChannelInputRequired}
	p, err := e.Approvals.Redeem(ctx, r.in.State, b, r.in.Answer, by)
	var waits *approval.NotAcceptedError
	switch {
	case err == nil:
		r.human.Outcome = audit.HITLAccepted
	case approval.Ended(err):
		// This very attempt ended the question: it closes the call that asked.
	case errors.As(err, &waits) && waits.State == approval.StatePending:
		// The client came back without an answer: the question still stands.
		r.callID, r.ask = p.Binding.CallID, &InputRequired{
			State: r.in.State, Prompt: p.Question.Prompt, ExpirySeconds: int64(time.Until(p.Binding.ExpiresAt).Seconds()),
		}
		return errSuspended
	default:
		// A call of its own: the rightful retry of the other one still works.
		r.related = p.Binding.CallID
		return r.approvalFault(err)
	}
	r.callID = p.Binding.CallID
	if p.Approver != nil {
		by = *p.Approver
	}
	r.humanAnswered(p, by, e.Now())
	return r.approvalFault(err)
}

// binding is what an acceptance of this request would be tied to.
func (r *run) binding() (approval.Binding, error) {
	dd, err := r.decision.Digest()
	if err != nil {
		return approval.Binding{}, err
	}
	return approval.Binding{
		CallID: r.callID, ToolID: r.tool.Spec.ToolID, SpecDigest: r.tool.Spec.Digest(),
		ParamsDigest: r.paramsDigest, Principal: r.in.Principal, DecisionDigest: dd, Rekeyed: r.rekeyed,
	}, nil
}

func (r *run) humanAnswered(p approval.Pending, by approval.Approver, at time.Time) {
	elapsed := at.Sub(p.CreatedAt).Milliseconds()
	r.human.Approver, r.human.Channel = &by.Subject, &p.Channel
	shown := p.Shown().PromptDigest
	r.human.ElapsedMs, r.human.PromptDigest = &elapsed, &shown
	r.human.ExpiresAt = nil
}

// refused ends the call without running it.
func (r *run) refused(o audit.HITLOutcome, f *fault.Error) error {
	r.human.Outcome = o
	return f
}

// humanOutcomes says what a refusal means in the record.
var humanOutcomes = map[string]audit.HITLOutcome{
	approval.ReasonDeclined: audit.HITLDeclined, approval.ReasonCancelled: audit.HITLCancelled,
	approval.ReasonTimeout: audit.HITLTimeout, approval.ReasonUnsupported: audit.HITLUnsupported,
	approval.ReasonMismatch: audit.HITLMismatch, approval.ReasonExpired: audit.HITLExpired,
}

// approvalFault maps what the approval gate says to the record and the wire.
// Whatever it cannot say, such as a store that cannot be read, refuses too.
func (r *run) approvalFault(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, approval.ErrUsed) {
		f := fault.New(fault.ApprovalDenied, approval.ReasonMismatch,
			"The approval was used already: one acceptance lets one call through. The tool was not run. Do not call it again for this request.")
		return r.refused(audit.HITLMismatch, f.Because(err))
	}
	f := approval.Fault(err)
	if f.Code == fault.ApprovalPending {
		return r.refused(audit.HITLPending, f)
	}
	o, known := humanOutcomes[f.Reason]
	if f.Code != fault.ApprovalDenied || !known {
		return r.refused(audit.HITLUnsupported, unreachable(err))
	}
	return r.refused(o, f)
}

// unreachable is the refusal when the approvals themselves fail.
func unreachable(err error) *fault.Error {
	return fault.New(fault.ApprovalDenied, "store-unavailable",
		"The approvals of this installation cannot be read or written, so nobody could be asked. The tool was not run. The server's log says more.").Because(err)
}

// principalInput is the caller's part of the policy input, as recorded.
func (r *run) principalInput(args json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(map[string]any{
		"principal": r.in.Principal,
		"call":      map[string]any{"origin": r.in.Origin, "args": args},
		"now":       r.decideAt.UTC().Format(time.RFC3339Nano),
		"approvals": r.standing(),
	})
	if err != nil {
		return nil
	}
	return raw
}
