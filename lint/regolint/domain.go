package regolint

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// scope is what the names in a body stand for.
type scope struct {
	l       *linter
	m       *module
	hidden  map[ast.Var]bool
	aliases map[ast.Var]*ast.Term // x := term
}

func (l *linter) scope(m *module, rule *ast.Rule, body ast.Body) *scope {
	s := &scope{l: l, m: m, hidden: locals(rule), aliases: map[ast.Var]*ast.Term{}}
	for _, e := range body {
		if len(e.With) > 0 || e.Negated {
			continue
		}
		if some, ok := e.Terms.(*ast.SomeDecl); ok {
			s.elements(some)
			continue
		}
		a, b, ok := operands(e, "assign", "eq")
		if !ok {
			continue
		}
		if v, isVar := a.Value.(ast.Var); isVar && s.hidden[v] && s.aliases[v] == nil && !mentions(b, v) {
			s.aliases[v] = b
		}
	}
	return s
}

// elements makes "some x in xs" stand for an element of xs.
func (s *scope) elements(some *ast.SomeDecl) {
	for _, symbol := range some.Symbols {
		call, ok := symbol.Value.(ast.Call)
		if !ok || len(call) < 3 {
			continue
		}
		x, isVar := call[len(call)-2].Value.(ast.Var)
		xs := call[len(call)-1]
		if _, isRef := xs.Value.(ast.Ref); !isVar || s.aliases[x] != nil || mentions(xs, x) || !isRef {
			continue
		}
		each := &ast.Term{Value: ast.Var(ast.WildcardPrefix + "some-" + string(x)), Location: xs.Location}
		s.aliases[x] = &ast.Term{Value: xs.Value.(ast.Ref).Append(each), Location: xs.Location}
	}
}

func mentions(t *ast.Term, v ast.Var) (found bool) {
	ast.WalkVars(t, func(o ast.Var) bool { found = found || o.Equal(v); return false })
	return found
}

// whole writes out what a term stands for: assigned variables become their
// terms, short names their full references.
func (s *scope) whole(t *ast.Term, depth int) *ast.Term {
	if depth > 8 {
		return t
	}
	switch v := t.Value.(type) {
	case ast.Var:
		if to := s.aliases[v]; to != nil {
			return s.whole(to, depth+1)
		}
		if full, ok := s.m.full(ast.Ref{t}, s.hidden); ok {
			return &ast.Term{Value: full, Location: t.Location}
		}
	case ast.Ref:
		if full, ok := s.m.full(v, s.hidden); ok {
			return &ast.Term{Value: full, Location: t.Location}
		}
		head, ok := v[0].Value.(ast.Var)
		if !ok || s.aliases[head] == nil {
			return t
		}
		to := s.whole(s.aliases[head], depth+1)
		switch base := to.Value.(type) {
		case ast.Ref:
			return &ast.Term{Value: base.Concat(v[1:]), Location: t.Location}
		case ast.Var:
			return &ast.Term{Value: ast.Ref{to}.Concat(v[1:]), Location: t.Location}
		}
	}
	return t
}

// domain gives all values that a term can have, where that is known: by the
// schema of the input, and through rules that choose among constants.
func (s *scope) domain(t *ast.Term, path ast.Ref, depth int) ([]ast.Value, bool) {
	if depth > 8 {
		return nil, false
	}
	t = s.whole(t, 0)
	switch v := t.Value.(type) {
	case ast.Ref:
		ref := v.Concat(path)
		if ref.HasPrefix(ast.InputRootRef) {
			return listedAt(ref)
		}
		if ref.HasPrefix(ast.DefaultRootRef) {
			if out, ok := s.l.rulesDomain(ref[1:], depth); ok {
				return out, true
			}
			return listedAt(ref)
		}
	case ast.Object:
		if len(path) == 0 {
			return nil, false
		}
		if inner := v.Get(path[0]); inner != nil {
			return s.domain(inner, path[1:], depth+1)
		}
		return nil, false
	case ast.Call:
		return s.called(v, path, depth)
	case ast.String, ast.Number, ast.Boolean, ast.Null:
		if len(path) == 0 {
			return []ast.Value{v}, true
		}
	}
	return nil, false
}

// called gives the domain of object.get, and of functions of the policy.
func (s *scope) called(call ast.Call, path ast.Ref, depth int) ([]ast.Value, bool) {
	ref, ok := call[0].Value.(ast.Ref)
	if !ok {
		return nil, false
	}
	if ref.String() == "object.get" && len(call) == 4 {
		if _, constant := call[2].Value.(ast.String); !constant {
			return nil, false
		}
		one, ok := s.domain(call[1], ast.Ref{call[2]}.Concat(path), depth+1)
		if !ok {
			return nil, false
		}
		other, ok := s.domain(call[3], path, depth+1)
		return append(one, other...), ok
	}
	if full, ok := s.m.full(ref, s.hidden); ok && full.HasPrefix(ast.DefaultRootRef) {
		return s.l.rulesDomain(full[1:].Concat(path), depth)
	}
	return nil, false
}

// rulesDomain is the union over all rules of a name, if each is known.
func (l *linter) rulesDomain(ref ast.Ref, depth int) (out []ast.Value, known bool) {
	at, n := l.defined.find(ref)
	if len(at.rules) == 0 {
		return nil, false
	}
	for _, r := range at.rules {
		for rule := r.rule; rule != nil; rule = rule.Else {
			if rule.Head.Key != nil || rule.Head.Value == nil || len(rule.Head.Reference) > 1 {
				return nil, false
			}
			one, ok := l.scope(r.module, rule, rule.Body).domain(rule.Head.Value, ref[n:], depth+1)
			if !ok {
				return nil, false
			}
			out = append(out, one...)
		}
	}
	return out, len(out) > 0
}
