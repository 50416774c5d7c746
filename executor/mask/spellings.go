package mask

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// minSpelling is the shortest encoded spelling that is masked. A shorter run
// of Base64 or hexadecimal letters turns up by chance.
const minSpelling = 5

// unescaped are the characters that no escape below changes.
const unescaped = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"

// maxEscapes is how often a value is escaped as JSON at most: what failed
// within what failed is quoted in a message that is quoted in a record.
const maxEscapes = 5

// maxForm bounds an escaped form, in bytes; each escaping may double it.
const maxForm = 256 << 10

// minLine is the shortest line of a value of several that is masked alone, in
// bytes.
const minLine = 8

// spellings gives the other forms in which ordinary code writes v: escaped as
// in JSON and percent-encoded, Base64 and hexadecimal, as in host names and
// HTML, and its lines, which code joins in other ways.
func spellings(v string) []string {
	var out []string
	add := func(forms ...string) {
		for _, f := range forms {
			if len(f) >= minSpelling && f != v {
				out = append(out, f)
			}
		}
	}
	encoded := []string{v}
	if strings.Trim(v, unescaped) != "" {
		for i, form := range jsonForms(v) {
			add(form)
			add(jsonForms(form)...)
			for range maxEscapes - 1 {
				if len(form) > maxForm {
					break
				}
				form = jsonForms(form)[i]
				add(form)
			}
		}
		quoted := strconv.Quote(v)
		add(quoted[1 : len(quoted)-1]) // as %q puts it into an error
		for _, form := range percentForms(v) {
			add(form, lowerPercent(form))
		}
		encoded = append(encoded, jsonForms(v)[:2]...)
		encoded = append(encoded, url.QueryEscape(v), encodeComponent(v))
	}
	for _, form := range hostForms(v) {
		add(form)
	}
	add(furtherForms(v)...)
	h := hex.EncodeToString([]byte(v))
	add(h, strings.ToUpper(h))
	add(base64Forms(append(encoded, base64Twice(v)...))...)
	add(lines(v)...)
	return out
}

// decoded are the values that v is the percent-encoding of, once and twice:
// some keys are handed out encoded, and code decodes them before their use.
func decoded(v string) []string {
	var out []string
	add := func(from string) {
		for _, decode := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
			if to, err := decode(from); err == nil && to != from && !slices.Contains(out, to) {
				out = append(out, to)
			}
		}
	}
	if strings.Contains(v, "%") {
		add(v)
		for _, once := range slices.Clone(out) {
			add(once)
		}
	}
	return out
}

// base64Forms are the Base64 of each form, whole and at each alignment.
func base64Forms(forms []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, v := range forms {
		if seen[v] {
			continue
		}
		seen[v] = true
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			out = append(out, enc.EncodeToString([]byte(v)), strings.TrimRight(enc.EncodeToString([]byte(v)), "="))
			for shift := range 3 {
				out = append(out, base64Core(enc, v, shift))
			}
		}
	}
	return out
}

// base64Twice are the Base64 texts of v that may be encoded once more.
func base64Twice(v string) []string {
	once := base64.StdEncoding.EncodeToString([]byte(v))
	return []string{once, base64.URLEncoding.EncodeToString([]byte(v)), strings.TrimRight(once, "=")}
}

// lines are those of a value of several, but for the public frame of a key in
// PEM, with what JSON makes of them.
func lines(v string) []string {
	if !strings.ContainsAny(v, "\r\n") {
		return nil
	}
	var out []string
	for line := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == '\r' || r == '\n' }) {
		if line = strings.TrimSpace(line); len(line) < minLine || strings.HasPrefix(line, "-----") {
			continue
		}
		out = append(out, line)
		if strings.Trim(line, unescaped) != "" {
			out = append(out, jsonForms(line)...)
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

// What percent-encoding leaves as it is, besides letters and digits.
const (
	keepForm = "*-._"                 // application/x-www-form-urlencoded; a space is +
	keepURI  = ";/?:@&=+$,#-_.!~*'()" // encodeURI
)

// What a URL of the WHATWG standard encodes, besides controls and all beyond
// ASCII.
const (
	setFragment = " \"<>`"
	setQuery    = " \"#<>"
	setPath     = setQuery + "?^`{}"
	setUser     = setPath + "/:;=@[\\]|"
)

// percentForms are the ways in which v is percent-encoded: by Go, by the
// functions of JavaScript, by URLSearchParams, and by a URL that v is put
// into as it is.
func percentForms(v string) []string {
	query := url.QueryEscape(v)
	out := []string{
		query, url.PathEscape(v),
		encodeComponent(v),
		strings.ReplaceAll(keeping(v, keepForm+" "), " ", "+"),
		keeping(v, keepURI),
	}
	// A URL drops tabs and line ends, and spaces where it begins or ends.
	inURL := strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(v)
	for _, form := range []string{inURL, strings.TrimRight(inURL, " ")} {
		for _, query := range []string{setQuery, setQuery + "'"} { // ' in http and the like
			out = append(out, encoding(form, query), inParts(form, "", query))
			for _, path := range []string{setPath, strings.ReplaceAll(setPath, "^", "")} { // ^ since 2024
				out = append(out, encoding(form, path), inParts(form, path, query),
					inParts(strings.ReplaceAll(form, `\`, "/"), path, query))
			}
		}
		out = append(out, encoding(form, setFragment), encoding(form, setUser), encoding(form, setUser+"'"))
	}
	return out
}

// encodeComponent is encodeURIComponent.
func encodeComponent(v string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(v))
}

// inParts encodes v as the URL parser does where v itself begins the query or
// the fragment. An empty path set means that v begins within the query.
func inParts(v, path, query string) string {
	rest, fragment, hasFragment := strings.Cut(v, "#")
	out := ""
	if path != "" {
		var hasQuery bool
		v, rest, hasQuery = strings.Cut(rest, "?")
		out = encoding(v, path)
		if hasQuery {
			out += "?"
		}
	}
	out += encoding(rest, query)
	if hasFragment {
		out += "#" + encoding(fragment, setFragment)
	}
	return out
}

// keeping percent-encodes all but letters, digits and keep.
func keeping(v, keep string) string {
	return percent(v, func(c byte) bool {
		return (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte(keep, c) < 0
	})
}

// encoding percent-encodes controls, all beyond ASCII and set.
func encoding(v, set string) string {
	return percent(v, func(c byte) bool { return c < ' ' || c >= 0x7f || strings.IndexByte(set, c) >= 0 })
}

func percent(v string, escape func(byte) bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(v) {
		if c := v[i]; escape(c) {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
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
