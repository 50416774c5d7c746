package regolint

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/lint"
)

// binding are findings without which no policy comes into force; accepting
// one would promise what cannot be had.
var binding = []string{"TW201", "TW202", "TW207", "TW215"}

// accept takes out what the METADATA of a rule, or of its package, accepts:
//
//	# custom:
//	#   accept:
//	#     TW212: the reason
//
// An entry without a reason accepts nothing.
func (l *linter) accept() (open []lint.Finding, accepted []lint.Accepted) {
	for _, f := range l.out {
		reason := ""
		if !slices.Contains(binding, f.RuleID) && f.module != nil {
			reason = f.module.reason(f.rule, f.RuleID)
		}
		if reason == "" {
			open = append(open, f.Finding)
			continue
		}
		accepted = append(accepted, lint.Accepted{Finding: f.Finding, Reason: reason})
	}
	return open, accepted
}

func (m *module) reason(rule *ast.Rule, id string) string {
	var all []*ast.Annotations
	if rule != nil {
		all = append(all, rule.Annotations...)
	}
	for _, a := range m.ast.Annotations {
		if a.Scope == "package" {
			all = append(all, a)
		}
	}
	for _, a := range all {
		list, _ := a.Custom["accept"].(map[string]any)
		if reason, _ := list[id].(string); reason != "" {
			return reason
		}
	}
	return ""
}
