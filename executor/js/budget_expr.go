package js

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// expr descends into an expression; what it meets inside functions and
// classes is charged. A node that this switch does not know is refused, so
// that a newer parser cannot bring uncounted code.
func (m *meter) expr(e ast.Expression) {
	if absent(e) {
		return
	}
	defer func() { m.depth-- }()
	if !m.deeper(e) {
		return
	}
	switch e := e.(type) {
	case *ast.FunctionLiteral:
		m.function(e)
	case *ast.ArrowFunctionLiteral:
		m.arrow(e)
	case *ast.ClassLiteral:
		m.class(e)
	case *ast.RegExpLiteral:
		e.Pattern = m.pattern(e)
	case *ast.ArrayLiteral:
		m.exprs(e.Value)
	case *ast.ArrayPattern:
		m.exprs(e.Elements)
		m.expr(e.Rest)
	case *ast.ObjectLiteral:
		m.properties(e.Value)
	case *ast.ObjectPattern:
		m.properties(e.Properties)
		m.expr(e.Rest)
	case *ast.PropertyShort:
		m.name(e.Name.Name)
		m.expr(e.Initializer)
	case *ast.PropertyKeyed:
		m.unnamed = m.unnamed || e.Computed && assembled(e.Key)
		m.expr(e.Key)
		m.expr(e.Value)
	case *ast.SpreadElement:
		m.walked(e.Expression)
		m.expr(e.Expression)
	case *ast.AssignExpression:
		m.expr(e.Left)
		m.expr(e.Right)
		if takesRest(e.Left) {
			e.Right = m.listed(e.Right)
		}
		m.assignment(e)
		m.element(e)
	case *ast.Binding:
		m.expr(e.Target)
		m.expr(e.Initializer)
	case *ast.BinaryExpression:
		m.expr(e.Left)
		if e.Operator != token.INSTANCEOF || !names(e.Right, "Date") {
			m.expr(e.Right)
		}
		m.binary(e)
	case *ast.ConditionalExpression:
		m.expr(e.Test)
		m.expr(e.Consequent)
		m.expr(e.Alternate)
	case *ast.SequenceExpression:
		m.exprs(e.Sequence)
	case *ast.UnaryExpression:
		m.expr(e.Operand)
		if e.Operator == token.BITWISE_NOT {
			e.Operand = m.word(e.Operand)
		}
	case *ast.AwaitExpression:
		m.expr(e.Argument)
	case *ast.YieldExpression:
		m.expr(e.Argument)
	case *ast.CallExpression:
		m.unnamed = m.unnamed || callsAssembled(e.Callee)
		m.callee(e.Callee)
		m.exprs(e.ArgumentList)
		m.wordArguments(e)
		if compact(e) {
			m.compact++
		}
	case *ast.NewExpression:
		if !names(e.Callee, "Date") {
			m.callee(e.Callee)
		} else if readsText(e.ArgumentList) {
			m.dates = true
		}
		m.exprs(e.ArgumentList)
	case *ast.BracketExpression:
		m.unnamed = m.unnamed || assembled(e.Member) && builtIn(e.Left)
		m.expr(e.Left)
		m.expr(e.Member)
	case *ast.DotExpression:
		if makesIterator(e) {
			m.held++
		}
		m.name(e.Identifier.Name)
		if names(e.Left, "Date") && (e.Identifier.Name == "now" || e.Identifier.Name == "UTC") {
			return
		}
		if !namesGlobal(e.Left) {
			m.expr(e.Left)
		}
	case *ast.PrivateDotExpression:
		m.expr(e.Left)
	case *ast.OptionalChain:
		m.expr(e.Expression)
	case *ast.Optional:
		m.expr(e.Expression)
	case *ast.TemplateLiteral:
		m.expr(e.Tag)
		m.exprs(e.Expressions)
	case *ast.Identifier:
		m.name(e.Name)
	case *ast.ThisExpression:
		m.global = m.global || m.strict == 0
	case *ast.PrivateIdentifier, *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral,
		*ast.NullLiteral, *ast.SuperExpression, *ast.MetaProperty:
	default:
		m.fail(e.Idx0(), fmt.Sprintf("an expression of this kind (%T) is not supported", e))
	}
}

// compact reports whether a call is one of stringify that asks for no indent.
func compact(call *ast.CallExpression) bool {
	dot, ok := call.Callee.(*ast.DotExpression)
	if !ok || dot.Identifier.Name != "stringify" || len(call.ArgumentList) > 2 {
		return false
	}
	for _, a := range call.ArgumentList {
		if _, spread := a.(*ast.SpreadElement); spread {
			return false
		}
	}
	return true
}

// readsText reports whether a date that is made of these may be one of a text.
func readsText(args []ast.Expression) bool {
	for _, a := range args {
		if _, spread := a.(*ast.SpreadElement); spread {
			return true
		}
	}
	if len(args) != 1 {
		return false
	}
	switch a := args[0].(type) {
	case *ast.NumberLiteral:
		return false
	case *ast.BinaryExpression: // the others give numbers, or fail
		return a.Operator == token.PLUS || a.Operator == token.LOGICAL_AND || a.Operator == token.LOGICAL_OR || a.Operator == token.COALESCE
	case *ast.CallExpression:
		dot, ok := a.Callee.(*ast.DotExpression)
		return !ok || !names(dot.Left, "Date") || dot.Identifier.Name != "now" && dot.Identifier.Name != "UTC"
	}
	return true
}

// walked notes an expression that is iterated at once: no program can hold the
// iterator that it makes.
func (m *meter) walked(e ast.Expression) {
	if call, ok := e.(*ast.CallExpression); ok {
		if dot, ok := call.Callee.(*ast.DotExpression); ok && makesIterator(dot) {
			m.held--
		}
	}
}

// makesIterator reports whether a member may be a method of a collection that
// gives an iterator. Those of Object, under the same names, give arrays.
func makesIterator(dot *ast.DotExpression) bool {
	switch dot.Identifier.Name {
	case "keys", "values", "entries":
		return !names(dot.Left, "Object")
	}
	return false
}

// name notes a use of the global object, or of an error, under its name.
func (m *meter) name(n unistring.String) {
	if n == "globalThis" {
		m.global = true
	} else if n == "Date" {
		m.dates = true
	} else if slices.Contains(errorKinds, n.String()) {
		if m.values == nil {
			m.values = map[string]bool{}
		}
		m.values[n.String()] = true
	}
}

// callee descends into what is called. To make an error is no other use of its
// name, and neither is to call Date, which gives a text.
func (m *meter) callee(e ast.Expression) {
	if id, ok := e.(*ast.Identifier); !ok || id.Name != "Date" && !slices.Contains(errorKinds, id.Name.String()) {
		m.expr(e)
	}
}

// namesGlobal reports whether e, left of a dot, may be the global object. Only
// the member behind the dot is used then, and its name is in the source.
func namesGlobal(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.ThisExpression:
		return true
	case *ast.Identifier:
		return e.Name == "globalThis"
	}
	return false
}

func names(e ast.Expression, name string) bool {
	id, ok := e.(*ast.Identifier)
	return ok && id.Name.String() == name
}

func (m *meter) exprs(list []ast.Expression) {
	for _, e := range list {
		m.expr(e)
	}
}

func (m *meter) properties(list []ast.Property) {
	for _, p := range list {
		m.expr(p)
		if spread, ok := p.(*ast.SpreadElement); ok {
			spread.Expression = m.listed(spread.Expression)
		}
	}
}

func (m *meter) arrow(f *ast.ArrowFunctionLiteral) {
	m.params(f.ParameterList)
	switch b := f.Body.(type) {
	case *ast.BlockStatement:
		m.block(b, 1)
	case *ast.ExpressionBody:
		m.expr(b.Expression)
		if m.bare {
			return
		}
		at := b.Expression.Idx0()
		b.Expression = &ast.SequenceExpression{Sequence: []ast.Expression{m.call(1, at), b.Expression}}
	}
}

func (m *meter) class(c *ast.ClassLiteral) {
	if c == nil {
		return
	}
	m.expr(c.SuperClass)
	for _, el := range c.Body {
		switch el := el.(type) {
		case *ast.FieldDefinition:
			m.expr(el.Key)
			m.strict++
			m.expr(el.Initializer)
			m.strict--
			// A function keeps the name of its field only while it is the
			// whole initialiser; calling it is counted anyway.
			if !absent(el.Initializer) && !anonymous(el.Initializer) && !m.bare {
				el.Initializer = &ast.SequenceExpression{Sequence: []ast.Expression{m.call(1, el.Idx), el.Initializer}}
			}
		case *ast.MethodDefinition:
			m.expr(el.Key)
			m.strict++
			m.function(el.Body)
			m.strict--
		case *ast.ClassStaticBlock:
			m.strict++
			m.block(el.Block, 1)
			m.strict--
		default:
			m.fail(el.Idx0(), fmt.Sprintf("a class element of this kind (%T) is not supported", el))
		}
	}
}

func anonymous(e ast.Expression) bool {
	switch e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassLiteral:
		return true
	}
	return false
}

// absent covers typed nil pointers, which the parser leaves in some fields.
func absent(e ast.Expression) bool {
	if e == nil {
		return true
	}
	v := reflect.ValueOf(e)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
