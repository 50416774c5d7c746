package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// Where a test is constant the engine compiles what is never reached aside. A
// break or continue in there spoils the code of the loop that it leaves: other
// statements then jump elsewhere. So such a test is made one that the engine
// does not compute in advance.

// keepTest does that to the test of a statement, where its parts hold a jump.
func keepTest(test ast.Expression, parts ...ast.Statement) ast.Expression {
	if !constant(test) {
		return test
	}
	jumps := false
	w := &walker{seen: map[string]bool{}, visitStmt: func(s ast.Statement) {
		_, jump := s.(*ast.BranchStatement)
		jumps = jumps || jump
	}}
	for _, s := range parts {
		w.statement(s)
	}
	if !jumps {
		return test
	}
	at := test.Idx0()
	return &ast.SequenceExpression{Sequence: []ast.Expression{&ast.ArrayLiteral{LeftBracket: at, RightBracket: at}, test}}
}

// keepLoop is keepTest for a loop, where only a test that fails counts.
func keepLoop(test ast.Expression, body ast.Statement) ast.Expression {
	switch t := test.(type) {
	case nil:
		return nil
	case *ast.BooleanLiteral:
		if t.Value {
			return test
		}
	case *ast.NumberLiteral:
		if n, ok := t.Value.(int64); ok && n != 0 {
			return test
		}
	}
	return keepTest(test, body)
}

// constant reports whether the engine may know the value of e in advance.
func constant(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return true
	case *ast.UnaryExpression:
		return constant(e.Operand)
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
			return constant(e.Left) // the right one may not count
		}
		return constant(e.Left) && constant(e.Right)
	}
	return false
}
