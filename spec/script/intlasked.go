package script

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// How code asks whether a class of Intl is there, or a locale is known.

// intlAsked is what a program asks for.
type intlAsked struct {
	classes map[string]bool
	names   map[string]bool     // variables, which may hold a class
	held    map[file.Idx]string // the variables that members of Intl go into
	locales bool                // supportedLocalesOf is used
}

func newIntlUses() intlUses {
	return intlUses{own: map[string]bool{}, asked: intlAsked{map[string]bool{}, map[string]bool{}, map[file.Idx]string{}, false}}
}

// ask notes the classes and the variables that a test asks for.
func (u *intlUses) ask(test ast.Expression) {
	name := intlMember(test)
	switch e := unwrap(test).(type) {
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
			u.ask(e.Left)
			u.ask(e.Right)
		}
	case *ast.Identifier:
		if e != nil {
			u.asked.names[e.Name.String()] = true
		}
	}
	if name != "" {
		u.asked.classes[name] = true
	}
}

// askCall notes what a call asks for: Boolean(Intl.X), Reflect.has(Intl, "X"),
// Intl.hasOwnProperty("X"), Object.keys(Intl).includes("X").
func (u *intlUses) askCall(callee ast.Expression, args []ast.Expression) {
	if id, ok := unwrap(callee).(*ast.Identifier); ok && id.Name == "Boolean" && len(args) == 1 {
		u.ask(args[0])
	}
	about := slices.ContainsFunc(args, isIntl)
	if m, ok := unwrap(callee).(*ast.DotExpression); ok {
		about = about || isIntl(m.Left)
		if list, ok := unwrap(m.Left).(*ast.CallExpression); ok {
			about = about || slices.ContainsFunc(list.ArgumentList, isIntl)
		}
		u.asked.locales = u.asked.locales || m.Identifier.Name == "supportedLocalesOf"
	}
	for _, a := range args {
		name := literal(a)
		if about && name != "" {
			u.asked.classes[name] = true
		}
		u.makes(name) // Object.defineProperty(o, "localeCompare", ..)
	}
}

// hold notes that a member of Intl goes into a variable, by which the code may
// ask for it later.
func (u *intlUses) hold(target, value ast.Expression) {
	if id, ok := target.(*ast.Identifier); ok && id != nil && intlMember(value) != "" {
		u.asked.held[value.Idx0()] = id.Name.String()
	}
}
