package js

import "testing"

// TestOperators holds the answers of node for the operators that are calls here.
// Two powers, of 557 and of 10, are the nearest; node is one step off.
func TestOperators(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`return [134217727 ** 4, Math.pow(134217727, 4), 3 ** 40, 10 ** 308, 557 ** 49, 10 ** 218]`, `[3.2451854398702028e+32,3.2451854398702028e+32,12157665459056929000,1e+308,3.5229344582797477e+134,1e+218]`},
		{`return ["3" ** 2, null ** 0, undefined ** 1, true ** 2, [3] ** [2], ({ valueOf: () => 4 }) ** 0.5, 2 ** -1074, (-8) ** (1 / 3), 2 ** "x"].map(String)`,
			`["9","1","NaN","1","9","2","5e-324","NaN","NaN"]`},
		{`const o = { x: 3, get y() { return 2 }, set y(v) { this.z = v } }; let a = 5; a **= 3; o.x **= 4; o.y **= 3; const q = [2]; q[0] **= 5; class A { #p = 3; f() { this.#p **= 2; return this.#p } static { this.s = 2; this.s **= 3 } } return [a, o.x, o.z, q, new A().f(), A.s]`,
			`[125,81,8,[32],9,8]`},
		{`const q = [557], o = { "a b": 557 }; class A { #p = 557; f() { this.#p **= 49; return this.#p } } q[0] **= 49; o["a b"] **= 49; return [q[0], o["a b"], new A().f()]`, `[3.5229344582797477e+134,3.5229344582797477e+134,3.5229344582797477e+134]`},
		{`let n = 0; const f = () => { n++; return o }, o = { x: 2 }; f().x **= 2; return [n, o.x]`, `[1,4]`},
		{`const c = 2; try { c **= 2 } catch (e) { return [c, e.name] }`, `[2,"TypeError"]`},
		{`const seen = []; const v = (k) => ({ valueOf() { seen.push(k); return 2 } }); return [v("a") ** v("b"), seen]`, `[4,["a","b"]]`},
		{`return [2 ** 3 ** 2, (-2) ** 2, -(2 ** 2), (2 ** 3) * 2, 5 - 2 ** 2, typeof (2 ** 2), !(0 ** 1)]`, `[512,4,-4,16,1,"number",true]`},
		{`return [7n ** 0n, 0n ** 0n, 2n ** 70n, (-3n) ** 3n, 1n ** (2n ** 64n), (-1n) ** (2n ** 64n), (-1n) ** (2n ** 64n + 1n), 0n ** (2n ** 70n)].map(String)`,
			`["1","1","1180591620717411303424","-27","1","1","-1","0"]`},
		{`2n ** (2n ** 64n)`, `JS_ERROR/RangeError: Maximum BigInt size exceeded`},
		{`10n ** (2n ** 40n)`, `JS_ERROR/RangeError: Maximum BigInt size exceeded`},
		{`const e = []; for (const f of [() => 2n ** 2, () => 2n ** -1n, () => Symbol() ** 2, () => Math.pow(2n, 2)]) try { f() } catch (x) { e.push(x.name) } return e`, `["TypeError","RangeError","TypeError","TypeError"]`},
		{`return [Math.pow.name, Math.pow.length, Math.pow(2, "3"), String(Math.pow()), Math.pow(2, [2])]`, `["pow",2,8,"NaN",4]`},
		{`return [5n >> 2n ** 64n, -5n >> 2n ** 65n, -5n << -(2n ** 65n), 5n << -(2n ** 65n), 1n << 3n, -7n >> 1n, 1n << -1n].map(String)`, `["0","-1","-1","0","8","-4","0"]`},
		{`let x = -1n, y = 10n; x >>= 2n ** 64n; y >>= 1n; y <<= 3n; return [String(x), String(y), 5 << 2, 1 << 33]`, `["-1","40",20,2]`},
		{`1n << 2n ** 64n`, `JS_ERROR/RangeError: Maximum BigInt size exceeded`},
		{`1n << 2n ** 40n`, `JS_ERROR/RangeError: Maximum BigInt size exceeded`},
		{`1n >> -(2n ** 64n)`, `JS_ERROR/RangeError: Maximum BigInt size exceeded`},
		{`let x = 1n; x <<= 2n ** 64n`, `JS_ERROR/RangeError: Maximum BigInt size exceeded`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}
