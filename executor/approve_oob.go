package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// retryPending and retryRunning are when a caller should ask again.
	retryPending = 5 * time.Second
	retryRunning = time.Second
	// runsBeyond is how long after its time limit a call may still be at its
	// end. One without an outcome by then was cut off with its process.
	runsBeyond = 30 * time.Second
)

// errReplayed ends a call whose outcome is that of an earlier one.
var errReplayed = errors.New("executor: the outcome of an earlier call")

// outOfBand serves callers that cannot be asked in band: somebody answers
// elsewhere, and the same caller's same call, retried, runs then.
func (e *Engine) outOfBand(ctx context.Context, r *run, b approval.Binding) error {
	// Identical calls at one time share one question, whichever process they
	// came to: look and ask in one step.
	var verdict error
	if err := e.Approvals.Exclusively(ctx, func(ctx context.Context) error {
		verdict = e.lookOrAsk(ctx, r, b)
		return nil
	}); err != nil {
		r.value, r.note = nil, ""
		return r.approvalFault(err)
	}
	return verdict
}

// lookOrAsk is outOfBand while nobody else looks or asks.
func (e *Engine) lookOrAsk(ctx context.Context, r *run, b approval.Binding) error {
	p, found, err := e.Approvals.Match(ctx, b)
	if err != nil {
		return r.approvalFault(err)
	}
	if found {
		known, err := e.known(ctx, r, p, b)
		if known || err != nil {
			return err
		}
	}
	switch waiting, err := e.Approvals.Waiting(ctx, r.in.Principal); {
	case err != nil:
		return r.approvalFault(err)
	case waiting >= maxWaiting:
		r.human.Outcome = audit.HITLUnsupported
		return fault.New(fault.RateLimited, "approvals", "%d calls of this caller wait for a human already; no further one is taken until some are answered or expire", waiting)
	}
	expiry := time.Duration(r.decision.HumanInTheLoop.OutOfBandExpirySeconds) * time.Second
	if p, err = e.pose(ctx, r, b, approval.ChannelOutOfBand, expiry); err != nil {
		return err
	}
	return r.waits(p, retryPending, fault.New(fault.ApprovalPending, "pending", "%s", waitsFor(p)))
}

// known is what an earlier question about the same call means for this one;
// false when a new one has to be asked.
func (e *Engine) known(ctx context.Context, r *run, p approval.Pending, b approval.Binding) (bool, error) {
	shown := p.Shown().PromptDigest
	if p.State == approval.StateConsumed {
		return e.knownUse(r, p)
	}
	r.related = p.Binding.CallID
	r.human.Channel, r.human.PromptDigest = &p.Channel, &shown
	switch p.State {
	case approval.StateAccepted:
		return true, e.claim(ctx, r, p, b)
	case approval.StatePending:
		return true, r.waits(p, retryPending, fault.New(fault.ApprovalPending, "pending", "%s", waitsFor(p)))
	}
	return true, r.approvalFault(&approval.NotAcceptedError{State: p.State})
}

// knownUse is known for an acceptance that let its call through: that one
// still runs, or how it ended is told again.
func (e *Engine) knownUse(r *run, p approval.Pending) (bool, error) {
	if p.Outcome == nil {
		limit := time.Duration(r.decision.EffectivePolicy.TimeoutSeconds)*time.Second + runsBeyond
		if e.Now().After(p.ConsumedAt.Add(limit)) {
			return false, nil
		}
		r.related = p.Binding.CallID
		return true, r.waits(p, retryRunning, fault.New(fault.ApprovalPending, "running",
			"the call was accepted and runs at this moment; make the same call again and it gives the outcome"))
	}
	end, ok, err := e.Approvals.Recall(p)
	if err != nil {
		return true, r.approvalFault(err)
	}
	if !ok {
		return false, nil
	}
	r.related = end.CallID
	if p.Approver != nil && p.DecidedAt != nil {
		r.humanAnswered(p, *p.Approver, *p.DecidedAt)
	}
	r.human.Outcome = audit.HITLReplayed
	r.note = fmt.Sprintf("This call was accepted and ran a moment ago, at %s, as call %s. This is the outcome of that call; nothing ran now.",
		p.Outcome.At.UTC().Format(time.RFC3339), end.CallID)
	if end.Note != "" {
		r.note += " " + end.Note
	}
	if end.Code != "" {
		return true, fault.New(end.Code, end.Reason, "%s", end.Message)
	}
	r.value = end.Value
	return true, errReplayed
}

// claim uses the acceptance for this call.
func (e *Engine) claim(ctx context.Context, r *run, p approval.Pending, b approval.Binding) error {
	if p.Approver != nil {
		r.humanAnswered(p, *p.Approver, *p.DecidedAt)
	}
	outcome := audit.HITLAccepted
	if p.Amended() {
		outcome = audit.HITLModified
		if err := e.putIn(ctx, r, p); err != nil {
			return err
		}
	}
	if _, err := e.Approvals.Consume(ctx, p.ID, b); err != nil {
		return r.approvalFault(err)
	}
	r.claimed, r.human.Outcome = p.ID, outcome
	return nil
}

// putIn gives the call the arguments of the approver, and decides about it
// under the policy now in force: it has to be the decision that the approver
// accepted.
func (e *Engine) putIn(ctx context.Context, r *run, p approval.Pending) error {
	args, err := e.Approvals.AmendedArgs(p)
	if err != nil {
		return r.approvalFault(err)
	}
	original := r.paramsDigest
	r.human.OriginalParamsDigest, r.human.Outcome = &original, audit.HITLMismatch
	r.args = args
	if err := r.digestArgs(e.Keys); err != nil {
		return err
	}
	if err := e.decide(ctx, r); err != nil {
		return err
	}
	now, err := r.binding()
	if err != nil {
		return err
	}
	if err := p.CheckAmended(now); err != nil {
		return r.approvalFault(err)
	}
	r.note = "The human who accepted this call changed its arguments. It ran with: " + p.Amendment.Question.Args
	return nil
}

// endClaim keeps how the call ended that used an out-of-band acceptance. One
// whose code was never begun gives the acceptance back: it is for one
// execution, and there was none.
func (e *Engine) endClaim(ctx context.Context, r *run, res Result) {
	if r.claimed == "" {
		return
	}
	// The call has ended and is on record: nothing here may change that.
	defer func() {
		if v := recover(); v != nil {
			_ = e.panicked(r, v)
		}
	}()
	var err error
	if !r.begun || res.Err != nil && res.Err.Code == fault.RateLimited {
		err = e.Approvals.Release(ctx, r.claimed)
	} else {
		end := approval.Ending{CallID: r.callID, Value: res.Value, Note: r.note}
		if res.Err != nil {
			end.Value, end.Code, end.Reason, end.Message = nil, res.Err.Code, res.Err.Reason, res.Err.Message
		}
		err = e.Approvals.Finish(ctx, r.claimed, end)
	}
	if err != nil {
		e.Logger.Warn().Str("error", r.logged(err)).Str("callId", r.callID).Msg("how the accepted call ended could not be kept for the same call made again")
	}
}

// waits ends a request that has to be made again.
func (r *run) waits(p approval.Pending, retryAfter time.Duration, why *fault.Error) error {
	r.human.Outcome = audit.HITLPending
	shown := p.Shown().PromptDigest
	r.human.Channel, r.human.PromptDigest = &p.Channel, &shown
	r.waitsFor, r.retryAfter = p.ID, retryAfter
	return why
}

// waitsFor tells the caller what lets the call through, if anything can.
func waitsFor(p approval.Pending) string {
	switch needs := p.Needs(); {
	case !p.Acceptable():
		return fmt.Sprintf("the call waits for a human, and nobody can let it through: it needs %s; \"toolwarrant approvals deny %s\" refuses it, else it expires", needs, p.ID)
	case needs != "":
		return fmt.Sprintf("the call waits for %s: the admin interface, the webhook or \"toolwarrant approvals approve %s\" lets it through if it comes from there; then make the same call again", needs, p.ID)
	}
	return fmt.Sprintf("the call waits for a human: \"toolwarrant approvals approve %s\" lets it through, then make the same call again", p.ID)
}
