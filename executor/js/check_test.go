package js

import "testing"

// TestCheck: what safety.check reads, and what it says of what it refuses.
func TestCheck(t *testing.T) {
	const bad, rule = `INVALID_INPUT/invalid-argument: [safety.check] `, `INVALID_INPUT/invalid-rule: [safety.check] `
	for _, tc := range []struct{ body, want string }{
		{`return safety.check({ a: "5", b: 7, c: " 8 ", d: "1e2", e: "x" }, { a: { type: "integer" }, b: { type: "integer", maximum: 7 }, c: { type: "number", minimum: 8 }, d: { type: "integer" }, e: {} })`,
			`{"a":5,"b":7,"c":8,"d":100,"e":"x"}`},
		{`return safety.check({ a: "", b: null }, { a: { type: "integer", default: 3 }, b: { default: "b" }, c: { default: null }, d: {} })`, `{"a":3,"b":"b","c":null}`},
		{`const o = safety.check({ a: 1 }, { a: { type: "number" }, b: {} }); return [Object.keys(o), o.b === undefined]`, `[["a","b"],true]`},
		{`return Object.is(safety.check({ a: "-0" }, { a: { type: "number" } }).a, 0)`, `true`},
		{`return safety.check({ a: 2 ** 53 - 1, b: 1.5 }, { a: { type: "integer" }, b: { type: "number" } })`, `{"a":9007199254740991,"b":1.5}`},
		{`safety.check({ a: 2 ** 53 }, { a: { type: "integer" } })`, bad + `a must be a whole number`},
		{`safety.check({ n: "501" }, { n: { type: "integer", minimum: 1, maximum: 500 } })`, bad + `n must be a whole number from 1 to 500`},
		{`safety.check({ n: 0 }, { n: { type: "integer", minimum: 1 } })`, bad + `n must be a whole number of 1 or more`},
		{`safety.check({ n: 11 }, { n: { type: "number", maximum: 10 } })`, bad + `n must be a number of at most 10`},
		{`safety.check({ n: 1.5 }, { n: { type: "integer" } })`, bad + `n must be a whole number`},
		{`safety.check({ n: "   " }, { n: { type: "integer", minimum: 0 } })`, bad + `n must be a whole number of 0 or more`},
		{`safety.check({ n: "one" }, { n: { type: "number" } })`, bad + `n must be a number`},
		{`safety.check({ n: Infinity }, { n: { type: "number" } })`, bad + `n must be a number`},
		{`safety.check({ n: NaN }, { n: { type: "number" } })`, bad + `n must be a number`},
		{`safety.check({ n: 5n }, { n: { type: "integer" } })`, bad + `n must be a whole number`},
		{`safety.check({ n: true }, { n: { type: "integer" } })`, bad + `n must be a whole number`},
		{`safety.check({ n: { valueOf() { return 5 } } }, { n: { type: "integer" } })`, bad + `n must be a whole number`},
		{`safety.check({ n: Symbol("x") }, { n: { type: "integer" } })`, bad + `n must be a whole number`},
		{`safety.check({ s: 5 }, { s: {} })`, bad + `s must be a text`},
		{`safety.check({ s: new String("x") }, { s: { description: "the text of a letter" } })`, bad + `s must be the text of a letter`},
		{`return safety.check({ s: "b" }, { s: { enum: ["a", "b"] } })`, `{"s":"b"}`},
		{`safety.check({ s: "c" }, { s: { enum: ["a"] } })`, bad + `s must be "a"`},
		{`safety.check({ s: "c" }, { s: { enum: ["a", "b"] } })`, bad + `s must be "a" or "b"`},
		{`safety.check({ s: "c" }, { s: { enum: ["a", "b", "d"] } })`, bad + `s must be "a", "b" or "d"`},
		{`safety.check({ s: "c" }, { s: { enum: ["a", "b", "d", "e"] } })`, bad + `s must be one of "a", "b", "d", "e"`},
		{`return safety.check({ d: "2024-02-29", b: "20240229" }, { d: { format: "date" }, b: { format: "basic-date" } })`, `{"d":"2024-02-29","b":"20240229"}`},
		{`safety.check({ d: "2026-02-30" }, { d: { format: "date" } })`, bad + `d "2026-02-30" is not a time that exists`},
		{`safety.check({ d: "20260230" }, { d: { format: "basic-date" } })`, bad + `d "2026-02-30" is not a time that exists`},
		{`safety.check({ d: "20261301" }, { d: { format: "basic-date" } })`, bad + `d "2026-13-01" is not a time that exists`},
		{`safety.check({ d: "2026-2-3" }, { d: { format: "date" } })`, bad + `d must be a day as YYYY-MM-DD`},
		{`safety.check({ d: "YYYY-MM-DD" }, { d: { format: "date" } })`, bad + `d must be a day as YYYY-MM-DD`},
		{`safety.check({ d: "2026-02-03T00:00" }, { d: { format: "date" } })`, bad + `d must be a day as YYYY-MM-DD`},
		{`safety.check({ d: "２０２６0203" }, { d: { format: "basic-date" } })`, bad + `d must be a day as YYYYMMDD`},
		{`safety.check({ d: "2026-02-03" }, { d: { format: "basic-date" } })`, bad + `d must be a day as YYYYMMDD`},
		{`return ["a", "...a", "A-b_c.d", "9".repeat(100)].map(s => safety.check({ s }, { s: { format: "segment" } }).s.length)`, `[1,4,7,100]`},
		{`safety.check({ s: ".." }, { s: { format: "segment", description: "the name of a repository" } })`, bad + `s must be the name of a repository`},
		{`return ["", "a/b", "a\n", "%2e", " ", "é", "9".repeat(101), "."].map(s => { try { safety.check({ s }, { s: { format: "segment" } }) } catch (e) { return e.reason } })`,
			`["invalid-argument","invalid-argument","invalid-argument","invalid-argument","invalid-argument","invalid-argument","invalid-argument","invalid-argument"]`},

		{`safety.check()`, rule + `check needs an object of values and an object of rules`},
		{`safety.check({}, "rules")`, rule + `check needs an object of values and an object of rules`},
		{`safety.check({}, { a: "integer" })`, rule + `the rule for a: must be an object`},
		{`safety.check({ a: 1 }, { a: { type: "object" } })`, rule + `the rule for a: type must be "integer", "number" or "string"`},
		{`safety.check({ a: "x" }, { a: { format: "email" } })`, rule + `the rule for a: format must be "date", "basic-date" or "segment"`},
		{`safety.check({ a: "x" }, { a: { enum: "x" } })`, rule + `the rule for a: enum must be a list of texts`},
		{`safety.check({ a: "x" }, { a: { enum: [1] } })`, rule + `the rule for a: enum must be a list of texts`},
		{`safety.check({ a: "x" }, { a: { enum: [] } })`, rule + `the rule for a: enum must have a text`},
		{`safety.check({ a: "x" }, { a: { enum: new Array(2 ** 31) } })`, rule + `the rule for a: enum must have at most 1000 texts`},
		{`safety.check({ a: 1 }, { a: { type: "integer", minimum: "1" } })`, rule + `the rule for a: minimum must be a number`},
		{`safety.check({ a: 1 }, { a: { type: 5 } })`, rule + `the rule for a: type must be a text`},
		{`const rules = {}; for (let i = 0; i <= 1000; i++) rules["r" + i] = {}; safety.check({}, rules)`, rule + `there are more than 1000 rules`},

		// Hostile arguments: a getter throws its own, and nothing is inherited
		// by the result or set on what is behind it.
		{`safety.check({ get a() { throw new RangeError("mine") } }, { a: {} })`, `JS_ERROR/RangeError: mine`},
		{`safety.check({ a: 1 }, { a: { get type() { throw new RangeError("mine") } } })`, `JS_ERROR/RangeError: mine`},
		{`safety.check({ a: 1 }, { a: new Proxy({}, { get() { throw new RangeError("mine") } }) })`, `JS_ERROR/RangeError: mine`},
		{`return safety.check(new Proxy({}, { get: () => "7" }), { a: { type: "integer" } })`, `{"a":7}`},
		{`const o = safety.check(JSON.parse('{"__proto__":"x"}'), JSON.parse('{"__proto__":{}}')); return [Object.keys(o), Object.getPrototypeOf(o) === Object.prototype]`, `[["__proto__"],true]`},
		{`Object.prototype.toString = String.prototype.trim = () => { throw 1 }; return safety.check({ a: " 1" }, { a: { type: "integer" } })`, `{"a":1}`},
		{`const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); safety.check(proxy, { a: {} })`, `JS_ERROR/TypeError: Proxy already revoked`},
		{`safety.check({ s: "x" }, { s: { enum: ["y".repeat(1e6)] } })`, ""},
	} {
		got := outcome(run(t, tc.body, `{}`))
		if tc.want == "" { // a long text is cut in what is said of it
			if len(got) > 1000 {
				t.Errorf("%s\ngot %d bytes", tc.body, len(got))
			}
			continue
		}
		if got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}
