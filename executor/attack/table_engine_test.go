package attack

import "strings"

// processAttacks end a Go process that runs them: the runtime of Go gives up
// on memory or stack, and no recover helps. Where a guard answers earlier, its
// error is what the code sees; the spellings beside it go around the guard.
var processAttacks = []attack{
	{name: "repeat", class: "fatal", code: `return "x".repeat(2 ** 40).length`, want: "JS_ERROR/RangeError"},
	{name: "repeat by another name", class: "fatal", process: true, limits: grows, code: `return ""["re" + "peat"].call("x", 2 ** 40).length`, want: "RESOURCE_LIMIT/memory"},
	{name: "sort", class: "fatal", code: `return Array(2 ** 32 - 1).sort().length`, want: "JS_ERROR/RangeError"},
	{name: "map", class: "fatal", code: `return Array(2 ** 32 - 1).map(x => x).length`, want: "JS_ERROR/RangeError"},
	{name: "sort of a length", class: "fatal", code: `return [].sort.call({ length: 2 ** 31 }).length`, want: "JS_ERROR/RangeError"},
	{name: "sort by another name", class: "fatal", process: true, limits: grows, code: `return []["so" + "rt"].call({ length: 2 ** 31 }).length`, want: "RESOURCE_LIMIT/memory"},
	{name: "BigInt shift", class: "fatal", code: `return String(1n << (2n ** 40n)).length`, want: "JS_ERROR/RangeError"},
	{name: "BigInt shifts", class: "fatal", process: true, limits: grows, code: `const a = []; for (let i = 1n; ; i++) a.push(1n << (2n ** 30n - i))`, want: "RESOURCE_LIMIT/memory"},
	{name: "BigInt power", class: "fatal", process: true, limits: grows, code: `let n = 7n; for (;;) n = n * n`, want: "RESOURCE_LIMIT/memory"},
	{name: "array of numbers at once", class: "fatal", process: true, limits: grows, code: `return new Float64Array(2 ** 30).length`, want: "RESOURCE_LIMIT/memory"},
	{name: "buffer at once", class: "fatal", process: true, limits: grows, code: `return new ArrayBuffer(2 ** 33).byteLength`, want: "RESOURCE_LIMIT/memory"},

	{name: "from and String", class: "panic", code: `return Array.from({ length: 3 }, String)`, want: `= ["undefined","undefined","undefined"]`},
	{name: "from and Number", class: "panic", code: `return Array.from({ length: 3 }, Number)`, want: "= [null,null,null]"},
	{name: "from and Boolean", class: "panic", code: `return Array.from({ length: 3 }, Boolean)`, want: "= [false,false,false]"},
	{name: "from and parseInt", class: "panic", code: `return Array.from({ length: 3 }, parseInt)`, want: "= [null,null,null]"},
	{name: "from and Object", class: "panic", code: `return Array.from({ length: 3 }, Object)`, want: "= [{},{},{}]"},
	{name: "typed from", class: "panic", code: `return Uint8Array.from({ length: 3 }, Number)`, want: "= [0,0,0]"},
	{name: "find of a hole", class: "panic", code: `return [[, 1].find(Number), [, 1].findIndex(String), [1, , ].findLast(Number), [, 1].findLastIndex(isNaN), Array.prototype.find.call({ length: 1 }, String)]`, want: "= [1,0,1,0,null]"},
	{name: "entry without a key", class: "panic", code: `return Object.keys(Object.fromEntries([[,]]))`, want: `= ["undefined"]`},
}

// memoryAttacks grow until something stops them.
var memoryAttacks = []attack{
	{name: "string doubling", class: "memory", process: true, limits: grows, code: `let s = "x"; for (;;) s += s`, want: "RESOURCE_LIMIT/memory"},
	{name: "caught string doubling", class: "memory", process: true, limits: grows, code: `let s = "x"; for (;;) try { s += s } catch (e) { s = "x" }`, want: "RESOURCE_LIMIT/memory"},
	{name: "push", class: "memory", process: true, limits: grows, code: `const a = []; for (;;) a.push({})`, want: "RESOURCE_LIMIT/memory"},
	{name: "typed arrays", class: "memory", process: true, limits: grows, code: `const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))`, want: "RESOURCE_LIMIT/memory"},
	{name: "map keys", class: "memory", process: true, limits: grows, code: `const m = new Map(); for (let i = 0; ; i++) m.set({}, "v" + i)`, want: "RESOURCE_LIMIT/memory"},
	{name: "object keys", class: "memory", process: true, limits: grows, code: `const o = {}; for (let i = 0; ; i++) o["key" + i] = i`, want: "RESOURCE_LIMIT/memory"},
	{name: "closures", class: "memory", process: true, limits: grows, code: `let f = () => 0; for (;;) { const g = f, big = new Array(1000).fill(0); f = () => [g, big] }`, want: "RESOURCE_LIMIT/memory"},
	{name: "split", class: "memory", process: true, limits: grows, code: `return "x".repeat(1 << 24).split("").length`, want: "RESOURCE_LIMIT/memory"},
	{name: "raw", class: "memory", process: true, limits: grows, code: `return String.raw({ raw: { length: 1e10, 0: "x".repeat(1000), get 1() { return "y".repeat(1 << 20) } } }).length`, want: "RESOURCE_LIMIT/memory"},
	{name: "split into parts", class: "memory", process: true, limits: grows, code: `const a = []; for (;;) a.push("x,".repeat(1 << 20).split(","))`, want: "RESOURCE_LIMIT/memory"},
	{name: "promises", class: "memory", process: true, limits: grows, code: `const a = []; for (;;) a.push(new Promise(() => {}))`, want: "RESOURCE_LIMIT/memory"},
	{name: "symbols", class: "memory", process: true, limits: grows, code: `const a = []; for (let i = 0; ; i++) a.push(Symbol("s" + i))`, want: "RESOURCE_LIMIT/memory"},
	{name: "regular expressions", class: "memory", process: true, limits: grows, code: `const a = []; for (let i = 0; ; i++) a.push(new RegExp("a{1," + (i % 500 + 1) + "}b" + i))`, want: "RESOURCE_LIMIT/memory"},
	{name: "clones", class: "memory", process: true, limits: grows, code: `const a = new Array(1000).fill("x".repeat(100)), all = []; for (;;) all.push(structuredClone(a))`, want: "RESOURCE_LIMIT/memory"},
	{name: "answers", class: "memory", process: true, limits: grows, code: `const a = []; for (;;) a.push(safety.fs.readText("aaaa.txt").split("a"))`, want: "RESOURCE_LIMIT/memory"},
}

// hangAttacks stay inside native code, which nothing can interrupt.
var hangAttacks = []attack{
	{name: "backtracking", class: "hang", process: true, limits: hangs, code: `return /^(?=a)(a+)+$/.test("a".repeat(40) + "b")`, want: "TIMEOUT/deadline"},
	{name: "caught backtracking", class: "hang", process: true, limits: hangs, code: `try { return /^(a+)+\1$/.test("a".repeat(40) + "b") } catch (e) { return "caught" } finally { return "finally" }`, want: "TIMEOUT/deadline"},
	{name: "backtracking in replace", class: "hang", process: true, limits: hangs, code: `return ("a".repeat(40) + "b").replace(/(?=a)(?:(a|aa)+)+$/g, "")`, want: "TIMEOUT/deadline"},
	{name: "backtracking behind a look-behind", class: "hang", process: true, limits: hangs, code: `return /(?<=^c(a|aa)+)b/.test("a".repeat(60) + "b")`, want: "TIMEOUT/deadline"},
	{name: "repeat", class: "hang", code: `return "xy".repeat(1e9).length`, want: "JS_ERROR/RangeError"},
	{name: "padEnd", class: "hang", code: `return "x".padEnd(2e9).length`, want: "JS_ERROR/RangeError"},
	{name: "fill", class: "hang", code: `return Array(1e9).fill(0).length`, want: "JS_ERROR/RangeError"},
	{name: "long fill", class: "hang", code: `return Array(2 ** 32 - 1).fill(0).length`, want: "JS_ERROR/RangeError"},
	{name: "join", class: "hang", code: `return Array(2 ** 32 - 1).join().length`, want: "JS_ERROR/RangeError"},
	{name: "from a length", class: "hang", code: `return Array.from({ length: 1e9 }).length`, want: "JS_ERROR/RangeError"},
	{name: "from a native", class: "hang", code: `return Array.from({ length: 1e8 }, Date.now).length`, want: "JS_ERROR/RangeError"},
	{name: "forEach of a length", class: "hang", code: `[].forEach.call({ length: 2 ** 53 - 1 }, () => 0)`, want: "JS_ERROR/RangeError"},
	{name: "indexOf of a length", class: "hang", code: `return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)`, want: "JS_ERROR/RangeError"},
	{name: "reverse of a length", class: "hang", code: `return [].reverse.call({ length: 2 ** 53 - 1 })`, want: "JS_ERROR/RangeError"},
	{name: "indexOf by another name", class: "hang", process: true, limits: hangs, code: `return []["index" + "Of"].call({ length: 2 ** 53 - 1 }, 1)`, want: "TIMEOUT/deadline"},
	{name: "lastIndexOf by another name", class: "hang", process: true, limits: hangs, code: `const f = []["lastIndex" + "Of"]; try { return f.call({ length: 2 ** 53 - 1 }, 1) } finally { for (;;); }`, want: "TIMEOUT/deadline"},
	{name: "apply of a length", class: "hang", code: `return Math.max.apply(null, { length: 1e9 })`, want: "JS_ERROR/RangeError"},
	{name: "nested JSON", class: "hang", code: `return JSON.parse("[".repeat(1e6))`, want: "JS_ERROR/SyntaxError"},
	{name: "long JSON", class: "hang", process: true, limits: grows, code: `return JSON.parse("[" + "[],".repeat(5e6) + "1]").length`, want: "RESOURCE_LIMIT/memory"},
	{name: "stringify of shared parts", class: "hang", process: true, limits: grows, code: `let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return JSON.stringify(a).length`, want: "RESOURCE_LIMIT/memory"},
	{name: "text of shared parts", class: "hang", process: true, limits: grows, code: `let a = ["some text"]; for (let i = 0; i < 40; i++) a = [a, a]; return String(a).length`, want: "RESOURCE_LIMIT/memory"},
	{name: "flat of shared parts", class: "hang", process: true, limits: grows, code: `let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return a.flat(Infinity).length`, want: "JS_ERROR/RangeError"},
	{name: "spread of a long array", class: "hang", process: true, limits: grows, code: `const a = new Array(5e7); return Math.max(...a)`, want: "RESOURCE_LIMIT/memory"},
	{name: "BigInt of a long text", class: "hang", process: true, limits: hangs, code: `const s = "9".repeat(1.5e7); for (;;) BigInt(s)`, want: "TIMEOUT/deadline"},
	{name: "comparison of long texts", class: "hang", process: true, limits: hangs, code: `const s = "\u00e9".repeat(2e6); for (;;) s.localeCompare(s + "b")`, want: "TIMEOUT/deadline"},
	{name: "normalisation", class: "hang", process: true, limits: hangs, code: `const s = "\u00e9".repeat(1e6); for (;;) s.normalize("NFD")`, want: "TIMEOUT/deadline"},
	{name: "timer", class: "hang", limits: hangs, code: `await new Promise(r => setTimeout(r, 1e9))`, want: "TIMEOUT/deadline"},
	{name: "loop without a budget", class: "hang", limits: hangs, code: `for (;;);`, want: "TIMEOUT/deadline"},
	{name: "nothing to wait for", class: "hang", code: `await new Promise(() => {})`, want: "JS_ERROR/never-settles"},
}

// boundedAttacks recurse and chain; the engine bounds them itself.
var boundedAttacks = []attack{
	{name: "recursion", class: "stack", code: `function f() { f() } f()`, want: "RESOURCE_LIMIT/stack"},
	{name: "caught recursion", class: "stack", code: `function f() { try { f() } catch (e) { f() } finally { f() } } f()`, want: "RESOURCE_LIMIT/stack"},
	{name: "mutual recursion", class: "stack", code: `const a = () => b(), b = () => a(); a()`, want: "RESOURCE_LIMIT/stack"},
	{name: "getter", class: "stack", code: `const o = { get x() { return this.x } }; o.x`, want: "RESOURCE_LIMIT/stack"},
	{name: "proxy", class: "stack", code: `const p = new Proxy({}, { get: () => p.x }); p.x`, want: "RESOURCE_LIMIT/stack"},
	{name: "toString", class: "stack", code: `const o = { toString() { return "" + o } }; return "" + o`, want: "RESOURCE_LIMIT/stack"},
	{name: "native in between", class: "stack", code: `const f = () => [1].map(f); f()`, want: "RESOURCE_LIMIT/stack"},
	{name: "replace callback", class: "stack", code: `const f = () => "a".replace(/a/, f); f()`, want: "RESOURCE_LIMIT/stack"},
	{name: "reviver", class: "stack", code: `const f = () => JSON.parse("[1]", f); f()`, want: "RESOURCE_LIMIT/stack"},
	{name: "constructor", class: "stack", code: `class A { constructor() { new A } } new A`, want: "RESOURCE_LIMIT/stack"},
	{name: "default parameter", class: "stack", code: `const f = (a = f()) => 1; f()`, want: "RESOURCE_LIMIT/stack"},
	{name: "proxy chain", class: "chain", limits: patient, code: `let p = {}; for (let i = 0; i < 240000; i++) p = new Proxy(p, {}); return p.x === undefined`, want: "= true"},
	{name: "prototype chain", class: "chain", limits: patient, code: `let p = {}; for (let i = 0; i < 50000; i++) p = Object.create(p); return p.x === undefined`, want: "= true"},
	{name: "circular join", class: "chain", code: `const a = []; a.push(a, a); return String(a)`, want: `= ","`},
	{name: "circular result", class: "chain", code: `const a = {}; a.a = a; return a`, want: "JS_ERROR/TypeError"},
	{name: "text of a deep array", class: "chain", code: `let a = []; for (let i = 0; i < 9000; i++) a = [a]; return String(a).length`, want: "JS_ERROR/RangeError"},
	{name: "flat of a deep array", class: "chain", code: `let a = []; for (let i = 0; i < 9000; i++) a = [a]; return a.flat(Infinity).length`, want: "JS_ERROR/RangeError"},
}

// sourceAttacks aim at the parser.
var sourceAttacks = []attack{
	{name: "parentheses", class: "source", code: strings.Repeat("(", 1_000_000), want: "RESOURCE_LIMIT/source"},
	{name: "brackets", class: "source", code: "return " + strings.Repeat("[", 1_000_000), want: "RESOURCE_LIMIT/source"},
	{name: "parentheses below the size", class: "source", code: "return " + strings.Repeat("(", 30_000) + "1" + strings.Repeat(")", 30_000), want: "RESOURCE_LIMIT/source"},
	{name: "templates", class: "source", code: "return " + strings.Repeat("`${", 20_000), want: "RESOURCE_LIMIT/source"},
	{name: "arrows", class: "source", code: "return " + strings.Repeat("a=>", 20_000) + "1", want: "RESOURCE_LIMIT/source"},
	{name: "unary", class: "source", code: "return " + strings.Repeat("!", 60_000) + "1", want: "RESOURCE_LIMIT/source"},
	{name: "sum", class: "source", code: "return 1" + strings.Repeat("+1", 30_000), want: "RESOURCE_LIMIT/source"},
	{name: "size", class: "source", code: "return 1 //" + strings.Repeat("x", 70_000), want: "RESOURCE_LIMIT/source"},
	{name: "source map of a file", class: "source", code: "return 1\n//# sourceMappingURL=file:///etc/passwd", want: "= 1"},
	{name: "source map of a device", class: "source", code: "return 1\n//# sourceMappingURL=../../../../../../dev/zero", want: "= 1"},
	{name: "comment without end", class: "source", code: "return 1 /* ", want: "JS_ERROR/SyntaxError"},
	{name: "control characters", class: "source", code: "return 1 \x00", want: "JS_ERROR/SyntaxError"},
}

// budgetAttacks try to run uncounted.
var budgetAttacks = []attack{
	{name: "loop", class: "budget", code: `while (true) {}`, want: "RESOURCE_LIMIT/statements"},
	{name: "caught loop", class: "budget", code: `try { for (;;); } catch (e) { return "caught" } finally { return "finally" }`, want: "RESOURCE_LIMIT/statements"},
	{name: "generator", class: "budget", code: `function* g() { for (;;) yield 1 } for (const x of g());`, want: "RESOURCE_LIMIT/statements"},
	{name: "spread of an endless iterator", class: "budget", code: `[...{ [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }) }) }]`, want: "RESOURCE_LIMIT/statements"},
	{name: "comparator", class: "budget", code: `const a = [3, 2, 1]; for (;;) a.sort((x, y) => x - y)`, want: "RESOURCE_LIMIT/statements"},
	{name: "microtasks", class: "budget", limits: few, code: `const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})`, want: "RESOURCE_LIMIT/statements"},
	{name: "timers", class: "budget", limits: patient, code: `const f = () => setTimeout(f, 0); f(); await new Promise(() => {})`, want: "RESOURCE_LIMIT/statements"},
	{name: "async recursion", class: "budget", limits: few, code: `const f = async () => { await null; return f() }; await f()`, want: "RESOURCE_LIMIT/statements"},
	{name: "class fields", class: "budget", code: `let n = 0; class A { x = n++ } for (;;) new A()`, want: "RESOURCE_LIMIT/statements"},
	{name: "counter by name", class: "budget", code: `return typeof globalThis["@1"] + typeof this?.["@1"]`, want: `= "undefinedundefined"`},
	{name: "counter by with", class: "budget", code: `with (new Proxy({}, { has: () => true, get: () => () => 0 })) { for (;;); }`, want: "JS_ERROR/SyntaxError"},
	{name: "counter by call", class: "budget", code: `Function.prototype.call = Function.prototype.apply = () => 0; for (;;);`, want: "RESOURCE_LIMIT/statements"},
	{name: "lowered by a proxy", class: "budget", code: `globalThis.__proto__ = new Proxy({}, { has: () => true, get: () => () => 0 }); for (;;);`, want: "RESOURCE_LIMIT/statements"},
}
