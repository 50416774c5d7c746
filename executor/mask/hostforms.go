package mask

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// minHost is the shortest secret that is masked in lower case, whatever its
// letters are.
const minHost = 8

// hostForms are what a URL makes of v in its host: lower case, each label that
// is not ASCII as Punycode. A short value that only differs from a common word
// by a first capital or by being all capitals (Prod, TEST) is left out: its
// lower case would hide that word wherever it stands. A short one that mixes
// its letters otherwise (aBcD), or has digits, is no word.
func hostForms(v string) []string {
	lower := strings.ToLower(v)
	if utf8.RuneCountInString(v) < minHost && wordLike(v) {
		return nil
	}
	out := []string{lower}
	if lower != v {
		out = append(out, percentForms(lower)...)
	}
	if ascii, err := idna.Lookup.ToASCII(v); err == nil {
		out = append(out, ascii, strings.TrimPrefix(ascii, "xn--"))
	}
	return out
}

// wordLike reports whether v is written as a word is: letters alone, small
// ones but for the first, or all capitals.
func wordLike(v string) bool {
	for _, r := range v {
		if r|0x20 < 'a' || r|0x20 > 'z' {
			return false
		}
	}
	rest := v[1:]
	return rest == strings.ToLower(rest) || v == strings.ToUpper(v)
}

// furtherForms are escape() and btoa() of JavaScript, which write a character
// up to U+00FF as one byte, the text of HTML, and two rounds of
// percent-encoding.
func furtherForms(v string) []string {
	var out []string
	var escaped strings.Builder
	latin, narrow := []byte{}, true
	for _, r := range v {
		switch {
		case r < 0x80 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || strings.ContainsRune("@*_+-./", r)):
			escaped.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&escaped, "%%%02X", r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&escaped, "%%u%04X", unit)
			}
		}
		if narrow = narrow && r <= 0xff; narrow {
			latin = append(latin, byte(r))
		}
	}
	out = append(out, escaped.String())
	if narrow && len(latin) != len(v) {
		h := hex.EncodeToString(latin)
		out = append(out, h, strings.ToUpper(h))
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			whole := enc.EncodeToString(latin)
			out = append(out, whole, strings.TrimRight(whole, "="))
			for shift := range 3 {
				out = append(out, base64Core(enc, string(latin), shift))
			}
		}
	}
	if strings.ContainsAny(v, "\"&'<>") {
		text := html.EscapeString(v) // &#34; &#39;
		named := strings.ReplaceAll(text, "&#34;", "&quot;")
		out = append(out, text, named, strings.ReplaceAll(text, "&#39;", "'"), strings.ReplaceAll(named, "&#39;", "'"),
			strings.NewReplacer("&#34;", `"`, "&#39;", "'").Replace(text), strings.ReplaceAll(named, "&#39;", "&apos;"),
			strings.ReplaceAll(named, "&#39;", "&#x27;"))
	}
	if once := keeping(v, "-_.!~*'()"); once != v {
		out = append(out, strings.ReplaceAll(once, "%", "%25"), strings.ReplaceAll(lowerPercent(once), "%", "%25"))
	}
	return out
}
