package regolint

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/toolwarrant/toolwarrant/internal/suggest"
)

// questions are the rules that the engine asks, by their place in the schema
// of the answers.
var questions = map[string]string{
	"decision": "data.toolwarrant.decision",
	"findings": "data.toolwarrant.lint.findings",
	"refusals": "data.toolwarrant.publish.refusals",
	"visible":  "data.toolwarrant.access.visible",
}

// answer compares the types that the compiler found for the rules with the
// generated schema of what the engine reads: a misspelled field of a reason
// makes every decision that has the reason unreadable, and is denied as such.
func (l *linter) answer(c *ast.Compiler) {
	root := rawSchema("answers.json")
	all, _ := root["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(questions)) {
		at, ok := all[name].(map[string]any)
		ref := ast.MustParseRef(questions[name])
		rules := c.GetRules(ref)
		if !ok || len(rules) == 0 {
			continue // the resolver refuses a policy without them
		}
		w := &shape{l: l, root: root, asked: questions[name], rule: rules[0]}
		w.compare(c.TypeEnv.GetByRef(ref), at, "")
	}
}

// shape compares the type of one rule with its schema.
type shape struct {
	l     *linter
	root  map[string]any
	asked string
	rule  *ast.Rule
}

// compare goes down both. What the compiler knows nothing about passes.
func (w *shape) compare(t types.Type, at map[string]any, path string) {
	s := (&schema{w.root, at}).plain()[0].at
	switch t := t.(type) {
	case types.Any:
		for _, one := range t { // x - y is a set or a number
			switch one.(type) {
			case *types.Object, *types.Set, *types.Array:
				w.compare(one, s, path)
			case types.String, types.Boolean:
				// One rule of several that gives a text where an object is read.
				if kindOf(s) == "object" {
					w.compare(one, s, path)
				}
			}
		}
	case *types.Set:
		w.element(t.Of(), s, path)
	case *types.Array:
		for i := range t.Len() {
			w.element(t.Select(i), s, path)
		}
		if t.Dynamic() != nil {
			w.element(t.Dynamic(), s, path)
		}
	case *types.Object:
		w.object(t, s, path)
	case types.String, types.Number, types.Boolean, types.Null:
		if want := kindOf(s); want != "" && want != types.Sprint(t) {
			w.report(path, "", "%s%s is %s, the engine reads %s", w.asked, path, article(types.Sprint(t)), article(want))
		}
	}
}

func (w *shape) element(t types.Type, s map[string]any, path string) {
	items, ok := s["items"].(map[string]any)
	if ok {
		w.compare(t, items, path+"[_]")
		return
	}
	if want := kindOf(s); want != "" {
		w.report(path, "", "%s%s is a list, the engine reads %s", w.asked, path, article(want))
	}
}

func (w *shape) object(t *types.Object, s map[string]any, path string) {
	properties, ok := s["properties"].(map[string]any)
	if values, open := s["additionalProperties"].(map[string]any); !ok && open { // of any names
		for _, p := range t.StaticProperties() {
			w.compare(p.Value, values, path+"[_]")
		}
		if d := t.DynamicProperties(); d != nil {
			w.compare(d.Value, values, path+"[_]")
		}
		return
	}
	if !ok {
		if want := kindOf(s); want != "" {
			w.report(path, "", "%s%s is an object, the engine reads %s", w.asked, path, article(want))
		}
		return
	}
	has := map[string]bool{}
	for _, p := range t.StaticProperties() {
		name, _ := p.Key.(string)
		has[name] = true
		inner, known := properties[name].(map[string]any)
		if !known {
			has[suggest.Nearest(name, slices.Collect(maps.Keys(properties)))] = true // said once
			w.report(path, name, "the engine reads no %q in %s%s%s", name, w.asked, path, meant(name, slices.Collect(maps.Keys(properties))))
			continue
		}
		w.compare(p.Value, inner, path+"."+name)
	}
	if t.DynamicProperties() != nil {
		return // the rest is not known
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if name, _ := name.(string); !has[name] {
			w.report(path, "", "%s%s has no %q, which the engine reads", w.asked, path, name)
		}
	}
}

// kindOf is what a schema wants, in the words of the compiler; "" where it
// wants one of several things.
func kindOf(s map[string]any) string {
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		if _, text := list[0].(string); text {
			return "string"
		}
	}
	switch s["type"] {
	case "string", "boolean", "object":
		return s["type"].(string)
	case "integer", "number":
		return "number"
	case "array":
		return "list"
	}
	return ""
}

func article(kind string) string {
	if strings.HasPrefix(kind, "object") {
		return "an " + kind
	}
	return "a " + kind
}

// report places a finding where the member is written, or at the rule that
// was asked.
func (w *shape) report(path, member, format string, args ...any) {
	m, rule, loc := w.written(path, member)
	if m == nil {
		m, rule, loc = w.l.owner(w.rule)
	}
	w.l.add("TW215", m, rule, loc, format, args...)
}

// owner is the module that a compiled rule came from.
func (l *linter) owner(r *ast.Rule) (*module, *ast.Rule, *ast.Location) {
	for _, m := range l.modules {
		if r.Loc() != nil && m.file == r.Loc().File {
			return m, m.around(r.Loc()), r.Loc()
		}
	}
	return l.modules[0], nil, nil
}

// written finds the object that most probably is the one with a member: in a
// rule of the name at which the answer has it, or in any other.
func (w *shape) written(path, member string) (in *module, rule *ast.Rule, loc *ast.Location) {
	if member == "" {
		return nil, nil, nil
	}
	parts := strings.Split(strings.ReplaceAll(w.asked+path, "[_]", ""), ".")
	name, key := ast.Var(parts[len(parts)-1]), ast.StringTerm(member)
	for _, m := range w.l.modules {
		for _, r := range m.ast.Rules {
			if m.test || loc != nil && headName(r) != name {
				continue
			}
			ast.WalkTerms(r, func(t *ast.Term) bool {
				o, ok := t.Value.(ast.Object)
				if !ok || o.Get(key) == nil || loc != nil && headName(rule) == name {
					return false
				}
				o.Foreach(func(k, _ *ast.Term) {
					if k.Equal(key) {
						in, rule, loc = m, r, k.Location
					}
				})
				return false
			})
		}
	}
	return in, rule, loc
}
