package js

import "testing"

// TestHalvesOfPairs holds the answers of node for patterns with characters beyond U+FFFF.
func TestHalvesOfPairs(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`return "x B😀 B😀".match(/\w😀/g)`,
			`["B😀","B😀"]`},
		{`return "x B😀 B😀".replace(/\w😀/g, "-")`,
			`"x - -"`},
		{`return "x B😀 B😀".split(/\w😀/)`,
			`["x "," ",""]`},
		{`return [..."x B😀 B😀".matchAll(/\w😀/g)].map(m => m.index)`,
			`[2,6]`},
		{`const r = /\w😀/g; const o = []; let m; while (m = r.exec("x B😀 B😀")) o.push(m.index); return o`,
			`[2,6]`},
		{`const r = /\w😀/y; r.lastIndex = 2; return r.exec("x B😀 B😀")`,
			`["B😀"]`},
		{`return "x B😀 B😀".match(/B😀z?/gi)`,
			`["B😀","B😀"]`},
		{`return "x B😀 B😀".search(/\w😀/)`,
			`2`},
		{`const r = /\w\ud83dz/u; return r.exec("xB\ud83dz")?.index`,
			`1`},
		{`const r = /\w😀(?!x)/u; return r.exec("x B😀")`,
			`["B😀"]`},
		{`const r = /B😀(?!x)/iu; return r.exec("x b😀")`,
			`["b😀"]`},
		{`return [/B😀z(?!b)/i.exec(" B😀z"), /\w😀(?!b)/.exec(" B😀"), /x(?:B😀|c)(?!b)/.exec(" xB😀b")?.index]`,
			`[["B😀z"],["B😀"],null]`},
		{`return [/\w\ud83dz(?!b)/, /\w[\ud83d]z(?!b)/, /\ud83dz/].map(r => r.exec(" B\ud83dz")?.index)`,
			`[1,1,2]`},
		{`return ["😀\ude00", "😀😀", "😀"].map(s => /^😀+$/.test(s) + "," + /^😀+$/u.test(s) + "," + /^(?:😀)+$/.test(s))`,
			`["true,false,false","false,true,true","true,true,true"]`},
		{`return [/a|[^😀](b)/u.exec("aB"), /[a-c]a*(?:\b(?!\w)[^\s]|\w[a-c][ab]{2})|[^😀]$/u.exec("😀c-a"), /[^.]x|[^😀]/u.exec("a")]`,
			`[["a",null],["c-"],["a"]]`},
		{`return [/\bé|😀/s.exec("\nb é-1"), /\S.A|(?:\b😀)/m.exec("\n Bé😀b1"), /\b😀/.exec("a😀")?.index]`,
			`[null,null,1]`},
		{`return [/\w😀/.source, String(/[😀]\b/g), /\u{1F600}x/u.exec("😀x")?.[0], "a😀b😀".replace(/😀/g, "-"), "a👍🏽b".split(/👍🏽/)]`,
			`["\\w😀","/[😀]\\b/g","😀x","a-b-",["a","b"]]`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}
