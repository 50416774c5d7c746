package js

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// The engine gives a match its member input before index, the language the
// other way round. Only what lists the members of an object can tell, so that
// the order is mended there: matching itself keeps the engine's fast way.

// matchName is the function that puts the members of a match in order and
// gives back its argument.
const matchName = "@match"

// matchesIn reports whether a program can hold a match.
func matchesIn(source string) bool {
	return strings.Contains(source, "match") || strings.Contains(source, "exec")
}

// listed wraps an expression whose members are listed.
func (m *meter) listed(e ast.Expression) ast.Expression {
	if !m.matches || absent(e) {
		return e
	}
	switch e.(type) {
	case *ast.ObjectLiteral, *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.StringLiteral, *ast.NumberLiteral:
		return e // never a match
	}
	return m.use(matchName, e.Idx0(), e)
}

// takesRest reports whether a target takes what is left of an object.
func takesRest(target ast.Expression) bool {
	p, ok := target.(*ast.ObjectPattern)
	return ok && !absent(p.Rest)
}

// elementName is the variable of a loop that takes the rest of what it goes over.
const elementName = "@element"

// elements lets a loop take the rest of a match in its body:
//
//	for (const { a, ...b } of list) c   becomes   for (const @element of list) { const { a, ...b } = @match(@element); c }
func (m *meter) elements(s *ast.ForOfStatement) {
	at := s.For
	element := func() *ast.Identifier { return &ast.Identifier{Name: elementName, Idx: at} }
	var take ast.Statement
	switch in := s.Into.(type) {
	case *ast.ForDeclaration:
		if takesRest(in.Target) {
			kind := token.LET
			if in.IsConst {
				kind = token.CONST
			}
			take = &ast.LexicalDeclaration{Idx: at, Token: kind, List: []*ast.Binding{{Target: in.Target, Initializer: m.listed(element())}}}
		}
	case *ast.ForIntoVar:
		if takesRest(in.Binding.Target) {
			take = &ast.VariableStatement{Var: at, List: []*ast.Binding{{Target: in.Binding.Target, Initializer: m.listed(element())}}}
		}
	case *ast.ForIntoExpression:
		if takesRest(in.Expression) {
			take = &ast.ExpressionStatement{Expression: &ast.AssignExpression{Operator: token.ASSIGN, Left: in.Expression, Right: m.listed(element())}}
		}
	}
	if take != nil {
		s.Into = &ast.ForDeclaration{Idx: at, IsConst: true, Target: element()}
		s.Body = &ast.BlockStatement{LeftBrace: at, List: []ast.Statement{take, s.Body}, RightBrace: s.Body.Idx1()}
	}
}

// listers are the functions that list members, by their owners.
var listers = map[string][]string{
	"Object":  {"keys", "values", "entries", "assign", "getOwnPropertyNames", "getOwnPropertyDescriptors"},
	"Reflect": {"ownKeys"},
}

// installMatchOrder puts the order right where functions list members.
func (s *session) installMatchOrder() {
	for owner, names := range listers {
		if !strings.Contains(s.prog.source, owner) {
			continue
		}
		obj := s.member(s.vm.GlobalObject(), owner)
		s.matchOrder() // takes what it needs before that is replaced
		for _, name := range names {
			if strings.Contains(s.prog.methods, name) {
				s.guard(obj, name, func(call goja.FunctionCall) []goja.Value {
					for _, v := range call.Arguments {
						s.order(v)
					}
					return call.Arguments
				})
			}
		}
	}
}

// matchTools are functions of the engine, taken before the program runs.
type matchTools struct{ extensible, describe, define callee }

func (s *session) matchOrder() *matchTools {
	if s.native.match == nil {
		object := s.ctor("Object")
		t := &matchTools{}
		t.extensible, _ = s.callable(object.Get("isExtensible"))
		t.describe, _ = s.callable(object.Get("getOwnPropertyDescriptor"))
		t.define, _ = s.callable(object.Get("defineProperty"))
		s.native.match = t
	}
	return s.native.match
}

// order puts the members of v in order where v is a match.
func (s *session) order(v goja.Value) goja.Value {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() != "Array" || obj.ExportType() == proxyType {
		return v
	}
	t := s.matchOrder()
	if goja.IsUndefined(t.describe(goja.Undefined(), obj, s.vm.ToValue("groups"))) {
		return v
	}
	names := obj.GetOwnPropertyNames()
	at := slices.Index(names, "input")
	if at < 0 || at+2 >= len(names) || names[at+1] != "index" || names[at+2] != "groups" || !t.extensible(goja.Undefined(), obj).ToBoolean() {
		return v
	}
	moved := append([]string{"input"}, names[at+2:]...)
	for _, name := range moved {
		key := s.vm.ToValue(name)
		d, _ := t.describe(goja.Undefined(), obj, key).(*goja.Object)
		if d == nil || !d.Get("configurable").ToBoolean() {
			return v
		}
		_ = obj.Delete(name)
		t.define(goja.Undefined(), obj, key, d)
	}
	return v
}
