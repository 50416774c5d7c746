package js

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// TestHostile runs code that tries to leave its bounds. want is a prefix of
// the outcome; the runtime has to serve an ordinary call afterwards.
func TestHostile(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"loop", `while(true){}`, "RESOURCE_LIMIT/statements"},
		{"for without body", `for(;;);`, "RESOURCE_LIMIT/statements"},
		{"do while", `do {} while (true)`, "RESOURCE_LIMIT/statements"},
		{"label", `a: for(;;) { continue a }`, "RESOURCE_LIMIT/statements"},
		{"caught loop", `try { for(;;){} } catch (e) { return "caught" } finally { return "finally" }`, "RESOURCE_LIMIT/statements"},
		{"loop in finally", `try { throw 1 } finally { while(1); }`, "RESOURCE_LIMIT/statements"},
		{"generator", `function* g(){ for(;;) yield 1 } for (const x of g()); `, "RESOURCE_LIMIT/statements"},
		{"spread of an endless iterator", `[...{[Symbol.iterator]: () => ({next: () => ({value: 1, done: false})})}]`, "RESOURCE_LIMIT/statements"},
		{"comparator", `const a=[3,2,1]; for(;;) a.sort((x,y)=>x-y)`, "RESOURCE_LIMIT/statements"},
		{"static block", `class A { static { for(;;); } }`, "RESOURCE_LIMIT/statements"},
		{"field", `let n=0; class A { x = n++ } for(;;) new A()`, "RESOURCE_LIMIT/statements"},
		{"getter", `const o = { get x() { for(;;); } }; o.x`, "RESOURCE_LIMIT/statements"},
		{"async generator", `async function* g(){ for(;;) yield 1 } for await (const x of g());`, "RESOURCE_LIMIT/statements"},
		{"async generator without a loop", `async function* g(){ yield* g() } await g().next()`, "RESOURCE_LIMIT/"},
		{"async iterator without an end", `for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => ({}) }) });`, "RESOURCE_LIMIT/statements"},
		{"sync iterator awaited", `for await (const x of { [Symbol.iterator]: () => ({ next: () => ({}) }) }) ;`, "RESOURCE_LIMIT/statements"},
		{"caught async loop", `try { for await (const x of (async function*(){ for(;;) yield 1 })()); } catch (e) { return "caught" } finally { return "finally" }`, "RESOURCE_LIMIT/statements"},
		{"loop in return of an iterator", `for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1 }), return() { for(;;); } }) }) break`, "RESOURCE_LIMIT/statements"},
		{"async generator in a class", `class A { static async *#p() { for(;;) yield 1 } static p() { return A.#p() } } for await (const x of A.p());`, "RESOURCE_LIMIT/statements"},
		{"setter", `const o = { set x(v) { for(;;); } }; o.x = 1`, "RESOURCE_LIMIT/statements"},
		{"class getter", `class A { static get x() { for(;;); } } A.x`, "RESOURCE_LIMIT/statements"},
		{"default parameter that loops", `const f = (a = (() => { for(;;); })()) => a; f()`, "RESOURCE_LIMIT/statements"},
		{"default in a pattern", `const { a = (() => { for(;;); })() } = {}`, "RESOURCE_LIMIT/statements"},
		{"default of a default", `let n = 0; const f = (a = n++ < 1e9 ? f : 0) => a && a; for (;;) f()`, "RESOURCE_LIMIT/statements"},
		{"computed key", `class A { [(() => { for(;;); })()] = 1 }`, "RESOURCE_LIMIT/statements"},
		{"private field", `class A { #x = (() => { for(;;); })() } new A()`, "RESOURCE_LIMIT/statements"},
		{"static field", `class A { static x = (() => { for(;;); })() }`, "RESOURCE_LIMIT/statements"},
		{"labelled continue", `a: for(;;) { for(;;) { continue a } }`, "RESOURCE_LIMIT/statements"},
		{"labelled continue in do", `a: do { continue a } while (true)`, "RESOURCE_LIMIT/statements"},
		{"labelled break out and back", `for(;;) { a: { break a } }`, "RESOURCE_LIMIT/statements"},
		{"tagged template", "const t = () => t; for(;;) t`a`", "RESOURCE_LIMIT/statements"},
		{"tag that loops", "(() => { for(;;); })`a${1}`", "RESOURCE_LIMIT/statements"},
		{"tag that recurs", "const t = () => t`a` + 1; t`b`", "RESOURCE_LIMIT/stack"},
		{"iterator helper", `(function*(){ for(;;) yield 1 })().map(x => x).filter(() => false).next()`, "RESOURCE_LIMIT/statements"},
		{"iterator helper over a foreign iterator", `Iterator.from({ next: () => ({ value: 1 }) }).toArray()`, "RESOURCE_LIMIT/statements"},
		{"flatMap of nothing", `(function*(){ for(;;) yield 1 })().flatMap(() => []).next()`, "RESOURCE_LIMIT/statements"},
		{"groupBy", `Object.groupBy((function*(){ for(;;) yield 1 })(), x => x)`, "RESOURCE_LIMIT/statements"},
		{"fromAsync", `await Array.fromAsync((async function*(){ for(;;) yield 1 })())`, "RESOURCE_LIMIT/statements"},
		{"generator return", `function* g() { try { yield 1 } finally { for(;;); } } for (const x of g()) break`, "RESOURCE_LIMIT/statements"},
		{"toPrimitive", `+{ [Symbol.toPrimitive]() { for(;;); } }`, "RESOURCE_LIMIT/statements"},
		{"hasInstance", `1 instanceof { [Symbol.hasInstance]() { for(;;); } }`, "RESOURCE_LIMIT/statements"},
		{"replaced helpers", `Promise.prototype.then = () => 0; Symbol.prototype.x = 1; for(;;) (async function*(){ yield 1 })().next()`, "RESOURCE_LIMIT/statements"},
		{"microtasks", `const f = () => Promise.resolve().then(f); f(); await new Promise(()=>{})`, "RESOURCE_LIMIT/statements"},
		{"queued microtasks", `const f = () => queueMicrotask(f); f(); await new Promise(()=>{})`, "RESOURCE_LIMIT/statements"},
		{"timers", `const f = () => setTimeout(f, 0); f(); await new Promise(()=>{})`, "RESOURCE_LIMIT/statements"},
		{"in toJSON", `return { toJSON() { for(;;); } }`, "RESOURCE_LIMIT/statements"},
		{"in a result getter", `return { get a() { for(;;); } }`, "RESOURCE_LIMIT/statements"},
		{"in an error getter", `throw Object.defineProperty(new Error, "message", { get() { for(;;); } })`, "RESOURCE_LIMIT/statements"},
		{"in a proxy error", `throw new Proxy(new Error, { get() { for(;;); } })`, "RESOURCE_LIMIT/statements"},
		{"default parameter", `const f = (a = f(), b = f()) => 1; f()`, "RESOURCE_LIMIT/stack"},
		{"recursion", `function f(){ f() } f()`, "RESOURCE_LIMIT/stack"},
		{"caught recursion", `function f(){ try { f() } catch (e) { f() } } f()`, "RESOURCE_LIMIT/stack"},
		{"recursion through a getter", `const o = { get x() { return this.x } }; o.x`, "RESOURCE_LIMIT/stack"},
		{"recursion through a proxy", `const p = new Proxy({}, { get: () => p.x }); p.x`, "RESOURCE_LIMIT/stack"},
		{"recursion through map", `const f = () => [1].map(f); f()`, "RESOURCE_LIMIT/stack"},

		{"counter by name", `return typeof this["@1"] + typeof globalThis["@1"]`, `"undefinedundefined"`},
		{"counter in rewritten code", `async function* g() { yield 1 } return [typeof this["@1"], String(g).includes("@"), typeof globalThis.__asyncGenerator, typeof globalThis.__await]`, `["undefined",false,"undefined","undefined"]`},
		{"helpers as names", `let __await = 5; async function* g() { yield await 1 } return [__await, (await g().next()).value]`, `[5,1]`},
		{"counter by arguments", `return [arguments.length, arguments.callee === undefined]`, `[0,`},
		{"counter through with", `with (new Proxy({}, { has: () => true, get: () => () => 0 })) { for(;;); }`, "JS_ERROR/SyntaxError: with statements"},
		{"counter in text", `return (function f() { return f.toString() })()`, `"function f() { return f.toString() }"`},
		{"counter through call", `Function.prototype.call = Function.prototype.apply = () => 0; for(;;);`, "RESOURCE_LIMIT/statements"},
		{"caller", `function f() { return f.caller } return String(f())`, ``},
		{"eval", `eval("for(;;);")`, "JS_ERROR/SyntaxError"},
		{"indirect eval", `(0, eval)("for(;;);")`, "JS_ERROR/EvalError"},
		{"Function", `new Function("for(;;);")()`, "JS_ERROR/SyntaxError"},
		{"Function by another name", `const F = Function; new F("for(;;);")()`, "JS_ERROR/EvalError"},
		{"Function by constructor", `(() => 0).constructor("for(;;);")()`, "JS_ERROR/EvalError"},
		{"generator constructor", `Object.getPrototypeOf(function*(){}).constructor("for(;;);")`, "JS_ERROR/EvalError"},
		{"async constructor", `Object.getPrototypeOf(async function(){}).constructor("for(;;);")`, "JS_ERROR/EvalError"},
		{"Reflect.construct", `Reflect.construct(Function, ["for(;;);"])`, "JS_ERROR/EvalError"},
		{"subclass of Function", `class F extends Function {} new F("for(;;);")()`, "JS_ERROR/"},
		{"constructor of a helper", `console.log.constructor("for(;;);")()`, "JS_ERROR/EvalError"},
		{"code in a timer", `setTimeout("for(;;);", 0)`, "JS_ERROR/TypeError"},
		{"import", `return await import("fs")`, "JS_ERROR/SyntaxError"},

		{"escape by braces", `}, evil: (function(){`, "JS_ERROR/SyntaxError"},
		{"escape by a call", `})(); (async function(){`, "JS_ERROR/SyntaxError"},
		{"escape by a second wrapper", `}}); (function(a){ return async function(){`, "JS_ERROR/SyntaxError"},
		{"escape by a sequence", `}}), (function($){ return async function(){`, "JS_ERROR/SyntaxError"},
		{"escape into the wrapper", `} + function(){`, "JS_ERROR/SyntaxError"},
		{"escape before the return", `}; for(;;); return async function(){`, "JS_ERROR/SyntaxError"},
		{"comment", `/* `, "JS_ERROR/SyntaxError"},
		{"template", "return `", "JS_ERROR/SyntaxError"},
		{"line comment", `return 1 //`, "1"},
		{"source map", "return 1\n//# sourceMappingURL=file:///dev/zero", "1"},

		{"polluted Object", `Object.prototype.toJSON = () => "x"; Object.prototype.evil = 1; return { a: 1 }`, `"x"`},
		{"polluted JSON", `JSON.stringify = JSON.parse = () => { throw 1 }; globalThis.JSON = null; return { a: [1] }`, `{"a":[1]}`},
		{"polluted Array", `Array.isArray = () => false; Array.prototype.map = Array.prototype.join = null; return [1, "a"]`, `[1,"a"]`},
		{"polluted Promise", `Promise.prototype.then = () => 0; globalThis.Promise = null; return 1`, ``},
		{"polluted Error", `globalThis.Error = Object; Error.prototype = 1; throw new TypeError("x")`, "JS_ERROR/TypeError: x"},
		{"polluted setters", `Object.defineProperty(Object.prototype, "0", { set() { throw 1 }, configurable: true }); return [1]`, `[1]`},
		{"frozen world", `Object.freeze(Object.prototype); Object.freeze(globalThis); console.log("a"); return { a: 1 }`, `{"a":1}`},
		{"proxy result", `return new Proxy({ a: 1 }, { ownKeys() { throw new Error("no") } })`, "JS_ERROR/Error: no"},
		{"proxy array", `return new Proxy([1, 2], {})`, "[1,2]"},
		{"revoked proxy", `const r = Proxy.revocable({}, {}); r.revoke(); return { a: r.proxy }`, "JS_ERROR/TypeError"},
		{"thrown revoked proxy", `const r = Proxy.revocable({}, {}); r.revoke(); throw r.proxy`, "JS_ERROR/"},
		{"getter that throws", `return { get a() { throw new RangeError("g") } }`, "JS_ERROR/RangeError: g"},
		{"cycle", `const a = {}; a.a = a; return a`, "JS_ERROR/TypeError"},
		{"deep result", `let a = {}; for (let i = 0; i < 5000; i++) a = { a }; return a`, "JS_ERROR/RangeError"},
		{"shared result", `let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a`, "RESOURCE_LIMIT/output"},
		{"endless result", `return Array(2**32 - 1)`, "RESOURCE_LIMIT/output"},
		{"long string", `return "x".repeat(2 << 20)`, "RESOURCE_LIMIT/output"},
		{"length that lies", `return Object.assign(new Uint8Array(2), {})`, "[0,0]"},
		{"toJSON returns itself", `const a = { toJSON() { return a } }; return a`, "{}"},
		{"name is an object", `const e = new Error("x"); e.name = { toString() { for(;;); } }; throw e`, "JS_ERROR/Error: x"},
		{"name with control characters", `const e = new Error("x"); e.name = "a\nb"; throw e`, "JS_ERROR/Error: x"},
		{"thrown undefined", `throw undefined`, "JS_ERROR/non-error: the code threw undefined"},
		{"thrown symbol", `throw Symbol("x")`, "JS_ERROR/non-error: the code threw a symbol"},
		{"thrown null prototype", `throw Object.create(null)`, "JS_ERROR/non-error"},
		{"rejection", `return Promise.reject(new URIError("u"))`, "JS_ERROR/URIError: u"},
		{"error in a timer", `setTimeout(() => { throw new Error("late") }, 0); await new Promise(() => {})`, "JS_ERROR/Error: late"},
		{"thenable result", `return { then(r) { r({ then(r) { r(7) } }) } }`, "7"},
		{"thenable that never settles", `return { then() {} }`, "JS_ERROR/never-settles"},

		{"repeat", `return "x".repeat(2**40).length`, "JS_ERROR/RangeError"},
		{"padEnd", `return "x".padEnd(2e9).length`, "JS_ERROR/RangeError"},
		{"fill", `return new Array(2**32 - 1).fill(0).length`, "JS_ERROR/RangeError"},
		{"sort", `return Array(2**32 - 1).sort().length`, "JS_ERROR/RangeError"},
		{"map", `return Array(2**32 - 1).map(x => x).length`, "JS_ERROR/RangeError"},
		{"join", `return Array(2**32 - 1).join().length`, "JS_ERROR/RangeError"},
		{"generic forEach", `[].forEach.call({ length: 2**53 - 1 }, () => 0)`, "JS_ERROR/RangeError"},
		{"Array.from length", `return Array.from({ length: 1e9 }, (_, i) => i).length`, "JS_ERROR/RangeError"},
		{"apply length", `return Math.max.apply(null, { length: 1e9 })`, "JS_ERROR/RangeError"},
		{"nested JSON", `return JSON.parse("[".repeat(1e6))`, "JS_ERROR/SyntaxError"},
		{"nested arrays as text", `let a = []; for (let i = 0; i < 9000; i++) a = [a]; return String(a).length`, "JS_ERROR/RangeError"},
		{"flat of a deep array", `let a = []; for (let i = 0; i < 9000; i++) a = [a]; return a.flat(Infinity).length`, "JS_ERROR/RangeError"},
		{"nested source", strings.Repeat("(", 30000) + "1" + strings.Repeat(")", 30000), "RESOURCE_LIMIT/source"},
		{"nested arrows", "return " + strings.Repeat("a=>", 20000) + "1", "RESOURCE_LIMIT/source"},
		{"nested unary", "return " + strings.Repeat("!", 60000) + "1", "RESOURCE_LIMIT/source"},
		{"nested templates", "return " + strings.Repeat("`${", 10000), "RESOURCE_LIMIT/source"},
		{"long sum", "return 1" + strings.Repeat("+1", 5000), "RESOURCE_LIMIT/source"},
		{"large source", "return 1 //" + strings.Repeat("x", 70000), "RESOURCE_LIMIT/source"},
		{"disguised nesting", `return 1 / "/" ` + strings.Repeat("([", 20000), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := outcome(run(t, tc.body, `{}`, func(c *worker.Call) { c.Limits.MaxStatements = 50000; c.Limits.TimeoutMillis = 20000 }))
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("got  %.300s\nwant %s", got, tc.want)
			}
			if got := outcome(run(t, `return 1`, `{}`)); got != "1" {
				t.Errorf("the next call: %s", got)
			}
		})
	}
}

// TestFlood prints more than is kept.
func TestFlood(t *testing.T) {
	rep := run(t, `for (let i = 0; i < 1000; i++) console.log("x".repeat(20000)); console.warn({a: 1}, "s", 1n, null); return 1`, `{}`,
		func(c *worker.Call) { c.Limits.MaxLogLines = 50 })
	if rep.Usage.LogLines != 1001 || len(rep.Logs) != 50 {
		t.Errorf("emitted %d, kept %d", rep.Usage.LogLines, len(rep.Logs))
	}
	for _, l := range rep.Logs {
		if len(l.Text) > defaultLogBytes+len(mask.CutMark) {
			t.Errorf("a line of %d bytes was kept", len(l.Text))
		}
	}
}

// TestDeadline ends native code that no interrupt can reach.
func TestDeadline(t *testing.T) {
	short := func(c *worker.Call) { c.Limits.TimeoutMillis = 100; c.Limits.MaxStatements = 0 }
	for _, tc := range []struct{ name, body string }{
		{"loop", `for(;;);`},
		{"timer", `await new Promise(r => setTimeout(r, 1e9))`},
		{"backtracking", `return /^(?=a)(a+)+$/.test("a".repeat(30) + "b")`},
		{"caught backtracking", `try { return /^(a+)+\1$/.test("a".repeat(30) + "b") } catch (e) { return "caught" }`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := run(t, tc.body, `{}`, short)
			if got.Failure == nil || got.Failure.Code != "TIMEOUT" || got.Failure.Reason != "deadline" {
				t.Errorf("got %s", outcome(got))
			}
			if got.Usage.Statements == nil {
				t.Error("statements are not counted")
			}
		})
	}
}

// TestCancel ends a call with its context.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan struct{})
	b := brokerFunc(func(ctx context.Context, _ worker.BrokerRequest) worker.BrokerReply {
		close(started)
		<-ctx.Done()
		return worker.BrokerReply{Failure: &worker.Failure{Code: "HELPER_RUNTIME", Reason: "interrupted"}}
	})
	go func() { <-started; cancel() }()
	rep, err := shared.Run(ctx, worker.Call{Program: worker.Program{Source: `try { fetch("https://a/") } catch (e) {} for(;;);`},
		Globals: worker.Globals{Fetch: true}}, b)
	if err != nil || rep.Failure == nil || rep.Failure.Code != "INTERRUPTED" || rep.Failure.Reason != "cancelled" {
		t.Errorf("got %s, %v", outcome(rep), err)
	}
}

type brokerFunc func(context.Context, worker.BrokerRequest) worker.BrokerReply

func (f brokerFunc) Do(ctx context.Context, req worker.BrokerRequest) worker.BrokerReply {
	return f(ctx, req)
}

// TestStuck abandons calls whose broker does not return and refuses new ones
// until they end.
func TestStuck(t *testing.T) {
	r := New(Options{MaxStuck: 1})
	release := make(chan struct{})
	entered := make(chan struct{}, 2)
	b := brokerFunc(func(context.Context, worker.BrokerRequest) worker.BrokerReply {
		entered <- struct{}{}
		<-release
		return worker.BrokerReply{}
	})
	call := worker.Call{Program: worker.Program{Source: `console.log("before"); fetch("https://a/"); return fetch("https://b/")`},
		Globals: worker.Globals{Fetch: true}}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	rep, err := r.Run(ctx, call, b)
	if err != nil || rep.Failure == nil || rep.Failure.Code != "INTERRUPTED" || len(rep.Logs) != 1 {
		t.Fatalf("got %s, %v", outcome(rep), err)
	}
	if r.Stuck() != 1 {
		t.Fatalf("stuck = %d", r.Stuck())
	}
	rep, _ = r.Run(context.Background(), call, b)
	if rep.Failure == nil || rep.Failure.Reason != "runtime-stuck" {
		t.Fatalf("got %s", outcome(rep))
	}
	close(release)
	// The abandoned call ends without its second request.
	for r.Stuck() != 0 {
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the abandoned call did not end")
		}
	}
}

func TestClose(t *testing.T) {
	r := New(Options{})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(context.Background(), worker.Call{Program: worker.Program{Source: `return 1`}}, nil); err == nil {
		t.Error("a closed runtime took a call")
	}
}

// TestCutSecret lets every limit of a text fall into a secret.
func TestCutSecret(t *testing.T) {
	secret := `s3cr3t-"` + strings.Repeat("0123456789abcdef", 40)
	set := mask.New([]string{secret})
	leak := regexp.MustCompile(`s3cr|0123|9abc`)
	for _, tc := range []struct {
		name, body string
		limit      int
	}{
		{"message", `throw new Error(text)`, maxMessage},
		{"thrown string", `throw text`, 1024},
		{"not an Error", `throw {message: text}`, maxMessage},
		{"URL", `new URL(text)`, 200},
		{"class", `Java.type("java.lang.Integer").parseInt(text)`, 80},
		{"caught", `try { new URL(text) } catch (e) { return e.message }`, 200},
		{"caught, as JSON", `try { new URL(text) } catch (e) { return JSON.stringify({e: e.message}) }`, 200},
		{"two cuts", `try { new URL(text) } catch (e) { throw new Error("y".repeat(8192 - 217) + e.message) }`, 200},
		{"console", `console.log(text)`, defaultLogBytes},
		{"console, an object", `console.log(["x"], text)`, defaultLogBytes - len(`["x"] `)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpClassLookup: answer(`true`)}}
			for _, before := range []int{tc.limit - 4, tc.limit - 5, tc.limit - 8, tc.limit - 70, tc.limit - 79} {
				text := strings.Repeat("é", before/2) + strings.Repeat("-", before%2) + secret
				rep := runWith(t, b, tc.body, `{"text":`+mustJSON(text)+`}`)
				seen := ""
				if rep.Failure != nil {
					seen += set.Clipped(rep.Failure.Message)
				} else {
					out, _, err := set.JSON(rep.Result)
					if err != nil {
						t.Fatal(err)
					}
					seen += string(out)
				}
				for _, l := range rep.Logs {
					seen += set.Clipped(l.Text)
				}
				if leak.MatchString(seen) || !strings.Contains(seen, mask.Mask) {
					t.Errorf("%d before: ...%s", before, seen[max(0, len(seen)-150):])
				}
			}
		})
	}
}
