package js

import (
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/mask"
)

// TestConsoleLooksAtWhatFits counts what a line of the console asks the program
// for: no more than the line can hold, however much is handed over.
func TestConsoleLooksAtWhatFits(t *testing.T) {
	const count = `let n = 0; const o = { toJSON() { n++; return "x".repeat(1000) } }, f = { toJSON() { n++ } }; `
	for _, tc := range []struct{ name, body, want string }{
		{"many arguments", count + `console.log(...Array(20000).fill(o)); return n`, `9`},
		{"every method", count + `for (const m of ["log", "info", "warn", "error", "debug"]) console[m](...Array(100).fill(o)); return n`, `45`},
		{"a long list", count + `console.log(Array(20000).fill(o)); return n`, `9`},
		{"a list in a list", count + `console.log(Array(200).fill(Array(200).fill(o))); return n`, `9`},
		{"many members", count + `const a = {}; for (let i = 0; i < 20000; i++) a["k" + i] = o; console.log(a); return n`, `9`},
		{"members that are left out", count + `const a = {}; for (let i = 0; i < 20000; i++) a["k" + i] = f; console.log(a); return n`, `4096`},
		{"members of members", count + `const a = {}; for (let i = 0; i < 99; i++) a[i] = f; const b = {}; for (let i = 0; i < 99; i++) b[i] = a; console.log(b); return n < 4097`, `true`},
		{"getters", `let n = 0; const a = {}; for (let i = 0; i < 20000; i++) Object.defineProperty(a, "k" + i, { enumerable: true, get() { n++ } }); console.log(a); return n`, `4096`},
		{"nothing at all once the lines are full", `for (let i = 0; i < 100; i++) console.log(i); ` + count + `console.log(o); return n`, `0`},
		{"a replaced hasOwnProperty", `let n = 0; Object.prototype.hasOwnProperty = () => { n++; return true }; console.log({ a: 1 }); return n`, `0`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestConsoleCutsEarly holds that the part of a large value that is shown ends
// with the mark of a cut, and that short values are shown as they are.
func TestConsoleCutsEarly(t *testing.T) {
	rep := run(t, `const long = "\u00e9".repeat(20000); class P { p() {} } P.prototype.q = 1; const c = new P(); c.own = 2;
		console.log(long); console.log([long]); console.log({ [long]: 1 }); console.log(new Error(long)); console.log("\ud83d\ude00".repeat(20000));
		console.log({ a: 1, b: [{ c: "d" }], [Symbol()]: 1, e: undefined }); console.log(c); console.log({ 2: "b", 1: "a", z: 0 }); return 1`, `{}`)
	if rep.Failure != nil || len(rep.Logs) != 8 {
		t.Fatal(outcome(rep), len(rep.Logs))
	}
	for i, l := range rep.Logs[:5] {
		if !strings.HasSuffix(l.Text, mask.CutMark) || len(l.Text) < defaultLogBytes-8 || len(l.Text) > defaultLogBytes+len(mask.CutMark) {
			t.Errorf("line %d has %d bytes and ends with %q", i, len(l.Text), l.Text[max(0, len(l.Text)-8):])
		}
	}
	for i, want := range []string{`{"a":1,"b":[{"c":"d"}]}`, `{"own":2}`, `{"1":"a","2":"b","z":0}`} {
		if got := rep.Logs[5+i].Text; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	vm := goja.New()
	if v := beginning(vm.ToValue(strings.Repeat("é", 1<<20)), 100).String(); len(v) != 2*116 {
		t.Errorf("%d bytes of a long text are converted", len(v))
	}
}
