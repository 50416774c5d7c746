package js

import "testing"

// TestCorrections holds the answers of a reference engine where ours would
// give others without a word.
func TestCorrections(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`return [2n**64n+1n, 2n**63n, 10n**20n, -(2n**70n), Object(2n**64n), {valueOf() { return 7n }}].map(Number)`,
			`[18446744073709552000,9223372036854776000,100000000000000000000,-1.1805916207174113e+21,18446744073709552000,7]`},
		{`return [String(Number(2n ** 1024n)), new Number(5n) + 0, Number("12"), Number(), String(Number(undefined)), Number([5]), (5).constructor === Number, 5 instanceof Number, new Number(3n) instanceof Number, Number.name, Number.length, Number.isInteger(2), new (class X extends Number { y() { return this + 1 } })(4n).y()]`,
			`["Infinity",5,12,0,"NaN",5,true,false,true,"Number",1,true,5]`},
		{`Number({ a: 1n, valueOf() { return {} }, toString() { return {} } })`, "JS_ERROR/TypeError: Cannot convert object to primitive value"},
		{`return [BigInt.asUintN(64, -1n), BigInt.asIntN(2 ** 40, -5n), BigInt.asUintN(2 ** 53 - 1, 5n), BigInt.asIntN(8, 255n)].map(String)`, `["18446744073709551615","-5","5","-1"]`},
		{`BigInt.asUintN(2 ** 53 - 1, -1n)`, "JS_ERROR/RangeError: asUintN: the number would be too large"},
		{`const q = [4, 3, 2, 1]; q.sort((a, b) => { while (q.length > 2) q.shift(); return a - b }); return q`, `[1,2,3,4]`},
		{`const q = [4, 3, 2, 1]; q.sort((a, b) => { q.length = 0; return a - b }); return q`, `[1,2,3,4]`},
		{`return [[3, , 1].sort((a, b) => a - b), 2 in [3, , 1].sort((a, b) => a - b), [3, undefined, 1].sort((a, b) => a - b), [5, 25, 100].sort(), [].sort.length, [].sort.name]`,
			`[[1,3,null],false,[1,3,null],[100,25,5],1,"sort"]`},
		{`return Array.prototype.sort.call({ length: 2, 0: "b", 1: "a" }, (a, b) => a < b ? -1 : 1)`, `{"0":"a","1":"b","length":2}`},
		{`const seen = [], p = new Proxy([3, , 1], { has(t, k) { seen.push("has " + String(k)); return k in t }, get(t, k) { return t[k] } }); p.sort((a, b) => a - b); return [seen, [0, 1, 2].map(i => i in p ? p[i] : "hole")]`,
			`[["has 0","has 1","has 2","has 0","has 1","has 2"],[1,3,"hole"]]`},
		{`const a = [3, 1]; Object.defineProperty(a, 0, { get() { return 3 }, set(v) { this.was = v } }); a.sort((x, y) => x - y); return [a.was, a[1]]`, `[1,3]`},
		{`const a = Object.freeze([2, 1]); try { a.sort((x, y) => x - y) } catch (e) { return [a, e instanceof TypeError] }`, `[[2,1],true]`},
		{`const a = [2, 1]; try { a.sort(() => { throw new Error("no") }) } catch (e) { return [a, e.message] }`, `[[2,1],"no"]`},
		{`let n = 0; new Proxy([2, 1], { get(t, k) { if (k === "length") n++; return t[k] } }).sort((a, b) => a - b); return n`, `1`},
		{`[1].sort(5)`, "JS_ERROR/TypeError: The comparison function must be either a function or undefined"},
		{`return [Date.UTC(12345, 0), Date.UTC(-1, 0), 0].map(n => new Date(n)).map(d => [d.toISOString(), JSON.stringify(d), new Date(d.toISOString()).getTime() === d.getTime()])`,
			`[["+012345-01-01T00:00:00.000Z","\"+012345-01-01T00:00:00.000Z\"",true],["-000001-01-01T00:00:00.000Z","\"-000001-01-01T00:00:00.000Z\"",true],["1970-01-01T00:00:00.000Z","\"1970-01-01T00:00:00.000Z\"",true]]`},
		{`new Date(NaN).toISOString()`, "JS_ERROR/RangeError: Invalid time value"},
		{`return ["I".toLocaleLowerCase("tr"), "i".toLocaleUpperCase("tr-TR"), "I".toLocaleLowerCase(), "ABC".toLocaleLowerCase("en"), "I".toLocaleLowerCase(["de"]), "İ".toLocaleLowerCase("tr").length]`, `["ı","İ","i","abc","i",1]`},
		{`"a".toLocaleLowerCase("x_y")`, "JS_ERROR/RangeError: Incorrect locale information provided"},
		{`return [typeof GoError, new Intl.NumberFormat("en").format(null), new Intl.NumberFormat("en").formatToParts(null).length]`, `["undefined","0",1]`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

// TestBigLiterals holds that words do not pass for numbers, which would cost
// their programs the class Number of the engine.
func TestBigLiterals(t *testing.T) {
	for source, want := range map[string]bool{
		"1n": true, "x+10_000n": true, "0xffn": true, "0B11n": true, "0o17n": true,
		"seen.has(fn)": false, "mean": false, "a1n": false, "return an": false, "1 n": false, "1nd": false,
	} {
		if got := needsOf(source, false, false).bigints; got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}

// Helpers of iterators are there wherever a program can hold an iterator.
func TestIteratorHelpersWhereHeld(t *testing.T) {
	for source, want := range map[string]bool{
		`return [...new Map().values()].map(x => x)`:                           false,
		`for (const [k] of new Map().entries()) k; return [].map(x => x)`:      false,
		`return Object.values({}).map(x => x)`:                                 false,
		`return f(...new Set().keys()).map(x => x)`:                            false,
		`return new Set().values().map(x => x)`:                                true,
		"return new Set().values\n ().map(x => x)":                             true,
		`const v = new Set().values(); return [...new Set().keys(), v.map(f)]`: true,
		`const { values } = Array.prototype; return [][Symbol.iterator].map()`: true,
		`function* g() { yield 1 } return g().map(x => x)`:                     true,
		`for (const x of f(new Set().values())) x.map()`:                       true,
	} {
		p, failure := compileBody("t.js", source, nil, false)
		if failure != nil {
			t.Fatal(failure)
		}
		if got := len(p.needs.helpers) > 0; got != want {
			t.Errorf("%s: helpers %v, want %v", source, got, want)
		}
	}
}
