package regolint

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// metadata wants a title and an id of every rule that others can use, once in
// each file that adds to it: explanations, reports and pages take them from
// there. A name with "_" before it is the package's own.
func (l *linter) metadata(m *module) {
	type group struct {
		first     *ast.Rule
		described bool
	}
	groups := map[ast.Var]*group{}
	var order []ast.Var
	for _, r := range m.ast.Rules {
		name := headName(r)
		if strings.HasPrefix(string(name), "_") {
			continue
		}
		if groups[name] == nil {
			groups[name] = &group{first: r}
			order = append(order, name)
		}
		groups[name].described = groups[name].described || described(r)
	}
	for _, name := range order {
		if g := groups[name]; !g.described {
			l.add("TW208", m, g.first, g.first.Loc(), "the rule %s has no \"# METADATA\" with title and labels: {id: ...}; nothing can say what it is for", name)
		}
	}
}

func described(r *ast.Rule) bool {
	for _, a := range r.Annotations {
		if _, ok := label(a); ok && a.Title != "" {
			return true
		}
	}
	return false
}

func label(a *ast.Annotations) (string, bool) {
	id, ok := a.Labels["id"].(string)
	return id, ok && id != ""
}

// given is an id that a rule puts into its result, with its place.
type given struct {
	ruled
	id  string
	loc *ast.Location
}

// givenIDs are the ids that rules add to a set of findings, reasons, signals,
// demands, refusals or violations.
func (l *linter) givenIDs() (out []given) {
	for _, m := range l.modules {
		if m.test {
			continue
		}
		for _, r := range m.ast.Rules {
			if r.Head.Key == nil {
				continue
			}
			o, ok := r.Head.Key.Value.(ast.Object)
			if !ok {
				continue
			}
			if id := o.Get(ast.StringTerm("id")); id != nil {
				if s, ok := id.Value.(ast.String); ok {
					out = append(out, given{ruled{m, r}, string(s), id.Location})
				}
			}
		}
	}
	return out
}

// tests wants a test that refers to each rule that others can use, and one
// that names each id. A test that only reaches a rule through another one
// would not notice which of them went.
func (l *linter) tests() {
	labels, said, used := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, m := range l.modules {
		for _, r := range m.ast.Rules {
			for _, a := range r.Annotations {
				if id, ok := label(a); ok {
					labels[id] = true
				}
			}
		}
		if !m.test {
			continue
		}
		m.refs(func(_ *ast.Rule, ref ast.Ref, _ *ast.Location) {
			parts := constants(ref)
			for n := range parts {
				used[strings.Join(parts[:n+1], ".")] = true
			}
			if len(parts) < len(ref) { // data.toolwarrant.lint[name]
				used[strings.Join(parts, ".")+".*"] = true
			}
		})
		ast.WalkTerms(m.ast, func(t *ast.Term) bool {
			if s, ok := t.Value.(ast.String); ok {
				said[string(s)] = true
			}
			return false
		})
	}
	for _, g := range l.givenIDs() {
		if !labels[g.id] {
			l.add("TW209", g.module, g.rule, g.loc, "no METADATA has labels: {id: %s}, so that nothing can say which rule gave it", g.id)
		}
		if !said[g.id] {
			l.add("TW210", g.module, g.rule, g.loc, "no test under policy_test names the id %q", g.id)
		}
	}
	done := map[string]bool{}
	for _, m := range l.modules {
		for _, r := range m.ast.Rules {
			path := m.path(r)
			name := strings.Join(path, ".")
			if m.test || done[name] || strings.HasPrefix(string(headName(r)), "_") {
				continue
			}
			done[name] = true
			if !used[name] && !used[strings.Join(path[:len(path)-1], ".")+".*"] {
				l.add("TW210", m, r, r.Loc(), "no test under policy_test refers to %s", name)
			}
		}
	}
}
