package js

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// TestAssembledNames reads globals whose names the source does not spell.
func TestAssembledNames(t *testing.T) {
	const shapes = `["crypto","console","setTimeout","clearTimeout","atob","btoa","TextEncoder","TextDecoder","Intl","queueMicrotask","safety","URL","URLSearchParams","structuredClone","Java","fetch"]`
	const want = `["object","object","function","function","function","function","function","function","object","function","object","function","function","function","object","function"]`
	for _, reach := range []string{
		`globalThis`, `this`, `(function () { return this })()`, `(() => this)()`, `[globalThis][0]`, `({ globalThis }).globalThis`,
		`(({ globalThis: g }) => g)(globalThis)`, `globalThis.globalThis`, `[0].map(function () { return this })[0]`,
		`new (class { [Object.assign(this, { at: 1 }) && "at"]() {} })().at && [this][0]`, `(class { static [(globalThis.self = this, "x")] = 1 }, globalThis.self)`, `(class extends (globalThis.self = this, Object) {}, globalThis.self)`, `((g = this) => g)()`, `\u0067lobalThis`,
	} {
		// The names are split in the source that runs, so that only the global
		// object leads to them.
		body := `const split = "` + splitNames(shapes) + `".split(" ").map(n => n.replace("-", "")); const g = ` + reach + `; return split.map(n => typeof g[n])`
		got := outcome(run(t, body, `{}`, func(c *worker.Call) { c.Globals.Fetch = true }))
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", reach, got, want)
		}
	}
	for _, tc := range []struct{ body, want string }{
		{`return globalThis["cry" + "pto"].randomUUID().length`, `36`},
		{`return typeof cr\u0079pto + typeof \u{75}nknown + typeof U\u0052L`, `"objectundefinedfunction"`},
		{`return globalThis.crypto.randomUUID().length`, `36`},
		{`const { btoa } = globalThis; return btoa("hi")`, `"aGk="`},
		{`crypto = 1; return crypto`, `1`},
		{`globalThis["Err" + "or"] = 1; globalThis["WeakM" + "ap"] = null; globalThis["Uint8" + "Array"] = null; try { globalThis["at" + "ob"]("*") } catch (e) { return [e.kind, e.constructor.name, String(new TextEncoder().encode("a"))] }`,
			`["INVALID_INPUT","Error","97"]`},
		{`const d = n => { const p = Object.getOwnPropertyDescriptor(globalThis, n); return [p.configurable, p.enumerable, "value" in p ? p.writable : typeof p.set] }; return ["console", "atob", "crypto", "eval"].map(d)`,
			`[[true,false,true],[true,false,true],[true,false,"function"],[true,false,true]]`},
		{`return new Date(0)["toLocale" + "DateString"]("en-US")`, `"1/1/1970"`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

func splitNames(list string) string {
	var names []string
	_ = json.Unmarshal([]byte(list), &names)
	out := ""
	for i, n := range names {
		if i > 0 {
			out += " "
		}
		out += n[:2] + "-" + n[2:]
	}
	return out
}

// TestCodeFromText tries every way to code that is not in the source, under
// names that the source does not spell.
func TestCodeFromText(t *testing.T) {
	const tail = ` is not available: code made at run time could not be counted; write the function out`
	for _, tc := range []struct{ body, name string }{
		{`return (() => 0)["constr" + "uctor"]("return 1")()`, "Function"},
		{`return new ((() => 0)["constr" + "uctor"])("return 1")()`, "Function"},
		{`return console.log["constr" + "uctor"]()()`, "Function"},
		{`return Object.getPrototypeOf(function* () {})["constr" + "uctor"]("yield 1")`, "GeneratorFunction"},
		{`return Object.getPrototypeOf(async () => 0)["constr" + "uctor"]("return 1")`, "AsyncFunction"},
		{`return globalThis["ev" + "al"]("1")`, "eval"},
		{`return (0, globalThis["ev" + "al"])(1)`, "eval"},
		{`return globalThis["Func" + "tion"]("a", "return a")(1)`, "Function"},
		{`class F extends Function {} return new F("return 1")()`, "Function"},
		{`return Reflect.construct(Function, ["return 1"], Array)`, "Function"},
		{`return Function.bind(null, "return 1")()()`, "Function"},
		{`return new (Object.getPrototypeOf(function* () {}).constructor)("yield 1")`, "Function"},
		{`return ["return 1"].map(Function)[0]()`, "Function"},
		{`return Function.prototype.constructor.call(null, "return 1")()`, "Function"},
		{`return "return 1".replace(/.*/, Function)`, "Function"},
		{`const get = Object.getPrototypeOf; Object.defineProperty(Object.prototype, "zz", { get: Object.prototype.valueOf, configurable: true }); const g = zz; delete Object.prototype.zz; return g["ev" + "al"]("1")`, "eval"},
	} {
		if got, want := outcome(run(t, tc.body, `{}`)), "JS_ERROR/EvalError: "+tc.name+tail; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, want)
		}
	}
	for _, tc := range []struct{ body, want string }{
		{`try { (0, Function)("return 1") } catch (e) { return [e instanceof EvalError, e.name] }`, `[true,"EvalError"]`},
		{`const f = () => 0; return [f.constructor === Function, f instanceof Function, Function.name, Object.getPrototypeOf(f) === Function.prototype]`, `[true,true,"Function",true]`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

// TestHidden checks that the Go side of objects is found, is not shared and
// goes away with them.
func TestHidden(t *testing.T) {
	s := &session{vm: goja.New()}
	a, b := s.vm.NewObject(), s.vm.NewObject()
	if s.reveal(a) != nil {
		t.Error("an object has Go data from the start")
	}
	s.hide(a, 1)
	s.hide(a, 2)
	if s.reveal(a) != 2 || s.reveal(b) != nil || s.reveal(goja.Null()) != nil {
		t.Error("wrong Go data")
	}
	for range 100 {
		s.hide(s.vm.NewObject(), make([]byte, 1024))
	}
	for range 100 {
		runtime.GC()
		s.native.hidden.mu.Lock()
		n := len(s.native.hidden.m)
		s.native.hidden.mu.Unlock()
		if n == 1 {
			break
		}
		runtime.Gosched()
	}
	s.native.hidden.mu.Lock()
	defer s.native.hidden.mu.Unlock()
	if n := len(s.native.hidden.m); n > 2 {
		t.Errorf("%d entries are left of objects that are gone", n)
	}
	runtime.KeepAlive(a)
}
