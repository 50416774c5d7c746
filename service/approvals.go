package service

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// PendingApprovals lists the questions that wait for a human, oldest first.
func (s *Service) PendingApprovals(ctx context.Context) ([]approval.Pending, error) {
	all, err := s.Approvals.List(ctx)
	if err != nil {
		return nil, err
	}
	waiting := []approval.Pending{}
	for _, p := range all {
		if p.State == approval.StatePending {
			waiting = append(waiting, p)
		}
	}
	return waiting, nil
}

// Answer settles one question on behalf of p. The act is on record before it
// has an effect; the first answer wins.
func (s *Service) Answer(ctx context.Context, p decision.Principal, id string, action approval.Action) (approval.Pending, error) {
	asked, err := s.Approvals.Get(ctx, id)
	if err != nil {
		return approval.Pending{}, answerFault(id, err)
	}
	by := approval.Approver{Subject: p.Subject, Method: p.Method, Groups: p.Groups}
	// By the callId the story of the call that asked finds it.
	detail := map[string]any{"approvalId": id, "action": string(action), "callId": asked.Binding.CallID}
	if err := s.event(ctx, "approval.decide", p, detail); err != nil {
		return approval.Pending{}, err
	}
	settled, err := s.Approvals.Settle(ctx, id, action, by)
	if err != nil {
		return approval.Pending{}, s.unsettled(ctx, p, detail, id, err)
	}
	return settled, nil
}

// Modify accepts a question with other arguments, on behalf of p. They are
// validated, and the call with them is decided about as the caller's under the
// policy in force; what p accepts is the question that comes back, and the
// caller's own retry runs with it. The act is on record, with the digests of
// both arguments, before it has an effect.
func (s *Service) Modify(ctx context.Context, p decision.Principal, id string, args json.RawMessage) (approval.Pending, error) {
	asked, err := s.Approvals.Get(ctx, id)
	if err != nil {
		return approval.Pending{}, answerFault(id, err)
	}
	amended, err := s.Engine.Amend(ctx, asked, args)
	if err != nil {
		return approval.Pending{}, err
	}
	detail := map[string]any{
		"approvalId": id, "action": "modify", "callId": asked.Binding.CallID, "originalParamsDigest": asked.Binding.ParamsDigest,
		"paramsDigest": amended.ParamsDigest, "promptDigest": amended.Question.PromptDigest,
	}
	if err := s.event(ctx, "approval.decide", p, detail); err != nil {
		return approval.Pending{}, err
	}
	settled, err := s.Approvals.Amend(ctx, id, approval.Approver{Subject: p.Subject, Method: p.Method, Groups: p.Groups}, amended)
	if err != nil {
		return approval.Pending{}, s.unsettled(ctx, p, detail, id, err)
	}
	return settled, nil
}

// unsettled puts on record that an answer had no effect, and gives the error.
// The answer itself is on record already and would be misread.
func (s *Service) unsettled(ctx context.Context, p decision.Principal, detail map[string]any, id string, cause error) error {
	f := answerFault(id, cause)
	detail = maps.Clone(detail)
	detail["reason"] = fault.From(f).Reason
	if err := s.event(ctx, "approval.refuse", p, detail); err != nil {
		return err
	}
	return f
}

// feedEvery is how soon an act of another process becomes an event.
const feedEvery = time.Second

// ApprovalEvents tells what happens to questions, in this process at once and
// in others that share the home within feedEvery, until ctx or the service
// ends. The channel is closed then, and also when its reader falls too far
// behind: list the questions anew and ask for events again.
func (s *Service) ApprovalEvents(ctx context.Context) <-chan approval.Event {
	s.feedOnce.Do(func() {
		s.approvalFeed.Prime(s.background)
		s.beside.Go(func() {
			s.approvalFeed.Run(s.background, feedEvery, logOnce(func(err error) {
				s.logger.Warn().Err(err).Msg("some approvals cannot be read; no event tells of those")
			}))
		})
	})
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(s.background, cancel)
	return s.approvalFeed.Subscribe(ctx)
}

// logOnce leaves out what was said the last time.
func logOnce(say func(error)) func(error) {
	last := ""
	return func(err error) {
		if text := err.Error(); text != last {
			last = text
			say(err)
		}
	}
}

func slug(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

func answerFault(id string, err error) error {
	if f := fault.From(err); f.Code != fault.Internal {
		return f
	}
	reason := "not-settled"
	switch {
	case errors.Is(err, approval.ErrNotApprover):
		reason = "not-approver"
	case errors.Is(err, approval.ErrExpired):
		reason = approval.ReasonExpired
	case errors.Is(err, approval.ErrConflict):
		reason = "answered"
	}
	return fault.New(fault.ApprovalDenied, reason, "the approval %s could not be answered: %s", id, strings.TrimPrefix(err.Error(), "approval: ")).Because(err)
}
