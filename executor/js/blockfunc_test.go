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
