package js

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// A program may put the name of a method together at run time: JSON["par" +
// "se"]. Where it can, the methods that the engine gets wrong without a word
// count as named.

// silent are the names of those methods, as needsOf looks for them.
var silent = " toLocaleString toLocaleLower toLocaleUpper parse setMilliseconds toString(2) pow parseInt toPrecision toExponential " +
	"includes indexOf localeCompare stringify sort find findIndex findLast findLastIndex match exec log log2 log10 cbrt exp sinh cosh tanh asin acos atan atan2 asinh acosh " +
	strings.Join(slices.Concat(listers["Object"], listers["Reflect"]), " ")

// classes are built-in objects whose methods may be taken by such a name.
var classes = map[string]bool{"JSON": true, "Math": true, "Number": true, "Date": true, "Object": true, "String": true, "Array": true, "BigInt": true, "Intl": true}

// builtIn says that an expression is a built-in object, or a prototype.
func builtIn(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.Identifier:
		return classes[e.Name.String()] || strings.HasSuffix(e.Name.String(), "Array")
	case *ast.DotExpression:
		return e.Identifier.Name == "prototype" || namesGlobal(e.Left)
	case *ast.BracketExpression:
		return namesGlobal(e.Left)
	case *ast.Optional:
		return builtIn(e.Expression)
	}
	return false
}

// assembled says that a key is no literal, and none that is sure to be a
// number.
func assembled(key ast.Expression) bool {
	switch e := key.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral:
		return false
	case *ast.UnaryExpression:
		return e.Operator == token.TYPEOF
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER:
			return false
		}
	case *ast.DotExpression:
		// Symbol.iterator and its kin are no names.
		return !names(e.Left, "Symbol") && e.Identifier.Name != "length"
	}
	return true
}

// callsAssembled says that a call names its method at run time.
func callsAssembled(callee ast.Expression) bool {
	switch e := callee.(type) {
	case *ast.BracketExpression:
		return assembled(e.Member)
	case *ast.Optional:
		return callsAssembled(e.Expression)
	case *ast.OptionalChain:
		return callsAssembled(e.Expression)
	}
	return false
}
