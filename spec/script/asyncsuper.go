package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// An async generator method becomes a method that returns a generator of its
// own, in which there is no super. So the method makes a function that gives
// references to members of super, under a name that no source text can spell,
// and the generator asks that one.

const superName = "@super"

type superMender struct {
	methods map[*ast.FunctionLiteral]*ast.FunctionLiteral // of the generators
	users   map[*ast.FunctionLiteral]bool                 // methods whose generator names super
	kept    map[ast.Expression]bool                       // what cannot be written so
}

// expr looks at one expression inside the function fn.
func (m *superMender) expr(e ast.Expression, fn *ast.FunctionLiteral) {
	if m.methods[fn] == nil {
		return
	}
	switch e := e.(type) {
	case *ast.CallExpression:
		if o, ok := e.Callee.(*ast.Optional); ok {
			m.kept[o.Expression] = true
		} else if ref := m.reference(e.Callee, fn); ref != nil {
			e.Callee = &ast.DotExpression{Left: ref, Identifier: ast.Identifier{Name: "call", Idx: ref.Idx0()}}
		}
	case *ast.TemplateLiteral:
		m.kept[e.Tag] = true
	case *ast.UnaryExpression:
		m.kept[e.Operand] = e.Operator == token.DELETE
	case *ast.DotExpression:
		if ref := m.reference(e, fn); ref != nil {
			e.Left, e.Identifier.Name = ref, "value"
		}
	case *ast.BracketExpression:
		if ref := m.reference(e, fn); ref != nil {
			e.Left, e.Member = ref, text("value", ref.Idx0())
		}
	}
}

// reference is the call that gives a member of super, or nil for others.
func (m *superMender) reference(e ast.Expression, fn *ast.FunctionLiteral) ast.Expression {
	var left, key ast.Expression
	switch e := e.(type) {
	case *ast.DotExpression:
		left, key = e.Left, text(e.Identifier.Name, e.Identifier.Idx)
	case *ast.BracketExpression:
		left, key = e.Left, e.Member
	}
	if _, ok := left.(*ast.SuperExpression); !ok || m.kept[e] {
		return nil
	}
	m.users[m.methods[fn]] = true
	at := left.Idx0()
	return &ast.CallExpression{Callee: &ast.Identifier{Name: superName, Idx: at}, LeftParenthesis: at, RightParenthesis: at, ArgumentList: []ast.Expression{key}}
}

func text(s unistring.String, at file.Idx) ast.Expression {
	return &ast.StringLiteral{Idx: at, Literal: s.String(), Value: s}
}

// finish declares the function in the methods that need it:
//
//	const @super = __asyncGenerator(k => super[k], (k, v) => super[k] = v, (k, ...v) => super[k](...v), true);
func (m *superMender) finish() {
	for fn := range m.users {
		at := fn.Body.LeftBrace
		name := func(n unistring.String) *ast.Identifier { return &ast.Identifier{Name: n, Idx: at} }
		member := func() ast.Expression {
			return &ast.BracketExpression{Left: &ast.SuperExpression{Idx: at}, LeftBracket: at, Member: name("k"), RightBracket: at}
		}
		arrow := func(body ast.Expression, rest bool, params ...unistring.String) ast.Expression {
			list := &ast.ParameterList{Opening: at, Closing: at}
			for _, p := range params {
				list.List = append(list.List, &ast.Binding{Target: name(p)})
			}
			if rest {
				list.Rest = name("v")
			}
			return &ast.ArrowFunctionLiteral{Start: at, ParameterList: list, Body: &ast.ExpressionBody{Expression: body}}
		}
		make := &ast.CallExpression{Callee: name("__asyncGenerator"), LeftParenthesis: at, RightParenthesis: at, ArgumentList: []ast.Expression{
			arrow(member(), false, "k"),
			arrow(&ast.AssignExpression{Operator: token.ASSIGN, Left: member(), Right: name("v")}, false, "k", "v"),
			arrow(&ast.CallExpression{Callee: member(), LeftParenthesis: at, RightParenthesis: at,
				ArgumentList: []ast.Expression{&ast.SpreadElement{Expression: name("v")}}}, true, "k"),
			&ast.BooleanLiteral{Idx: at, Literal: "true", Value: true},
		}}
		declared := &ast.LexicalDeclaration{Idx: at, Token: token.CONST, List: []*ast.Binding{{Target: name(superName), Initializer: make}}}
		fn.Body.List = append([]ast.Statement{declared}, fn.Body.List...)
	}
}
