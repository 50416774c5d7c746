package service

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// The modes of approval that can be chosen for a tool. ApprovalDefault is that
// nothing is said, so that the policy decides by the level.
const (
	ApprovalRequired = "REQUIRED"
	ApprovalAuto     = "AUTO_APPROVE"
	ApprovalDisabled = "DISABLED"
	ApprovalDefault  = "DEFAULT"
)

// ApprovalChange is another mode of approval for a tool, and what it means.
type ApprovalChange struct {
	ToolID    string `json:"toolId"`
	Name      string `json:"name"`
	Old       string `json:"old"` // mode, or DEFAULT
	New       string `json:"new"`
	RiskLevel string `json:"riskLevel"`
	// Lowering: a human is asked for less than before, as far as the modes say.
	Lowering bool `json:"lowering"`
	// Draft: the document changes, so that the tool has to be published again.
	Draft bool `json:"draft"`
	// Approval is what the policy makes of the new mode, for whoever asked:
	// REQUIRED, AUTO_APPROVED or DISABLED. Floors and rules hold for it.
	Approval string `json:"approval"`
}

// maxApprovalReason bounds what may be said for lowering, in bytes.
const maxApprovalReason = maxJustification

// PlanApproval says what a mode (one of the constants, in any case) would mean
// for a tool. It changes nothing. An unknown mode is a USAGE error.
func (s *Service) PlanApproval(ctx context.Context, p decision.Principal, t *catalog.Tool, mode string) (ApprovalChange, error) {
	plan, _, err := s.planApproval(ctx, p, t, mode)
	return plan, err
}

// SetApproval chooses the mode of approval of a tool. For a user tool that is
// an edit of its document, which makes it a draft until it is published again;
// for a bundled one it is kept beside it, and the policy decides what it means.
//
// Lowering, which is REQUIRED to anything else, or AUTO_APPROVE to DISABLED,
// needs a confirmation by a human and a reason, both of which are the caller's
// to get; without them it is refused (USAGE, confirmation-required or
// reason-required) and nothing changes. A mode that is not said counts as what
// the policy makes of that. It is on record before it takes effect, as the event
// approval.lower or approval.raise.
func (s *Service) SetApproval(ctx context.Context, p decision.Principal, t *catalog.Tool, mode, reason string, confirmed bool) (ApprovalChange, error) {
	plan, edited, err := s.planApproval(ctx, p, t, mode)
	if err != nil || plan.Old == plan.New {
		return plan, err
	}
	consent := Consent{Reason: strings.TrimSpace(reason), Confirmed: confirmed}
	if err := plan.Covered(consent); err != nil {
		return plan, err
	}
	reason = consent.Reason
	kind := "approval.raise"
	if plan.Lowering {
		kind = "approval.lower"
	}
	detail := plan.detail(reason)
	if edited != nil {
		if err := s.event(ctx, kind, p, detail); err != nil {
			return plan, err
		}
		if err := s.Catalog.WriteSpec(ctx, t, edited); err != nil {
			s.undone(ctx, kind, p, err)
			return plan, err
		}
		return plan, s.asked(ctx, plan)
	}
	return plan, s.keep(ctx, p, kind, func(k *catalog.Kept) error {
		if k.Approvals[plan.ToolID].Mode != t.Approval {
			return fault.New(fault.Usage, "changed-meanwhile", "somebody else changed how %q is asked about; look at it again", plan.Name)
		}
		if plan.New == documentMode(t.Spec) {
			delete(k.Approvals, plan.ToolID) // the document says it already
			return nil
		}
		k.Approvals[plan.ToolID] = catalog.Standing{Mode: plan.New, Reason: reason, By: p.Subject, At: time.Now().UTC().Truncate(time.Millisecond)}
		return nil
	}, func(catalog.Kept, catalog.Kept) map[string]any { return detail })
}

// planApproval is PlanApproval, with the document that a user tool would have.
func (s *Service) planApproval(ctx context.Context, p decision.Principal, t *catalog.Tool, mode string) (plan ApprovalChange, edited *spec.Spec, err error) {
	mode = strings.ToUpper(mode)
	if mode == "AUTO" {
		mode = ApprovalAuto
	}
	if !slices.Contains([]string{ApprovalRequired, ApprovalAuto, ApprovalDisabled, ApprovalDefault}, mode) {
		return plan, nil, fault.New(fault.Usage, "approval-mode", "unknown mode of approval %q; want required, auto, disabled or default", mode)
	}
	plan = ApprovalChange{ToolID: t.Spec.ToolID, Name: t.Spec.Name, Old: documentMode(t.Spec), New: mode}
	absent, err := withMode(t.Spec, "", false)
	if err != nil {
		return plan, nil, err
	}
	unsaid, err := s.verdict(ctx, p, t, absent, "")
	if err != nil {
		return plan, nil, err
	}
	after := decision.HumanInTheLoop{}
	switch {
	case t.Source == catalog.SourceBuiltin && mode == ApprovalDefault:
		// What this build ships is its default.
		plan.New = plan.Old
		fallthrough
	case t.Source == catalog.SourceBuiltin:
		standing := plan.New
		if plan.New == documentMode(t.Spec) {
			standing = ""
		}
		if t.Approval != "" {
			plan.Old = t.Approval
		}
		d, err := s.verdict(ctx, p, t, t.Spec, standing)
		if err != nil {
			return plan, nil, err
		}
		plan.RiskLevel, after = d.RiskLevel, d.HumanInTheLoop
	default:
		said := mode
		if mode == ApprovalDefault {
			said = ""
		}
		if edited, err = withMode(t.Spec, said, true); err != nil {
			return plan, nil, err
		}
		d, err := s.verdict(ctx, p, t, edited, "")
		if err != nil {
			return plan, nil, err
		}
		plan.Draft, plan.RiskLevel, after = plan.Old != plan.New, d.RiskLevel, d.HumanInTheLoop
	}
	if plan.Approval = after.Mode; after.AutoApproved {
		plan.Approval = "AUTO_APPROVED"
	}
	plan.Lowering = oversight(plan.New, unsaid) < oversight(plan.Old, unsaid)
	return plan, edited, nil
}

// verdict asks the policy about a document in the place of that of a tool.
func (s *Service) verdict(ctx context.Context, p decision.Principal, t *catalog.Tool, doc *spec.Spec, standing string) (*decision.Decision, error) {
	return s.Policy.Resolve(ctx, resolver.Request{
		Tool:      resolver.Tool{Spec: doc, Source: string(t.Source), ManifestEnv: t.Env},
		Principal: p, Origin: decision.OriginList, Approvals: decision.Standing(standing), Now: time.Now(),
	})
}

// oversight ranks a mode: how much a human is asked about. One that nobody
// knows is asked about always.
func oversight(mode string, unsaid *decision.Decision) int {
	if mode == ApprovalDefault {
		mode = unsaid.HumanInTheLoop.Mode
	}
	switch mode {
	case ApprovalDisabled:
		return 0
	case ApprovalAuto:
		return 1
	}
	return 2
}

// keepsOversight refuses a document in the place of that of t that asks humans
// less by its mode: SetApproval does that, with a reason. What follows from
// another posture of the tool is for the policy.
func (s *Service) keepsOversight(ctx context.Context, p decision.Principal, t *catalog.Tool, doc *spec.Spec) error {
	before, after := documentMode(t.Spec), documentMode(doc)
	if before == after {
		return nil
	}
	absent, err := withMode(doc, "", false)
	if err != nil {
		return err
	}
	unsaid, err := s.verdict(ctx, p, t, absent, "")
	if err != nil {
		return err
	}
	if oversight(after, unsaid) < oversight(before, unsaid) {
		f := fault.New(fault.Usage, "confirmation-required",
			"the document asks humans less (%s instead of %s): choose the mode of approval of the tool by itself, which takes a reason", after, before)
		f.Pointer = "/humanInTheLoop/mode"
		return f
	}
	return nil
}

// documentMode is what a document says, or DEFAULT.
func documentMode(s *spec.Spec) string {
	if h := s.HumanInTheLoop; h != nil && h.Mode != nil && *h.Mode != "" {
		return *h.Mode
	}
	return ApprovalDefault
}

// withMode is a document with another mode, "" = without one, and as a draft
// where it is to be tested again.
func withMode(s *spec.Spec, mode string, draft bool) (*spec.Spec, error) {
	patch := spec.Patch{HITLMode: &mode}
	if draft {
		now := time.Now().UnixMilli()
		patch.Draft, patch.UpdateTimestamp = &draft, &now
	}
	edited, ferr := s.Edit(patch)
	if ferr != nil {
		return nil, ferr
	}
	return edited, nil
}
