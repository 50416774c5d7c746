package js

import (
	"strings"
	"testing"
)

// TestFunctionsInBlocks holds that a use of a function outside of the block
// that declares it is refused, and that nothing else is.
func TestFunctionsInBlocks(t *testing.T) {
	const refused = "is declared in a block and used outside of it"
	for code, want := range map[string]string{
		`if (true) { function h() { return 1 } } return h()`:                                             refused,
		`if (true) { function h() { return 1 } } return typeof h`:                                        refused,
		`return { h }; { function h() {} }`:                                                              refused,
		`var h = 1; { function h() { return 2 } } return typeof h`:                                       refused,
		`function h() { return 1 } { function h() { return 2 } } return h()`:                             refused,
		`function h() { return 1 } function g() { { function h() { return 2 } } return h() } return g()`: refused,
		`const g = () => { try { function h() {} } catch {} return () => h }; return 1`:                  refused,
		`if (true) function h() { return 1 }; return typeof h`:                                           refused,
		`switch (1) { case 1: function h() {} } h(); return 1`:                                           refused,
		`for (const x of [1]) { function h() {} } return h()`:                                            refused,
		`if (true) { function h() { return 1 } return h() }`:                                             `1`,
		`if (true) { function h() { return 1 } return (() => { { return h() } })() }`:                    `1`,
		`{ function h() { return h.name } return h() }`:                                                  `"h"`,
		`let h = 1; { function h() { return 2 } } return h`:                                              `1`,
		`function g(h) { { function h() { return 2 } } return h } return g(1)`:                           `1`,
		`{ function h() {} } return [1].map(h => h)`:                                                     `[1]`,
		`{ function h() {} } function g() { var h = 3; return h } return g()`:                            `3`,
		`{ function h() {} } for (const h of [4]) return h`:                                              `4`,
		`{ function h() {} } try { throw 5 } catch (h) { return h }`:                                     `5`,
		`{ function h() {} } { function h() { return 6 } return h() }`:                                   `6`,
		`{ let h = 7; { function h() {} } return h }`:                                                    `7`,
		`function g() { 'use strict'; { function h() {} } return typeof h } return g()`:                  `"undefined"`,
		`{ async function h() {} } return typeof h`:                                                      `"undefined"`,
		`class A { m() { { function h() {} } return typeof h } } return new A().m()`:                     `"undefined"`,
		`{ function h() {} } return { h: 8 }.h`:                                                          `8`,
		`switch (1) { case 0: function h() { return 9 } case 1: return h() }`:                            `9`,
	} {
		if got := outcome(probeCall(shared, code)); got != want && (want != refused || !strings.Contains(got, refused)) {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}

// TestFieldsThatAreNotRead has classes that the engine's parser refuses: the
// message says what to write, and that runs.
func TestFieldsThatAreNotRead(t *testing.T) {
	for code, want := range map[string]string{
		`class A { get = 1 } return 1`:   "needs quotes",
		`class A { set = 1 } return 1`:   "needs quotes",
		`class A { async = 1 } return 1`: "needs quotes",
		`class A { get } return 1`:       "needs quotes",
		`class A { "get" = 1; "set" = 2; "async" = 3 } const a = new A(); return a.get + a.set + a.async`:                   "6",
		`class B { m() {} } class A extends B { x = super.m() } return 1`:                                                   "set the field in the constructor",
		`class B { static m() {} } class A extends B { static x = super.m() } return 1`:                                     "static block",
		`class B { m() { return 4 } } class A extends B { constructor() { super(); this.x = super.m() } } return new A().x`: "4",
		`class B { static m() { return 4 } } class A extends B { static { this.x = super.m() } } return A.x`:                "4",
	} {
		if got := outcome(probeCall(shared, code)); !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}
