package regolint

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// turned swaps the sides of an operator, opposite negates it. The opposite of
// an order says nothing: "not x < 1" holds for an x that is missing.
var (
	turned   = map[string]string{"equal": "equal", "neq": "neq", "lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}
	opposite = map[string]string{"equal": "neq"}
)

func holds(op string, order int) bool {
	switch op {
	case "equal":
		return order == 0
	case "neq":
		return order != 0
	case "lt":
		return order < 0
	case "lte":
		return order <= 0
	case "gt":
		return order > 0
	case "gte":
		return order >= 0
	}
	return true
}

// fact holds statements about one subject, all of which have to hold at once.
type fact struct{ said []statement }

type statement struct {
	op   string // equal, neq, lt, lte, gt, gte, in, out
	list []*ast.Term
	line int
}

func (f *fact) add(op string, t *ast.Term, e *ast.Expr) string {
	return f.among(op, []*ast.Term{t}, e)
}

// among notes one more statement and says with which earlier one it cannot
// hold, as "4 (...)", or "".
func (f *fact) among(op string, list []*ast.Term, e *ast.Expr) string {
	if op == "" {
		return ""
	}
	one := statement{op, list, e.Loc().Row}
	defer func() { f.said = append(f.said, one) }()
	for _, before := range f.said {
		if !together(before, one) {
			return fmt.Sprintf("%d, which wants %s", before.line, before)
		}
	}
	return ""
}

func (s statement) String() string {
	names := make([]string, len(s.list))
	for i, t := range s.list {
		names[i] = t.String()
	}
	words := map[string]string{"equal": "", "neq": "anything but ", "lt": "less than ", "lte": "at most ", "gt": "more than ", "gte": "at least ", "in": "one of ", "out": "none of "}
	return words[s.op] + strings.Join(names, ", ")
}

// together reports whether two statements about one value can both hold. What
// it cannot tell, it lets pass.
func together(a, b statement) bool {
	if b.op == "equal" || b.op == "in" {
		a, b = b, a
	}
	switch a.op {
	case "equal", "in": // one of the values has to satisfy the other statement
		for _, t := range a.list {
			if b.admits(t) {
				return true
			}
		}
		return false
	}
	upper, lower := a, b
	if a.op == "gt" || a.op == "gte" {
		upper, lower = b, a
	}
	if (upper.op != "lt" && upper.op != "lte") || (lower.op != "gt" && lower.op != "gte") || !sameKind(upper.list[0], lower.list[0]) {
		return true
	}
	order := lower.list[0].Value.Compare(upper.list[0].Value)
	return order < 0 || order == 0 && upper.op == "lte" && lower.op == "gte"
}

// admits reports whether a value satisfies a statement.
func (s statement) admits(t *ast.Term) bool {
	switch s.op {
	case "in":
		return within(t, s.list)
	case "out":
		return !within(t, s.list)
	case "equal", "neq":
		return holds(s.op, t.Value.Compare(s.list[0].Value))
	}
	return !sameKind(t, s.list[0]) || holds(s.op, t.Value.Compare(s.list[0].Value))
}

func sameKind(a, b *ast.Term) bool {
	return ast.ValueName(a.Value) == ast.ValueName(b.Value)
}
