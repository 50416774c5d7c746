package js

import (
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// The engine turns a number of 2^63 and more into the integer 0 where an
// operator or a function wants 32 bits. An operand that may be so large is
// taken modulo 2^32 first, which changes no other outcome.

const (
	wordName  = "@int" // does the same where a value may be a BigInt
	wordRange = 1 << 32
	tooLarge  = 1 << 63
	maxStep   = 1 << 20 // no program adds this so often that it becomes too large
)

// word takes an operand modulo 2^32 where it may be too large.
func (m *meter) word(e ast.Expression) ast.Expression {
	if absent(e) || m.bound(e) < tooLarge {
		return e
	}
	at := e.Idx0()
	if m.bigints {
		return m.use(wordName, at, e)
	}
	return &ast.BinaryExpression{Operator: token.REMAINDER, Left: e,
		Right: &ast.NumberLiteral{Idx: at, Literal: "4294967296", Value: int64(wordRange)}}
}

var libNumeric = library("numeric.js")

// wordOf is the function behind wordName. A text or an object is made a number
// here, as it may be one that is too large.
func (s *session) wordOf(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	_, isObj := v.(*goja.Object)
	if _, isText := v.(goja.String); isText || isObj {
		if s.native.numeric == nil {
			s.native.numeric, _ = s.callable(s.load(libNumeric()))
		}
		v = s.native.numeric(goja.Undefined(), v)
	}
	if v.ExportType() == floatType {
		if f := v.ToFloat(); math.Abs(f) >= tooLarge && !math.IsInf(f, 0) {
			return s.vm.ToValue(math.Mod(f, wordRange))
		}
	}
	return v
}

// wordArguments looks after the functions that want 32 bits.
func (m *meter) wordArguments(call *ast.CallExpression) {
	dot, ok := call.Callee.(*ast.DotExpression)
	if !ok {
		return
	}
	switch name := dot.Identifier.Name; {
	case (name == "imul" || name == "clz32") && m.theirs(dot.Left, "Math"), name == "fromCharCode" && m.theirs(dot.Left, "String"):
		for i, a := range call.ArgumentList {
			if _, spread := a.(*ast.SpreadElement); spread {
				return
			}
			call.ArgumentList[i] = m.word(a)
		}
		m.direct[name.String()]++
	case name == "split" && len(call.ArgumentList) > 1 && m.bound(call.ArgumentList[1]) >= tooLarge:
		m.splits = true
	}
}

// otherwise reports whether the text names a function more often than it calls
// it with arguments that were looked after.
func (m *meter) otherwise(name string) bool {
	return strings.Count(m.source, name) > m.direct[name]
}

// installWords looks after those functions where a program comes by them in
// another way, and after the limit of split.
func (s *session) installWords() {
	all := func(call goja.FunctionCall) []goja.Value {
		args := slices.Clone(call.Arguments)
		for i, v := range args {
			args[i] = s.modular(v)
		}
		return args
	}
	n := &s.prog.needs
	if n.imul {
		math := s.member(s.vm.GlobalObject(), "Math")
		s.guard(math, "imul", all)
		s.guard(math, "clz32", all)
	}
	if n.charCodes {
		s.guard(s.ctor("String"), "fromCharCode", all)
	}
	if n.splits {
		s.guard(s.member(s.ctor("String"), "prototype"), "split", func(call goja.FunctionCall) []goja.Value {
			if len(call.Arguments) < 2 || !plainNumber(call.Arguments[1]) {
				return call.Arguments
			}
			args := slices.Clone(call.Arguments)
			args[1] = s.modular(args[1])
			return args
		})
	}
}

func bitwise(t token.Token) bool {
	switch t {
	case token.AND, token.OR, token.EXCLUSIVE_OR, token.SHIFT_LEFT, token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT:
		return true
	}
	return false
}

// bound is a number that the size of e as a number cannot exceed.
func (m *meter) bound(e ast.Expression) float64 {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		switch n := e.Value.(type) {
		case int64:
			return math.Abs(float64(n))
		case float64:
			return math.Abs(n)
		}
	case *ast.BooleanLiteral, *ast.NullLiteral:
		return 1
	case *ast.Identifier:
		return m.boundOfName(e.Name.String())
	case *ast.UnaryExpression:
		switch e.Operator {
		case token.NOT, token.DELETE:
			return 1
		case token.BITWISE_NOT:
			return wordRange
		case token.PLUS, token.MINUS, token.INCREMENT, token.DECREMENT:
			return m.bound(e.Operand) + 1
		}
	case *ast.BinaryExpression:
		return m.boundOfBinary(e)
	case *ast.ConditionalExpression:
		return math.Max(m.bound(e.Consequent), m.bound(e.Alternate))
	case *ast.SequenceExpression:
		return m.bound(e.Sequence[len(e.Sequence)-1])
	case *ast.AssignExpression:
		if e.Operator == token.ASSIGN {
			return m.bound(e.Right)
		}
		if bitwise(e.Operator) {
			return wordRange
		}
	case *ast.DotExpression:
		switch name := e.Identifier.Name.String(); name {
		case "length", "size", "byteLength":
			if !m.defines(name) {
				return 1 << 53
			}
		}
	case *ast.BracketExpression:
		if m.integers(e.Left) && m.bound(e.Member) < tooLarge {
			return wordRange
		}
	case *ast.CallExpression:
		return m.boundOfCall(e)
	}
	return math.Inf(1)
}

func (m *meter) boundOfBinary(e *ast.BinaryExpression) float64 {
	switch {
	case bitwise(e.Operator):
		return wordRange
	case e.Comparison, e.Operator == token.IN, e.Operator == token.INSTANCEOF:
		return 1
	}
	left, right := m.bound(e.Left), m.bound(e.Right)
	switch e.Operator {
	case token.PLUS, token.MINUS:
		return left + right
	case token.MULTIPLY:
		return left * right
	case token.REMAINDER:
		return math.Min(left, right)
	case token.SLASH:
		if _, plain := e.Right.(*ast.NumberLiteral); plain && right >= 1 {
			return left
		}
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		return math.Max(left, right)
	}
	return math.Inf(1)
}

func (m *meter) boundOfCall(e *ast.CallExpression) float64 {
	dot, ok := e.Callee.(*ast.DotExpression)
	if !ok {
		return math.Inf(1)
	}
	switch name := dot.Identifier.Name.String(); name {
	case "charCodeAt", "codePointAt", "indexOf":
		if !m.defines(name) {
			return 1 << 53
		}
	case "random", "imul", "clz32":
		if m.theirs(dot.Left, "Math") {
			return wordRange
		}
	case "floor", "ceil", "round", "trunc", "abs":
		if m.theirs(dot.Left, "Math") && len(e.ArgumentList) == 1 {
			return m.bound(e.ArgumentList[0]) + 1
		}
	case "now":
		if m.theirs(dot.Left, "Date") {
			return 1 << 53
		}
	}
	return math.Inf(1)
}

// boundOfName is that of a variable by all that is ever written to one of its
// name. Where a bound would depend on itself there is none.
func (m *meter) boundOfName(name string) float64 {
	if m.written == nil {
		m.written, m.bounds = script.Assigned(m.root), map[string]float64{}
		for _, n := range m.given {
			delete(m.written, n)
		}
	}
	if b, known := m.bounds[name]; known {
		return b
	}
	m.bounds[name] = math.Inf(1)
	list, simple := m.written[name]
	if !simple {
		return math.Inf(1)
	}
	most := 0.0
	for _, a := range list {
		b := math.Inf(1)
		switch {
		case bitwise(a.Operator):
			b = wordRange
		case a.Operator == token.ASSIGN:
			b = m.bound(a.Value)
		case a.Operator == token.PLUS || a.Operator == token.MINUS:
			if b = m.bound(a.Value); b > maxStep {
				b = math.Inf(1)
			}
		}
		if !(b <= most) {
			most = b
		}
	}
	m.bounds[name] = most
	return most
}
