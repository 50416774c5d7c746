package script

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// The engine's compiler makes the object `arguments` of a function where it is
// named first. When that is inside an arrow function it forgets to keep the
// object where the arrow can reach it, and the arrow reads whatever else lies
// there. Another mention from within an arrow sets it right; so each mention
// there becomes two: (arguments, arguments). That holds in every scope, for a
// variable of that name too, and no position changes. What cannot be written
// twice, an assignment, is refused there.

const (
	argumentsName  = "arguments"
	argumentsWrite = "arguments cannot be assigned to, taken apart into or deleted inside an arrow function on this runtime; use a variable of another name"
)

type argumentsMender struct {
	seen   map[any]bool
	arrows int // arrows around, inside the innermost other function
	refuse func(file.Idx)
}

var (
	expressionType = reflect.TypeFor[ast.Expression]()
	astPackage     = reflect.TypeFor[ast.Identifier]().PkgPath()
)

// node looks at everything below v. By reflection, since a mention may be a
// child of nearly every kind of node; only programs that name arguments come
// here.
func (m *argumentsMender) node(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			m.node(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			m.node(v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().PkgPath() != astPackage || m.seen[v.Interface()] {
			return
		}
		m.seen[v.Interface()] = true
		switch n := v.Interface().(type) {
		case *ast.FunctionLiteral:
			arrows := m.arrows
			m.arrows = 0
			m.fields(v.Elem(), n)
			m.arrows = arrows
		case *ast.ArrowFunctionLiteral:
			m.arrows++
			m.fields(v.Elem(), n)
			m.arrows--
		default:
			m.fields(v.Elem(), n)
		}
	case reflect.Struct:
		if v.CanAddr() && v.Type().PkgPath() == astPackage {
			m.fields(v, v.Addr().Interface())
		}
	}
}

func (m *argumentsMender) fields(v reflect.Value, parent any) {
	if v.Kind() != reflect.Struct {
		return
	}
	m.short(parent)
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() {
			continue
		}
		switch {
		case f.Type() == expressionType:
			m.slot(f, writes(parent, v.Type().Field(i).Name))
		case f.Kind() == reflect.Slice && f.Type().Elem() == expressionType:
			for j := range f.Len() {
				m.slot(f.Index(j), writes(parent, v.Type().Field(i).Name))
			}
		default:
			m.node(f)
		}
	}
}

// slot mends one place for an expression.
func (m *argumentsMender) slot(f reflect.Value, written bool) {
	id, ok := f.Interface().(*ast.Identifier)
	if !ok {
		m.node(f)
		return
	}
	if id == nil || id.Name != argumentsName || m.arrows == 0 {
		return
	}
	if written {
		m.refuse(id.Idx)
		return
	}
	f.Set(reflect.ValueOf(twice(id.Idx)))
}

// short mends { arguments } in literals, and refuses it in patterns.
func (m *argumentsMender) short(parent any) {
	switch n := parent.(type) {
	case *ast.ObjectLiteral:
		for i, p := range n.Value {
			if s, ok := p.(*ast.PropertyShort); ok && s.Name.Name == argumentsName && m.arrows > 0 {
				n.Value[i] = &ast.PropertyKeyed{Kind: ast.PropertyKindValue, Value: twice(s.Name.Idx),
					Key: &ast.StringLiteral{Idx: s.Name.Idx, Literal: argumentsName, Value: unistring.String(argumentsName)}}
				m.seen[n.Value[i]] = true
			}
		}
	case *ast.ObjectPattern:
		for _, p := range n.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				if p.Name.Name == argumentsName && m.arrows > 0 {
					m.refuse(p.Name.Idx)
				}
			case *ast.PropertyKeyed:
				if id, ok := p.Value.(*ast.Identifier); ok && id.Name == argumentsName && m.arrows > 0 {
					m.refuse(id.Idx)
				}
			}
		}
	}
}

// writes reports whether a field of a node is written to, not read.
func writes(parent any, field string) bool {
	switch n := parent.(type) {
	case *ast.AssignExpression:
		return field == "Left"
	case *ast.UnaryExpression:
		return n.Operator == token.INCREMENT || n.Operator == token.DECREMENT || n.Operator == token.DELETE
	case *ast.ArrayPattern, *ast.ForIntoExpression, *ast.ParameterList:
		return true
	case *ast.ObjectPattern:
		return field == "Rest"
	}
	return false
}

func twice(at file.Idx) ast.Expression {
	return &ast.SequenceExpression{Sequence: []ast.Expression{
		&ast.Identifier{Name: argumentsName, Idx: at}, &ast.Identifier{Name: argumentsName, Idx: at}}}
}

// mendArguments doubles the mentions of arguments in the arrows of fn.
func mendArguments(fn *ast.FunctionLiteral, refuse func(file.Idx)) {
	m := &argumentsMender{seen: map[any]bool{}, refuse: refuse}
	m.node(reflect.ValueOf(fn))
}
