package service

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Act is something that can be done with a tool, or with a question.
type Act string

// The acts on tools, and those on the questions of calls.
const (
	ActRun     Act = "run"
	ActTest    Act = "test"
	ActPublish Act = "publish"
	ActDraft   Act = "draft"
	ActEdit    Act = "edit"
	ActDelete  Act = "delete"

	ActApprove Act = "approve"
	ActDeny    Act = "deny"
	ActModify  Act = "modify" // an approval with other arguments
)

// ToolActs are the acts on a tool.
var ToolActs = []Act{ActRun, ActTest, ActPublish, ActDraft, ActEdit, ActDelete}

// ApprovalActs are the acts on a question.
var ApprovalActs = []Act{ActApprove, ActDeny, ActModify}

// Permission says whether an act would be refused now, and why.
type Permission struct {
	Act     Act        `json:"action"`
	Allowed bool       `json:"allowed"`
	Code    fault.Code `json:"code"`    // "" when allowed
	Reason  string     `json:"reason"`  // "" when allowed
	Message string     `json:"message"` // "" when allowed
}

func permission(a Act, err error) Permission {
	if err == nil {
		return Permission{Act: a, Allowed: true}
	}
	f := fault.From(err)
	return Permission{Act: a, Code: f.Code, Reason: f.Reason, Message: f.Message}
}

// ToolPermissions gives what p may do with t, in the order of ToolActs. It
// asks the code that refuses the acts themselves, without arguments and
// without a justification: a call can still be denied for what it says, and a
// publication that needs words says which.
func (s *Service) ToolPermissions(ctx context.Context, p decision.Principal, t *catalog.Tool) []Permission {
	out := make([]Permission, len(ToolActs))
	for i, a := range ToolActs {
		out[i] = permission(a, s.MayTool(ctx, p, t, a, ""))
	}
	return out
}

// MayTool is nil if p may do that with t now, and otherwise what the act is
// refused with. A justification counts for ActPublish alone.
func (s *Service) MayTool(ctx context.Context, p decision.Principal, t *catalog.Tool, a Act, justification string) error {
	if err := s.Needs(p, RoleAuthor); err != nil {
		return err
	}
	switch a {
	case ActRun:
		return s.mayRun(ctx, p, t)
	case ActTest:
		return first(t.Spec.CheckCode())
	case ActPublish:
		if err := first(append(t.Spec.CheckRuntime(spec.ThisRuntime()), t.Spec.CheckCode()...)); err != nil {
			return err
		}
		if err := s.mayPublish(ctx, p, t, justification); err != nil {
			return err
		}
		return s.mayLower(ctx, p, t)
	case ActDraft:
		if t.State == catalog.StateDraft {
			return fault.New(fault.NotActive, "state-draft", "the tool %q is a draft already: %s", t.Spec.Name, t.Why)
		}
		return nil
	case ActEdit:
		return s.ownDocument(t)
	case ActDelete:
		if err := s.ownDocument(t); err != nil {
			return err
		}
		if t.State != catalog.StateDraft {
			return fault.New(fault.Usage, "in-service", "the tool %q is in service; make it a draft first", t.Spec.Name)
		}
		return nil
	}
	return fault.New(fault.Internal, "act", "nothing is known of the act %q", a)
}

// mayRun is what a call would be refused with before its arguments are looked
// at. The call itself is decided by the executor.
func (s *Service) mayRun(ctx context.Context, p decision.Principal, t *catalog.Tool) error {
	gone := fault.New(fault.NotFound, "unknown-tool", "there is no tool %q", t.Spec.Name)
	seen, err := s.MaySeeCalling(ctx, p, t)
	switch {
	case err != nil:
		return err
	case !seen:
		return gone
	case t.State != catalog.StateActive:
		return fault.New(fault.NotActive, "state-"+slug(string(t.State)), "the tool %q is not active: %s", t.Spec.Name, t.Why)
	}
	if ok, _ := s.Catalog.Exposed(t); !ok {
		return gone
	}
	d, err := s.Decide(ctx, t, p, decision.OriginList, nil)
	if err != nil {
		return err
	}
	if !d.Allow && len(d.Reasons) > 0 {
		return fault.New(fault.PolicyDenied, d.Reasons[0].ID, "%s", d.Reasons[0].Message)
	}
	return nil
}

// MaySee reports whether t exists for p: the policy shows it, or its layers
// reject it and would show it otherwise. An admin sees every tool, having to
// put in order what nobody else can see.
func (s *Service) MaySee(ctx context.Context, p decision.Principal, t *catalog.Tool) (bool, error) {
	if s.Needs(p, RoleAdmin) == nil {
		return true, nil
	}
	seen, err := s.MaySeeCalling(ctx, p, t)
	if err != nil || seen {
		return seen, err
	}
	var rejected *resolver.Rejection
	_, err = s.Decide(ctx, t, p, decision.OriginList, nil)
	if errors.As(err, &rejected) {
		return !rejected.Hidden, nil
	}
	return false, err
}

// MaySeeCalling reports whether the policy shows t to p, as it does to a
// caller.
func (s *Service) MaySeeCalling(ctx context.Context, p decision.Principal, t *catalog.Tool) (bool, error) {
	seen, err := s.Policy.Visible(ctx, p, []resolver.Tool{policyTool(t)})
	return err == nil && seen[0], err
}

// ToolFor finds a tool that exists for p, by name or toolId. The failure for
// one that does not exist, and for one that is hidden, is the same.
func (s *Service) ToolFor(ctx context.Context, p decision.Principal, nameOrID string) (*catalog.Tool, error) {
	t, err := s.Catalog.Lookup(ctx, nameOrID)
	if err != nil {
		return nil, err
	}
	seen, err := s.MaySee(ctx, p, t)
	if err == nil && !seen { // drafts may share its name
		var all []*catalog.Tool
		all, err = s.Catalog.List(ctx)
		for _, other := range all {
			if err == nil && !seen && other.Spec.Name == nameOrID && other.Spec.ToolID != t.Spec.ToolID {
				t = other
				seen, err = s.MaySee(ctx, p, t)
			}
		}
	}
	if err == nil && !seen {
		err = fault.New(fault.NotFound, "unknown-tool", "there is no tool %q", nameOrID)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ownDocument refuses tools whose document is not a file of its own in the
// catalog of this home.
func (s *Service) ownDocument(t *catalog.Tool) error {
	switch dir := filepath.Join(s.Home, "catalog") + string(filepath.Separator); {
	case t.Source == catalog.SourceBuiltin:
		return fault.New(fault.Usage, "read-only", "the tool %q is bundled and cannot be changed; make a draft of another name and toolId", t.Spec.Name)
	case !strings.HasPrefix(t.Path, dir):
		return fault.New(fault.Usage, "read-only", "the tool %q comes from a folder of the operator; it is changed there", t.Spec.Name)
	case strings.ContainsRune(t.Path[len(dir):], filepath.Separator) || filepath.Ext(t.Path) != ".json":
		return fault.New(fault.Usage, "read-only", "the tool %q is a folder with its code apart; it is changed on disk", t.Spec.Name)
	}
	return nil
}

// ApprovalPermissions gives what p may do with a question, in the order of
// ApprovalActs.
func (s *Service) ApprovalPermissions(p decision.Principal, q approval.Pending) []Permission {
	out := make([]Permission, len(ApprovalActs))
	for i, a := range ApprovalActs {
		out[i] = permission(a, s.MayAnswer(p, q, a))
	}
	return out
}

// MayAnswer is nil if p may answer q so now, and otherwise what the answer is
// refused with. Who has the role may still be the wrong person for a question.
func (s *Service) MayAnswer(p decision.Principal, q approval.Pending, a Act) error {
	if err := s.Needs(p, RoleApprover); err != nil {
		return err
	}
	action := map[Act]approval.Action{ActApprove: approval.ActionAccept, ActDeny: approval.ActionDecline, ActModify: approval.ActionAccept}[a]
	if action == "" {
		return fault.New(fault.Internal, "act", "nothing is known of the act %q", a)
	}
	by := approval.Approver{Subject: p.Subject, Method: p.Method, Groups: p.Groups}
	if err := s.Approvals.MayAnswer(q, action, by); err != nil {
		return answerFault(q.ID, err)
	}
	return nil
}

func first(list []*fault.Error) error {
	if len(list) > 0 {
		return list[0]
	}
	return nil
}
