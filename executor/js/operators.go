package js

import (
	"math/big"
	"slices"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"github.com/toolwarrant/toolwarrant/executor/js/nearest"
)

// Operators that the engine gets wrong are calls of functions, which are
// parameters of the wrapper under names that no source text can spell.
const (
	powerName      = "@**"
	shiftLeftName  = "@<<"
	shiftRightName = "@>>"
)

var libPower = library("power.js")

// use notes that the program needs a function, and makes a call of it.
func (m *meter) use(name string, at file.Idx, args ...ast.Expression) ast.Expression {
	if !slices.Contains(m.operators, name) {
		m.operators = append(m.operators, name)
	}
	return &ast.CallExpression{Callee: &ast.Identifier{Name: unistring.String(name), Idx: at},
		LeftParenthesis: at, RightParenthesis: at, ArgumentList: args}
}

// binary changes a power or an operator on bits in place.
func (m *meter) binary(e *ast.BinaryExpression) {
	switch e.Operator {
	case token.EXPONENT:
		// What it gives is never null.
		e.Left = m.use(powerName, e.Idx0(), e.Left, e.Right)
		e.Operator, e.Right = token.COALESCE, &ast.NullLiteral{Idx: e.Left.Idx0(), Literal: "null"}
	case token.SHIFT_LEFT, token.SHIFT_RIGHT:
		m.shift(e.Operator, &e.Right)
	}
	if bitwise(e.Operator) {
		e.Left, e.Right = m.word(e.Left), m.word(e.Right)
	}
}

// assignment does the same for an operator that assigns.
func (m *meter) assignment(e *ast.AssignExpression) {
	switch e.Operator {
	case token.EXPONENT:
		if now := m.twice(e.Left); now != nil {
			e.Operator, e.Right = token.ASSIGN, m.use(powerName, e.Left.Idx0(), now, e.Right)
		}
	case token.SHIFT_LEFT, token.SHIFT_RIGHT:
		m.shift(e.Operator, &e.Right)
	}
	if bitwise(e.Operator) {
		e.Right = m.word(e.Right)
		if m.bound(e.Left) >= tooLarge {
			now := m.twice(e.Left)
			if now == nil {
				return
			}
			e.Operator, e.Right = token.ASSIGN, &ast.BinaryExpression{Operator: e.Operator, Left: m.word(now), Right: e.Right}
		}
	}
}

// again copies a target whose second evaluation nothing can notice, or is nil.
func again(target ast.Expression) ast.Expression {
	switch e := target.(type) {
	case *ast.Identifier:
		out := *e
		return &out
	case *ast.ThisExpression:
		out := *e
		return &out
	case *ast.DotExpression:
		out := *e
		if out.Left = base(e.Left); out.Left != nil {
			return &out
		}
	case *ast.PrivateDotExpression:
		out := *e
		if out.Left = base(e.Left); out.Left != nil {
			return &out
		}
	case *ast.BracketExpression:
		out := *e
		switch key := e.Member.(type) {
		case *ast.NumberLiteral:
			copied := *key
			out.Member = &copied
		case *ast.StringLiteral:
			copied := *key
			out.Member = &copied
		default:
			return nil
		}
		if out.Left = base(e.Left); out.Left != nil {
			return &out
		}
	}
	return nil
}

// base copies what a member is of: a name, this, or super.
func base(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.SuperExpression:
		out := *e
		return &out
	case *ast.Identifier, *ast.ThisExpression:
		return again(e)
	}
	return nil
}

// shift checks the count where it may be a BigInt.
func (m *meter) shift(operator token.Token, count *ast.Expression) {
	if !m.bigints {
		return
	}
	if _, plain := (*count).(*ast.NumberLiteral); plain {
		return
	}
	name := shiftLeftName
	if operator == token.SHIFT_RIGHT {
		name = shiftRightName
	}
	*count = m.use(name, (*count).Idx0(), *count)
}

// operator is the function behind one of the names.
func (s *session) operator(name string) func(goja.FunctionCall) goja.Value {
	switch name {
	case powerName:
		return s.power
	case matchName:
		return func(call goja.FunctionCall) goja.Value { return s.order(call.Argument(0)) }
	case wordName:
		return s.wordOf
	case viewName:
		return s.viewOf
	case baseName:
		s.native.key, _ = s.callable(s.load(libKey())) // takes what it needs before that is replaced
		return s.noteTarget
	case objectName:
		return func(goja.FunctionCall) goja.Value { return s.noted.object }
	case keyName:
		return func(goja.FunctionCall) goja.Value { return s.noted.key }
	case shiftLeftName:
		return func(call goja.FunctionCall) goja.Value { return s.shiftCount(call.Argument(0), 1) }
	}
	return func(call goja.FunctionCall) goja.Value { return s.shiftCount(call.Argument(0), -1) }
}

// maxBigBits is the largest size of a BigInt, as in node.
const maxBigBits = 1 << 30

// shiftCount gives the engine, which takes the low 64 bits of a count, one that
// it can take. direction is 1 where a positive count makes the number larger.
func (s *session) shiftCount(v goja.Value, direction int) goja.Value {
	n := bigOf(v)
	if n == nil || n.CmpAbs(big.NewInt(maxBigBits)) <= 0 {
		return v
	}
	if n.Sign() == direction {
		s.throwError("RangeError", "Maximum BigInt size exceeded")
	}
	// Nothing is left of any number.
	return s.vm.ToValue(big.NewInt(int64(n.Sign()) * 2 * maxBigBits))
}

// bigOf is the number of a BigInt, or nil for other values.
func bigOf(v goja.Value) *big.Int {
	if _, isObj := v.(*goja.Object); isObj || v == nil || v.ExportType() != bigIntType {
		return nil
	}
	n, _ := v.Export().(*big.Int)
	return n
}

// power is the operator **.
func (s *session) power(call goja.FunctionCall) goja.Value {
	a, b := call.Argument(0), call.Argument(1)
	if plainNumber(a) && plainNumber(b) {
		return s.vm.ToValue(nearest.Pow(a.ToFloat(), b.ToFloat()))
	}
	x, y := bigOf(a), bigOf(b)
	if x != nil && y != nil && y.Sign() >= 0 && x.BitLen() > 0 {
		switch one := x.CmpAbs(big.NewInt(1)) == 0; {
		case one && (x.Sign() > 0 || y.Bit(0) == 1):
			return a
		case one:
			return s.vm.ToValue(big.NewInt(1))
		case !y.IsInt64() || y.Int64() > maxBigBits/int64(max(1, x.BitLen()-1)):
			s.throwError("RangeError", "Maximum BigInt size exceeded")
		}
	}
	// Other values become numbers first; the engine knows how.
	if s.native.power == nil {
		s.native.power, _ = s.callable(s.load(libPower(), s.function("power", s.power)))
	}
	return s.native.power(goja.Undefined(), a, b)
}

// plainNumber says that v is a number, and no object.
func plainNumber(v goja.Value) bool {
	if _, isObj := v.(*goja.Object); isObj {
		return false
	}
	t := v.ExportType()
	return t == intType || t == floatType
}
