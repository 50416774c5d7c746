package js

import (
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// An assignment that must name its target twice, because the engine has its
// operator wrong, and whose target may not be evaluated twice:
//
//	o()[k()] |= x   becomes   @base(o(), k())[@key()] = @object()[@key()] | x
//
// Between the end of @base and the reading of the member nothing runs that
// could make another note, so that one place for each is enough. The engine
// itself reads and stores, with all that this means for setters, failures and
// private names.
const (
	baseName   = "@base"   // notes an object and a key, and gives the object
	objectName = "@object" // the object again
	keyName    = "@key"    // the key again
)

var libKey = library("propertykey.js")

// twice makes target one that is evaluated once, and gives the expression that
// reads the same member, or nil where target is no member.
func (m *meter) twice(target ast.Expression) ast.Expression {
	if now := again(target); now != nil {
		return now
	}
	at := target.Idx0()
	switch e := target.(type) {
	case *ast.DotExpression:
		out := *e
		e.Left, out.Left = m.use(baseName, at, e.Left), m.use(objectName, at)
		return &out
	case *ast.PrivateDotExpression:
		out := *e
		e.Left, out.Left = m.use(baseName, at, e.Left), m.use(objectName, at)
		return &out
	case *ast.BracketExpression:
		out := *e
		if copied := m.steadyKey(e.Member); copied != nil && base(e.Left) != nil {
			out.Left, out.Member = base(e.Left), copied
			return &out
		}
		if _, super := e.Left.(*ast.SuperExpression); super {
			e.Member = &ast.SequenceExpression{Sequence: []ast.Expression{
				m.use(baseName, at, &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)}, e.Member), m.use(keyName, at)}}
		} else {
			e.Left, e.Member = m.use(baseName, at, e.Left, e.Member), m.use(keyName, at)
			out.Left = m.use(objectName, at)
		}
		out.Member = m.use(keyName, at)
		return &out
	}
	return nil
}

// steadyKey copies a key of numbers and of variables that hold only numbers,
// whose second evaluation nothing can notice; it is nil for others.
func (m *meter) steadyKey(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		out := *e
		return &out
	case *ast.Identifier:
		if m.bound(e) < tooLarge {
			out := *e
			return &out
		}
	case *ast.BinaryExpression:
		if e.Left == nil || e.Right == nil {
			return nil
		}
		out := *e
		if out.Left, out.Right = m.steadyKey(e.Left), m.steadyKey(e.Right); out.Left != nil && out.Right != nil {
			return &out
		}
	}
	return nil
}

// targetNote is what baseName noted last.
type targetNote struct{ object, key goja.Value }

// noteTarget is the function behind baseName. A key becomes the name of a
// property here, once; where there is no object that comes first.
func (s *session) noteTarget(call goja.FunctionCall) goja.Value {
	object, key := call.Argument(0), call.Argument(1)
	if _, isObj := key.(*goja.Object); isObj {
		if goja.IsNull(object) || goja.IsUndefined(object) {
			s.throwError("TypeError", "Cannot read property of "+object.String())
		}
		key = s.native.key(goja.Undefined(), key)
	}
	s.noted = targetNote{object, key}
	return object
}
