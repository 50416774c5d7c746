package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// Named is a text of the code that stands under a name: the value of a
// variable, a member, a header or a parameter of a query. Where it begins is
// 1-based, in bytes.
type Named struct {
	Name   string `json:"name"`
	Text   string `json:"text"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// setters are methods that take a name and its value.
var setters = map[string]bool{"set": true, "append": true, "setItem": true, "setHeader": true, "header": true}

// named notes the texts that an expression gives a name.
func (o *outliner) named(e ast.Expression) {
	switch e := e.(type) {
	case *ast.Binding:
		if e != nil {
			o.value(nameOf(e.Target), e.Initializer)
		}
	case *ast.AssignExpression:
		o.value(nameOf(e.Left), e.Right)
	case *ast.PropertyShort:
		o.value(e.Name.Name.String(), e.Initializer)
	case *ast.PropertyKeyed:
		o.value(literal(e.Key), e.Value)
	case *ast.ClassLiteral:
		for _, el := range e.Body {
			if f, ok := el.(*ast.FieldDefinition); ok {
				o.value(keyName(f.Key), f.Initializer)
			}
		}
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.EQUAL, token.STRICT_EQUAL, token.NOT_EQUAL, token.STRICT_NOT_EQUAL:
			o.value(nameOf(e.Left), e.Right)
			o.value(nameOf(e.Right), e.Left)
		}
	case *ast.CallExpression:
		if m, ok := unwrap(e.Callee).(*ast.DotExpression); ok && len(e.ArgumentList) > 1 && setters[m.Identifier.Name.String()] {
			o.value(literal(e.ArgumentList[0]), e.ArgumentList[1])
		}
	case *ast.ArrayLiteral: // a pair, as Headers and URLSearchParams take them
		if len(e.Value) == 2 {
			o.value(literal(e.Value[0]), e.Value[1])
		}
	}
}

// value notes the texts that an expression may give, under a name.
func (o *outliner) value(name string, e ast.Expression) {
	if name == "" || e == nil {
		return
	}
	switch e := e.(type) {
	case *ast.StringLiteral, *ast.TemplateLiteral:
		o.note(name, e)
	case *ast.ConditionalExpression:
		o.value(name, e.Consequent)
		o.value(name, e.Alternate)
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LOGICAL_OR, token.COALESCE, token.LOGICAL_AND:
			o.value(name, e.Left)
			o.value(name, e.Right)
		case token.PLUS:
			o.note(name, e)
		}
	}
}

func (o *outliner) note(name string, e ast.Expression) {
	if text := literal(e); text != "" {
		at := e.Idx0()
		if t, ok := e.(*ast.TemplateLiteral); ok {
			at = t.Elements[0].Idx - 1 // as Strings has it
		}
		p := o.piece("", at)
		o.out.Named = append(o.out.Named, Named{name, text, p.Line, p.Column})
	}
}

// literal is the text of an expression of literals, "" for any other.
func literal(e ast.Expression) string {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return e.Value.String()
	case *ast.TemplateLiteral:
		if e.Tag == nil && len(e.Expressions) == 0 && len(e.Elements) == 1 {
			return e.Elements[0].Parsed.String()
		}
	case *ast.BinaryExpression:
		if e.Operator == token.PLUS {
			if left, right := literal(e.Left), literal(e.Right); left != "" && right != "" {
				return left + right
			}
		}
	}
	return ""
}

// nameOf is the last name of a variable or a member.
func nameOf(e ast.Expression) string {
	switch e := unwrap(e).(type) {
	case *ast.Identifier:
		if e != nil {
			return e.Name.String()
		}
	case *ast.DotExpression:
		return e.Identifier.Name.String()
	case *ast.PrivateDotExpression:
		return e.Identifier.Name.String()
	case *ast.BracketExpression:
		return literal(e.Member)
	}
	return ""
}

// keyName is the name of a member of a class.
func keyName(key ast.Expression) string {
	if id, ok := key.(*ast.PrivateIdentifier); ok {
		return id.Name.String()
	}
	return literal(key)
}
