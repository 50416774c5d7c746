package regolint

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// imports wants rego.v2 of every module: without it a negated call does not
// hold where the input is missing, and a rule that denies by it does not deny.
func (l *linter) imports(m *module) {
	if !m.v2 {
		l.add("TW202", m, nil, m.ast.Package.Loc(), "the module lacks \"import rego.v2\"; no policy is put into force without it, since \"not\" then fails open where input is missing")
	}
}

// negations looks at every "not".
func (l *linter) negations(m *module) {
	for _, rule := range m.ast.Rules {
		ast.WalkExprs(rule, func(e *ast.Expr) bool {
			inner, ok := negated(e)
			if !ok {
				return false
			}
			switch {
			case slices.ContainsFunc(inner, wildcards):
				l.add("TW203", m, rule, e.Loc(), "\"not\" cannot look for an element: write \"not x in xs\", or give the question a rule of its own and negate that")
			case !m.v2 && slices.ContainsFunc(inner, failsOpen):
				l.add("TW203", m, rule, e.Loc(), "without \"import rego.v2\" this \"not\" does not hold where an argument is missing or of another type, so that the rule is passed over; import rego.v2")
			}
			return false
		})
	}
}

// negated gives what stands behind a "not": with rego.v2 it has a body of its
// own, before it was a mark at the expression.
func negated(e *ast.Expr) ([]*ast.Expr, bool) {
	if not, ok := e.Terms.(*ast.Not); ok {
		return not.Body, true
	}
	return []*ast.Expr{e}, e.Negated
}

// wildcards reports whether a negated expression iterates, which it has no
// safe way to do. What stands in a comprehension is closed and may.
func wildcards(e *ast.Expr) (found bool) {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok {
		terms = []*ast.Term{}
		if t, ok := e.Terms.(*ast.Term); ok {
			terms = append(terms, t)
		}
	}
	for _, t := range terms {
		ast.WalkTerms(t, func(t *ast.Term) bool {
			switch v := t.Value.(type) {
			case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
				return true
			case ast.Var:
				found = found || v.IsWildcard()
			}
			return found
		})
	}
	return found
}

// failsOpen reports whether the older negation computes something before it
// negates. A plain reference, and one that is compared for equality with a
// constant, it negates as they stand.
func failsOpen(e *ast.Expr) bool {
	switch terms := e.Terms.(type) {
	case *ast.Term:
		ref, ok := terms.Value.(ast.Ref)
		if !ok {
			return false
		}
		for _, part := range ref[1:] {
			if _, constant := part.Value.(ast.String); !constant {
				if _, variable := part.Value.(ast.Var); !variable {
					return true // input[f(x)], input[data.x]
				}
			}
		}
	case []*ast.Term:
		equality := e.IsEquality() || e.Operator().Equal(ast.Equal.Ref())
		for _, t := range terms[1:] {
			switch t.Value.(type) {
			case ast.Ref:
				if !equality {
					return true
				}
			case ast.Call:
				return true
			case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
				return true
			}
		}
	}
	return false
}

// loops finds inequalities with an element that iterates: they hold as soon as
// one element differs, which is not what "is not among" means.
func (l *linter) loops(m *module) {
	for _, rule := range m.ast.Rules {
		for r := rule; r != nil; r = r.Else {
			l.oneByOne(m, rule, r)
		}
		ast.WalkExprs(rule, func(e *ast.Expr) bool {
			terms, ok := e.Terms.([]*ast.Term)
			if !ok || len(terms) != 3 || e.Negated || !e.Operator().Equal(ast.NotEqual.Ref()) {
				return false
			}
			for _, t := range terms[1:] {
				ref, ok := t.Value.(ast.Ref)
				if !ok {
					continue
				}
				for _, part := range ref[1:] {
					if v, ok := part.Value.(ast.Var); ok && v.IsWildcard() {
						l.add("TW214", m, rule, e.Loc(), differs)
						return false
					}
				}
			}
			return false
		})
	}
}

const differs = "this holds as soon as one element differs; for \"none of them\" write \"not x in xs\", for \"each of them\" write every"

// oneByOne finds the same behind "some x in xs", where all that a rule does
// with x is to ask whether it differs. A rule that goes on with x is a filter.
func (l *linter) oneByOne(m *module, rule, r *ast.Rule) {
	for _, e := range r.Body {
		some, ok := e.Terms.(*ast.SomeDecl)
		if !ok || len(some.Symbols) != 1 {
			continue
		}
		call, ok := some.Symbols[0].Value.(ast.Call)
		if !ok || len(call) < 3 {
			continue
		}
		x, ok := call[len(call)-2].Value.(ast.Var)
		if !ok || len(call) > 3 && !isWildcard(call[1]) {
			continue
		}
		var unequal []*ast.Expr
		uses := count(r.Head, x)
		for _, other := range r.Body {
			if other == e {
				continue
			}
			n := count(other, x)
			if a, b, ok := operands(other, "neq"); ok && n == 1 && !other.Negated && (a.Value.Compare(x) == 0 || b.Value.Compare(x) == 0) {
				unequal = append(unequal, other)
				continue
			}
			uses += n
		}
		if uses > 0 {
			continue
		}
		for _, other := range unequal {
			l.add("TW214", m, rule, other.Loc(), differs)
		}
	}
}

// count says how often a variable stands below a node.
func count(node any, x ast.Var) (n int) {
	ast.WalkVars(node, func(v ast.Var) bool {
		if v.Equal(x) {
			n++
		}
		return false
	})
	return n
}

func isWildcard(t *ast.Term) bool {
	v, ok := t.Value.(ast.Var)
	return ok && v.IsWildcard()
}
