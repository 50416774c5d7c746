package regolint

import (
	"fmt"
	"regexp"

	"github.com/open-policy-agent/opa/v1/ast"
)

// places looks at everything below a node that reads the input or a document
// of the policy, with variables written out.
func (s *scope) places(rule *ast.Rule, node any) {
	ast.WalkNodes(node, func(n ast.Node) bool {
		if e, ok := n.(*ast.Expr); ok {
			if terms, isCall := e.Terms.([]*ast.Term); isCall && len(e.With) == 0 {
				s.get(rule, ast.Call(terms), e.Loc())
			}
			return len(e.With) > 0 // another input
		}
		t, ok := n.(*ast.Term)
		if !ok {
			return false
		}
		switch v := t.Value.(type) {
		case ast.Ref:
			if full, ok := s.whole(t, 0).Value.(ast.Ref); ok {
				s.place(rule, full, t.Location)
			}
		case ast.Call:
			s.get(rule, v, t.Location)
		}
		return false
	})
}

// place reports references that treat a set as something else, and those into
// documents of the policy that lead nowhere. The compiler finds the others.
func (s *scope) place(rule *ast.Rule, ref ast.Ref, loc *ast.Location) {
	for n := 2; n < len(ref); n++ {
		at, sure := placeOf(ref[:n])
		if !sure {
			return
		}
		kind := kindOfSet(at)
		if kind == "" {
			continue
		}
		if number, ok := ref[n].Value.(ast.Number); ok && (kind == "texts" || number == "0") {
			s.l.add("TW204", s.m, rule, loc, "%s never comes: %s is a set of %s, which has no positions; write \"some x in ...\" or \"x in ...\"", shown(ref[:n+1]), shown(ref[:n]), kind)
		} else if len(ref) > n+1 {
			s.l.add("TW204", s.m, rule, loc, "%s never comes: %s is a set of %s, which have no members", shown(ref[:n+2]), shown(ref[:n]), kind)
		}
		return
	}
	if ref.HasPrefix(ast.DefaultRootRef) {
		if n, known, found := absent(ref); found {
			s.l.add("TW204", s.m, rule, loc, "%s", missing(ref, n, known))
		}
	}
}

// get looks at object.get with a constant key or path: it gives its default
// whenever the reference that it stands for never comes.
func (s *scope) get(rule *ast.Rule, call ast.Call, loc *ast.Location) {
	if len(call) != 4 || call[0].String() != "object.get" {
		return
	}
	object, ok := s.whole(call[1], 0).Value.(ast.Ref)
	if v, isVar := s.whole(call[1], 0).Value.(ast.Var); isVar {
		object, ok = ast.Ref{ast.NewTerm(v)}, true
	}
	if !ok {
		return
	}
	ref := object.Copy()
	switch key := call[2].Value.(type) {
	case ast.String:
		ref = ref.Append(call[2])
	case *ast.Array:
		for i := range key.Len() {
			if !constant(key.Elem(i)) {
				return
			}
			ref = ref.Append(key.Elem(i))
		}
	default:
		return
	}
	if n, known, found := absent(ref); found && n >= len(object) {
		s.l.add("TW204", s.m, rule, loc, "this always gives its default: %s", missing(ref, n, known))
	}
}

// shown writes the names that elements were given as "_".
func shown(ref ast.Ref) string {
	out := ref.Copy()
	for i, part := range out {
		if v, ok := part.Value.(ast.Var); ok && i > 0 && v.IsWildcard() {
			out[i] = ast.VarTerm(ast.WildcardString)
		}
	}
	return out.String()
}

// wholeMoment and beginOfMoment are what a moment in text compares with.
var (
	wholeMoment   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}`)
	beginOfMoment = regexp.MustCompile(`^\d{4}(-\d{2}(-\d{2}(T.*)?)?)?$`)
)

// kinds reports comparisons of a thing with a constant that is of another kind
// than it ever is, and says whether it did.
func (k *known) kinds(e *ast.Expr, op string, subject, b *ast.Term) bool {
	if call, ok := subject.Value.(ast.Call); ok && call[0].String() == "count" {
		return k.counted(e, op, subject, b)
	}
	ref, ok := subject.Value.(ast.Ref)
	if !ok {
		return false
	}
	at, sure := placeOf(ref)
	if !sure || len(at) == 0 {
		return false
	}
	if what := kindOfSet(at); what != "" {
		if _, set := b.Value.(ast.Set); set || empty(b) && b.Value.String() == "set()" {
			return false
		}
		outcome := "never holds"
		if (op == "neq") != e.Negated {
			outcome = "always holds"
		}
		k.report("TW205", e, "this %s: %s is a set of %s, and no set equals %s; write \"x in ...\", or compare with {...}", outcome, shown(ref), what, b)
		return true
	}
	text, ok := b.Value.(ast.String)
	if !ok || !moment(at) {
		return false
	}
	if op == "equal" || op == "neq" {
		ok = wholeMoment.MatchString(string(text))
	} else {
		ok = beginOfMoment.MatchString(string(text))
	}
	if !ok {
		k.report("TW206", e, "%s is a moment such as \"2026-01-31T22:00:00Z\" and does not compare with %s; for the time of a day take time.clock(time.parse_rfc3339_ns(%s))", shown(ref), b, shown(ref))
	}
	return !ok
}

// counted: nothing is less often there than never.
func (k *known) counted(e *ast.Expr, op string, subject, b *ast.Term) bool {
	n, ok := b.Value.(ast.Number)
	if !ok || e.Negated {
		return false
	}
	order := n.Compare(ast.Number("0"))
	if op == "lt" && order <= 0 || (op == "lte" || op == "equal") && order < 0 {
		k.report("TW205", e, "this never holds: %s is 0 or more", subject)
		return true
	}
	return false
}

// orders reports orders among listed values that none of them satisfies.
func (k *known) orders(e *ast.Expr, op string, subject, b *ast.Term) {
	domain, ok := k.s.domain(subject, nil, 0)
	if _, text := b.Value.(ast.String); !ok || !text || e.Negated {
		return
	}
	for _, v := range domain {
		if _, text := v.(ast.String); !text || holds(op, v.Compare(b.Value)) {
			return
		}
	}
	k.report("TW205", e, "this never holds: no value of %s is %s", subject, statement{op: op, list: []*ast.Term{b}})
}

// either reports that a body wants a thing and its negation.
func (k *known) either(e *ast.Expr) {
	terms, ok := e.Terms.(*ast.Term)
	key := ""
	if ok {
		key = k.s.whole(terms, 0).String()
	} else if list, isCall := e.Terms.([]*ast.Term); isCall {
		for _, t := range list {
			key += " " + k.s.whole(t, 0).String()
		}
	}
	iterates := false
	ast.WalkVars(e.Terms, func(v ast.Var) bool { iterates = iterates || v.IsWildcard(); return iterates })
	if key == "" || iterates {
		return
	}
	if k.wants == nil {
		k.wants = map[string]wanted{}
	}
	before, seen := k.wants[key]
	switch {
	case !seen:
		k.wants[key] = wanted{e.Negated, e.Loc().Row}
	case before.negated != e.Negated:
		k.report("TW205", e, "this never holds together with line %d, which wants the opposite", before.line)
	}
}

// wanted is what a body said about an expression as a whole.
type wanted struct {
	negated bool
	line    int
}

// among looks at a constant in a collection of things that are computed.
func (k *known) among(e *ast.Expr, x, xs *ast.Term) {
	var list []*ast.Term
	switch v := xs.Value.(type) {
	case ast.Set:
		list = v.Slice()
	case *ast.Array:
		for i := range v.Len() {
			list = append(list, v.Elem(i))
		}
	}
	var names []string
	for _, t := range list {
		domain, ok := k.s.domain(t, nil, 0)
		if !ok {
			return
		}
		for _, v := range domain {
			s, text := v.(ast.String)
			if !text || v.Compare(x.Value) == 0 {
				return
			}
			names = append(names, string(s))
		}
	}
	if text, ok := x.Value.(ast.String); ok && len(names) > 0 {
		k.report("TW206", e, "%s", fmt.Sprintf("%s is never in %s%s", x, xs, meant(string(text), names)))
	}
}

// stray reports comparisons of the category of a tool with one outside the
// vocabulary.
func (k *known) stray(e *ast.Expr, subject *ast.Term, compared []*ast.Term) (found bool) {
	if subject.String() != "input.tool.category" || k.s.m.test {
		return false
	}
	for _, c := range compared {
		text, ok := c.Value.(ast.String)
		if !ok || isAnything(string(text)) {
			continue
		}
		if why := k.s.l.strayCategory(string(text)); why != "" {
			found = true
			k.report("TW217", e, "the rule is for %s", why)
		}
	}
	return found
}
