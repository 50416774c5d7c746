package service

import (
	"context"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Consent is what a human says for asking less than before.
type Consent struct {
	Reason    string
	Confirmed bool
}

// Covered refuses a change for which a human did not say enough (USAGE,
// reason-required, confirmation-required or reason-too-long).
func (c ApprovalChange) Covered(by Consent) error {
	switch {
	case len(by.Reason) > maxApprovalReason:
		return fault.New(fault.Usage, "reason-too-long", "the reason has %d bytes; at most %d go on record", len(by.Reason), maxApprovalReason)
	case c.Lowering && strings.TrimSpace(by.Reason) == "":
		return fault.New(fault.Usage, "reason-required", "fewer calls of %q would be asked about (%s instead of %s, at level %s): that needs a reason, which goes on record; on the command line: --reason TEXT",
			c.Name, c.New, c.Old, c.RiskLevel)
	case c.Lowering && !by.Confirmed:
		return fault.New(fault.Usage, "confirmation-required", "fewer calls of %q would be asked about (%s instead of %s, at level %s): that needs to be confirmed; on the command line: --yes",
			c.Name, c.New, c.Old, c.RiskLevel)
	}
	return nil
}

// detail is what goes on record about a change.
func (c ApprovalChange) detail(reason string) map[string]any {
	return map[string]any{"toolId": c.ToolID, "name": c.Name, "old": c.Old, "new": c.New, "riskLevel": c.RiskLevel, "reason": reason}
}

// PlanPublish says what publishing t would change about how a human is asked:
// compared with the mode that a tool of this toolId was last in service with,
// whatever became of its document since. The first publication of a toolId
// changes nothing.
func (s *Service) PlanPublish(ctx context.Context, p decision.Principal, t *catalog.Tool) (ApprovalChange, error) {
	now := documentMode(t.Spec)
	plan := ApprovalChange{ToolID: t.Spec.ToolID, Name: t.Spec.Name, Old: now, New: now}
	before, known := s.Catalog.Kept().Asked[t.Spec.ToolID]
	if !known || t.Source == catalog.SourceBuiltin || !s.inCatalog(ctx, t) {
		return plan, nil
	}
	if plan.Old = before; before == now {
		return plan, nil
	}
	absent, err := withMode(t.Spec, "", false)
	if err != nil {
		return plan, err
	}
	unsaid, err := s.verdict(ctx, p, t, absent, "")
	if err != nil {
		return plan, err
	}
	plan.RiskLevel, plan.Lowering = unsaid.RiskLevel, oversight(now, unsaid) < oversight(before, unsaid)
	return plan, nil
}

// mayLower refuses to publish t whoever may not choose modes of approval, if
// that asks humans less.
func (s *Service) mayLower(ctx context.Context, p decision.Principal, t *catalog.Tool) error {
	plan, err := s.PlanPublish(ctx, p, t)
	if err != nil || !plan.Lowering {
		return err
	}
	return s.Needs(p, RoleAdmin)
}

// strictness orders what documents say, whatever their level: what nobody
// knows first. A document that says nothing may ask at another level.
var strictness = []string{ApprovalDisabled, ApprovalAuto, ApprovalDefault, ApprovalRequired}

// asked keeps the mode that a tool is in service with. The stricter one stays
// where nobody confirmed less: the two may be worth the same at the level that
// the tool has now, and not at its next one.
func (s *Service) asked(ctx context.Context, c ApprovalChange) error {
	_, err := s.Catalog.Keep(ctx, func(k *catalog.Kept) error {
		before, known := k.Asked[c.ToolID]
		if c.Lowering || !known || slices.Index(strictness, c.New) > slices.Index(strictness, before) {
			k.Asked[c.ToolID] = c.New
		}
		return nil
	}, func(catalog.Kept, catalog.Kept) error { return nil })
	return err
}
