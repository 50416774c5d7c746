package regolint

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// tree is what a reference into data can find: packages with their rules, and
// the settings.
type tree struct {
	children map[string]*tree
	rules    []ruled // where rules stand; what is below is theirs
	leaf     bool    // a value of the settings that is no object
}

// ruled is a rule with its module.
type ruled struct {
	module *module
	rule   *ast.Rule
}

func (t *tree) child(name string) *tree {
	if t.children == nil {
		t.children = map[string]*tree{}
	}
	if t.children[name] == nil {
		t.children[name] = &tree{}
	}
	return t.children[name]
}

// tree collects what the policy defines.
func (l *linter) tree() *tree {
	root := &tree{}
	var settings any
	if json.Unmarshal(l.text.Data, &settings) == nil {
		root.settings(settings)
	}
	for _, m := range l.modules {
		for _, r := range m.ast.Rules {
			at := root
			for _, name := range m.path(r)[1:] {
				at = at.child(name)
			}
			at.rules = append(at.rules, ruled{m, r})
		}
	}
	return root
}

func (t *tree) settings(v any) {
	object, ok := v.(map[string]any)
	t.leaf = !ok
	for name, inner := range object {
		t.child(name).settings(inner)
	}
}

// find follows the constant parts of a reference below data. at is the last
// place that exists, n how many parts led there.
func (t *tree) find(ref ast.Ref) (at *tree, n int) {
	at = t
	for i, part := range ref {
		name, ok := part.Value.(ast.String)
		if !ok || len(at.rules) > 0 || at.leaf {
			return at, i
		}
		next := at.children[string(name)]
		if next == nil {
			return at, i
		}
		at = next
	}
	return at, len(ref)
}

// dataRefs finds references into data that lead nowhere. OPA takes them for
// settings that may come; here all settings are known.
func (l *linter) dataRefs() {
	if l.broken {
		return
	}
	for _, m := range l.modules {
		m.refs(func(rule *ast.Rule, ref ast.Ref, loc *ast.Location) {
			if ref.HasPrefix(ast.InputRootRef) {
				l.inputRef(m, rule, ref, loc)
				return
			}
			at, n := l.defined.find(ref[1:])
			if n == len(ref)-1 || len(at.rules) > 0 || at.leaf {
				return
			}
			if _, constant := ref[n+1].Value.(ast.String); !constant {
				return // data.settings[x]
			}
			l.add("TW204", m, rule, loc, "%s", missing(ref, n+1, slices.Collect(maps.Keys(at.children))))
		})
	}
}

// inputRef checks a reference into the input where the compiler does not: in
// what a "with" replaces, since a test that sets a field which never comes
// tests nothing, and in rules that do not compile for another reason.
func (l *linter) inputRef(m *module, rule *ast.Rule, ref ast.Ref, loc *ast.Location) {
	for n := 2; n <= len(ref); n++ {
		at, sure := inputSchema().walk(ref[1:n])
		if !sure {
			return
		}
		if len(at) > 0 {
			continue
		}
		parent, _ := inputSchema().walk(ref[1 : n-1])
		if !slices.ContainsFunc(l.out, func(f found) bool {
			return f.RuleID == "TW204" && f.module == m && f.Line == loc.Row && f.Column == l.column(m.file, loc.Row, loc.Col)
		}) {
			l.add("TW204", m, rule, loc, "%s", missing(ref, n-1, members(parent)))
		}
		return
	}
}
