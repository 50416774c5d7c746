package script

import (
	"strings"
	"testing"
	"unicode"
)

func TestPattern(t *testing.T) {
	for _, tt := range []struct{ source, flags, want string }{
		{`a.b\d[a-z]`, "s", `a.b\d[a-z]`},
		{`a.b\d[a-z]`, "", `a[^\n\r\u2028\u2029]b\d[a-z]`},
		{`\p{ASCII}`, "u", `[\x00-\x7F]`},
		{`[\p{ASCII}x]`, "u", `[\x00-\x7Fx]`},
		{`\P{Any}`, "u", `[^\u{0}-\u{10FFFF}]`},
		{`\p{L}`, "", `p{L}`},
		{`\\p{L}`, "u", `\\p{L}`},
		{`\A[\A]\z`, "", `A[A]z`},
		{`[a-z-[b]]`, "", `[a-z-\[b]]`},
		{`[]a]`, "", `[]a]`},
		{`[a-e--[c]]`, "v", `[a-bd-e]`},
		{`[[a-e]&&[c-g]]`, "v", `[c-e]`},
		{`[^a]`, "v", `[\x00-` + "`b-\U0010FFFF]"},
		{`[\x41\u0042\u{43}\n]`, "v", `[\x0AA-C]`},
		{`^a$`, "m", `(?<![^\n\r\u2028\u2029])a(?![^\n\r\u2028\u2029])`},
		{`(a*)*(b*)?`, "", `(a+)*(b+)?`},
		{`(?:a*b*)?(?:a??)*`, "", `(?:a*b*)?(?:a)*`},
		{`(?:\.(\w+))*(\w+\s?)+`, "", `(?:\.(\w+))*(\w+\s?)+`},
		{`err: \d`, "i", `err: \d`},
		{`ks\u212a`, "i", `(?:)[Kk][Ss]\u212a`},
		{`[^a-c]k`, "i", `(?:)[^A-Ca-c][Kk]`},
		{`\bx\S`, "g", `(?!(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))x\S`},
		{`\bx\S`, "", `(?:\b)x\S`},
		{`ax|[^b]`, "", `ax|[\u0000-\u0061\u0063-\uFFFF]`},
		{`(["'])k\1`, "i", `(?:)([\x22\x27])[Kk]\1`},
		{`(?<a>x)(?:y)(?=z)(?!z)(?<=z)(?<!z)`, "", `(?<a>x)(?:y)(?=z)(?!z)(?<=z)(?<!z)`},
	} {
		got, msg := Pattern(tt.source, tt.flags)
		if tt.source == `[^a]` {
			got = strings.Replace(got, `\x60`, "`", 1)
		}
		if msg != "" || got != tt.want {
			t.Errorf("/%s/%s: %q %s, want %q", tt.source, tt.flags, got, msg, tt.want)
		}
	}
	for _, tt := range []struct{ source, flags string }{
		{`\p{Foo}`, "u"}, {`\p`, "u"}, {`\pL`, "u"}, {`\p{`, "u"}, {`\p{Script=L}`, "u"}, {`\p{gc=Hangul}`, "u"}, {`\p{XID_Start}`, "u"},
		{`\p{Changes_When_Lowercased}`, "u"}, {`\p{l}`, "u"}, {`\p{Other_Alphabetic}`, "u"}, {`[\p{L}-z]`, "u"}, {`\a`, "u"}, {`a\`, ""},
		{`(?:(a)|b)*`, ""}, {`(?:(\d+)(-)?)+`, ""}, {`(?:\1(a))+`, ""}, {`(\w)\1`, "i"}, {`(a*)+`, ""}, {`(?:(?=([^a])x)|(b))??`, ""},
		{`(?=.*(c))(a)`, ""}, {`(a)(?<=(b))`, ""}, {`(?<a>x)|(?<a>y)`, ""}, {`^*`, ""}, {`(a`, ""}, {`a)`, ""},
		{`(?i)a`, ""}, {`(?>a)`, ""}, {`(?#a)`, ""}, {`(?<>a)`, ""}, {`(?<1>a)`, ""}, {`(?<a-b>c)`, ""}, {`(?'a'b)`, ""},
		{`[a&&b--c]`, "v"}, {`[a(b]`, "v"}, {`[a--b]`, "iv"}, {`[^a]`, "iv"}, {`\P{L}`, "iv"}, {`[`, "v"}, {`[z-a]`, "v"}, {`[!!]`, "v"}, {`\p{RGI_Emoji}`, "v"}, {`a`, "uv"},
	} {
		if got, msg := Pattern(tt.source, tt.flags); msg == "" {
			t.Errorf("/%s/%s became %q without an error", tt.source, tt.flags, got)
		}
	}
}

// TestSets compares the sets with Go's own tables, code point by code point.
func TestSets(t *testing.T) {
	in := func(s set, c rune) bool {
		for _, r := range s {
			if c >= r[0] && c <= r[1] {
				return true
			}
		}
		return false
	}
	for name, table := range map[string]*unicode.RangeTable{"L": unicode.L, "Letter": unicode.L, "Lu": unicode.Lu, "gc=Nd": unicode.Nd,
		"Script=Hangul": unicode.Hangul, "sc=Grek": unicode.Greek, "Script=Zyyy": unicode.Common, "White_Space": unicode.White_Space, "Hex": unicode.Hex_Digit} {
		s, ok := property(name)
		if !ok {
			t.Errorf("%s is not known", name)
		}
		not := s.complement()
		for c := rune(0); c <= 0x1FFFF; c += 1 + c%3 {
			if want := unicode.Is(table, c); in(s, c) != want || in(not, c) == want {
				t.Fatalf("%s: U+%04X is %v", name, c, !want)
			}
		}
	}
	for name := range unicode.Scripts {
		if _, ok := property("Script_Extensions=" + name); !ok {
			t.Errorf("Script_Extensions=%s is not known", name)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{`\p{L}`, `[\p{L}--[a-z]]`, `(?<a>b)\k<a>`, `[^]\[]`, `\u{1F600}`, `[a&&`, `(?<`, `|[^`, `|[^\]`} {
		f.Add(s, "u")
		f.Add(s, "v")
		f.Add(s, "")
	}
	f.Fuzz(func(t *testing.T, source, flags string) {
		out, msg := Pattern(source, flags)
		if (out != "") && msg != "" {
			t.Fatal("a pattern and a problem")
		}
		if msg == "" && strings.Contains(flags, "u") && !strings.Contains(out, `\\`) && (strings.Contains(out, `\p`) || strings.Contains(out, `\P`)) {
			t.Fatalf("%q became %q", source, out)
		}
	})
}
