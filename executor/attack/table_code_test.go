package attack

// escapeAttacks try to leave the wrapper, or to make code from text.
var escapeAttacks = []attack{
	{name: "braces", class: "escape", code: `}, evil: (function () {`, want: "JS_ERROR/SyntaxError"},
	{name: "call", class: "escape", code: `})(); (async function () {`, want: "JS_ERROR/SyntaxError"},
	{name: "second wrapper", class: "escape", code: `}}); (function (a) { return async function () {`, want: "JS_ERROR/SyntaxError"},
	{name: "import", class: "escape", code: `return await import("fs")`, want: "JS_ERROR/SyntaxError"},
	{name: "require", class: "escape", code: `return require("child_process")`, want: "JS_ERROR/ReferenceError"},
	{name: "process", class: "escape", code: `return process.env`, want: "JS_ERROR/ReferenceError"},
	{name: "host objects", class: "escape", code: `return ["Deno", "Bun", "process", "require", "module", "WebAssembly", "SharedArrayBuffer", "Polyglot", "Graal", "Packages", "java", "load", "print"].filter(n => n in globalThis)`, want: "= []"},
	{name: "frames of an error", class: "escape", code: `Error.prepareStackTrace = (e, s) => s; const e = new Error("x"); return typeof e.stack + /[\\/]executor|\.go/.test(e.stack)`, want: `= "stringfalse"`},
	{name: "constructor of a helper's answer", class: "escape", code: `const f = safety.parser.csv("a").constructor.constructor; return f === Function ? f("return 1")() : "other"`, want: "JS_ERROR/EvalError"},
	{name: "class of a class", class: "escape", code: `const M = Java.type("java.lang.Math"); return [M.getClass, M.class, M.forName, M.getClassLoader].map(x => typeof x).join()`, want: `= "undefined,undefined,undefined,undefined"`},
	{name: "stack through a proxy", class: "escape", code: `let kept; const f = new Proxy(function () {}, { apply(t, s, a) { kept = a } }); f(...new Array(300).fill(7)); const g = (a, b, c) => { const seen = kept.every(x => x === 7); kept.fill(9); return [a, b, c, seen] }; return g(1, 2, 3)`, want: "= [1,2,3,true]"},
	{name: "stack through a constructor", class: "escape", code: `let kept; const P = new globalThis["Pro" + "xy"](class {}, { construct(t, a) { kept = a; return {} } }); new P(...new Array(300).fill(7)); const g = (a, b) => { const seen = kept.every(x => x === 7); kept.fill(9); return [a, b, seen] }; return g(1, 2)`, want: "= [1,2,true]"},
	{name: "caller", class: "escape", code: `function f() { "use strict"; try { return typeof f.caller } catch (e) { return "throws" } } return f() === "object" ? String(f.caller) : "nothing"`, want: `= "nothing"`},
}

// resultAttacks strike while the host reads the result.
var resultAttacks = []attack{
	{name: "getter that loops", class: "result", code: `return { get a() { for (;;); } }`, want: "RESOURCE_LIMIT/statements"},
	{name: "getter that throws", class: "result", code: `return { get a() { throw new RangeError("g") } }`, want: "JS_ERROR/RangeError"},
	{name: "getter that recurses", class: "result", code: `return { get a() { return this.a } }`, want: "RESOURCE_LIMIT/stack"},
	{name: "getter that grows the object", class: "result", code: `const o = { get a() { for (let i = 0; i < 1000; i++) o["b" + i] = 1; return 1 } }; return o`, want: `= {"a":1}`},
	{name: "getter that never ends the tree", class: "result", code: `const make = () => ({ get a() { return make() } }); return make()`, want: "JS_ERROR/RangeError"},
	{name: "getter that deletes", class: "result", code: `const o = { get a() { delete o.b; return 1 }, b: 2 }; return o`, want: `= {"a":1}`},
	{name: "array that grows", class: "result", code: `const a = [0]; Object.defineProperty(a, 0, { get() { a.push(1); return 1 } }); return a`, want: "= [1]"},
	{name: "toJSON that loops", class: "result", code: `return { toJSON() { for (;;); } }`, want: "RESOURCE_LIMIT/statements"},
	{name: "toJSON without end", class: "result", code: `const make = () => ({ toJSON: () => ({ a: make() }) }); return make()`, want: "JS_ERROR/RangeError"},
	{name: "proxy keys that throw", class: "result", code: `return new Proxy({ a: 1 }, { ownKeys() { throw new URIError("no") } })`, want: "JS_ERROR/URIError"},
	{name: "proxy with a lying length", class: "result", code: `return new Proxy([1], { get: (t, k) => k === "length" ? 2 ** 32 : t[k] })`, want: "RESOURCE_LIMIT/output"},
	{name: "proxy of a proxy", class: "result", code: `return new Proxy(new Proxy({ a: 1 }, {}), {})`, want: `= {"a":1}`},
	{name: "revoked proxy", class: "result", code: `const r = Proxy.revocable({}, {}); r.revoke(); return { a: r.proxy }`, want: "JS_ERROR/TypeError"},
	{name: "shared parts", class: "result", code: `let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a`, want: "RESOURCE_LIMIT/output"},
	{name: "length without members", class: "result", code: `return Array(2 ** 32 - 1)`, want: "RESOURCE_LIMIT/output"},
	{name: "long text", class: "result", code: `return "x".repeat(2 << 20)`, want: "RESOURCE_LIMIT/output"},
	{name: "deep tree", class: "result", code: `let a = {}; for (let i = 0; i < 5000; i++) a = { a }; return a`, want: "JS_ERROR/RangeError"},
	{name: "BigInt", class: "result", code: `return { a: 1n }`, want: "JS_ERROR/TypeError"},
	{name: "symbols as keys and values", class: "result", code: `return { [Symbol.toStringTag]: "x", [Symbol.toPrimitive]: 1, a: Symbol("b"), c: 2 }`, want: `= {"c":2}`},
	{name: "wrappers that lie", class: "result", code: `return [Object.assign(new Number(1), { valueOf: () => 2 }), Object.assign(new String("a"), { toString: () => "b" })]`, want: `= [2,"b"]`},
	{name: "thenable without end", class: "thenable", code: `const make = () => ({ then(r) { r(make()) } }); return make()`, want: "RESOURCE_LIMIT/statements"},
	{name: "thenable that never settles", class: "thenable", code: `return { then() {} }`, want: "JS_ERROR/never-settles"},
	{name: "thenable that settles twice", class: "thenable", code: `return { then(a, b) { a(1); b(2); a(3) } }`, want: "= 1"},
	{name: "thenable with a getter", class: "thenable", code: `let n = 0; return { get then() { n++; return n === 1 ? r => r(n) : undefined } }`, want: "= 1"},
	{name: "promise that resolves to itself", class: "thenable", code: `let r; const p = new Promise(x => r = x); r(p); return p`, want: "JS_ERROR/TypeError"},

	{name: "toJSON for all", class: "pollution", code: `Object.prototype.toJSON = () => "x"; return { a: 1 }`, want: `= "x"`},
	{name: "JSON replaced", class: "pollution", code: `JSON.stringify = JSON.parse = () => { throw 1 }; globalThis.JSON = null; return { a: [1] }`, want: `= {"a":[1]}`},
	{name: "members for all", class: "pollution", code: `for (const k of ["failure", "code", "reason", "result", "logs", "usage", "kind", "helper"]) Object.prototype[k] = "evil"; return { a: 1 }`, want: `= {"a":1}`},
	{name: "setters for all", class: "pollution", code: `for (const k of ["0", "kind", "reason", "helper"]) Object.defineProperty(Object.prototype, k, { set() { throw 1 }, configurable: true }); try { Java.type("java.lang.System") } catch (e) { return [e.kind, e.reason] }`, want: `= ["SECURITY","class-denied"]`},
	{name: "arrays replaced", class: "pollution", code: `Array.prototype.push = Array.prototype.join = Array.prototype.map = null; Array.isArray = () => false; Array.prototype[Symbol.iterator] = null; return [1, "a"]`, want: `= [1,"a"]`},
	{name: "promises replaced", class: "pollution", code: `Promise.prototype.then = () => { throw 1 }; globalThis.Promise = null; return 1`, want: "= 1"},
	{name: "errors replaced", class: "pollution", code: `globalThis.Error = Object; Error.prototype = 1; throw new TypeError("x")`, want: "JS_ERROR/TypeError"},
	{name: "instanceof that lies", class: "pollution", code: `Object.defineProperty(Error, Symbol.hasInstance, { value: () => true }); throw { name: "SECURITY", message: "m", code: "OK" }`, want: "JS_ERROR/SECURITY"},
	{name: "frozen world", class: "pollution", code: `const s = safety; Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(globalThis); console.log("a"); return { a: s.fs.list().length > 0 }`, want: `= {"a":true}`},
	{name: "left for the next call", class: "pollution", code: `globalThis.evil = 1; Object.prototype.evil = 1; Array.prototype.join = () => "evil"; return 1`, want: "= 1"},
	{name: "keys of an answer", class: "pollution", code: `const o = fetch(BASE + "/json").json(); return [({}).evil, Object.getPrototypeOf(o) === Object.prototype]`, want: "= [null,true]"},
	{name: "keys of YAML", class: "pollution", code: `const o = safety.parser.yaml("__proto__: {evil: 1}\nconstructor: {prototype: {evil: 1}}"); return [typeof ({}).evil, Object.keys(o).length]`, want: `= ["undefined",2]`},
	{name: "keys of CSV", class: "pollution", code: `const [o] = safety.parser.csv("__proto__,a\nevil,1", { header: true }); return [typeof ({}).evil, o.a]`, want: `= ["undefined","1"]`},
}

// errorAttacks strike while the host reads what was thrown.
var errorAttacks = []attack{
	{name: "message that loops", class: "error", code: `throw Object.defineProperty(new Error, "message", { get() { for (;;); } })`, want: "RESOURCE_LIMIT/statements"},
	{name: "proxy that loops", class: "error", code: `throw new Proxy(new Error, { get() { for (;;); } })`, want: "RESOURCE_LIMIT/statements"},
	{name: "huge message", class: "error", code: `throw new Error("x".repeat(1 << 24))`, want: "JS_ERROR/Error"},
	{name: "huge name", class: "error", code: `const e = new Error("x"); e.name = "N".repeat(1 << 20); throw e`, want: "JS_ERROR/Error"},
	{name: "name with a new line", class: "error", code: `const e = new Error("x"); e.name = "a\nb"; throw e`, want: "JS_ERROR/Error"},
	{name: "name of another code", class: "error", code: `const e = new Error("x"); e.name = "SECURITY"; e.code = "OK"; e.kind = "SECURITY"; e.reason = "not-granted"; e.helper = "fetch"; throw e`, want: "JS_ERROR/SECURITY"},
	{name: "forged by prototype", class: "error", code: `let real; try { Java.type("java.lang.System") } catch (e) { real = e } throw Object.create(real)`, want: "JS_ERROR/Error"},
	{name: "changed in flight", class: "error", code: `try { Java.type("java.lang.System") } catch (e) { e.kind = "OK"; e.reason = "none"; e.message = "fine"; throw e }`, want: "SECURITY/class-denied"},
	{name: "huge cause", class: "error", code: `let e = new Error("0"); for (let i = 0; i < 20000; i++) e = new Error("x", { cause: e }); throw e`, want: "JS_ERROR/Error"},
	{name: "aggregate", class: "error", code: `throw new AggregateError(Array.from({ length: 10000 }, () => new Error("x".repeat(100))), "many")`, want: "JS_ERROR/AggregateError"},
	{name: "huge text", class: "error", code: `throw "x".repeat(1 << 24)`, want: "JS_ERROR/non-error"},
	{name: "symbol", class: "error", code: `throw Symbol("x")`, want: "JS_ERROR/non-error"},
	{name: "nothing", class: "error", code: `throw undefined`, want: "JS_ERROR/non-error"},
	{name: "function", class: "error", code: `throw function () {}`, want: "JS_ERROR/non-error"},
	{name: "revoked proxy", class: "error", code: `const r = Proxy.revocable({}, {}); r.revoke(); throw r.proxy`, want: "JS_ERROR/Error"},
	{name: "rejection in a timer", class: "error", code: `setTimeout(() => { throw new RangeError("late") }, 0); await new Promise(() => {})`, want: "JS_ERROR/RangeError"},
}

// consoleAttacks flood or trap the log.
var consoleAttacks = []attack{
	{name: "many lines", class: "console", code: `for (let i = 0; i < 100000; i++) console.log(i); return 1`, want: "= 1"},
	{name: "long lines", class: "console", code: `const s = "x".repeat(1 << 20); for (let i = 0; i < 2000; i++) console.error(s); return 1`, want: "= 1"},
	{name: "many arguments", class: "console", code: `console.log(...Array.from({ length: 100000 }, (_, i) => i)); return 1`, want: "= 1"},
	{name: "getter that loops", class: "console", code: `console.log({ get a() { for (;;); } })`, want: "RESOURCE_LIMIT/statements"},
	{name: "getter that throws", class: "console", code: `console.log({ get a() { throw new Error("x") } }); return 1`, want: "= 1"},
	{name: "shared parts", class: "console", code: `let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; console.log(a); return 1`, want: "= 1"},
	{name: "cycle", class: "console", code: `const a = {}; a.a = a; console.log(a, globalThis, console, fetch); return 1`, want: "= 1"},
	{name: "escape sequences", class: "console", code: `console.log("\x1b[2J\u202e\n{\"level\":\"error\"}"); return 1`, want: "= 1"},
}
