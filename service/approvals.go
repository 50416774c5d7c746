package service

import (
	"context"
	"strings"

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
		return approval.Pending{}, answerFault(id, err)
	}
	return settled, nil
}

func slug(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

func answerFault(id string, err error) error {
	if f := fault.From(err); f.Code != fault.Internal {
		return f
	}
	return fault.New(fault.ApprovalDenied, "not-settled", "the approval %s could not be answered: %v", id, err).Because(err)
}
