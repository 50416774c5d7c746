package js

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// A buffer of integers takes a number modulo its width, and the engine has 0
// for one of 2^63 and more. What stores such a number is mended here, as far as
// the program's own text goes, and in integerstores.go for built-in functions.

// viewName gives what a store goes to where that may be a list of integers.
const viewName = "@list"

// integerArrays are the classes of lists of integers that are taken modulo.
var integerArrays = []string{"Int8Array", "Uint8Array", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array"}

// holdsIntegers reports whether a program may come by a list of integers: by
// its class, from the encoder of texts, or by a name that is put together.
func holdsIntegers(source string) bool {
	for _, n := range append([]string{"TextEncoder", "globalThis", "\\u"}, integerArrays...) {
		if strings.Contains(source, n) {
			return true
		}
	}
	return false
}

// stored is what a buffer of integers gets for e, whatever its type.
func (m *meter) stored(e ast.Expression) ast.Expression {
	if absent(e) || m.bound(e) < tooLarge {
		return e
	}
	return m.use(wordName, e.Idx0(), e)
}

// element looks after an assignment that stores into a list. A statement on a
// known list has its value cut. Elsewhere the value is used besides, or the
// target known only when the code runs, and the store goes through a view.
func (m *meter) element(e *ast.AssignExpression) {
	if !m.integral {
		return
	}
	at, ok := e.Left.(*ast.BracketExpression)
	if !ok {
		if list, ok := e.Right.(*ast.ArrayLiteral); !ok || !m.small(list) || !flat(e.Left) {
			m.elementTargets(e.Left)
		}
		return
	}
	if named(at.Member) || !m.exceeds(e) {
		return
	}
	if m.unused == ast.Expression(e) && e.Operator == token.ASSIGN && m.integers(at.Left) {
		e.Right = m.stored(e.Right)
		return
	}
	m.viewed(at)
}

// elementTargets does so for what a pattern, or a loop, stores into.
func (m *meter) elementTargets(target ast.Expression) {
	if !m.integral {
		return
	}
	script.Targets(target, func(e ast.Expression) {
		if at, ok := e.(*ast.BracketExpression); ok {
			m.viewed(at)
		}
	})
}

// small says that no element of a list may be too large, as where two elements
// change places.
func (m *meter) small(list *ast.ArrayLiteral) bool {
	for _, e := range list.Value {
		if e == nil || m.bound(e) >= tooLarge {
			return false
		}
	}
	return true
}

// flat says that a pattern is a list of targets and nothing else.
func flat(pattern ast.Expression) bool {
	p, ok := pattern.(*ast.ArrayPattern)
	if !ok || !absent(p.Rest) {
		return false
	}
	for _, e := range p.Elements {
		switch e.(type) {
		case *ast.BracketExpression, *ast.Identifier, *ast.DotExpression:
		default:
			return false
		}
	}
	return true
}

func (m *meter) viewed(at *ast.BracketExpression) {
	if _, super := at.Left.(*ast.SuperExpression); !super && !named(at.Member) {
		at.Left = m.use(viewName, at.Left.Idx0(), at.Left)
	}
}

// exceeds reports whether an assignment to an element of a list of integers may
// give it a number that is too large.
func (m *meter) exceeds(e *ast.AssignExpression) bool {
	right := m.bound(e.Right)
	switch e.Operator {
	case token.PLUS, token.MINUS:
		return right+wordRange >= tooLarge
	case token.MULTIPLY:
		return right*wordRange >= tooLarge
	case token.SLASH:
		n, plain := e.Right.(*ast.NumberLiteral)
		return !plain || m.bound(n) < 1
	case token.REMAINDER:
		return false
	}
	return !bitwise(e.Operator) && right >= tooLarge
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

// defines reports whether the program may give an object of its own a member of
// that name: whether it stands anywhere but behind a dot, or is assigned to.
func (m *meter) defines(name string) bool {
	if out, known := m.defined[name]; known {
		return out
	}
	out := false
	for rest := m.source; !out; {
		at := strings.Index(rest, name)
		if at < 0 {
			break
		}
		before, after := rest[:at], rest[at+len(name):]
		rest = after
		if before != "" && identByte(before[len(before)-1]) || after != "" && identByte(after[0]) {
			continue // a part of another name
		}
		before, after = strings.TrimRight(before, " \t\r\n"), strings.TrimLeft(after, " \t\r\n")
		out = !strings.HasSuffix(before, ".") || strings.HasSuffix(before, "..") ||
			strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "==")
	}
	if m.defined == nil {
		m.defined = map[string]bool{}
	}
	m.defined[name] = out
	return out
}
