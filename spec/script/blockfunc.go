package script

import (
	"fmt"
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// In sloppy code a function that is declared in a block is also a variable of
// the function around the block (Annex B of the standard). The engine keeps it
// in the block. So a use outside of the block, which would find nothing or
// another variable, is refused.

type blockScope struct {
	parent   *blockScope
	function bool
	strict   bool
	lexical  map[string]bool
	vars     map[string]bool // of functions: variables and functions at the top
	leaking  map[string]bool // of functions: what the standard would declare here as well
}

type scopedName struct {
	name  string
	at    file.Idx
	scope *blockScope
}

type blockFunctions struct {
	seen     map[any]bool
	scope    *blockScope
	declared []scopedName // functions in blocks
	used     []scopedName
}

// leakedFunctions calls refuse for each use, in fn, of a function outside of
// the block that declares it.
func leakedFunctions(fn *ast.FunctionLiteral, refuse func(file.Idx, string)) {
	b := &blockFunctions{seen: map[any]bool{}, scope: &blockScope{}}
	b.node(reflect.ValueOf(fn))
	for _, d := range b.declared {
		s := d.scope.parent
		for !s.function && s.parent != nil && !s.lexical[d.name] {
			s = s.parent
		}
		if s.function && !s.lexical[d.name] {
			s.leaking[d.name] = true
		}
	}
	for _, u := range b.used {
		for s := u.scope; s != nil; s = s.parent {
			if s.leaking[u.name] {
				refuse(u.at, fmt.Sprintf("the function %s is declared in a block and used outside of it; declare it outside of the block, or as a variable there", u.name))
			}
			if s.leaking[u.name] || s.lexical[u.name] || s.vars[u.name] {
				break
			}
		}
	}
}

func (b *blockFunctions) enter(function bool, inside func()) {
	outer := b.scope
	b.scope = &blockScope{parent: outer, function: function, strict: outer.strict, lexical: map[string]bool{}}
	if function {
		b.scope.vars, b.scope.leaking = map[string]bool{}, map[string]bool{}
	}
	inside()
	b.scope = outer
}

// lexically declares the names that a list of statements binds in its scope.
func (b *blockFunctions) lexically(list []ast.Statement) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.LexicalDeclaration:
			for _, d := range s.List {
				bound(d.Target, b.scope.lexical)
			}
		case *ast.ClassDeclaration:
			if s.Class.Name != nil {
				b.scope.lexical[s.Class.Name.Name.String()] = true
			}
		case *ast.FunctionDeclaration:
			if s.Function.Name == nil {
				continue
			}
			name := s.Function.Name.Name.String()
			if b.scope.function {
				b.scope.vars[name] = true
				continue
			}
			b.scope.lexical[name] = true
			if !b.scope.strict && !s.Function.Async && !s.Function.Generator {
				b.declared = append(b.declared, scopedName{name, s.Function.Name.Idx, b.scope})
			}
		}
	}
}

// variables declares names in the function around.
func (b *blockFunctions) variables(list []*ast.Binding) {
	s := b.scope
	for !s.function && s.parent != nil {
		s = s.parent
	}
	for _, d := range list {
		bound(d.Target, s.vars)
	}
}

// bound collects the names of a pattern.
func bound(e ast.Expression, into map[string]bool) { declared(into).target(e) }

func (b *blockFunctions) callable(params *ast.ParameterList, body []ast.Statement, own *ast.Identifier, fields func()) {
	b.enter(true, func() {
		if own != nil {
			b.scope.vars[own.Name.String()] = true
		}
		for _, p := range params.List {
			bound(p.Target, b.scope.lexical) // no function of a block replaces a parameter
		}
		if params.Rest != nil {
			bound(params.Rest, b.scope.lexical)
		}
		for _, s := range body {
			e, ok := s.(*ast.ExpressionStatement)
			if !ok {
				break
			}
			text, ok := e.Expression.(*ast.StringLiteral)
			if !ok {
				break
			}
			b.scope.strict = b.scope.strict || text.Value == "use strict"
		}
		b.lexically(body)
		fields()
	})
}

func (b *blockFunctions) node(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if id, ok := v.Interface().(*ast.Identifier); ok && v.Type() == expressionType && id != nil {
			b.used = append(b.used, scopedName{id.Name.String(), id.Idx, b.scope})
			return
		}
		b.node(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			b.node(v.Index(i))
		}
	case reflect.Struct:
		if v.Type().PkgPath() == astPackage {
			b.fields(v)
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().PkgPath() != astPackage || b.seen[v.Interface()] {
			return
		}
		b.seen[v.Interface()] = true
		b.pointer(v)
	}
}

func (b *blockFunctions) pointer(v reflect.Value) {
	fields := func() { b.fields(v.Elem()) }
	switch n := v.Interface().(type) {
	case *ast.FunctionLiteral:
		b.seen[n.Body] = true
		b.callable(n.ParameterList, n.Body.List, n.Name, func() { fields(); b.fields(reflect.ValueOf(n.Body).Elem()) })
	case *ast.ArrowFunctionLiteral:
		if body, ok := n.Body.(*ast.BlockStatement); ok {
			b.seen[body] = true
			b.callable(n.ParameterList, body.List, nil, func() { fields(); b.fields(reflect.ValueOf(body).Elem()) })
		} else {
			b.callable(n.ParameterList, nil, nil, fields)
		}
	case *ast.ClassLiteral:
		b.enter(false, func() {
			b.scope.strict = true
			if n.Name != nil {
				b.scope.lexical[n.Name.Name.String()] = true
			}
			fields()
		})
	case *ast.BlockStatement:
		b.enter(false, func() { b.lexically(n.List); fields() })
	case *ast.IfStatement: // a function may stand there without a block
		for _, branch := range []ast.Statement{n.Consequent, n.Alternate} {
			if f, ok := branch.(*ast.FunctionDeclaration); ok {
				b.enter(false, func() { b.lexically([]ast.Statement{f}); b.node(reflect.ValueOf(f)) })
			}
		}
		fields()
	case *ast.SwitchStatement:
		b.enter(false, func() {
			for _, c := range n.Body {
				b.lexically(c.Consequent)
			}
			fields()
		})
	case *ast.CatchStatement:
		b.enter(false, func() {
			if n.Parameter != nil {
				bound(n.Parameter, b.scope.lexical)
			}
			fields()
		})
	case *ast.ForStatement, *ast.ForInStatement, *ast.ForOfStatement:
		b.enter(false, fields)
	case *ast.ForLoopInitializerLexicalDecl:
		b.lexically([]ast.Statement{&n.LexicalDeclaration})
		fields()
	case *ast.ForDeclaration:
		bound(n.Target, b.scope.lexical)
		fields()
	case *ast.VariableStatement:
		b.variables(n.List)
		fields()
	case *ast.ForLoopInitializerVarDeclList:
		b.variables(n.List)
		fields()
	case *ast.ForIntoVar:
		b.variables([]*ast.Binding{n.Binding})
		fields()
	case *ast.ObjectLiteral:
		for _, p := range n.Value {
			if s, ok := p.(*ast.PropertyShort); ok {
				b.used = append(b.used, scopedName{s.Name.Name.String(), s.Name.Idx, b.scope})
			}
		}
		fields()
	default:
		fields()
	}
}

// fields goes on with what a node holds. The lists of declarations repeat
// statements of the body and would be met in the wrong scope.
func (b *blockFunctions) fields(v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
			b.node(v.Field(i))
		}
	}
}
