package mask

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// TestEncodedKeys: a key that is handed out percent-encoded is masked decoded.
func TestEncodedKeys(t *testing.T) {
	set := New([]string{"abcSECRET%2Fdef%2Bghi%3D%3D", "twice%252Fkey", "100%sure"})
	for text, want := range map[string]string{
		"SERVICE KEY abcSECRET/def+ghi== IS NOT REGISTERED":              "SERVICE KEY *** IS NOT REGISTERED",
		"abcSECRET%2Fdef%2Bghi%3D%3D":                                    "***",
		"twice%2Fkey twice/key twice%252Fkey":                            "*** *** ***",
		base64.StdEncoding.EncodeToString([]byte("abcSECRET/def+ghi==")): "***",
		"100%sure 100sure":                                               "*** 100sure",
	} {
		if got := set.String(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestFormsInForms: what failed within what failed, encoded as code encodes it.
func TestFormsInForms(t *testing.T) {
	secret := "-----BEGIN K-----\nMIIabcdEFGH1234\nZZyy\"XX\\9876\n-----END K-----"
	set := New([]string{secret, `pa"ss/wö\rd`, "s3cretT0ken-0123456789"})
	quote := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	wrap := func(s string, n int, with string) string {
		var b strings.Builder
		for len(s) > n {
			b.WriteString(s[:n] + with)
			s = s[n:]
		}
		return b.String() + s
	}
	std := base64.StdEncoding.EncodeToString
	for _, v := range []string{secret, `pa"ss/wö\rd`, "s3cretT0ken-0123456789"} {
		nested := quote(map[string]string{"auth": v})
		deep := nested
		for range 4 {
			deep = "upstream said: " + quote(map[string]string{"error": deep})
		}
		for name, text := range map[string]string{
			"JSON five deep":          deep,
			"Base64 of JSON":          "x " + std([]byte(nested)),
			"Base64 of an URL":        std([]byte("https://a/?k=" + url.QueryEscape(v))),
			"Base64 twice":            std([]byte(std([]byte(v)))),
			"Base64 twice, Basic":     std([]byte("Basic " + std([]byte(v)))),
			"wrapped at 76":           wrap(std([]byte(strings.Repeat("p", 40)+v+strings.Repeat("q", 40))), 76, "\r\n"),
			"wrapped at 64, indented": wrap(std([]byte(strings.Repeat("p", 50)+v+strings.Repeat("q", 40))), 64, "\n    "),
			"other line ends":         strings.ReplaceAll(v, "\n", "\r\n"),
			"spaces for line ends":    strings.ReplaceAll(v, "\n", " "),
		} {
			masked := set.String(text)
			for _, piece := range []string{v, "MIIabcdEFGH1234", "XX", "9876", "s3cret", std([]byte(v))[4:12], `ss/w`} {
				if strings.Contains(text, piece) && strings.Contains(masked, piece) {
					t.Errorf("%s of %q shows %q:\n%s", name, v, piece, masked)
				}
			}
			if !strings.Contains(masked, Mask) {
				t.Errorf("%s of %q is not masked:\n%s", name, v, masked)
			}
			var b strings.Builder
			w := set.Writer(&b)
			for i := range len(text) {
				_, _ = w.Write([]byte{text[i]})
			}
			_ = w.Close()
			if b.String() != masked {
				t.Errorf("%s of %q: a Writer gives\n%s\nString\n%s", name, v, b.String(), masked)
			}
		}
	}
	for _, plain := range []string{"-----BEGIN K-----", "one line\nand another that is long enough\n", strings.Repeat("abcdefghijklmnop\n", 20)} {
		if got := set.String(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}
