package regolint

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// never finds conditions that cannot hold, in every body of a module: those
// of rules, and those of comprehensions and of every within them.
func (l *linter) never(m *module) {
	for _, rule := range m.ast.Rules {
		for r := rule; r != nil; r = r.Else {
			if r.Else != nil && unconditional(r.Body) && r.Head.Value != nil && r.Head.Value.IsGround() && !computed(r.Head.Value) && plainArgs(r) {
				l.add("TW205", m, rule, r.Else.Loc(), "this else is never reached: what stands before it always holds")
			}
			l.bodies(m, rule, nil, r.Body)
			for _, part := range []*ast.Term{r.Head.Key, r.Head.Value} {
				if part != nil {
					l.scope(m, r, r.Body).places(rule, part)
					l.closures(m, rule, l.scope(m, r, r.Body), part)
				}
			}
		}
	}
}

// computed reports whether a value can be undefined.
func computed(t *ast.Term) (found bool) {
	ast.WalkTerms(t, func(t *ast.Term) bool {
		switch t.Value.(type) {
		case ast.Ref, ast.Call, ast.Var:
			found = true
		}
		return found
	})
	return found
}

// plainArgs reports whether the arguments of a function match anything.
func plainArgs(r *ast.Rule) bool {
	for _, arg := range r.Head.Args {
		if _, ok := arg.Value.(ast.Var); !ok {
			return false
		}
	}
	return true
}

// unconditional reports whether a body holds whatever the input is.
func unconditional(body ast.Body) bool {
	for _, e := range body {
		if len(e.With) > 0 || e.Negated {
			return false
		}
		if t, ok := e.Terms.(*ast.Term); ok {
			if b, ok := t.Value.(ast.Boolean); ok && bool(b) {
				continue
			}
		}
		a, b, ok := operands(e, "equal", "eq")
		if !ok || !constant(a) || a.Value.Compare(b.Value) != 0 {
			return false
		}
	}
	return true
}

func (l *linter) bodies(m *module, rule *ast.Rule, around *scope, body ast.Body) {
	s := l.scope(m, rule, body)
	if around != nil {
		for v, t := range around.aliases {
			if s.aliases[v] == nil {
				s.aliases[v] = t
			}
		}
	}
	k := &known{s: s, rule: rule, about: map[string]*fact{}}
	for _, e := range body {
		k.expression(e)
		s.places(rule, e)
		l.closures(m, rule, s, e)
	}
}

// closures goes into the bodies within a node.
func (l *linter) closures(m *module, rule *ast.Rule, s *scope, node any) {
	v := ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.ArrayComprehension:
			l.bodies(m, rule, s, x.Body)
			return true
		case *ast.SetComprehension:
			l.bodies(m, rule, s, x.Body)
			return true
		case *ast.ObjectComprehension:
			l.bodies(m, rule, s, x.Body)
			return true
		case *ast.Every:
			l.bodies(m, rule, s, x.Body)
		case *ast.Not:
			if len(x.Body) > 1 {
				l.bodies(m, rule, s, x.Body)
				return true
			}
		case *ast.LogicalOr:
			l.bodies(m, rule, s, x.Lhs)
			l.bodies(m, rule, s, x.Rhs)
			return true
		}
		return false
	})
	v.Walk(node)
}

// constant reports whether a term is one value whatever the input is.
func constant(t *ast.Term) bool { return t.IsGround() && !computed(t) }

// known is what a body has said so far about each thing that it compares.
type known struct {
	s     *scope
	rule  *ast.Rule
	about map[string]*fact
	wants map[string]wanted // whole expressions; see either
}

// report says that an expression never holds.
func (k *known) report(id string, e *ast.Expr, format string, args ...any) {
	k.s.l.add(id, k.s.m, k.rule, e.Loc(), format, args...)
}

func (k *known) expression(e *ast.Expr) {
	if len(e.With) > 0 { // another input, other values
		return
	}
	switch terms := e.Terms.(type) {
	case *ast.Not:
		if len(terms.Body) == 1 {
			inner := *terms.Body[0]
			inner.Negated = inner.Negated == e.Negated // not not x is x
			k.expression(&inner)
		}
	case *ast.LogicalAnd:
		if e.Negated { // one of them does not hold, whichever
			k.s.l.bodies(k.s.m, k.rule, k.s, append(slices.Clone(terms.Lhs), terms.Rhs...))
			return
		}
		for _, inner := range append(slices.Clone(terms.Lhs), terms.Rhs...) {
			k.expression(inner)
		}
	case *ast.Term:
		if b, ok := terms.Value.(ast.Boolean); ok && bool(b) == e.Negated {
			k.report("TW205", e, "this never holds, so that nothing after it counts; remove the rule, or the line")
		}
		k.either(e)
	case *ast.SomeDecl:
		for _, symbol := range terms.Symbols {
			call, ok := symbol.Value.(ast.Call)
			if !ok {
				continue
			}
			xs := call[len(call)-1]
			if empty(xs) {
				k.report("TW205", e, "this never holds: nothing is in an empty collection")
			} else if len(call) == 3 && !e.Negated {
				k.member(e, call[1], xs, false)
			}
		}
	case []*ast.Term:
		k.comparison(e)
		if _, _, ok := operands(e, "equal", "eq", "neq", "assign"); !ok { // of these facts speak
			k.either(e)
		}
	}
}

func (k *known) comparison(e *ast.Expr) {
	if a, b, ok := operands(e, "internal.member_2"); ok {
		k.member(e, a, b, e.Negated)
		return
	}
	op := operator(e)
	a, b, ok := operands(e, "equal", "eq", "assign", "neq", "lt", "lte", "gt", "gte")
	if !ok {
		return
	}
	if op == "eq" || op == "assign" {
		op = "equal"
	}
	switch {
	case constant(a) && constant(b):
		if holds(op, a.Value.Compare(b.Value)) == e.Negated {
			k.report("TW205", e, "this never holds: two constants are compared, %s and %s", a, b)
		}
		return
	case constant(a): // "x" == ref
		a, b, op = b, a, turned[op]
	case !constant(b):
		return
	}
	if v, isVar := a.Value.(ast.Var); isVar && v.IsWildcard() {
		return
	}
	if operator(e) == "assign" {
		return // the variable is what it is assigned; see aliases
	}
	subject := k.s.whole(a, 0)
	if constant(subject) { // x := "a"; x == "b"
		if holds(op, subject.Value.Compare(b.Value)) == e.Negated {
			k.report("TW205", e, "this never holds: %s is %s", a, subject)
		}
		return
	}
	if k.kinds(e, op, subject, b) {
		return
	}
	if !k.outside(e, subject, []*ast.Term{b}) {
		if op == "equal" || op == "neq" {
			k.star(e, subject, b)
		} else {
			k.orders(e, op, subject, b)
		}
	}
	if e.Negated {
		op = opposite[op]
	}
	if why := k.fact(subject).add(op, b, e); why != "" {
		k.report("TW205", e, "this never holds together with line %s", why)
	}
}

// member looks at "x in xs".
func (k *known) member(e *ast.Expr, x, xs *ast.Term, negated bool) {
	if empty(xs) {
		if !negated {
			k.report("TW205", e, "this never holds: nothing is in an empty collection")
		}
		return
	}
	list, listed := elements(xs)
	if constant(x) {
		if listed && negated == within(x, list) {
			k.report("TW205", e, "this never holds: two constants are compared")
		}
		if !listed {
			k.star(e, k.s.whole(xs, 0), x)
			k.among(e, x, xs)
		}
		return
	}
	if !listed {
		return
	}
	subject := k.s.whole(x, 0)
	if constant(subject) {
		if within(subject, list) == negated {
			k.report("TW205", e, "this never holds: %s is %s", x, subject)
		}
		return
	}
	if k.outside(e, subject, list) {
		return
	}
	op := "in"
	if negated {
		op = "out"
	}
	if why := k.fact(subject).among(op, list, e); why != "" {
		k.report("TW205", e, "this never holds together with line %s", why)
	}
}

func empty(t *ast.Term) bool {
	switch v := t.Value.(type) {
	case ast.Set:
		return v.Len() == 0
	case *ast.Array:
		return v.Len() == 0
	case ast.Object:
		return v.Len() == 0
	case ast.Call:
		return len(v) == 1 && v[0].String() == "set" // set()
	}
	return false
}

// elements are those of a set or array of constants.
func elements(t *ast.Term) (out []*ast.Term, ok bool) {
	if !constant(t) {
		return nil, false
	}
	switch v := t.Value.(type) {
	case ast.Set:
		v.Foreach(func(t *ast.Term) { out = append(out, t) })
		return out, true
	case *ast.Array:
		v.Foreach(func(t *ast.Term) { out = append(out, t) })
		return out, true
	}
	return nil, false
}

func within(x *ast.Term, list []*ast.Term) bool {
	for _, t := range list {
		if t.Value.Compare(x.Value) == 0 {
			return true
		}
	}
	return false
}

// outside reports comparisons with values that the subject never has.
func (k *known) outside(e *ast.Expr, subject *ast.Term, compared []*ast.Term) bool {
	domain, ok := k.s.domain(subject, nil, 0)
	if !ok {
		return k.stray(e, subject, compared)
	}
	var names []string
	known := make([]*ast.Term, len(domain))
	for i, v := range domain {
		known[i] = &ast.Term{Value: v}
		if s, ok := v.(ast.String); ok && !slices.Contains(names, string(s)) {
			names = append(names, string(s))
		}
	}
	found := false
	for _, c := range compared {
		s, isString := c.Value.(ast.String)
		if !isString || len(names) == 0 || within(c, known) {
			continue
		}
		found = true
		k.report("TW206", e, "%s is never %s%s", subject, c, strings.Replace(meant(string(s), names), "it has", "it is one of", 1))
	}
	return found
}

// fact is the earlier statement about one subject.
func (k *known) fact(subject *ast.Term) *fact {
	key := subject.String() // which writes every wildcard as "_"
	ast.WalkVars(subject, func(v ast.Var) bool {
		if v.IsWildcard() {
			key += " " + string(v)
		}
		return false
	})
	if k.about[key] == nil {
		k.about[key] = &fact{}
	}
	return k.about[key]
}
