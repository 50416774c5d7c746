package executor

import (
	"context"
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Amend validates arguments that an approver wants to put in the place of the
// caller's, and decides about the call with them, as the caller's, under the
// policy in force. What it gives is for approval.Gate.Amend. Nothing is
// recorded and nothing runs: the caller's own retry is decided about once
// more. The errors are those of a call, INVALID_ARGUMENTS and POLICY_DENIED
// among them; APPROVAL_DENIED where the tool is not the one that was asked
// about any more. Safe for concurrent use.
func (e *Engine) Amend(ctx context.Context, p approval.Pending, args json.RawMessage) (a approval.Amended, err error) {
	r := e.receive(Call{Principal: p.Binding.Principal, Origin: p.Origin, Name: p.Binding.ToolID, Args: args})
	defer r.endShadow()
	defer func() {
		if v := recover(); v != nil {
			err = e.panicked(r, v)
		}
		if err != nil {
			err = r.outward(fault.From(err))
		}
	}()
	if p.Origin == "" {
		return a, fault.New(fault.ApprovalDenied, approval.ReasonUnsupported, "the question was asked by an earlier version of toolwarrant; it can be accepted or refused, and not changed")
	}
	for _, step := range []func(context.Context, *run) error{e.lookup, e.validate} {
		if err := step(ctx, r); err != nil {
			return a, err
		}
	}
	if r.tool.Spec.ToolID != p.Binding.ToolID || r.tool.Spec.Digest() != p.Binding.SpecDigest {
		return a, approval.Denied(approval.ReasonMismatch).Because(&approval.MismatchError{Field: "specDigest"})
	}
	if r.paramsDigest == p.Binding.ParamsDigest || r.rekeyed(p.Binding.ParamsDigest) == p.Binding.ParamsDigest {
		return a, fault.New(fault.InvalidArguments, "unchanged", "these are the arguments that were asked about; accept the call without arguments of your own")
	}
	if err := e.decide(ctx, r); err != nil {
		return a, err
	}
	b, err := r.binding()
	if err != nil {
		return a, err
	}
	q := e.question(r)
	if len(q.Prompt) > maxPrompt {
		return a, fault.New(fault.InvalidArguments, "too-large", "the arguments are too large for a human to look at (%d bytes, at most %d)", len(q.Prompt), maxPrompt)
	}
	return approval.Amended{
		Args: r.args, ParamsDigest: r.paramsDigest, DecisionDigest: b.DecisionDigest, Question: q,
		Approvers: r.decision.HumanInTheLoop.Approvers,
	}, nil
}
