package regolint

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// What a name says of a rule, a variable or a member: case, "_" and plural
// aside. The words are those of the policy and of the documents it decides
// about.
var (
	// grants are lists of which every entry permits something.
	grants = []string{"host", "privatehost", "group", "subject", "tool", "category", "scope", "env", "name", "source", "allowclass", "class", "autoapprove", "autoapproved", "trustedauthor", "approver", "grant"}
	// permits are rules that let something pass when they are true.
	permits = []string{"visible", "callable", "allow", "allowed", "granted", "permit", "permitted", "trusted", "trustedauthor", "autoapprove", "autoapproved", "baseinside"}
	// refuses are sets of which every entry forbids something, or asks.
	refuses = []string{"reason", "hidden", "refusal", "violation", "demand", "deny"}
)

func plainName(s string) string {
	s = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
	switch {
	case strings.HasSuffix(s, "ies"):
		return strings.TrimSuffix(s, "ies") + "y"
	case strings.HasSuffix(s, "sses"):
		return strings.TrimSuffix(s, "es")
	case strings.HasSuffix(s, "ss"):
		return s
	}
	return strings.TrimSuffix(s, "s")
}

// anything is text that, in a list of patterns, matches everything.
func anything(t *ast.Term) bool {
	s, ok := t.Value.(ast.String)
	return ok && isAnything(string(s))
}

func isAnything(s string) bool { return s == "*" || s == "**" || strings.HasPrefix(s, "*:") }

// opens finds rules that let everything pass, and wildcards in what rules
// grant. Package lint only speaks about documents and grants nothing.
func (l *linter) opens(m *module) {
	if slices.Contains(constants(m.ast.Package.Path), "lint") {
		return
	}
	for _, rule := range m.ast.Rules {
		name := plainName(string(headName(rule)))
		first := true
		for r := rule; r != nil; r, first = r.Else, false {
			l.lets(m, rule, r, name, first)
		}
		l.wildcardGrants(m, rule, name)
	}
}

func (l *linter) lets(m *module, rule, r *ast.Rule, name string, first bool) {
	if !unconditional(r.Body) || !plainArgs(r) {
		return
	}
	value := r.Head.Value
	if value == nil {
		return
	}
	yes := func(t *ast.Term) bool { b, ok := t.Value.(ast.Boolean); return ok && bool(b) }
	switch {
	case slices.Contains(permits, name) && yes(value) && r.Head.Key == nil && (first || r.Default):
		l.add("TW211", m, rule, r.Loc(), "%s is true for every caller and every tool; say under which condition", headName(rule))
	case slices.Contains(refuses, name) && r.Head.Key == nil && empty(value) && !r.Default && first:
		l.add("TW211", m, rule, r.Loc(), "%s is always empty, so that nothing is ever refused here; remove the rule, or say what it holds", headName(rule))
	}
	o, ok := value.Value.(ast.Object)
	if !ok {
		return
	}
	if t := o.Get(ast.StringTerm("autoApproved")); t != nil && yes(t) {
		l.add("TW211", m, rule, t.Location, "every call is approved by itself; say under which condition, AUTO_APPROVE of the document and a level at least")
		return
	}
	if t := o.Get(ast.StringTerm("mode")); t != nil && first && t.Equal(ast.StringTerm("DISABLED")) {
		l.add("TW211", m, rule, t.Location, "no human is asked for any call; say under which condition")
	}
}

func (l *linter) wildcardGrants(m *module, rule *ast.Rule, name string) {
	report := func(t *ast.Term, of string) {
		l.add("TW212", m, rule, t.Location, "%s in %s grants it to anything; name what is meant", t, of)
	}
	look := func(t *ast.Term, of string) {
		if t == nil || !slices.Contains(grants, plainName(of)) {
			return
		}
		for _, star := range stars(t) {
			report(star, of)
		}
	}
	for r := rule; r != nil; r = r.Else {
		if key := r.Head.Key; key != nil && anything(key) && slices.Contains(grants, name) {
			report(key, string(headName(rule)))
		}
		look(r.Head.Value, string(headName(rule)))
	}
	ast.WalkTerms(rule, func(t *ast.Term) bool {
		if o, ok := t.Value.(ast.Object); ok {
			o.Foreach(func(k, v *ast.Term) {
				if s, ok := k.Value.(ast.String); ok {
					look(v, string(s))
				}
			})
		}
		return false
	})
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		if a, b, ok := operands(e, "assign"); ok {
			if v, ok := a.Value.(ast.Var); ok {
				look(b, string(v))
			}
		}
		return false
	})
}

// stars are the wildcards among the elements of a list, also where lists are
// united.
func stars(t *ast.Term) (out []*ast.Term) {
	collect := func(t *ast.Term) {
		if anything(t) {
			out = append(out, t)
		}
	}
	switch v := t.Value.(type) {
	case ast.Set:
		v.Foreach(collect)
	case *ast.Array:
		v.Foreach(collect)
	case ast.Call:
		for _, arg := range v[1:] {
			out = append(out, stars(arg)...)
		}
	}
	return out
}

// literal are the parts of the input that hold names, never patterns.
var literal = []string{"input.principal.groups", "input.principal.subject", "input.principal.scopes", "input.tool.name", "input.tool.toolId", "input.tool.category", "input.tool.tags"}

// star finds comparisons of a name with "*": nothing has that name, so that a
// rule that is meant for everyone holds for nobody.
func (k *known) star(e *ast.Expr, subject, compared *ast.Term) {
	ref, ok := subject.Value.(ast.Ref)
	if !ok || !anything(compared) {
		return
	}
	if name := strings.Join(constants(ref), "."); slices.Contains(literal, name) {
		k.report("TW213", e, "%s holds names and no patterns, so that %s matches nothing; leave the condition out to mean all of them", name, compared)
	}
}
