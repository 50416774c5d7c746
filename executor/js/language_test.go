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
		if got := needsOf(source, false).bigints; got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}
