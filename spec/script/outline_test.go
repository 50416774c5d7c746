package script

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	tests := map[string]struct {
		code string
		want Outline
	}{
		"nothing":        {"return 1 // 'comment'", Outline{}},
		"does not parse": {"return +*", Outline{}},
		"strings": {"const a = 'x';\nreturn a + `y${a}z`", Outline{
			Strings: []Piece{{"x", 1, 11}, {"y", 2, 13}, {"z", 2, 18}},
			Named:   []Named{{"a", "x", 1, 11}},
		}},
		"foreign names": {"let größe = 1; /* größe */\nreturn größe.länge", Outline{Foreign: []Piece{{"größe", 1, 5}, {"länge", 2, 16}, {"größe", 2, 8}}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Read(tt.code)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// texts are those of pieces, in their order.
func texts(pieces []Piece) []string {
	var out []string
	for _, p := range pieces {
		out = append(out, p.Text)
	}
	return out
}

func TestReadForeignNames(t *testing.T) {
	for code, want := range map[string][]string{
		"return {größe: 1}":                          {"größe"},
		"return {'größe': 1, \"maß\": 2}":            {"größe", "maß"},
		"return {größe() { }, get maß() { }}":        {"größe", "maß"},
		"const {größe} = args":                       {"größe"},
		"const {a: größe} = args":                    {"größe"},
		"const {größe: a} = args":                    {"größe"},
		"const {größe = 1, ...maß} = args":           {"größe", "maß"},
		"außen: for (const x of []) break außen":     {"außen"},
		"class A { größe = 1; #maß = 2; länge() {}}": {"größe", "maß", "länge"},
		"function größe(maß) { }":                    {"größe", "maß"},
		"return ((...maß) => 1)":                     {"maß"},
		"return ['größe', `maß`, {a: 'größe'}]":      nil,
		"return {['größe']: 1} // größe":             nil, // a value: computed
		"return {grosse: /größe/}":                   nil,
	} {
		if diff := cmp.Diff(want, texts(Read(code).Foreign)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", code, diff)
		}
	}
}

func TestReadEndlessLoops(t *testing.T) {
	for code, want := range map[string][]string{
		"while (true) { console.log(1) }":           {"while"},
		"for (;;) ;\ndo { } while (1)":              {"for", "do"},
		"do { } while (!0)":                         {"do"},
		"while (!!1) { }":                           {"while"},
		"while ('x') { }":                           {"while"},
		"while ([]) { }":                            {"while"},
		"while (true || args.a) { }":                {"while"},
		"while (true) { continue }":                 {"while"},
		"let x; while (x = 1) { }":                  {"while"},
		"let i = 0; while (i < 10) { }":             {"while"},
		"let i = 0, j = 0; while (i < 10) { j++ }":  {"while"},
		"let i = 0; do { let x = i } while (i < 9)": {"do"},
		"for (let i = 0; i < 3;) { }":               {"for"},
		"let a = {n: 0}; while (a.n < 3) { }":       {"while"},
		"for (let i = 0; i >= 0; i++) { g(i) }":     {"for"},
		"for (let i = 5; i < 10; i--) { }":          {"for"},

		"for (;;) { if (a) break }":                           nil,
		"while (1) { return 2 }\nwhile (true) { throw a }":    nil,
		"function* g() { while (true) { yield 1 } }":          nil,
		"for (let i = 0; i < 3; i++) ;":                       nil,
		"while (0) { }\nwhile (false) { }\ndo { } while (!1)": nil,
		"let i = 0; while (i < 10) { i++ }":                   nil,
		"let i = 0; while (i++ < 10) { }":                     nil,
		"let i = 0; while (i < 10) { i = next() }":            nil,
		"let i = 0; while (i < 10) { step() }":                nil,
		"let m; while (m = /a/g.exec('a')) { }":               nil,
		"let n = args.n; while (n = n.next) { }":              nil,
		"let a = {n: 0}; while (a.n < 3) { a.n++ }":           nil,
		"let a = [1]; while (a.length) { a.pop() }":           nil,
		"let a = 1; while (a) { [a] = [0] }":                  nil,
		"let a = 1, o = {}; while (a) { ({a} = o) }":          nil,
		"let a; while (!a) { for (a in {x: 1}) ; }":           nil,
		"let done = false; while (!done) { await null }":      nil,
		"for (let i = 9; i >= 0; i--) { }":                    nil,
		"for (let i = 0; i > 5; i++) { }":                     nil,
		"for (let i = 0; i >= 0; i++) { if (i > 3) break }":   nil,
		"for (let i = 0; i >= 0; i++) { i = f(i) }":           nil,
	} {
		if diff := cmp.Diff(want, texts(Read(code).EndlessLoops)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", code, diff)
		}
	}
}

func TestReadMissing(t *testing.T) {
	for code, want := range map[string][]string{
		"const fs = require('fs')":                   {"require"},
		"setInterval(() => 1, 5)":                    {"setInterval"},
		"return process.env.HOME":                    {"process"},
		"return Buffer.from('a')\nBuffer.from('b')":  {"Buffer"},
		"new XMLHttpRequest(); new Worker('x')":      {"XMLHttpRequest", "Worker"},
		"localStorage.setItem('a', 'b')":             {"localStorage"},
		"return {process}":                           {"process"},
		"return `${window}`":                         {"window"},
		"module.exports = 1":                         {"module"},
		"class A extends Emitter { x = y; [z] = 1 }": {"Emitter", "y", "z"},
		"n += 1":            {"n"},
		"return missing?.a": {"missing"},
		"try { require('fs') } catch (e) { return e }":       {"require"},
		"function f() { const process = 1 }\nreturn process": nil, // scopes are not told apart
		"return typeof process === 'object' && process.env":  nil,
		"if (globalThis.process) return process.env":         nil,
		"globalThis.helper = () => 1; return helper()":       nil,
		"Object.assign(globalThis, {helper: 1}); helper":     nil,
		"n = 1; return n": nil,
		"for (k in {}) ; for (v of []) ; return [k, v]":                              nil,
		"const {a, b: {c = 1}, ...d} = args; return [a, c, d]":                       nil,
		"const f = (x, {y}, [z], ...rest) => [x, y, z, rest]":                        nil,
		"function f(...rest) { return [arguments, rest, f] }":                        nil,
		"try { } catch ({message}) { return message }":                               nil,
		"const A = class B { m() { return B } }; return A":                           nil,
		"out: for (;;) { break out }":                                                nil,
		"return {require: 1}.require":                                                nil,
		"class A { static #x = 1; has(o) { return #x in o } }":                       nil,
		"let a, b; [a, b] = [1, 2]; ({a, x: b} = {})":                                nil,
		"async function* g() { yield 1 }\nfor await (const x of g()) return x":       nil,
		"return [undefined, NaN, Infinity, args, fetch, safety.fs, new WeakRef({})]": nil,
	} {
		if diff := cmp.Diff(want, texts(Read(code).Missing)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", code, diff)
		}
	}
}

func TestReadNamed(t *testing.T) {
	for code, want := range map[string][]Named{
		"const password = 'v'":                            {{"password", "v", 1, 18}},
		"let key = `v`":                                   {{"key", "v", 1, 12}},
		"return {password: 'v'}":                          {{"password", "v", 1, 19}},
		"return {headers: {'X-Api-Key': 'v'}}":            {{"X-Api-Key", "v", 1, 32}},
		"args.token = 'v'":                                {{"token", "v", 1, 14}},
		"args['token'] = 'v'":                             {{"token", "v", 1, 17}},
		"const key = args.key || 'v'":                     {{"key", "v", 1, 25}},
		"const key = args.a ? args.b : 'v'":               {{"key", "v", 1, 31}},
		"const key = 'a' + 'b'":                           {{"key", "ab", 1, 13}},
		"const {key = 'v'} = args":                        {{"key", "v", 1, 14}},
		"function f(key = 'v') { }":                       {{"key", "v", 1, 18}},
		"class A { key = 'v'; static #pin = 'w' }":        {{"key", "v", 1, 17}, {"pin", "w", 1, 36}},
		"headers.set('X-Api-Key', 'v')":                   {{"X-Api-Key", "v", 1, 26}},
		"new URLSearchParams([['key', 'v']])":             {{"key", "v", 1, 30}},
		"if (args.password !== 'v') return":               {{"password", "v", 1, 23}},
		"const key = `v${args.a}`; f('key', 'v')":         nil,
		"const key = args.key; return {key}; // key: 'v'": nil,
	} {
		if diff := cmp.Diff(want, Read(code).Named); diff != "" {
			t.Errorf("%s (-want +got):\n%s", code, diff)
		}
	}
}

// FuzzRead: whatever the code is, reading it ends, and each place is in it.
func FuzzRead(f *testing.F) {
	for _, code := range []string{
		"const {a = 'x', ...b} = args; return [a, b, c]", "class A { static #p = 'v'; ['k'] = 1; get x() { return this.#p } }",
		"for (let i = 0; i >= 0; i++) { }", "x: while (a = b) { continue x }", "headers.set('k', `v`); k === 'a' + 'b'",
		"async function* g() { yield* g() }", "try { } catch { } finally { }", "({a: [b] = [], c} = d)", "f`x${1}`; new.target; a?.b?.['c']",
	} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		out := Read(code)
		for _, list := range [][]Piece{out.Strings, out.Foreign, out.Missing, out.EndlessLoops} {
			for _, p := range list {
				if p.Line < 1 || p.Column < 1 || p.Line > strings.Count(code, "\n")+strings.Count(code, "\r")+strings.Count(code, "\u2028")+strings.Count(code, "\u2029")+1 {
					t.Errorf("%q: no such place: %+v", code, p)
				}
			}
		}
	})
}
