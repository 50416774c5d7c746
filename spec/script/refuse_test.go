package script

import "testing"

// TestAwaitedPowers tells an await in parentheses from one without, which may
// not stand in front of **.
func TestAwaitedPowers(t *testing.T) {
	for code, column := range map[string]int{
		"return await 2 ** 2": 8, "return f(await f(2) ** 2)": 10, `return await f[a ** b](")") ** 2`: 8, "return `${await 2 ** 2}`": 11, "return await (2) ** 2": 8,
		"return (await 2) ** 2": 0, "return await (2 ** 2)": 0, "return ((await 2)) ** 2": 0, "return (await (2)) /* ** */ ** 2": 0, "return 2 ** await 3": 0,
		"return (2 + await 1) ** 2": 0, "return [await 2][0] ** 2": 0, "return `${(await 2) ** 2}`": 0,
	} {
		found := Check(code)
		if column == 0 && len(found) > 0 || column > 0 && (len(found) != 1 || found[0].Column != column || found[0].Reason != "code-syntax") {
			t.Errorf("%s: %v, want one at column %d", code, found, column)
		}
	}
}
