package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// An Assignment is a value that the code writes to a name, or adds to it.
type Assignment struct {
	Operator token.Token
	Value    ast.Expression
}

// Assigned gives, for each name that fn declares as a variable and writes to by
// simple assignments only, what it writes. Scopes are not told apart: a name
// that is also a parameter, a part of a pattern or the like is left out.
// Steps by one do not count.
func Assigned(fn *ast.FunctionLiteral) map[string][]Assignment {
	out, variables := map[string][]Assignment{}, map[string]bool{}
	other := declared{}
	write := func(target, value ast.Expression, op token.Token) {
		if id, ok := target.(*ast.Identifier); ok {
			out[id.Name.String()] = append(out[id.Name.String()], Assignment{op, value})
		} else {
			other.target(target)
		}
	}
	params := func(p *ast.ParameterList) {
		if p == nil {
			return
		}
		for _, b := range p.List {
			other.target(b.Target)
		}
		other.target(p.Rest)
	}
	w := &walker{seen: map[string]bool{}}
	w.visit = func(e ast.Expression) {
		switch e := e.(type) {
		case *ast.FunctionLiteral:
			params(e.ParameterList)
			other.target(e.Name)
		case *ast.ArrowFunctionLiteral:
			params(e.ParameterList)
		case *ast.ClassLiteral:
			other.target(e.Name)
		case *ast.Binding:
			if id, ok := e.Target.(*ast.Identifier); ok {
				variables[id.Name.String()] = true
				if e.Initializer == nil {
					return
				}
			}
			write(e.Target, e.Initializer, token.ASSIGN)
		case *ast.AssignExpression:
			write(e.Left, e.Right, e.Operator)
		}
	}
	w.visitStmt = func(s ast.Statement) {
		switch s := s.(type) {
		case *ast.TryStatement:
			if s.Catch != nil && s.Catch.Parameter != nil {
				other.target(s.Catch.Parameter)
			}
		case *ast.ForInStatement:
			other.into(s.Into)
		case *ast.ForOfStatement:
			other.into(s.Into)
		}
	}
	w.function(fn)
	for name := range out {
		if other[name] || !variables[name] {
			delete(out, name)
		}
	}
	return out
}

// Bound are the names that fn binds or writes to, whatever the scope.
func Bound(fn *ast.FunctionLiteral) map[string]bool {
	out := declared{}
	w := &walker{seen: map[string]bool{}, visitStmt: out.stmt, visit: func(e ast.Expression) {
		switch e := e.(type) {
		case *ast.UnaryExpression: // to ask with typeof binds nothing
		case *ast.AssignExpression:
			out.target(e.Left)
		default:
			out.expr(e)
		}
	}}
	w.function(fn)
	return out
}

// into adds what a loop writes at each turn.
func (d declared) into(in ast.ForInto) {
	switch in := in.(type) {
	case *ast.ForIntoVar:
		d.target(in.Binding)
	case *ast.ForDeclaration:
		d.target(in.Target)
	case *ast.ForIntoExpression:
		d.target(in.Expression)
	}
}
