package js

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func TestGlobals(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"base64", `return [btoa("hé"), atob("aOk="), atob(" aGk ")]`, `["aOk=","hé","hi"]`},
		{"atob fails", `atob("*")`, "INVALID_INPUT/invalid-base64: [atob] the text is not base64"},
		{"btoa fails", `btoa("€")`, "INVALID_INPUT/non-latin-1: [btoa] the text has characters beyond Latin-1; encode it with TextEncoder first"},
		{"helper error is an Error", `try { atob("*") } catch (e) { return [e instanceof Error, e.kind, e.reason, e.helper, e.name] }`,
			`[true,"INVALID_INPUT","invalid-base64","safety.encoding","Error"]`},
		{"a look-alike stays the program's", `throw Object.assign(new Error("x"), { kind: "SECURITY", reason: "r", helper: "fetch" })`, "JS_ERROR/Error: x"},
		{"a copy stays the program's", `try { atob("*") } catch (e) { const c = Object.create(e); throw c }`, "JS_ERROR/Error: [atob] the text is not base64"},
		{"text", `return [Array.from(new TextEncoder().encode("é")), new TextDecoder("utf-8", { fatal: false }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0xc3, 0xa9, 0xff]))]`, `[[195,169],"é�"]`},
		{"fatal text", `new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]))`, "JS_ERROR/TypeError: the data is not valid utf-8"},
		{"streamed text", `const d = new TextDecoder(); return d.decode(new Uint8Array([0xc3]), { stream: true }) + d.decode(new Uint8Array([0xa9]))`, `"é"`},
		{"labels", `return ["Latin1", " utf-16 ", "ascii", "UTF8", "iso-8859-1"].map(l => new TextDecoder(l).encoding)`, `["windows-1252","utf-16le","windows-1252","utf-8","windows-1252"]`},
		{"windows-1252", `return new TextDecoder("latin1").decode(new Uint8Array([0x80, 0x81, 0xe9, 0x9f]))`, "\"€\u0081éŸ\""},
		{"utf-16le", `const u = b => new Uint8Array(b); const d = new TextDecoder("utf-16le"); const o = { stream: true }; return [d.decode(u([0xff, 0xfe, 0x61, 0, 0x3d]), o), d.decode(u([0xd8]), o), d.decode(u([0, 0xde])), d.decode(u([0x00, 0xd8, 0x61, 0, 5])), new TextDecoder("utf-16le", { ignoreBOM: true }).decode(u([0xff, 0xfe])).length]`,
			`["a","","😀","�a�",1]`},
		{"fatal utf-16le", `new TextDecoder("utf-16le", { fatal: true }).decode(new Uint8Array([0, 0xdc]))`, "JS_ERROR/TypeError: the data is not valid utf-16le"},
		{"unknown label", `new TextDecoder("koi8-r")`, "JS_ERROR/RangeError: TextDecoder supports utf-8, utf-16le and windows-1252 (latin1), not koi8-r"},
		{"random", `const a = crypto.getRandomValues(new Uint32Array(4)); return [a.length, a.some(x => x > 255), /^[0-9a-f-]{36}$/.test(crypto.randomUUID())]`, `[4,true,true]`},
		{"random quota", `crypto.getRandomValues(new Uint8Array(65537))`, "INVALID_INPUT/quota-exceeded: [crypto] getRandomValues fills at most 65,536 bytes at once"},
		{"digest", `const x = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("hello world"));
			return (Array.isArray(x) ? x : Array.from(x)).map(b => b.toString(16).padStart(2, "0")).join("")`,
			`"b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"`},
		{"digest at once", `return Array.from(crypto.subtle.digest({ name: "sha-1" }, "a")).length`, `20`},
		{"digest then", `return await crypto.subtle.digest("SHA-512", "a").then(b => b.length)`, `64`},
		{"hmac", `const key = await crypto.subtle.importKey("raw", new TextEncoder().encode("key"), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
			const sig = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode("msg"));
			return [sig.length, crypto.subtle.verify("HMAC", key, sig, "msg"), await crypto.subtle.verify("HMAC", key, sig, "other")]`, `[32,true,false]`},
		{"hmac usage", `const key = crypto.subtle.importKey("raw", "k", "HMAC", false, ["verify"]); crypto.subtle.sign("HMAC", key, "m")`,
			"INVALID_INPUT/invalid-key: [crypto] sign needs a key from importKey with the usage sign"},
		{"clone", `const a = { d: new Date(0), m: new Map([[1, { x: 1 }]]), s: new Set([2]), u: new Uint8Array([3]), r: /x/g }; a.self = a;
			const b = structuredClone(a); return [b !== a, b.self === b, b.d.getTime(), b.m.get(1).x, b.s.has(2), b.u[0], b.r.flags]`, `[true,true,0,1,true,3,"g"]`},
		{"clone a function", `structuredClone(() => 1)`, "JS_ERROR/DataCloneError: () => 1 could not be cloned"},
		{"microtask order", `const out = []; setTimeout(() => out.push("t"), 0); queueMicrotask(() => out.push("m")); out.push("s");
			await new Promise(r => setTimeout(r, 2)); return out`, `["s","m","t"]`},
		{"cleared timer", `let n = 0; const id = setTimeout(() => n++, 0); clearTimeout(id); await new Promise(r => setTimeout(r, 2)); return n`, `0`},
		{"microtask throws", `queueMicrotask(() => { throw new Error("m") }); await null; return 1`, "JS_ERROR/Error: m"},
		{"url", `const u = new URL("../b?q=1#h", "https://x.example/a/c"); u.searchParams.append("r", "a b"); u.hash = ""; return [u.href, String(u), u.host, u.searchParams.get("q")]`,
			`["https://x.example/b?q=1\u0026r=a+b","https://x.example/b?q=1\u0026r=a+b","x.example","1"]`},
		{"url search follows", `const u = new URL("https://x/"); const p = u.searchParams; u.search = "?a=1"; return [p.get("a"), p.size]`, `["1",1]`},
		{"url fails", `new URL("x")`, "JS_ERROR/TypeError: Invalid URL: x"},
		{"params", `const p = new URLSearchParams({ q: "a b&c" }); p.set("z", "ü"); return [p.toString(), [...p], new URLSearchParams([["a", "1"], ["a", "2"]]).getAll("a"), new URLSearchParams("?x=%41").get("x")]`,
			`["q=a+b%26c\u0026z=%C3%BC",[["q","a b\u0026c"],["z","ü"]],["1","2"],"A"]`},
		{"no fetch", `return [typeof fetch, typeof safety.fs, typeof safety.parser.csv]`, `["undefined","undefined","function"]`},
		{"number", `return [(1234567.891).toLocaleString("en-US"), (0.5).toLocaleString("en-US", { style: "percent" }), (1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" }), new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 }).format(1.25)]`,
			`["1,234,567.891","50%","$1,234.50","1.3"]`},
		{"date parts", `const o = {}; for (const p of new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Seoul", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false, fractionalSecondDigits: 3 }).formatToParts(new Date("2026-01-15T15:04:05.006Z"))) o[p.type] = p.value;
			return [o.year, o.month, o.day, o.hour, o.minute, o.second, o.fractionalSecond]`, `["2026","01","16","00","04","05","006"]`},
		{"date text", `return new Date(0).toLocaleDateString("en-US", { timeZone: "America/New_York", weekday: "short", month: "short", day: "numeric", year: "numeric" })`, `"Wed, Dec 31, 1969"`},
		{"bad zone", `new Intl.DateTimeFormat("en-US", { timeZone: "Mars/Base" })`, "JS_ERROR/RangeError: Invalid time zone specified: Mars/Base"},
		{"zone as path", `new Intl.DateTimeFormat("en-US", { timeZone: "../../etc/passwd" })`, "JS_ERROR/RangeError: Invalid time zone specified: ../../etc/passwd"},
		{"other locale", `const l = "es-ES"; return (1).toLocaleString(l)`, "JS_ERROR/RangeError: the locale es-ES is not supported; use en-US, en-CA, en-GB, de, fr, ko or ja"},
		{"other option", `const o = { usage: "search" }; return "a".localeCompare("b", "de", o)`, "JS_ERROR/RangeError: the value search is not supported for the option usage; known are sort"},
		{"other locale at load", `(1).toLocaleString("es-ES")`, "JS_ERROR/SyntaxError: the locale es-ES is not supported; use en-US, en-CA, en-GB, de, fr, ko or ja"},
		{"lists", `return [[1234.5, null, new Date(0)].toLocaleString("de", { timeZone: "UTC" }), [1, [2.5]].toLocaleString("fr"), 12345678901234567890n.toLocaleString("de")]`, `["1.234,5,,1.1.1970, 00:00:00","1,2,5","12.345.678.901.234.567.890"]`},
		{"order without", `return ["b".localeCompare("a"), "a".localeCompare("b", "en")]`, `[1,-1]`},
		{"hours at midnight", `const d = new Date(0), t = (l, o) => d.toLocaleTimeString(l, { hour: "2-digit", minute: "2-digit", ...o }); return [t("en-US", { hour12: false }), t("en-US", { hourCycle: "h24" }), t("en-GB", { hour12: true }), t("ja", { hour12: true })]`, `["00:00","24:00","12:00 am","午前00:00"]`},
		{"unicode property", `return [/\p{L}/u.test("a"), /\p{L}/u.source]`, `[true,"\\p{L}"]`},
		{"unknown property", `return /\p{Foo}/u.test("a")`, `JS_ERROR/SyntaxError: invalid or unsupported regular expression: the property \p{Foo} is not known here; list the character ranges instead`},
		{"unicode property at run time", `return new RegExp("\\p{L}", "u").test("a")`, `true`},
		{"unknown property at run time", `const p = "\\p{Foo}"; return new RegExp(p, "u").test("a")`, `JS_ERROR/SyntaxError: invalid or unsupported regular expression: the property \p{Foo} is not known here; list the character ranges instead`},
		{"regexp", `return [new RegExp("a", "g") instanceof RegExp, "a,b".split(/,/), RegExp("x").source, /a/.constructor === RegExp, new (class extends RegExp {})("q").test("q")]`, `[true,["a","b"],"x",true,true]`},
		{"typed from string", `return Uint8Array.from(atob("aGk="), c => c.charCodeAt(0))`, `[104,105]`},
		{"from holes", `return Array.from({ length: 3 }, String)`, `["undefined","undefined","undefined"]`},
		{"polyfills", `return [Object.groupBy([1, 2, 3], x => x % 2 ? "o" : "e"), Map.groupBy([1, 2], x => x).size, "a\uD800".isWellFormed(), await Array.fromAsync([Promise.resolve(1)]), await Promise.try(() => 2), typeof Promise.withResolvers().resolve]`,
			`[{"o":[1,3],"e":[2]},2,false,[1],2,"function"]`},
		{"java", `const D = Java.type("java.math.BigDecimal"); return new D("0.1").add(new D("0.20")).toString()`, "SECURITY/denied: denied"},
		{"argument named as a global", `return typeof args.console + typeof console.log`, `"undefinedfunction"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := outcome(runWith(t, &fakeBroker{}, tc.body, `{}`))
			if strings.ReplaceAll(tc.want, `\u0026`, "&") != got {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestParams(t *testing.T) {
	for _, tc := range []struct{ name, body, args, want string }{
		{"missing reads undefined", `return typeof q`, `{}`, `"undefined"`},
		{"inherited names are not arguments", `return [typeof constructor, typeof toString]`, `{}`, `["undefined","undefined"]`},
		{"static wins", `return k`, `{"k":"argument"}`, `"static"`},
		{"injected names stay", `return [typeof console, args.console]`, `{"console":1}`, `["object",1]`},
		{"reserved words", `return args.class`, `{"class":1}`, `1`},
		{"prototype key", `return [args.__proto__.x, ({}).x === undefined]`, `{"__proto__":{"x":1}}`, `[1,true]`},
		{"var redeclares", `var q = q || "d"; return q`, `{"q":"v"}`, `"v"`},
		{"strict body", `"use strict"; return q`, `{"q":1}`, `1`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := outcome(run(t, tc.body, tc.args, func(c *worker.Call) {
				c.Program.Params = append(c.Program.Params, "q", "constructor", "toString")
				c.Statics = []worker.Static{{Name: "k", Value: "static"}}
			}))
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestPositions(t *testing.T) {
	for _, tc := range []struct {
		body      string
		line, col int
	}{
		{"throw new Error('x')", 1, 7},
		{"const a = 1\n\n  throw new Error('x')", 3, 9},
		{"const f = () => {\n null.x\n}\nf()", 2, 7},
		{"await null\nundefinedName", 2, 1},
		{"return 1 +", 2, 1},
		{"const a = 1\nconst a = 2", 2, 7},
		{"let x\nwith (x) {}", 2, 1},
		{"1\nreturn /\\p{Foo}/u", 2, 8},
		{"1\natob('*')", 2, 5},
		{"for await (const x of [1]) {\n\n  throw new Error('x') }", 3, 9},
		{"async function* g() {\n  yield 1;\n    throw new Error('q') }\nfor await (const x of g()) ;", 3, 11},
		{"async function* g() {}\nconst f = () => {\n null.x\n}\nf()", 3, 7},
		{"for await (const x of []);\nreturn /\\p{Foo}/u", 2, 8},
		{"for await (const x of []);\n\n let a; let a", 3, 13},
		{"return 1;\n for await (const x of []) { +; }", 2, 31},
		{"\nfor await (const x of 5) ;", 2, 23},
	} {
		f := run(t, tc.body, `{}`).Failure
		if f == nil || f.Line != tc.line {
			t.Errorf("%q: %+v, want line %d", tc.body, f, tc.line)
		} else if f.Column != tc.col {
			t.Errorf("%q: column %d, want %d", tc.body, f.Column, tc.col)
		}
	}
}

func TestSameCount(t *testing.T) {
	body := `let s = 0; for (let i = 0; i < 100; i++) { s += i; if (i % 2) continue; s++ } class A { x = 1; static { s++ } } new A();
		function* g() { yield 1; yield 2 } for (const x of g()) s += x; switch (s) { case 1: s++; break; default: s--; s-- } return [1,2].map(x => x + s).length`
	first := *run(t, body, `{}`).Usage.Statements
	for range 3 {
		if got := *run(t, body, `{}`).Usage.Statements; got != first {
			t.Fatalf("counted %d, then %d", first, got)
		}
	}
	if first < 300 || first > 500 {
		t.Errorf("counted %d statements", first)
	}
	long := *run(t, strings.Repeat("1;", 100), `{}`).Usage.Statements
	if long != 100 {
		t.Errorf("100 statements counted as %d", long)
	}
	// Blocks of any length are charged in full, wherever they stand.
	for _, tc := range []struct {
		open, close string
		extra       int64
	}{{"{", "}", 0}, {"if (1) {", "}", 1}, {"(() => {", "})()", 1}, {"class A { static {", "} }", 1}, {"switch (1) { case 1: ", "}", 1},
		{"try {", "} finally { }", 1}, {"for await (const x of [1]) {", "}", 0}} {
		body := func(n int) int64 { return *run(t, tc.open+strings.Repeat("1;", n)+tc.close, `{}`).Usage.Statements }
		if got := body(5000) - body(1000); got != 4000 {
			t.Errorf("%s: 4000 statements more cost %d", tc.open, got)
		}
		if got := body(1000); tc.extra > 0 && got != 1000+tc.extra {
			t.Errorf("%s: 1000 statements cost %d", tc.open, got)
		}
	}
	limited := run(t, strings.Repeat("1;", 100), `{}`, func(c *worker.Call) { c.Limits.MaxStatements = 99 })
	if limited.Failure == nil || limited.Failure.Reason != "statements" {
		t.Errorf("100 statements ran under a budget of 99: %s", outcome(limited))
	}
}

// TestSameCountAlways counts programs of several kinds a hundred times.
func TestSameCountAlways(t *testing.T) {
	turns := 100
	if testing.Short() {
		turns = 5
	}
	for _, body := range []string{
		`let o = []; async function* g(n) { for (let i = 0; i < n; i++) { await null; yield i } } for await (const x of g(20)) o.push(x); return o`,
		`const o = {}; for (const k of ["z", "a", "q"]) o[k] = new Map([[k, 1]]); for (const k in o) for (const [x] of o[k]) x + 1; return Object.keys(o)`,
		`const a = []; for (let i = 0; i < 50; i++) a.push((i * 7919) % 101); return a.sort((x, y) => x - y)`,
		`const wait = n => new Promise(r => setTimeout(r, n)); await Promise.all([wait(2), wait(1), wait(1)]); return 1`,
		`const w = new WeakMap(); for (let i = 0; i < 50; i++) w.set({}, i); return [..."a1b2".matchAll(/\p{L}/gu)].map(m => m[0])`,
		`try { (function f(n) { if (n) f(n - 1); else throw new Error("x") })(50) } catch (e) { return e.stack.length > 0 }`,
	} {
		first := run(t, body, `{}`)
		if first.Failure != nil {
			t.Errorf("%s: %s", body, outcome(first))
		}
		for range turns {
			again := run(t, body, `{}`, func(c *worker.Call) { c.Program.ID = "" }) // compiled anew
			if *again.Usage.Statements != *first.Usage.Statements {
				t.Fatalf("%s: counted %d, then %d", body, *first.Usage.Statements, *again.Usage.Statements)
			}
		}
	}
}

func TestFetch(t *testing.T) {
	withFetch := func(c *worker.Call) { c.Globals.Fetch = true }
	b := func() *fakeBroker {
		return &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{
			worker.OpFetch: answer(`{"status":200,"statusText":"OK","url":"https://a/","contentType":"application/json","headers":[["X-A","1"],["x-a","2"]],"body":{"$bytes":"eyJhIjoxfQ=="},"truncated":false,"nextStartIndex":null}`),
		}}
	}
	for _, tc := range []struct{ body, want string }{
		{`const r = await fetch("https://a/"); return [r.ok, r.status, r.json().a, r.text(), r.headers.get("X-a"), r.headers.has("y"), r.nextStartIndex, r.contentType, typeof r.then]`,
			`[true,200,1,"{\"a\":1}","1, 2",false,null,"application/json","undefined"]`},
		{`return fetch("https://a/").json().a`, `1`},
		{`return await fetch("https://a/").then(r => r.json())`, `{"a":1}`},
		{`return (await Promise.all([fetch("https://a/"), fetch("https://a/")])).map(r => r.status)`, `[200,200]`},
		{`const r = fetch("https://a/"); return [await (await r).json(), new Uint8Array(r.arrayBuffer()).length, [...r.headers]]`, `[{"a":1},7,[["x-a","1, 2"]]]`},
		{`let n = 0; for (let i = 0; i < 500; i++) n += (await fetch("https://a/")).status; return n`, `100000`},
		{`fetch()`, `INVALID_INPUT/missing-url: [fetch] the url is missing`},
		{`fetch("https://a/", { method: "POST", body: {} })`, `INVALID_INPUT/invalid-body: [fetch] the body must be a string, bytes or URLSearchParams; use JSON.stringify for an object`},
	} {
		if got := outcome(runWith(t, b(), tc.body, `{}`, withFetch)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
	seen := b()
	runWith(t, seen, `fetch(new URL("https://a/x"), { method: "post", headers: [["A", "1"], ["a", "2"]], body: new Uint8Array([1, 2]), maxLength: 5 });
		fetch("https://a/", { method: "PUT", headers: { B: "1" }, body: new URLSearchParams({ q: "1" }), startIndex: 2 })`, `{}`, withFetch)
	var got []string
	for _, r := range seen.seen {
		got = append(got, string(r.Args))
	}
	want := []string{
		`["https://a/x",{"method":"POST","headers":{"A":"1, 2"},"body":{"$bytes":"AQI="},"maxLength":5}]`,
		`["https://a/",{"method":"PUT","headers":{"B":"1","Content-Type":"application/x-www-form-urlencoded;charset=UTF-8"},"body":"q=1","startIndex":2}]`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	bad := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{
		worker.OpFetch: answer(`{"status":200,"body":{"$bytes":"eyJh"},"truncated":true}`)}}
	if got := outcome(runWith(t, bad, `return fetch("https://a/").json()`, `{}`, withFetch)); got != "HELPER_RUNTIME/invalid-json: [fetch] invalid json; the body was cut at maxLength" {
		t.Error(got)
	}
}

func TestFiles(t *testing.T) {
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{
		worker.OpFSReadText: answer(`"text"`), worker.OpFSGrep: answer(`["a"]`), worker.OpFSWriteText: answer(`"/w/a"`),
	}}
	read := func(c *worker.Call) { c.Globals.FSRead = true }
	write := func(c *worker.Call) { c.Globals.FSWrite = true }
	for _, tc := range []struct {
		body, want string
		opt        func(*worker.Call)
	}{
		{`return [safety.fs.readText("a"), safety.fs.grep("x", "f", { limit: 1 })]`, `["text",["a"]]`, read},
		{`safety.fs.writeText("a", "b")`, "SECURITY/not-granted: [safety.fs] writeText is not granted to this tool", read},
		{`safety.fs.readText("a")`, "SECURITY/not-granted: [safety.fs] readText is not granted to this tool", write},
		{`return safety.fs.writeText("a", "b")`, `"/w/a"`, write},
		{`return safety.fs.stat("a")`, "SECURITY/denied: denied", read},
		{`try { safety.fs.stat("a") } catch (e) { return [e.kind, e.helper, e.reason] }`, `["SECURITY","safety.fs","denied"]`, read},
	} {
		if got := outcome(runWith(t, b, tc.body, `{}`, tc.opt)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
	if got := string(b.seen[1].Args); got != `["x","f",{"limit":1}]` {
		t.Errorf("grep sent %s", got)
	}
}
