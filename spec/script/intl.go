package script

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// Locales, options and classes of Intl that stand in the code as literals and
// do not exist would fail when the code comes to the line. They are refused,
// but where the code is ready for that: it asks for the class, or the use is
// in a try that catches.

// intlUse is one use that cannot work.
type intlUse struct {
	class   string // the absent class of Intl, "" for a locale or an option
	method  string // a method that the code may have made itself
	global  bool   // it is a use of the global Intl
	locale  bool   // it is a locale of dates or numbers
	held    string // the variable that the class goes into
	message string
	at      file.Idx
}

// intlUses is what a program does with locales.
type intlUses struct {
	uses  []intlUse
	asked intlAsked
	own   map[string]bool // methods that the code makes
	tries []*ast.BlockStatement
}

// intlMember is the name of a member of Intl, "" for other expressions.
func intlMember(e ast.Expression) string {
	switch e := unwrap(e).(type) {
	case *ast.DotExpression:
		if isIntl(e.Left) {
			return e.Identifier.Name.String()
		}
	case *ast.BracketExpression:
		if isIntl(e.Left) {
			return literal(e.Member)
		}
	}
	return ""
}

func isIntl(e ast.Expression) bool {
	switch e := unwrap(e).(type) {
	case *ast.Identifier:
		return e != nil && e.Name == "Intl"
	case *ast.DotExpression:
		id, ok := unwrap(e.Left).(*ast.Identifier)
		return ok && id.Name == "globalThis" && e.Identifier.Name == "Intl"
	}
	return false
}

func (u *intlUses) makes(name string) {
	if strings.HasPrefix(name, "toLocale") || name == "localeCompare" {
		u.own[name] = true
	}
}

func (u *intlUses) stmt(s ast.Statement) {
	switch s := s.(type) {
	case *ast.IfStatement:
		u.ask(s.Test)
	case *ast.TryStatement:
		if s.Catch != nil {
			u.tries = append(u.tries, s.Body)
		}
	}
}

func (u *intlUses) expr(e ast.Expression) {
	switch e := e.(type) {
	case *ast.ConditionalExpression:
		u.ask(e.Test)
	case *ast.UnaryExpression:
		if e.Operator == token.TYPEOF || e.Operator == token.NOT {
			u.ask(e.Operand)
		}
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
			u.ask(e.Left)
		case token.EQUAL, token.STRICT_EQUAL, token.NOT_EQUAL, token.STRICT_NOT_EQUAL:
			u.ask(e.Left)
			u.ask(e.Right)
		case token.IN:
			if isIntl(e.Right) {
				u.asked.classes[literal(e.Left)] = true
			}
		}
	case *ast.Optional:
		u.ask(e.Expression)
	case *ast.AssignExpression:
		if intlMember(e.Left) != "" {
			u.ask(e.Left) // the code makes the class itself
		}
		u.hold(e.Left, e.Right)
		if isIntl(e.Right) {
			u.taken(e.Left)
		}
		u.makes(nameOf(e.Left))
	case *ast.PropertyKeyed:
		u.makes(literal(e.Key))
	case *ast.PropertyShort:
		u.makes(e.Name.Name.String())
	case *ast.ClassLiteral:
		for _, el := range e.Body {
			switch el := el.(type) {
			case *ast.MethodDefinition:
				u.makes(literal(el.Key))
			case *ast.FieldDefinition:
				u.makes(literal(el.Key))
			}
		}
	case *ast.Binding:
		if e != nil && e.Initializer != nil {
			u.hold(e.Target, e.Initializer)
			if isIntl(e.Initializer) {
				u.taken(e.Target)
			}
		}
	case *ast.DotExpression, *ast.BracketExpression:
		u.member(e)
	case *ast.CallExpression:
		u.call(e.Callee, e.ArgumentList)
	case *ast.NewExpression:
		u.call(e.Callee, e.ArgumentList)
	}
}

// member looks for classes that do not exist.
func (u *intlUses) member(e ast.Expression) {
	name := intlMember(e)
	if hint, absent := intlAbsent[name]; absent {
		at := e.Idx0()
		u.uses = append(u.uses, intlUse{class: name, held: u.asked.held[at], global: true, at: at, message: absentClass(name, hint)})
	}
}

func absentClass(name, hint string) string {
	return "Intl." + name + " does not exist on this runtime, which has " + strings.Join(IntlClasses, " and ") + ": " + hint
}

// taken looks for them among what a pattern takes.
func (u *intlUses) taken(target ast.Expression) {
	p, ok := target.(*ast.ObjectPattern)
	if !ok {
		return
	}
	for _, prop := range p.Properties {
		var class, name string
		switch prop := prop.(type) {
		case *ast.PropertyShort:
			if prop.Initializer == nil {
				class = prop.Name.Name.String()
				name = class
			}
		case *ast.PropertyKeyed:
			if id, ok := prop.Value.(*ast.Identifier); ok {
				class, name = literal(prop.Key), id.Name.String()
			}
		}
		if hint, absent := intlAbsent[class]; absent {
			u.uses = append(u.uses, intlUse{class: class, held: name, global: true, at: prop.Idx0(), message: absentClass(class, hint)})
		}
	}
}

func (u *intlUses) refuse(method, message string, at file.Idx) {
	u.uses = append(u.uses, intlUse{method: method, global: method == "", message: message, at: at})
}

// report gives the uses that nothing guards. own says that Intl is a name of
// the code.
func (u *intlUses) report(own bool, add func(file.Idx, string)) {
	for _, use := range u.uses {
		inTry := slices.ContainsFunc(u.tries, func(b *ast.BlockStatement) bool { return b.LeftBrace <= use.at && use.at <= b.RightBrace })
		asked := u.asked.classes[use.class] || u.asked.names[use.held] || use.locale && u.asked.locales
		if !inTry && !asked && !u.own[use.method] && !(own && use.global) {
			add(use.at, use.message)
		}
	}
}
