package regolint

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/resolver"
)

// module is one file of Rego with the short names that it uses.
type module struct {
	file  string
	test  bool
	ast   *ast.Module
	v2    bool
	names map[ast.Var]ast.Ref // imports, and rules of the package
}

// parse reads every module. One that is no Rego is a finding, and so far as it
// goes the others are looked at nevertheless.
func (l *linter) parse() {
	if !json.Valid(l.text.Data) {
		l.broken = true // TW201 says so; every rule that reads a setting would be a finding beside it
	}
	for _, part := range []map[string][]byte{l.text.Rego, l.text.Tests} {
		for _, file := range slices.Sorted(maps.Keys(part)) {
			test := strings.HasSuffix(file, "_test.rego") || strings.HasPrefix(file, "policy_test/")
			parsed, err := ast.ParseModuleWithOpts(file, string(part[file]), ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
			if err != nil {
				l.broken = true
				l.unparsed(&module{file: file}, err)
				continue
			}
			if parsed == nil { // an empty file
				continue
			}
			l.modules = append(l.modules, &module{file: file, test: test, ast: parsed, v2: resolver.ImportsV2(parsed), names: map[ast.Var]ast.Ref{}})
		}
	}
	packages := map[string]map[ast.Var]ast.Ref{}
	for _, m := range l.modules {
		key := m.ast.Package.Path.String()
		if packages[key] == nil {
			packages[key] = map[ast.Var]ast.Ref{}
		}
		for _, r := range m.ast.Rules {
			name := headName(r)
			packages[key][name] = m.ast.Package.Path.Append(ast.StringTerm(string(name)))
		}
	}
	for _, m := range l.modules {
		maps.Copy(m.names, packages[m.ast.Package.Path.String()])
		for _, i := range m.ast.Imports {
			ref, ok := i.Path.Value.(ast.Ref)
			if ok && (ref.HasPrefix(ast.DefaultRootRef) || ref.HasPrefix(ast.InputRootRef)) {
				m.names[i.Name()] = ref
			}
		}
	}
	l.defined = l.tree()
}

func (l *linter) unparsed(m *module, err error) {
	var list ast.Errors
	if !errors.As(err, &list) {
		l.add("TW201", m, nil, nil, "%s", firstLine(err.Error()))
		return
	}
	// The parser says the same place twice, with and without what it wanted.
	said := map[int]*ast.Error{}
	for _, e := range list {
		if e.Location == nil {
			e.Location = &ast.Location{File: m.file, Row: 1, Col: 1}
		}
		if before := said[e.Location.Row]; before == nil || len(e.Message) > len(before.Message) {
			said[e.Location.Row] = e
		}
	}
	for _, row := range slices.Sorted(maps.Keys(said)) {
		l.add("TW201", m, nil, said[row].Location, "%s", firstLine(said[row].Message))
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// headName is the name of a rule, without what follows in brackets.
func headName(r *ast.Rule) ast.Var {
	if len(r.Head.Reference) > 0 {
		if v, ok := r.Head.Reference[0].Value.(ast.Var); ok {
			return v
		}
	}
	return r.Head.Name
}

// path is the full name of a rule: data, its package, its own name.
func (m *module) path(r *ast.Rule) []string {
	return append(constants(m.ast.Package.Path), string(headName(r)))
}

// constants are the parts of a reference up to the first that is not known.
func constants(ref ast.Ref) []string {
	var out []string
	for i, t := range ref {
		switch v := t.Value.(type) {
		case ast.Var:
			if i > 0 {
				return out
			}
			out = append(out, string(v))
		case ast.String:
			out = append(out, string(v))
		default:
			return out
		}
	}
	return out
}

// full writes a reference out: short names of imports and of rules of the
// package become what they stand for. ok is false for one into a local value.
func (m *module) full(ref ast.Ref, local map[ast.Var]bool) (ast.Ref, bool) {
	head, ok := ref[0].Value.(ast.Var)
	if !ok || local[head] {
		return ref, false
	}
	if head.Equal(ast.DefaultRootDocument.Value) || head.Equal(ast.InputRootDocument.Value) {
		return ref, true
	}
	long, ok := m.names[head]
	if !ok {
		return ref, false
	}
	return long.Concat(ref[1:]), true
}

// locals are the variables that a rule declares, which hide names around it.
func locals(r *ast.Rule) map[ast.Var]bool {
	out := map[ast.Var]bool{}
	note := func(t *ast.Term) {
		if t == nil {
			return
		}
		ast.WalkVars(t, func(v ast.Var) bool { out[v] = true; return false })
	}
	for ; r != nil; r = r.Else {
		for _, arg := range r.Head.Args {
			note(arg)
		}
		ast.WalkExprs(r, func(e *ast.Expr) bool {
			switch terms := e.Terms.(type) {
			case []*ast.Term:
				if e.IsAssignment() && len(terms) == 3 {
					note(terms[1])
				}
			case *ast.SomeDecl:
				for _, s := range terms.Symbols {
					if call, ok := s.Value.(ast.Call); ok { // some k, v in xs
						for _, t := range call[1 : len(call)-1] {
							note(t)
						}
						continue
					}
					note(s)
				}
			case *ast.Every:
				note(terms.Key)
				note(terms.Value)
			}
			return false
		})
	}
	return out
}

// refs visits every reference of a module into input and data, written out,
// with the rule around it.
func (m *module) refs(visit func(rule *ast.Rule, ref ast.Ref, loc *ast.Location)) {
	for _, rule := range m.ast.Rules {
		hidden := locals(rule)
		ast.WalkTerms(rule, func(t *ast.Term) bool {
			switch v := t.Value.(type) {
			case ast.Ref:
				if full, ok := m.full(v, hidden); ok {
					visit(rule, full, t.Location)
				}
			case ast.Var:
				if full, ok := m.full(ast.Ref{t}, hidden); ok {
					visit(rule, full, t.Location)
				}
			}
			return false
		})
	}
}
