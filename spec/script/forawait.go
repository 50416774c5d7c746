package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// checkSteps makes rewritten for-await loops ask whether what an iterator gave
// is an object: our __forAwait has a method for that, which esbuild's loop does
// not call.
func checkSteps(prog *ast.Program) {
	w := &walker{seen: map[string]bool{}}
	w.visitStmt = func(s ast.Statement) {
		try, ok := s.(*ast.TryStatement)
		if !ok || try.Body == nil || len(try.Body.List) == 0 || try.Finally == nil || len(try.Finally.List) == 0 {
			return
		}
		iterator := awaitedLoop(try.Body.List[0])
		inner, ok := try.Finally.List[0].(*ast.TryStatement)
		if iterator == nil || !ok || len(inner.Body.List) == 0 {
			return
		}
		// more && (temp = iter.return) && (await temp.call(iter))
		if close, ok := inner.Body.List[0].(*ast.ExpressionStatement); ok {
			if and, ok := close.Expression.(*ast.BinaryExpression); ok && and.Operator == token.LOGICAL_AND {
				and.Right = checked(iterator, and.Right)
			}
		}
	}
	for _, s := range prog.Body {
		w.statement(s)
	}
}

// awaitedLoop finds the loop, makes its test more = !(temp = await iter.next()).done
// check the step, and gives its iterator.
func awaitedLoop(s ast.Statement) *ast.Identifier {
	for {
		labelled, ok := s.(*ast.LabelledStatement)
		if !ok {
			break
		}
		s = labelled.Statement
	}
	loop, ok := s.(*ast.ForStatement)
	if !ok {
		return nil
	}
	vars, ok := loop.Initializer.(*ast.ForLoopInitializerVarDeclList)
	if !ok || len(vars.List) == 0 {
		return nil
	}
	call, ok := vars.List[0].Initializer.(*ast.CallExpression)
	if !ok {
		return nil
	}
	helper, ok := call.Callee.(*ast.Identifier)
	iterator, isName := vars.List[0].Target.(*ast.Identifier)
	if !ok || !isName || helper.Name.String() != "__forAwait" {
		return nil
	}
	more, ok := loop.Test.(*ast.AssignExpression)
	if !ok {
		return nil
	}
	not, ok := more.Right.(*ast.UnaryExpression)
	if !ok {
		return nil
	}
	done, ok := not.Operand.(*ast.DotExpression)
	if !ok {
		return nil
	}
	step, ok := done.Left.(*ast.AssignExpression)
	if !ok {
		return nil
	}
	step.Right = checked(iterator, step.Right)
	return iterator
}

// checked is iterator.check(step).
func checked(iterator *ast.Identifier, step ast.Expression) ast.Expression {
	at, name := step.Idx0(), *iterator
	name.Idx = at
	return &ast.CallExpression{
		Callee:          &ast.DotExpression{Left: &name, Identifier: ast.Identifier{Name: "check", Idx: at}},
		LeftParenthesis: at, ArgumentList: []ast.Expression{step}, RightParenthesis: step.Idx1(),
	}
}
