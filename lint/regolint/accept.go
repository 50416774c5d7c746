package regolint

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/lint"
)

// binding are findings without which no policy comes into force, or none that
// answers; accepting one would promise what cannot be had. The last one is
// about acceptances.
var binding = []string{"TW201", "TW202", "TW207", "TW215", "TW216"}

// acceptance is one entry of METADATA that accepts a finding.
type acceptance struct {
	module *module
	rule   *ast.Rule // nil = every rule of the file
	id     string
	reason string
	loc    *ast.Location
	used   bool
}

// accept takes out what the METADATA of a rule, or of its package, accepts:
//
//	# custom:
//	#   accept:
//	#     TW212: the reason
//
// An entry that accepts nothing is a finding, since whoever reads it would
// think otherwise.
func (l *linter) accept() (open []lint.Finding, accepted []lint.Accepted) {
	all := l.acceptances()
	for _, f := range l.out {
		i := slices.IndexFunc(all, func(a *acceptance) bool {
			return a.module == f.module && a.id == f.RuleID && (a.rule == nil || a.rule == f.rule) && a.reason != "" && !slices.Contains(binding, a.id)
		})
		if i < 0 {
			open = append(open, f.Finding)
			continue
		}
		all[i].used = true
		accepted = append(accepted, lint.Accepted{Finding: f.Finding, Reason: all[i].reason})
	}
	l.out = nil
	for _, a := range all {
		why := ""
		switch {
		case a.used:
			continue
		case severities[a.id] == "":
			why = "no rule has that id"
		case slices.Contains(binding, a.id):
			why = "it cannot be accepted"
		case a.reason == "":
			why = "the reason is missing"
		default:
			why = "there is no such finding"
		}
		l.add("TW216", a.module, a.rule, a.loc, "this accepts nothing: %s has no effect, %s", a.id, why)
	}
	for _, f := range l.out {
		open = append(open, f.Finding)
	}
	return open, accepted
}

func (l *linter) acceptances() (out []*acceptance) {
	for _, m := range l.modules {
		for _, a := range m.ast.Annotations {
			if a.Scope == "package" {
				out = append(out, l.entries(m, nil, a)...)
			}
		}
		for _, r := range m.ast.Rules {
			for _, a := range r.Annotations {
				out = append(out, l.entries(m, r, a)...)
			}
		}
	}
	return out
}

func (l *linter) entries(m *module, rule *ast.Rule, a *ast.Annotations) (out []*acceptance) {
	list, _ := a.Custom["accept"].(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(list)) {
		reason, _ := list[id].(string)
		out = append(out, &acceptance{module: m, rule: rule, id: id, reason: strings.TrimSpace(reason), loc: l.entry(m, a, id)})
	}
	return out
}

// entry is the line of a block of METADATA that names an id.
func (l *linter) entry(m *module, a *ast.Annotations, id string) *ast.Location {
	if a.Location == nil {
		return nil
	}
	lines := strings.Split(string(l.files()[m.file]), "\n")
	for row := a.Location.Row; row <= len(lines) && strings.HasPrefix(lines[row-1], "#"); row++ {
		if at := strings.Index(lines[row-1], id+":"); at >= 0 {
			return &ast.Location{File: m.file, Row: row, Col: at + 1}
		}
	}
	return a.Location
}
