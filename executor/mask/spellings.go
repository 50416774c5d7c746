package mask

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"unicode/utf16"
)

// minSpelling is the shortest encoded spelling that is masked. A shorter run
// of Base64 or hexadecimal letters turns up by chance.
const minSpelling = 5

// spellings gives the other forms in which ordinary code writes v: escaped as
// in JSON, percent-encoded, Base64 and hexadecimal. Forms that equal v may be
// among them.
func spellings(v string) []string {
	var out []string
	add := func(forms ...string) {
		for _, f := range forms {
			if len(f) >= minSpelling && f != v {
				out = append(out, f)
			}
		}
	}
	for _, form := range jsonForms(v) {
		add(form)
	}
	query, path := url.QueryEscape(v), url.PathEscape(v)
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
	for _, form := range []string{query, path, component} {
		add(form, lowerPercent(form))
	}
	h := hex.EncodeToString([]byte(v))
	add(h, strings.ToUpper(h))
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		add(enc.EncodeToString([]byte(v)), strings.TrimRight(enc.EncodeToString([]byte(v)), "="))
		for shift := range 3 {
			add(base64Core(enc, v, shift))
		}
	}
	return out
}

// jsonForms are the escaped bodies of v as JSON string literals: as Go writes
// them (with and without HTML escapes), with an escaped solidus, and in pure
// ASCII.
func jsonForms(v string) []string {
	body := func(html bool) string {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(v) != nil {
			return ""
		}
		quoted := strings.TrimSuffix(b.String(), "\n")
		return quoted[1 : len(quoted)-1]
	}
	plain := body(false)
	var ascii strings.Builder
	for _, r := range plain {
		if r < 0x80 {
			ascii.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			ascii.WriteString(`\u`)
			ascii.WriteString(hex.EncodeToString([]byte{byte(unit >> 8), byte(unit)}))
		}
	}
	return []string{plain, body(true), strings.ReplaceAll(plain, "/", `\/`), ascii.String()}
}

// lowerPercent writes the escapes %2F as %2f.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			for _, j := range []int{i + 1, i + 2} {
				if b[j] >= 'A' && b[j] <= 'F' {
					b[j] += 'a' - 'A'
				}
			}
		}
	}
	return string(b)
}

// base64Core gives the Base64 letters that v alone determines when shift
// bytes stand before it, whatever they and the bytes after v are.
func base64Core(enc *base64.Encoding, v string, shift int) string {
	padded := enc.EncodeToString([]byte("\x00\x00"[:shift] + v))
	from := (shift*8 + 5) / 6
	to := (shift + len(v)) * 8 / 6
	return padded[from:to]
}
