package js

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// argumentsLayouts are functions that name arguments inside arrows alone, in
// every kind of function, with other variables on the stack and off it.
func argumentsLayouts() (list []string) {
	heads := []string{"", "a", "a, b", "a, b, c", "a = 'd'", "a, {b} = {}", "[a] = [1], c", "a, ...rest", "a, b = () => a"}
	locals := []string{"", "let x = 'X';", "var x = 'X', y = 'Y'; const z = () => x;", "let x = 1; { let w = 2; x += w }", "try { null.x } catch (e) { var q = e }", "'use strict'; let s = 's';"}
	reads := []string{"(() => arguments)()", "(() => () => arguments)()()", "((v = arguments) => v)()", "(() => { let k = 3; return arguments })()",
		"((p, q) => { const f = () => arguments; return f() })(8, 9)", "(() => ({ arguments }))().arguments", "(() => (() => [arguments, typeof arguments])()[0])()"}
	kinds := []string{"function f(%s) { %s }; return f", "const f = async function(%s) { %s }; return f", "const f = { m(%s) { %s } }.m; return f",
		"class A { constructor(%s) { %s } }; return (...v) => new A(...v)", "class A { static m(%s) { %s } }; return A.m", "function* g(%s) { %s }; return (...v) => g(...v).next().value"}
	for _, k := range kinds {
		for _, h := range heads {
			for _, l := range locals {
				if strings.Contains(l, "use strict") && strings.ContainsAny(h, "={[.") {
					continue
				}
				for _, r := range reads {
					list = append(list, fmt.Sprintf(k, h, l+" return "+r))
				}
			}
		}
	}
	return list
}

// TestArgumentsInArrows holds that an arrow sees the arguments of the call
// around it, and nothing else, wherever the variables of the function lie.
func TestArgumentsInArrows(t *testing.T) {
	const call = "const f = await (async () => { %s })(); const out = []; for (const list of [[], ['A'], [[5], {b: 1}, 'C', 4]]) { const v = await f(...list);" +
		" out.push(Object.prototype.toString.call(v) === '[object Arguments]' && v.length === list.length && list.every((x, i) => v[i] === x)) } return out.join()"
	layouts := argumentsLayouts()
	for i := 0; i < len(layouts); i += 7 {
		var b strings.Builder
		part := layouts[i:min(i+7, len(layouts))]
		b.WriteString("const all = [];\n")
		for _, l := range part {
			fmt.Fprintf(&b, "all.push(await (async () => { %s })());\n", fmt.Sprintf(call, l))
		}
		b.WriteString("return all.join(' ')")
		want := strings.TrimSpace(strings.Repeat("true,true,true ", len(part)))
		if got := outcome(probeCall(shared, b.String())); got != `"`+want+`"` {
			t.Errorf("%s\n%s", strings.Join(part, "\n"), got)
		}
	}
}

// TestArgumentsElsewhere has the scopes in which the name means something
// else, and what cannot be mended.
func TestArgumentsElsewhere(t *testing.T) {
	const written = "arguments cannot be assigned to"
	for code, want := range map[string]string{
		`function deb(fn) { return function () { return (() => fn.apply(null, arguments))() } } return deb((a, b) => a + b)(1, 2)`: `3`,
		`function f(a = () => arguments) { let arguments = 1; return [a()[1], arguments] } return f(undefined, 7)`:                 `[7,1]`,
		`function f(a) { const g = () => { arguments[0] = 'new' }; g(); return a } return f(1)`:                                    `"new"`,
		`function f(a) { 'use strict'; const g = () => { arguments[0] = 'new' }; g(); return a } return f(1)`:                      `1`,
		`function f(a) { a = 2; return (() => arguments[0])() } return f(1)`:                                                       `2`,
		`const f = arguments => arguments + 1; return f(1)`:                                                                        `2`,
		`function f() { return (() => { const arguments = 4; return (() => arguments)() })() } return f(1)`:                        `4`,
		`function f() { return (() => typeof arguments + arguments.length)() } return f(1, 2)`:                                     `"object2"`,
		`function f() { if (false) { (() => arguments)() } return 1 } return f()`:                                                  `1`,
		`function f() { return (() => arguments[0])() + arguments[1] } return f(1, 2)`:                                             `3`,
		`return [arguments.length, (() => arguments.length)(), (() => typeof arguments[0])()]`:                                     `[0,0,"undefined"]`,
		`async function* g() { for await (const x of [(() => arguments[0])()]) yield x } for await (const x of g(6)) return x`:     `6`,
		`class A { static { this.v = (function () { return (() => arguments[0])() })(3) } } return A.v`:                            `3`,
		"return 1;\nfunction f() { (() => { arguments = 5 })() }":                                                                  written,
		`function f() { (() => { [arguments] = [5] })() } return 1`:                                                                written,
		`function f() { (() => { ({ arguments } = {}) })() } return 1`:                                                             written,
		`function f() { (() => { ({ a: arguments = 1, ...b } = {}) })() } return 1`:                                                written,
		`function f() { (() => { for (arguments of []); })() } return 1`:                                                           written,
		`function f() { (() => arguments++)() } return 1`:                                                                          written,
		`function f() { (() => delete arguments)() } return 1`:                                                                     written,
	} {
		if got := outcome(probeCall(shared, code)); got != want && (want != written || !strings.Contains(got, written)) {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}

// TestOperatorsGroupAsInNode compares expressions with node, which need not be
// there; the rows without it are in TestRelationalChains.
func TestOperatorsGroupAsInNode(t *testing.T) {
	if testing.Short() {
		t.Skip("runs 4,000 expressions, one after the other")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	seed := uint32(7)
	pick := func(n int) int { seed = seed*1664525 + 1013904223; return int(seed>>8) % n }
	ops := []string{"<", ">", "<=", ">=", "<", ">", "==", "!=", "===", "!==", "+", "-", "*", "/", "%", "<<", ">>", ">>>", "&", "|", "^", "&&", "||", "in O ==", "**"}
	var expr func(depth int) string
	expr = func(depth int) string {
		var b strings.Builder
		for i := range 2 + pick(4) {
			if i > 0 {
				b.WriteString([]string{" ", " /* ) ( */ "}[pick(2)] + ops[pick(len(ops))] + " ")
			}
			switch {
			case depth > 0 && pick(4) == 0:
				b.WriteString("(" + expr(depth-1) + ")")
			case depth > 0 && pick(12) == 0:
				b.WriteString("(" + expr(depth-1) + " ? " + expr(depth-1) + " : " + expr(depth-1) + ")")
			case depth > 0 && pick(14) == 0:
				b.WriteString("((" + expr(depth-1) + ") ?? 3)")
			default:
				b.WriteString([]string{"0", "1", "2", "3", "7", "x", "(y)", "O.v", "`${(x)}`", "F(2)", "/[(]/.lastIndex", "(-x)", "O?.v", "(0, 4)", "[5][0]"}[pick(15)])
			}
		}
		return b.String()
	}
	var list []string
	for range 4000 {
		list = append(list, expr(2))
	}
	const head = "const x = 2, y = 5, O = { v: 1, true: 1, 1: 1 }, F = n => n + 1; const out = []; "
	var all []string
	for i := 0; i < len(list); i += 100 {
		var b strings.Builder
		b.WriteString(head)
		for _, e := range list[i : i+100] {
			b.WriteString("out.push(String(" + e + "));\n")
		}
		b.WriteString("return out")
		all = append(all, b.String())
	}
	for _, code := range all {
		cmd := exec.Command(node, "-e", "(async () => {"+code+"\n})().then(v => console.log(JSON.stringify(v)))")
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		lowered := code + "\nasync function* unused() {}"
		for _, c := range []string{code, lowered} {
			if got := outcome(probeCall(shared, c)); got != strings.TrimSpace(string(want)) {
				t.Errorf("%s\n got %s\nwant %s", c, got, want)
			}
		}
	}
}

func TestRelationalChains(t *testing.T) {
	for code, want := range map[string]string{
		`const x = 15; return [0 < x < 10, 1 < 2 < 3, 3 > 2 > 1, (5 > 3) > 1, 5 > (3 > 1), 1 < 2 < (3 < 4) < 5]`:                                 `[true,true,false,false,true,true]`,
		`return ["a" in { a: 1 } in { true: 1 }, [] instanceof Array instanceof Object, 1 < (2) < (1)]`:                                          `[true,false,false]`,
		"return [/\\(/.test('(') < 3 < `${(1)}(`, ((1) < (2)) < ((3)), 1 < String.raw`2` < 3, 3 > /* ( */ 2 // (\n > 1]":                         `[false,true,true,false]`,
		`let a = 3, i = 1; return [a-- > 2 > 0, -a < +i < !i, typeof a < "z" < 5, 1 <2<3>2, a < (i, 9) < 2, 1 < [2].map(v => v < 3 < 4)[0] < 2]`: `[true,false,true,false,true,true]`,
		`async function* g() {} return [(5 > 3) > 1, 5 > (3 > 1), 3 > 2 > 1]`:                                                                    `[false,true,false]`,
	} {
		if got := outcome(probeCall(shared, code)); got != want {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}
