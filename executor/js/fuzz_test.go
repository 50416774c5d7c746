package js

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// FuzzCompile checks that no text leaves the wrapper, that compiling never
// panics, and that what compiles starts as one function.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"return 1", "}, evil: (function(){", "})(); (async function(){", "}}); (function(a){ return async function(){",
		"/*", "`${", "return /[/]/g", "a: for(;;) break a", "class A { static { } x = 1; #y = () => 1 }", "const {a = 1, ...b} = args",
		"async () => { await 1 }", "function* g() { yield* [] }", "label: { }", "if (1) function f() {}", "x = 1 // }", "<!-- }", "\u2028}", "return new.target",
		"switch (1) { case 1: default: }", "try {} catch {} finally {}", "tag`a${1}b`", "a?.b?.()", "delete a.b, void 0", "for (const [a] of []) ;", "return\n}",
		"for await (const x of []) ;", "async function* g() { yield* g(); await 1 }", "for await (const x of []); }}); var __await = 1; (function(){ return async function(){", "return /x/dv", "--> x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) > 4096 {
			return
		}
		p, failure := compileBody("f.js", body, []string{"a", "b"}, false)
		if (p == nil) == (failure == nil) {
			t.Fatal("neither a program nor a failure")
		}
		if p == nil {
			return
		}
		vm := goja.New()
		v, err := vm.RunProgram(p.code)
		if err != nil {
			t.Fatalf("loading ran code: %v", err)
		}
		if _, ok := goja.AssertFunction(v); !ok {
			t.Fatal("the program is not a function")
		}
		// The body alone, as a function, must be one statement as well.
		alone, err := script.ParseTree("", "(async function(){", body, "\n})")
		if err != nil || len(alone.Program.Body) != 1 {
			t.Fatalf("the body is accepted only together with the wrapper: %v", err)
		}
		tree := alone.Program
		stmt, ok := tree.Body[0].(*ast.ExpressionStatement)
		if !ok {
			t.Fatal("not an expression")
		}
		if _, ok := stmt.Expression.(*ast.FunctionLiteral); !ok {
			t.Fatalf("the body closes its function: %T", stmt.Expression)
		}
	})
}

// FuzzAgree checks that what the check of a document accepts is what the
// runtime compiles.
func FuzzAgree(f *testing.F) {
	for _, p := range probes(f) {
		f.Add(p.code)
	}
	for _, s := range []string{"-->", "<!--", "async function*g(){}", "return /a/d", "return /[a--b]/v", "with(a);", "eval(1)", "await 1", "yield", "let a;let a", "class!!0!*A0\"\" [...0(", "a => {}\n/b/v", "[/(?!00[0-0-[])/]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) > 2048 {
			return
		}
		found := script.Check(body)
		p, failure := compileBody("tool.js", body, nil, false)
		switch {
		case len(found) > 0 && found[0].Reason == "code-too-deep":
		case failure != nil && failure.Reason == "source":
		case (len(found) == 0) != (p != nil):
			t.Fatalf("%q: the check says %v, the runtime %+v", body, found, failure)
		}
	})
}

func FuzzNesting(f *testing.F) {
	f.Add("`${`${1}`}` / (/[)]/) // (\n/* ( */ '(' \"(\"")
	f.Fuzz(func(t *testing.T, src string) {
		if checkNesting(src) != nil && strings.Count(src, "(")+strings.Count(src, "[")+strings.Count(src, "{")+strings.Count(src, "`") <= maxNesting && len(src) <= maxChain {
			t.Fatal("refused without a reason")
		}
	})
}

func FuzzURL(f *testing.F) {
	f.Add("https://u:p@h:1/a/../b?c#d", "http://x/")
	f.Fuzz(func(t *testing.T, input, base string) {
		b, err := parseURL(base, nil)
		if err != nil {
			b = nil
		}
		u, err := parseURL(input, b)
		if err != nil {
			return
		}
		again, err := parseURL(u.Href(false), nil)
		if err != nil || again.Href(false) != u.Href(false) {
			t.Fatalf("%q gives %q, which parses as %v, %v", input, u, again, err)
		}
	})
}
