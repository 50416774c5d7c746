package regolint

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/toolwarrant/toolwarrant/internal/suggest"
	"github.com/toolwarrant/toolwarrant/schemas"
)

// types compiles all modules together against the schema of the input, as
// "opa check --strict --schema" does, and says in our words what it finds.
// Builtins that policies miss are known here: TW207 speaks of them.
func (l *linter) types() {
	if l.broken {
		return
	}
	set := ast.NewSchemaSet()
	set.Put(ast.SchemaRootRef, rawSchema("input.json"))
	modules, byFile := map[string]*ast.Module{}, map[string]*module{}
	for _, m := range l.modules {
		modules[m.file], byFile[m.file] = m.ast, m
	}
	for attempt := range 8 {
		c := ast.NewCompiler().WithSchemas(set).WithStrict(true).SetErrorLimit(0)
		c.Compile(modules)
		if attempt == 0 && !c.Failed() {
			l.answer(c)
			return
		}
		again := false
		for _, e := range c.Errors {
			var m *module
			if e.Location != nil {
				m = byFile[e.Location.File]
			}
			switch {
			case m != nil && (attempt == 0 || detailed(e)):
				l.typed(m, e)
			case m == nil:
				l.at("TW201", "rego/data.json", "", 0, 0, "%s", firstLine(e.Message))
			}
			// The compiler ends at the first of its stages that finds something. What
			// the later ones say about the rest is found without that rule.
			if m != nil && !detailed(e) {
				again = without(modules, m, m.around(e.Location)) || again
			}
		}
		if !again {
			break
		}
	}
	for file, m := range byFile {
		if m.test {
			delete(modules, file)
		}
	}
	c := ast.NewCompiler().WithSchemas(set)
	if c.Compile(modules); !c.Failed() {
		l.answer(c)
	}
}

// detailed reports whether an error is one of types, which come last.
func detailed(e *ast.Error) bool {
	switch e.Details.(type) {
	case *ast.RefErrInvalidDetail, *ast.RefErrUnsupportedDetail, *ast.UnificationErrDetail:
		return true
	}
	return false
}

// without takes a rule out of what is compiled.
func without(modules map[string]*ast.Module, m *module, rule *ast.Rule) bool {
	rules := modules[m.file].Rules
	at := slices.Index(rules, rule)
	if rule == nil || at < 0 {
		return false
	}
	smaller := *modules[m.file]
	smaller.Rules = slices.Delete(slices.Clone(rules), at, at+1)
	modules[m.file] = &smaller
	return true
}

func (l *linter) typed(m *module, e *ast.Error) {
	rule := m.around(e.Location)
	switch d := e.Details.(type) {
	case *ast.RefErrInvalidDetail:
		l.add("TW204", m, rule, e.Location, "%s", missing(d.Ref, d.Pos, choices(d.OneOf)))
		return
	case *ast.RefErrUnsupportedDetail:
		l.add("TW204", m, rule, e.Location, "%s never comes: %s is %s, which holds no %s", shortRef(d.Ref), shortRef(d.Ref[:d.Pos]), d.Have, d.Ref[d.Pos])
		return
	case *ast.UnificationErrDetail:
		l.add("TW205", m, rule, e.Location, "this never holds: one side is %s, the other %s", kind(d.Left), kind(d.Right))
		return
	}
	if e.Code == ast.UnsafeVarErr && slices.ContainsFunc(l.out, func(f found) bool {
		return f.RuleID == "TW203" && f.module == m && f.Line == e.Location.Row
	}) {
		return // said already, in other words
	}
	l.add("TW201", m, rule, e.Location, "%s", firstLine(e.Message))
}

// around is the rule that holds a place.
func (m *module) around(loc *ast.Location) (rule *ast.Rule) {
	for _, r := range m.ast.Rules {
		if loc != nil && r.Loc() != nil && r.Loc().Row <= loc.Row {
			rule = r
		}
	}
	return rule
}

func choices(values []ast.Value) []string {
	var out []string
	for _, v := range values {
		if s, ok := v.(ast.String); ok {
			out = append(out, string(s))
		}
	}
	return out
}

// missing says that a reference has no such part, and which was meant.
func missing(ref ast.Ref, pos int, known []string) string {
	part := strings.Trim(ref[pos].String(), `"`)
	text := fmt.Sprintf("%s never comes: %s has no %q", shortRef(ref[:pos+1]), shortRef(ref[:pos]), part)
	return text + meant(part, known)
}

// meant ends a message about an unknown word.
func meant(word string, known []string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(known) == 0 {
		return ""
	}
	slices.Sort(known)
	rest := ""
	if len(known) > 12 {
		known, rest = known[:12], ", ..."
	}
	return "; it has " + strings.Join(known, ", ") + rest
}

// shortRef writes wildcards as they were written.
func shortRef(ref ast.Ref) string {
	return ref.String()
}

func kind(t types.Type) string {
	if t == nil {
		return "of no type"
	}
	if o, ok := t.(*types.Object); ok {
		var names []string
		for _, key := range o.Keys() {
			if s, ok := key.(string); ok {
				names = append(names, s)
			}
		}
		return "an object with " + strings.Join(names, ", ")
	}
	if s := types.Sprint(t); len(s) <= 80 {
		return s
	}
	return "of another type"
}

// rawSchema reads one of the generated schemas.
func rawSchema(name string) map[string]any {
	var out map[string]any
	text, err := fs.ReadFile(schemas.FS, name)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic("regolint: the embedded schema " + name + " cannot be read: " + err.Error())
	}
	return out
}
