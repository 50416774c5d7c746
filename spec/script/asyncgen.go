package script

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
)

//go:embed asyncgen.js
var asyncGenSource string

// ownHelpers are the helpers that take the place of esbuild's of the same
// name, each on one line. Esbuild's lose the rest of a finally block at its
// first await, and do not await what a generator returns.
var ownHelpers = sync.OnceValue(func() map[string]string {
	out, name := map[string]string{}, ""
	for line := range strings.Lines(asyncGenSource) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//") {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "var __"); ok {
			name, _, _ = strings.Cut("__"+rest, " ")
		}
		out[name] += line + " "
	}
	return out
})

// replaceHelpers puts our helpers where esbuild printed its own, the first n
// statements of body. They take as many lines, so that the source map of what
// follows stays right. It reports whether there was one.
func replaceHelpers(printed string, body []ast.Statement) (string, bool) {
	text, at, any := "", 0, false
	for _, s := range body {
		v, ok := s.(*ast.VariableStatement)
		if !ok || len(v.List) != 1 {
			continue
		}
		id, ok := v.List[0].Target.(*ast.Identifier)
		if !ok || ownHelpers()[id.Name.String()] == "" {
			continue
		}
		was := statementText(printed, v)
		from := int(v.Idx0()) - 1
		// A line end behind the last brace would end the statement there.
		own := strings.TrimSuffix(ownHelpers()[id.Name.String()], "}; ")
		text += printed[at:from] + own + strings.Repeat("\n", strings.Count(was, "\n")) + "}"
		at, any = from+len(was), true
		for printed[at] == ')' { // parentheses are no part of the last expression
			at++
		}
	}
	return text + printed[at:], any
}

// mendGenerators makes async generators await what they return, and gives sync
// ones back the plain yield* that esbuild takes from them as well.
func mendGenerators(prog *ast.Program) {
	async := map[*ast.FunctionLiteral]*ast.FunctionLiteral{} // with what returns them
	super := superMender{async, map[*ast.FunctionLiteral]bool{}, map[ast.Expression]bool{}}
	w := &walker{seen: map[string]bool{}}
	w.visit = func(e ast.Expression) {
		super.expr(e, w.fn)
		switch e := e.(type) {
		case *ast.CallExpression:
			if fn := generatorOf(e); fn != nil {
				async[fn] = w.fn
				returns(fn.Body)
			}
		case *ast.YieldExpression:
			call, ok := e.Argument.(*ast.CallExpression)
			if ok && e.Delegate && async[w.fn] == nil && calls(call, "__yieldStar") && len(call.ArgumentList) == 1 {
				e.Argument = call.ArgumentList[0]
			}
		}
	}
	for _, s := range prog.Body {
		w.statement(s)
	}
	super.finish()
}

// generatorOf gives the generator that a call turns into an async one, or nil.
func generatorOf(call *ast.CallExpression) *ast.FunctionLiteral {
	if len(call.ArgumentList) != 3 || !calls(call, "__asyncGenerator") {
		return nil
	}
	if fn, ok := call.ArgumentList[2].(*ast.FunctionLiteral); ok && fn.Generator {
		return fn
	}
	return nil
}

func calls(call *ast.CallExpression, name string) bool {
	id, ok := call.Callee.(*ast.Identifier)
	return ok && id.Name.String() == name
}

// returns rewrites the return statements of one function to
// return yield new __await(value).
func returns(list ...ast.Statement) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ReturnStatement:
			if s.Argument != nil {
				at := s.Argument.Idx0()
				s.Argument = &ast.YieldExpression{Yield: at, Argument: &ast.NewExpression{New: at,
					Callee:       &ast.Identifier{Name: "__await", Idx: at},
					ArgumentList: []ast.Expression{s.Argument}, RightParenthesis: s.Argument.Idx1()}}
			}
		case *ast.BlockStatement:
			if s != nil {
				returns(s.List...)
			}
		case *ast.IfStatement:
			returns(s.Consequent, s.Alternate)
		case *ast.LabelledStatement:
			returns(s.Statement)
		case *ast.SwitchStatement:
			for _, c := range s.Body {
				returns(c.Consequent...)
			}
		case *ast.TryStatement:
			returns(s.Body)
			if s.Catch != nil {
				returns(s.Catch.Body)
			}
			returns(s.Finally)
		case *ast.DoWhileStatement:
			returns(s.Body)
		case *ast.WhileStatement:
			returns(s.Body)
		case *ast.ForStatement:
			returns(s.Body)
		case *ast.ForInStatement:
			returns(s.Body)
		case *ast.ForOfStatement:
			returns(s.Body)
		}
	}
}
