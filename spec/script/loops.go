package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// loop is a statement that repeats its body while test holds.
type loop struct {
	word   string
	test   ast.Expression // nil always holds
	update ast.Expression
	body   ast.Statement
	at     file.Idx
}

// loop notes a loop that nothing leaves and whose condition either always holds
// or is about names that nothing in the loop changes. A break or return
// anywhere below counts as a way out, be it that of an inner loop, and a call
// may change whatever it likes: what is noted has no end.
func (o *outliner) loop(l loop) {
	holds, known := true, true
	if l.test != nil {
		holds, known = truth(l.test)
	}
	if known && !holds {
		return
	}
	e := effects{written: map[string]bool{}}
	w := &walker{seen: map[string]bool{}, visit: e.expr, visitStmt: e.stmt}
	w.statement(l.body)
	if l.update != nil {
		w.expr(l.update)
	}
	if !known {
		before := e.calls // of a condition that is known nothing counts
		w.expr(l.test)
		if e.calls = e.calls || before; e.calls || changes(l.test, e) {
			return
		}
	}
	if !e.leaves {
		o.out.EndlessLoops = append(o.out.EndlessLoops, o.piece(l.word, l.at))
	}
}

// effects are what a loop does that may end it.
type effects struct {
	leaves  bool            // breaks, returns, throws or yields
	calls   bool            // runs code that stands elsewhere, or waits
	members bool            // writes to a member of some object
	written map[string]bool // names that are written to
}

func (f *effects) expr(e ast.Expression) {
	switch e := e.(type) {
	case *ast.YieldExpression:
		f.leaves = true
	case *ast.CallExpression, *ast.NewExpression, *ast.AwaitExpression:
		f.calls = true
	case *ast.TemplateLiteral:
		f.calls = f.calls || e.Tag != nil
	case *ast.AssignExpression:
		f.write(e.Left)
	case *ast.UnaryExpression:
		switch e.Operator {
		case token.INCREMENT, token.DECREMENT, token.DELETE:
			f.write(e.Operand)
		}
	}
}

func (f *effects) write(target ast.Expression) {
	switch t := target.(type) {
	case *ast.DotExpression, *ast.BracketExpression, *ast.PrivateDotExpression:
		f.members = true
	case *ast.ArrayPattern, *ast.ObjectPattern:
		f.members = true // what it writes to may be anything
		declared(f.written).target(t)
	default:
		declared(f.written).target(t)
	}
}

func (f *effects) stmt(s ast.Statement) {
	switch s := s.(type) {
	case *ast.ReturnStatement, *ast.ThrowStatement:
		f.leaves = true
	case *ast.BranchStatement:
		f.leaves = f.leaves || s.Token == token.BREAK || s.Label != nil
	case *ast.ForInStatement:
		declared(f.written).into(s.Into)
	case *ast.ForOfStatement: // an iterator is code that stands elsewhere
		f.calls = true
	}
}

// changes reports whether a condition reads something that a loop writes.
func changes(test ast.Expression, f effects) (yes bool) {
	w := &walker{seen: map[string]bool{}, visit: func(e ast.Expression) {
		switch e := e.(type) {
		case *ast.Identifier:
			yes = yes || e != nil && f.written[e.Name.String()]
		case *ast.DotExpression, *ast.BracketExpression, *ast.PrivateDotExpression:
			yes = yes || f.members
		case *ast.BinaryExpression:
			yes = yes || e.Operator == token.IN && f.members
		}
	}}
	w.expr(test)
	return yes
}

// truth is whether a condition holds, where that is known without running it.
func truth(e ast.Expression) (holds, known bool) {
	switch e := e.(type) {
	case *ast.BooleanLiteral:
		return e.Value, true
	case *ast.NullLiteral:
		return false, true
	case *ast.StringLiteral:
		return e.Value != "", true
	case *ast.NumberLiteral:
		n, ok := number(e)
		return n != 0, ok
	case *ast.ArrayLiteral, *ast.ObjectLiteral, *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.RegExpLiteral, *ast.ClassLiteral:
		return true, true
	case *ast.UnaryExpression:
		if e.Operator == token.NOT {
			holds, known = truth(e.Operand)
			return !holds, known
		}
	case *ast.AssignExpression:
		if e.Operator == token.ASSIGN {
			return truth(e.Right)
		}
	case *ast.SequenceExpression:
		if n := len(e.Sequence); n > 0 {
			return truth(e.Sequence[n-1])
		}
	case *ast.BinaryExpression:
		left, first := truth(e.Left)
		right, second := truth(e.Right)
		switch {
		case e.Operator == token.LOGICAL_OR && (first && left || second && right):
			return true, true
		case e.Operator == token.LOGICAL_AND && first && second:
			return left && right, true
		}
	}
	return false, false
}

func number(e ast.Expression) (float64, bool) {
	l, ok := e.(*ast.NumberLiteral)
	if !ok {
		return 0, false
	}
	switch n := l.Value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// upwards holds for a for loop that counts one variable away from its bound:
// i >= 0 with i++, or i < 10 with i--, where the loop writes i nowhere else.
func upwards(s *ast.ForStatement) bool {
	init, ok := s.Initializer.(*ast.ForLoopInitializerLexicalDecl)
	if !ok || len(init.LexicalDeclaration.List) != 1 {
		return false
	}
	name, start := init.LexicalDeclaration.List[0].Target, init.LexicalDeclaration.List[0].Initializer
	test, ok := s.Test.(*ast.BinaryExpression)
	step, isStep := s.Update.(*ast.UnaryExpression)
	if !ok || !isStep || nameOf(name) == "" || !same(name, test.Left) || !same(name, step.Operand) {
		return false
	}
	from, known := number(start)
	bound, fixed := number(test.Right)
	if !known || !fixed {
		return false
	}
	f := effects{written: map[string]bool{}}
	(&walker{seen: map[string]bool{}, visit: f.expr, visitStmt: f.stmt}).statement(s.Body)
	if f.written[nameOf(name)] {
		return false
	}
	switch {
	case step.Operator == token.INCREMENT && test.Operator == token.GREATER:
		return from > bound
	case step.Operator == token.INCREMENT && test.Operator == token.GREATER_OR_EQUAL:
		return from >= bound
	case step.Operator == token.DECREMENT && test.Operator == token.LESS:
		return from < bound
	case step.Operator == token.DECREMENT && test.Operator == token.LESS_OR_EQUAL:
		return from <= bound
	}
	return false
}

func same(a, b ast.Expression) bool {
	x, ok := a.(*ast.Identifier)
	y, also := b.(*ast.Identifier)
	return ok && also && x.Name == y.Name
}
