package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// declared are the names that a program binds anywhere, whatever the scope, and
// those that it asks for with typeof: to name one of these is no mistake. It is
// filled by the visits of a walker.
type declared map[string]bool

// Targets visits what a pattern, or a single target, binds or assigns: names
// and members of objects. It skips what is absent.
func Targets(e ast.Expression, visit func(ast.Expression)) {
	switch e := e.(type) {
	case *ast.Identifier:
		if e != nil {
			visit(e)
		}
	case *ast.DotExpression, *ast.BracketExpression, *ast.PrivateDotExpression:
		visit(e)
	case *ast.Binding:
		Targets(e.Target, visit)
	case *ast.AssignExpression:
		Targets(e.Left, visit)
	case *ast.ArrayPattern:
		for _, el := range e.Elements {
			Targets(el, visit)
		}
		Targets(e.Rest, visit)
	case *ast.ObjectPattern:
		for _, p := range e.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				visit(&p.Name)
			case *ast.PropertyKeyed:
				Targets(p.Value, visit)
			}
		}
		Targets(e.Rest, visit)
	}
}

// target adds the names that a pattern binds or assigns.
func (d declared) target(e ast.Expression) {
	Targets(e, func(e ast.Expression) {
		if id, ok := e.(*ast.Identifier); ok {
			d[id.Name.String()] = true
		}
	})
}

// expr adds what an expression binds, without what is below it.
func (d declared) expr(e ast.Expression) {
	switch e := e.(type) {
	case *ast.Binding:
		if e != nil {
			d.target(e.Target)
		}
	case *ast.FunctionLiteral:
		if e == nil {
			return
		}
		if e.Name != nil {
			d.target(e.Name)
		}
		d.rest(e.ParameterList)
	case *ast.ArrowFunctionLiteral:
		d.rest(e.ParameterList)
	case *ast.ClassLiteral:
		if e.Name != nil {
			d.target(e.Name)
		}
	case *ast.UnaryExpression:
		if id, ok := e.Operand.(*ast.Identifier); ok && e.Operator == token.TYPEOF {
			d.target(id)
		}
	}
}

func (d declared) rest(p *ast.ParameterList) {
	if p != nil {
		d.target(p.Rest)
	}
}

// stmt adds what a statement binds by itself.
func (d declared) stmt(s ast.Statement) {
	var into ast.ForInto
	switch s := s.(type) {
	case *ast.TryStatement:
		if s.Catch != nil && s.Catch.Parameter != nil {
			d.target(s.Catch.Parameter)
		}
	case *ast.ForInStatement:
		into = s.Into
	case *ast.ForOfStatement:
		into = s.Into
	}
	if f, ok := into.(*ast.ForDeclaration); ok {
		d.target(f.Target)
	}
}
