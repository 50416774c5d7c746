package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestString(t *testing.T) {
	tests := []struct {
		name    string
		secrets []string
		in      string
		want    string
	}{
		{"no secrets", nil, "hunter22", "hunter22"},
		{"too short", []string{"abc"}, "abcabc", "abcabc"},
		{"four characters", []string{"abcd"}, "xabcdx", "x***x"},
		{"four characters, not bytes", []string{"日本語"}, "日本語", "日本語"},
		{"multibyte", []string{"비밀번호"}, "암호는 비밀번호!", "암호는 ***!"},
		{"longest first", []string{"hunter", "hunter22"}, "hunter22 hunter", "*** ***"},
		{"order does not matter", []string{"hunter22", "hunter"}, "hunter22 hunter", "*** ***"},
		{"touching occurrences", []string{"abcd"}, "abcdabcd", "******"},
		{"overlap leaves no rest", []string{"abcdef", "defghi"}, "xabcdefghix", "x***x"},
		{"inside a word", []string{"true"}, "untrue", "un***"},
		{"query escape", []string{"a b&c/d"}, "q=a+b%26c%2Fd", "q=***"},
		{"percent escape in lower case", []string{"a&b/c"}, "q=a%26b%2fc", "q=***"},
		{"component escape", []string{"a b!c"}, "a%20b!c", "***"},
		{"json escape", []string{"a\"b\nc"}, `say "a\"b\nc"`, `say "***"`},
		{"json html escape", []string{"a<b>c"}, `a\u003cb\u003ec`, `***`},
		{"json ascii", []string{"pässword"}, `p\u00e4ssword`, `***`},
		{"go quote", []string{"ab\x01c\"d"}, `cannot read "ab\x01c\"d"`, `cannot read "***"`},
		{"json twice", []string{"a\"b\nc"}, `{"body":"{\"k\":\"a\\\"b\\nc\"}"}`, `{"body":"{\"k\":\"***\"}"}`},
		{"URLSearchParams", []string{"tok~en*4 5/6?x=y\"z"}, "k=tok%7Een*4+5%2F6%3Fx%3Dy%22z&l", "k=***&l"},
		{"url query", []string{"tok~en*4 5/6?x=y\"z"}, "https://h/?k=tok~en*4%205/6?x=y%22z", "https://h/?k=***"},
		{"url query of http", []string{"it's é|<x>"}, "?k=it%27s%20%C3%A9|%3Cx%3E ?k=it's%20%c3%a9|%3cx%3e", "?k=*** ?k=***"},
		{"url path", []string{"a b{c}`d|"}, "https://h/a%20b%7Bc%7D%60d|/x", "https://h/***/x"},
		{"url path, caret", []string{"ab ^c"}, "/ab%20^c /ab%20%5Ec", "/*** /***"},
		{"url path, backslash", []string{`ab c\d`}, "/ab%20c/d", "/***"},
		{"url setter of the path", []string{"a b?c#d"}, "/a%20b%3Fc%23d", "/***"},
		{"url path into query and fragment", []string{"a{b?c{d#e{`f"}, "/a%7Bb?c{d#e{%60f", "/***"},
		{"url query into fragment", []string{`a"b#c d'`}, "?k=a%22b#c%20d'", "?k=***"},
		{"url without line ends", []string{"line one\nline two \n"}, "?k=line%20oneline%20two%20 ?k=line%20oneline%20two&", "?k=*** ?k=***&"},
		{"url user", []string{"p:w/d@x"}, "https://u:p%3Aw%2Fd%40x@h/", "https://u:***@h/"},
		{"encodeURI", []string{"a b[c]%&/"}, "a%20b%5Bc%5D%25&/", "***"},
		{"hexadecimal", []string{"hunter22"}, "68756e7465723232 68756E7465723232", "*** ***"},
		{"host name", []string{"AbCdEfGh12345xyZ"}, "http://abcdefgh12345xyz.ok.test/", "http://***.ok.test/"},
		{"host name, Punycode", []string{"Bücher-Geheim"}, "xn--bcher-geheim-dlb.test bücher-geheim", "***.test ***"},
		{"host name, short", []string{"aB3d", "Prod", "TEST"}, "prod test ab3d1 Prod", "prod test ab3d1 ***"},
		{"host name, short but mixed", []string{"aBcDe", "k3yAB"}, "abcde k3yab", "*** ***"},
		{"escape of JavaScript", []string{"pä ss€"}, "p%E4%20ss%u20AC", "***"},
		{"btoa of Latin-1", []string{"pässwörd"}, "cORzc3f2cmQ=", "***"},
		{"HTML", []string{"a<b&\"c'"}, "a&lt;b&amp;&quot;c&#39; a&lt;b&amp;&#34;c&#39; a&lt;b&amp;\"c'", "*** *** ***"},
		{"percent twice", []string{"a b&c"}, "a%2520b%2526c", "***"},
		{"regexp characters are plain", []string{"a.*b$"}, "a.*b$ axxb", "*** axxb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := New(tt.secrets).String(tt.in); got != tt.want {
				t.Errorf("String(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestBase64AtEveryAlignment(t *testing.T) {
	const secret = "s3cr3t-value?>"
	set := New([]string{secret})
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 4 {
			for after := range 4 {
				text := enc.EncodeToString([]byte(strings.Repeat("x", before) + secret + strings.Repeat("y", after)))
				got := set.String(text)
				if !strings.Contains(got, Mask) || len(got) > 16 {
					t.Errorf("%d bytes before, %d after: %q became %q", before, after, text, got)
				}
			}
		}
	}
}

func TestJSON(t *testing.T) {
	tests := []struct {
		name     string
		secrets  []string
		in       string
		want     string
		pointers []string
	}{
		{"untouched is byte-identical", []string{"hunter22"}, `{ "b" : 1.0, "a" : [ ] }`, `{ "b" : 1.0, "a" : [ ] }`, nil},
		{"leaf", []string{"hunter22"}, `{"a":"x hunter22","n":1.50}`, `{"a":"x ***","n":1.50}`, []string{"/a"}},
		{"order stays", []string{"hunter22"}, `{"z":"hunter22","a":1}`, `{"z":"***","a":1}`, []string{"/z"}},
		{"name", []string{"hunter22"}, `{"hunter22":[true]}`, `{"***":[true]}`, []string{"/***"}},
		{"names that meet", []string{"hunter22", "swordfish"}, `{"hunter22":1,"swordfish":2,"***":3}`, `{"***":1,"***#2":2,"***#3":3}`, []string{"/***", "/***#2", "/***#3"}},
		{"pointer is escaped", []string{"hunter22"}, `{"a/b":["hunter22"]}`, `{"a/b":["***"]}`, []string{"/a~1b/0"}},
		{"escaped letters", []string{"hunter22"}, `["\u0068unter22"]`, `["***"]`, []string{"/0"}},
		{"escapes without a secret stay as written", []string{"hunter22"}, `["\u0068unter"]`, `["\u0068unter"]`, nil},
		{"secret true", []string{"true"}, `{"ok":true,"s":"true"}`, `{"ok":true,"s":"***"}`, []string{"/s"}},
		{"secret null", []string{"null"}, `[null,"null"]`, `[null,"***"]`, []string{"/1"}},
		{"secret 2026", []string{"2026"}, `{"year":2026,"s":"2026-01","m":20}`, `{"year":"***","s":"***-01","m":20}`, []string{"/year", "/s"}},
		{"secret in a longer number", []string{"2026"}, `[120265]`, `["***"]`, []string{"/0"}},
		{"scalar", []string{"hunter22"}, `"hunter22"`, `"***"`, []string{""}},
		{"unpaired surrogate", nil, `"\ud800"`, "\"\ufffd\"", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, pointers, err := New(tt.secrets).JSON(json.RawMessage(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.pointers, pointers); diff != "" {
				t.Errorf("pointers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONRefuses(t *testing.T) {
	for _, set := range []*Set{nil, New([]string{"hunter22"})} {
		for _, in := range []string{``, `{`, `{"a":"hunter22"`, `{"a":1,"a":"hunter22"}`, `{"a":1,"a":2}`, `1 "hunter22"`, `hunter22`, `["hunter22",]`} {
			got, pointers, err := set.JSON(json.RawMessage(in))
			if err == nil || got != nil || pointers != nil {
				t.Errorf("JSON(%q) = %q, %v, %v; want an error and nothing else", in, got, pointers, err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter22") {
				t.Errorf("the error shows the secret: %v", err)
			}
		}
	}
}

func TestZeroSet(t *testing.T) {
	var nilSet *Set
	for _, set := range []*Set{nilSet, {}, New(nil), New([]string{"", "abc"})} {
		if !set.Empty() {
			t.Error("Empty() = false")
		}
		if got := set.String("abc"); got != "abc" {
			t.Errorf("String = %q", got)
		}
	}
}

func TestNoAllocationWithoutMatch(t *testing.T) {
	set := New([]string{"hunter22", "swordfish"})
	text, raw := strings.Repeat("ordinary text ", 100), json.RawMessage(`{"a":["b",1,true]}`)
	if n := testing.AllocsPerRun(50, func() { set.String(text) }); n != 0 {
		t.Errorf("String allocates %v times", n)
	}
	if n := testing.AllocsPerRun(50, func() { _, _, _ = set.JSON(raw) }); n > 1 {
		t.Errorf("JSON allocates %v times", n)
	}
}

func TestVisible(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain ascii, ümlaut, 한국어, 😀", "plain ascii, ümlaut, 한국어, 😀"},
		{"a\nb\r\tc", `a\nb\r\tc`},
		{"pay \u202e001\u202c", `pay \u202e001\u202c`},
		{"zero\u200bwidth\ufeff", `zero\u200bwidth\ufeff`},
		{"\x1b[31mred", `\u001b[31mred`},
		{"nbsp\u00a0x\u3000y", `nbsp\u00a0x\u3000y`},
		{"line\u2028sep", `line\u2028sep`},
		{"tag\U000e0041", `tag\u{e0041}`},
		{"bad\xff\xc3", `bad\xff\xc3`},
		{"real \ufffd", "real \ufffd"},
		{"filler\u3164\u115f", `filler\u3164\u115f`},
		{"\x00\x7f\u0085", `\u0000\u007f\u0085`},
	}
	for _, tt := range tests {
		if got := Visible(tt.in); got != tt.want {
			t.Errorf("Visible(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzMaskString(f *testing.F) {
	f.Add("abcd", "defg", "xabcdefgx")
	f.Add("aaaa", "bbbb", "aaaaaabbbb")
	f.Fuzz(func(t *testing.T, a, b, text string) {
		if strings.Contains(a+b, "*") {
			return // the mask itself may then spell a secret
		}
		set := New([]string{a, b})
		got := set.String(text + a + text + b + url.QueryEscape(a))
		for _, pieces := range strings.Split(got, Mask) {
			for _, s := range set.plain {
				if strings.Contains(pieces, s) {
					t.Fatalf("%q still has %q", got, s)
				}
			}
		}
	})
}

func FuzzMaskJSON(f *testing.F) {
	f.Add(`{"a":"hunter22","b":[1,2026,true,null,"\u0068unter22"]}`)
	f.Add(`{"hunter22":1,"***":{"hunter22":2026}}`)
	f.Add(`"\ud800 hunter22"`)
	f.Add(`[1E700,"hunter22"]`)
	set := New([]string{"hunter22", "2026", "true"})
	f.Fuzz(func(t *testing.T, in string) {
		out, pointers, err := set.JSON(json.RawMessage(in))
		if err != nil {
			if out != nil {
				t.Fatal("a value beside an error")
			}
			return
		}
		var v any
		dec := json.NewDecoder(bytes.NewReader(out))
		dec.UseNumber() // 1E700 is JSON and no float64
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%q became invalid: %q", in, out)
		}
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case string:
				if set.String(v) != v {
					t.Fatalf("%q leaks in %q", v, out)
				}
			case []any:
				for _, e := range v {
					walk(e)
				}
			case map[string]any:
				for k, e := range v {
					walk(k)
					walk(e)
				}
			}
		}
		walk(v)
		again, more, err := set.JSON(out)
		if err != nil || string(again) != string(out) || len(more) != 0 {
			t.Fatalf("masking %q twice changes it: %q %v %v (first: %v)", out, again, more, err, pointers)
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New([]string{"sk-0123456789abcdef0123456789abcdef", "another-secret"})
	}
}

func BenchmarkJSONNoMatch(b *testing.B) {
	set := New([]string{"sk-0123456789abcdef0123456789abcdef", "another-secret"})
	raw := json.RawMessage(`{"items":[` + strings.TrimSuffix(strings.Repeat(`{"name":"value","n":12345},`, 400), ",") + `]}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = set.JSON(raw)
	}
}

// Each form of a secret is found in a text, in a JSON value, in the name of a
// member and in a stream alike.
func TestEveryFormEverywhere(t *testing.T) {
	tried := 0
	for _, secret := range []string{"Xq7Secret9Host", "pässwörd-ß99", `a"b'c<d>&e/f+g`, "日本語の鍵123", "aBcD"} {
		set := New([]string{secret})
		for _, form := range append(spellings(secret), secret) {
			if set.String(form) != "***" { // in another one, or shorter than is looked for
				continue
			}
			tried++
			text := "x " + form + " y"
			raw, err := json.Marshal(map[string]string{"leaf": text, text: "name"})
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := set.JSON(raw)
			if err != nil || string(got) != `{"leaf":"x *** y","x *** y":"name"}` {
				t.Errorf("%q as %q in JSON became %s, %v", secret, form, got, err)
			}
			for n := range 5 {
				if got := stream(t, set, text, []byte{byte(n)}); got != "x *** y" {
					t.Errorf("%q as %q in pieces of %d became %q", secret, form, n+1, got)
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d forms were tried", tried)
	}
}
