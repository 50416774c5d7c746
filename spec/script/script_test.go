package script

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFacts(t *testing.T) {
	tests := map[string]struct {
		code string
		want Facts
	}{
		"nothing":            {"return 1", Facts{Helpers: []string{}}},
		"fetch":              {"const r = await fetch(url); return r.json()", Facts{Helpers: []string{HTTP}}},
		"a member only":      {"return obj.fetch + obj['crypto'] + {fetch: 1}.fetch", Facts{Helpers: []string{}}},
		"fs":                 {"return safety.fs.readText(path)", Facts{Helpers: []string{FS}}},
		"optional chain":     {"return safety?.parser?.csv(text)", Facts{Helpers: []string{Parser}}},
		"by name":            {"return safety['fs'].list('.')", Facts{Helpers: []string{FS}}},
		"destructured":       {"const {parser} = safety; return parser.yaml(t)", Facts{Helpers: []string{Checked, FS, Parser, Time}}},
		"crypto, encoding":   {"return btoa(crypto.randomUUID())", Facts{Helpers: []string{Crypto, Encoding}}},
		"decoder":            {"return new TextDecoder().decode(b)", Facts{Helpers: []string{Encoding}}},
		"java":               {"return Java.type('java.util.UUID')", Facts{Helpers: []string{}, JavaInterop: true}},
		"java, far inside":   {"return [1].map(x => { switch (x) { case 1: try { for (const k of [Java]) k.type(k) } catch { } } })", Facts{Helpers: []string{}, JavaInterop: true}},
		"globalThis":         {"return globalThis.fetch(u)", Facts{Helpers: []string{HTTP}}},
		"globalThis, deeper": {"return globalThis.safety.fs", Facts{Helpers: []string{FS}}},
		"globalThis, by any": {"return globalThis[name]", Facts{Helpers: Groups(), JavaInterop: true}},
		"shorthand":          {"return {fetch}", Facts{Helpers: []string{HTTP}}},
		"in text":            {"return 'fetch(Java)' // crypto\n", Facts{Helpers: []string{}}},
		"in a template":      {"return `${atob(x)}`", Facts{Helpers: []string{Encoding}}},
		"default value":      {"const f = (a = fetch) => a; function g({b = Java}) {} return f", Facts{Helpers: []string{HTTP}, JavaInterop: true}},
		"class":              {"class A { static x = btoa('a'); #p = 1; m() { return this.#p in crypto } static { fetch } } return A", Facts{Helpers: []string{Crypto, Encoding, HTTP}}},
		"every statement": {"a: for (var i = 0, j = fetch; i < 1; i++) { continue a } for (let k in crypto) break\n" +
			"for (const x of [atob]) ; do { ; } while (0); { safety.fs } throw new Error(Java), void 0", Facts{Helpers: []string{Crypto, Encoding, FS, HTTP}, JavaInterop: true}},
		"generator": {"function* g() { yield* fetch; yield Java } return g", Facts{Helpers: []string{HTTP}, JavaInterop: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, problems := Parse(tt.code)
			if problems != nil {
				t.Fatal(problems)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if p := Check(tt.code); p != nil {
				t.Errorf("Check: %v", p)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	many := strings.Repeat
	tests := map[string]struct {
		code      string
		reason    string
		line, col int
	}{
		"syntax":                   {"let a = 1\nlet b = ;\n", "code-syntax", 2, 9},
		"not closed":               {"if (a) {\n  return 1", "code-syntax", 2, 11},
		"open comment":             {"return 1 /*", "code-syntax", 1, 12},
		"declared twice":           {"let a = 1\nlet a = 2", "code-syntax", 2, 5},
		"escapes the wrapper":      {"}); (async function(){", "code-syntax", 1, 1},
		"escapes into a sequence":  {"}, async function(){", "code-syntax", 1, 1},
		"closes and comments":      {"}) //", "code-syntax", 1, 6},
		"import":                   {"1\nimport x from 'y'", "code-syntax", 2, 1},
		"dynamic import":           {"return import('y')", "code-syntax", 1, 8},
		"for await, unfinished":    {"for await (const x of [1]) {\n +; }", "code-syntax", 2, 3},
		"escapes when rewritten":   {"for await (const x of []); }, async function(){", "code-syntax", 1, 1},
		"second function":          {"async function* g() {} }); (async function(){", "code-syntax", 1, 1},
		"declares in front":        {"async function* g() {} }); var __x = 1; (async function(){", "code-syntax", 1, 1},
		"html comment":             {"let a = 1, b = 1\nreturn a <!--b", "code-syntax", 2, 10},
		"html comment, rewritten":  {"for await (const a of []) a <!--b\n", "code-syntax", 1, 0},
		"html comment, closing":    {"for await (const a of []) ;\n--> b\n", "code-syntax", 2, 0},
		"with":                     {"with (Math) { }", "code-syntax", 1, 1},
		"eval":                     {"\n  eval('1')", "code-syntax", 2, 3},
		"Function":                 {"new Function('1')", "code-syntax", 1, 5},
		"absent global":            {"const a = new SharedArrayBuffer(1)", "code-syntax", 1, 15},
		"absent, rewritten":        {"async function* g() {\n  yield 1;\n  new SharedArrayBuffer(1) }", "code-syntax", 3, 0},
		"buffer that grows":        {"new ArrayBuffer(1, { maxByteLength: 2 })", "code-syntax", 1, 5},
		"buffer by another name":   {"const A = ArrayBuffer;\nnew A(1, { maxByteLength: 2 })", "code-syntax", 2, 12},
		"options, set later":       {"const o = {};\no.maxByteLength = 2;", "code-syntax", 2, 3},
		"options of a buffer":      {"const maxByteLength = 2;\nconst o = { maxByteLength };", "code-syntax", 2, 13},
		"property":                 {"return /\\p{Nope}/u", "code-syntax", 1, 8},
		"property, constructor":    {"return new RegExp('\\\\p{Nope}', 'u')", "code-syntax", 1, 12},
		"modifiers":                {"return /(?i:a)/", "code-syntax", 1, 8},
		"atomic group":             {"return /(?>a)/", "code-syntax", 1, 8},
		"balancing group":          {"return /(?<a-b>a)/", "code-syntax", 1, 8},
		"flags u and v":            {"return /a/uv", "code-syntax", 1, 0},
		"pattern too large":        {"return /[" + many("\\p{L}", 500) + "]/u", "code-syntax", 1, 8},
		"too many patterns":        {"return [" + many("/\\p{L}/u,", 4000) + "]", "code-syntax", 1, 0},
		"too long to be rewritten": {"async function* g() {}; return 1" + many(",1", 20000), "code-syntax", 1, 1},
		"decorator":                {"@a class B {}", "code-syntax", 1, 1},
		"using":                    {"using a = b", "code-syntax", 1, 0},
		"deep parentheses":         {many("(", 500) + "1" + many(")", 500), "code-too-deep", 1, 202},
		"deep blocks":              {"\n" + many("{\n", 300) + many("}", 300), "code-too-deep", 202, 2},
		"deep templates":           {many("`${", 300) + many("}`", 300), "code-too-deep", 1, 604},
		"arrow chain":              {"return " + many("a=>", 300) + "1", "code-too-deep", 1, 611},
		"arrow chain, lines":       {many("a =>\n", 300) + "1", "code-too-deep", 201, 5},
		"arrow defaults":           {many("(a=", 60) + "1" + many(")=>1", 60), "code-too-deep", 1, 0},
		"labels":                   {many("a:", 300) + ";", "code-too-deep", 1, 103},
		"nested ifs":               {many("if(a)", 2000) + ";", "code-too-deep", 1, 0},
		"closers in text":          {many("(')'+", 300) + "1" + many(")", 300), "code-too-deep", 1, 0},
		"closers in a regex":       {many("(/\\)]/+", 300) + "1" + many(")", 300), "code-too-deep", 1, 0},
		"closers in comments":      {many("(/*)*/", 300) + "1" + many(")", 300), "code-too-deep", 1, 0},
		"too many brackets":        {many("[],", maxOpeners+1), "code-too-deep", 1, 1},
		"too large":                {many(" ", MaxBytes+1), "code-too-large", 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Check(tt.code)
			if len(got) != 1 || got[0].Reason != tt.reason || got[0].Line != tt.line || got[0].Message == "" {
				t.Fatalf("problems = %+v, want %s at %d:%d", got, tt.reason, tt.line, tt.col)
			}
			if tt.col > 0 && got[0].Column != tt.col {
				t.Errorf("column = %d, want %d: %s", got[0].Column, tt.col, got[0].Message)
			}
		})
	}
}

// What the code declares itself, or asks for, is not refused.
func TestOwnNames(t *testing.T) {
	for _, code := range []string{
		"const Atomics = 1; return Atomics", "function eval() {} return eval(1)", "return (Temporal => Temporal)(1)",
		"try {} catch (Atomics) { Atomics }", "for (const Atomics of []) Atomics", "const { a: Atomics } = {}; return Atomics",
		"if (typeof WebAssembly !== 'undefined') WebAssembly.x", "return x => x instanceof Function", "return { Atomics: 1 }.Atomics",
		"class Temporal {} return Temporal", "async function* g() { yield /x/dv }", "for await (const x of []) ;",
		"return f.call(Function.prototype)", "return a.eval(1)", "'<!--'; return `-->`", "return /<!--/.test(x)",
		"const F = class { async *[Symbol.asyncIterator]() { yield* this } }", "let __await = 1; for (const x of []) __await",
	} {
		if got := Check(code); len(got) > 0 {
			t.Errorf("%s: %+v", code, got)
		}
	}
}

// Code that people write is not taken for a bomb.
func TestOrdinaryCodePasses(t *testing.T) {
	var b strings.Builder
	b.WriteString("const re = /[)\\]}\"'`]/g, s = \"([{\" + '([{' + `([{${re.source}([{`\n")
	for i := range 200 {
		fmt.Fprintf(&b, "const f%d = (a, b = {x: [1, 2]}) => a + b\n", i)
		fmt.Fprintf(&b, "if (s.length > %d) return /^(\\d+)[/]$/.test(s) ? f%d(1) / 2 : s; else if (s) { lab%d: for (;;) break lab%d }\n", i, i, i, i)
		fmt.Fprintf(&b, "const o%d = {key: {inner: x => y => x / y}, list: [(1), (2)]}\n", i)
		fmt.Fprintf(&b, "switch (s) {\n case %d:\n case 'b':\n default: s.trim()\n}\n", i)
		fmt.Fprintf(&b, "let t%d = s\n  ? a => 1\n  : b => 2\n", i)
	}
	if p := Check(b.String()); p != nil {
		t.Errorf("problems = %+v", p)
	}
}

// The parser of the engine reads the file that a source map comment names.
func TestSourceMapsAreNotRead(t *testing.T) {
	fifo := t.TempDir() + "/map"
	if err := mkfifo(fifo); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	// Reading the pipe would block for ever: nobody writes to it.
	if _, p := Parse("return 1\n//# sourceMappingURL=file://" + fifo); p != nil {
		t.Error(p)
	}
	if _, err := os.Stat(fifo); err != nil {
		t.Error(err)
	}
}

// Long flat and long right-recursive code of the largest size is read.
func TestLargestCode(t *testing.T) {
	for _, unit := range []string{"a+", "!", "a?a:", "new ", "a**"} {
		code := strings.Repeat(unit, (MaxBytes-1)/len(unit)) + "a"
		if _, p := Parse(code); p != nil {
			t.Errorf("%q: %v", unit, p)
		}
	}
}

// What the compiler needs the square of the depth for is not compiled.
func TestDeepCodeIsNotCompiled(t *testing.T) {
	for _, unit := range []string{"a??", "- ", "a&&"} {
		if p := Check(strings.Repeat(unit, 20_000) + "a"); p != nil {
			t.Errorf("%q: %v", unit, p)
		}
	}
}

func FuzzScript(f *testing.F) {
	for _, s := range []string{
		"return fetch(`${a}/x`)", "/[/]/.test(x) / 2", "}); (function(){", "a => b => ({c: [d, ...e]})", "((((",
		"if (a) /re/.exec(b); else lab: for (;;) break lab", "`${`${`", "//# sourceMappingURL=/etc/passwd",
		"class A extends B { #x = 1; static { } get y() { return super.y } }", "(a=(b=(c=1)=>1)=>1)=>1", "x++ / y",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		facts, problems := Parse(code)
		if len(problems) > 0 && (len(facts.Helpers) > 0 || facts.JavaInterop) {
			t.Fatal("facts of code that does not parse")
		}
		for _, p := range append(problems, Check(code)...) {
			if p.Line < 1 || p.Column < 1 || p.Line > strings.Count(code, "\n")+2 || p.Reason == "" || p.Message == "" {
				t.Fatalf("incomplete problem: %+v", p)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	code := strings.Repeat("const x = rows.filter(r => r.a > 1).map(({a, b}) => `${a}-${b}`);\n", 60)
	code = strings.ReplaceAll(code, "const x", "var x")
	b.ReportAllocs()
	for b.Loop() {
		if _, p := Parse(code); p != nil {
			b.Fatal(p)
		}
	}
}
