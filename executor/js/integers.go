package js

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// A buffer of integers takes a number modulo its width, and the engine has 0
// for one of 2^63 and more. A store is no operator, so that only those are
// mended whose target the text tells.

// viewSetter is a method of a DataView that stores integers, called or not.
var viewSetter = regexp.MustCompile(`(\.\s*)?\b(set(?:Int|Uint)(?:8|16|32))\b(\s*\()?`)

// settersOf are those that a program calls and names nowhere else. No other
// class of the language has such methods, and code that defines one names it.
func settersOf(source string) map[string]bool {
	if !strings.Contains(source, "DataView") {
		return nil
	}
	out := map[string]bool{}
	for _, found := range viewSetter.FindAllStringSubmatch(source, -1) {
		called := found[1] != "" && found[3] != ""
		before, seen := out[found[2]]
		out[found[2]] = called && (before || !seen)
	}
	return out
}

// integerArrays are the classes of lists of integers that are taken modulo.
var integerArrays = []string{"Int8Array", "Uint8Array", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array"}

// stored is what a buffer of integers gets for e, whatever its type.
func (m *meter) stored(e ast.Expression) ast.Expression {
	if absent(e) || m.bound(e) < tooLarge {
		return e
	}
	return m.use(wordName, e.Idx0(), e)
}

// element looks after a statement that stores into a list. Where its value is
// used besides, it must stay what it is.
func (m *meter) element(e ast.Expression) {
	a, ok := e.(*ast.AssignExpression)
	if !ok || a.Operator != token.ASSIGN {
		return
	}
	if at, ok := a.Left.(*ast.BracketExpression); ok && m.integers(at.Left) && !named(at.Member) {
		a.Right = m.stored(a.Right)
	}
}

// named reports whether a key is a text, which seldom is the index of an element.
func named(key ast.Expression) bool {
	text, ok := key.(*ast.StringLiteral)
	if !ok {
		return false
	}
	_, err := strconv.ParseUint(text.Value.String(), 10, 53)
	return err != nil
}

// integers reports whether e is a variable that only ever holds such lists.
func (m *meter) integers(e ast.Expression) bool {
	id, ok := e.(*ast.Identifier)
	if !ok {
		return false
	}
	m.boundOfName(id.Name.String()) // fills what is written
	list := m.written[id.Name.String()]
	for _, w := range list {
		made, ok := w.Value.(*ast.NewExpression)
		if !ok || w.Operator != token.ASSIGN {
			return false
		}
		class, ok := made.Callee.(*ast.Identifier)
		if !ok || !slices.Contains(integerArrays, class.Name.String()) || !m.theirs(class, class.Name.String()) {
			return false
		}
	}
	return len(list) > 0
}

// theirs reports whether e is a global of the language under its name, which
// the program gives to nothing of its own.
func (m *meter) theirs(e ast.Expression, name string) bool {
	if !names(e, name) {
		return false
	}
	if m.own == nil {
		m.own = script.Bound(m.root)
		for _, n := range m.given {
			m.own[n] = true
		}
	}
	return !m.own[name]
}
