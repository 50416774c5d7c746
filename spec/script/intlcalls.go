package script

import (
	"slices"
	"strconv"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// call looks at the locales and options of a call.
func (u *intlUses) call(callee ast.Expression, args []ast.Expression) {
	u.askCall(callee, args)
	for _, a := range args {
		if _, spread := a.(*ast.SpreadElement); spread {
			return
		}
	}
	arg := func(i int) ast.Expression {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	switch name := intlMember(callee); name {
	case "DateTimeFormat":
		u.formats("", arg(0), arg(1), DateOptions)
		return
	case "NumberFormat":
		u.formats("", arg(0), arg(1), NumberOptions)
		return
	}
	var receiver ast.Expression
	switch m := unwrap(callee).(type) {
	case *ast.DotExpression:
		receiver = m.Left
	case *ast.BracketExpression:
		receiver = m.Left
	default:
		return
	}
	name := nameOf(callee)
	if _, isText := receiver.(*ast.StringLiteral); isText && name != "localeCompare" {
		return // a text has no locales
	}
	switch name {
	case "localeCompare":
		if locale, at := firstLocale(arg(1)); locale != "" {
			if _, _, problem := CompareLocale(locale); problem != "" {
				u.refuse(name, problem, at)
			}
		}
		u.options(name, arg(2), CompareOptions)
	case "toLocaleDateString", "toLocaleTimeString":
		u.formats(name, arg(0), arg(1), DateOptions)
	case "toLocaleString":
		u.formats(name, arg(0), arg(1), DateOptions, NumberOptions)
	}
}

// formats looks at a locale and options, of which one of the lists is meant.
func (u *intlUses) formats(method string, locale, options ast.Expression, lists ...Options) {
	if name, at := firstLocale(locale); name != "" && FormatLocale(name) == "" {
		u.uses = append(u.uses, intlUse{method: method, global: method == "", locale: true, message: FormatLocaleAdvice(name), at: at})
	}
	u.options(method, options, lists...)
}

// options looks at the members of a literal, of which later ones count. An option that only one of the
// lists has tells which one is meant.
func (u *intlUses) options(method string, e ast.Expression, lists ...Options) {
	obj, ok := e.(*ast.ObjectLiteral)
	if !ok {
		return
	}
	later := map[string]bool{}
	for _, p := range slices.Backward(obj.Value) {
		if _, spread := p.(*ast.SpreadElement); spread {
			return // may have any of those before it
		}
		if short, ok := p.(*ast.PropertyShort); ok {
			later[short.Name.Name.String()] = true
		}
		keyed, ok := p.(*ast.PropertyKeyed)
		if !ok {
			continue
		}
		name, problem := literal(keyed.Key), ""
		if name == "" {
			return // so may one with a computed name
		}
		value, known := optionValue(keyed.Value)
		if known = known && keyed.Kind == ast.PropertyKindValue && !later[name]; !known {
			later[name] = true
			continue
		}
		later[name] = true
		for _, list := range lists {
			if _, listed := list[name]; listed {
				if problem = list.Refusal(name, value); problem == "" {
					break
				}
			}
		}
		if problem != "" {
			u.refuse(method, problem, keyed.Key.Idx0())
		}
	}
}

// optionValue is the text of a literal, as the runtime reads it.
func optionValue(e ast.Expression) (string, bool) {
	switch e := e.(type) {
	case *ast.BooleanLiteral:
		return e.Literal, true
	case *ast.NumberLiteral:
		n, whole := e.Value.(int64)
		return strconv.FormatInt(n, 10), whole
	}
	text := literal(e)
	return text, text != ""
}

// firstLocale is the literal that stands for the locale.
func firstLocale(e ast.Expression) (string, file.Idx) {
	if list, ok := e.(*ast.ArrayLiteral); ok && len(list.Value) > 0 {
		e = list.Value[0]
	}
	if name := literal(e); name != "" {
		return name, e.Idx0()
	}
	return "", 0
}
