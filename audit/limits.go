package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What callers and tools control is bounded before it is encoded, and always
// after masking: half a secret would not be recognised as one.
const (
	maxString   = 64 << 10  // bytes of one string
	maxValue    = 256 << 10 // bytes of params, decision.input or an event's detail
	maxName     = 1 << 10   // bytes of a name: client, tool, host, path, approver, pointer
	maxEntries  = 1000      // entries of usage.egress, usage.fs
	maxMessages = 256       // reasons, signals
	maxPointers = 256       // decision.maskedPointers
)

// capString cuts s at a character boundary and says how much is missing.
func capString(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s…[%d more bytes]", s[:cut], len(s)-cut)
}

// compactJSON brings a JSON value into the form in which it may enter a line:
// one value, valid UTF-8, no duplicate names, no white space outside strings.
// The input is not changed.
func compactJSON(raw []byte) ([]byte, error) {
	return jsontext.AppendFormat(make([]byte, 0, len(raw)), raw,
		jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false), jsontext.PreserveRawStrings(true))
}

// capJSON bounds a compact JSON value: a value that is too long as a whole
// becomes {"truncated":true,"bytes":n}, and a string in it is cut.
func capJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxValue {
		return marker("truncated", len(raw))
	}
	if len(raw) <= maxString {
		return raw // no string in it can be too long
	}
	out, err := capLeaves(raw)
	if err != nil || len(out) > maxValue+maxString {
		return marker("truncated", len(raw))
	}
	return out
}

// capLeaves cuts every string of a JSON value that is too long, names
// included.
func capLeaves(raw []byte) (json.RawMessage, error) {
	var out bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	for {
		tok, err := dec.ReadToken()
		if err == io.EOF {
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
		}
		if err != nil {
			return nil, err
		}
		if tok.Kind() == '"' {
			if s := tok.String(); len(s) > maxString {
				tok = jsontext.String(capString(s, maxString))
			}
		}
		if err := enc.WriteToken(tok); err != nil {
			return nil, err
		}
	}
}

// marker stands for a value that cannot be kept as it is.
func marker(why string, n int) json.RawMessage {
	return fmt.Appendf(nil, `{"%s":true,"bytes":%d}`, why, n)
}

// capList cuts a list and lets more make the entry that stands for the rest.
func capList[T any](list []T, limit int, more func(rest []T) T) []T {
	return capKeeping(list, limit, func(T) bool { return true }, more)
}

// capKeeping is capList that leaves out entries that do not weigh before any
// that does, so that a flood of the ones cannot push out the others. What is
// kept stays in its order.
func capKeeping[T any](list []T, limit int, weighs func(T) bool, more func(rest []T) T) []T {
	if len(list) <= limit {
		return list
	}
	heavy := 0
	for _, x := range list {
		if weighs(x) {
			heavy++
		}
	}
	heavy = min(heavy, limit-1)
	light := limit - 1 - heavy
	out, rest := make([]T, 0, limit), make([]T, 0, len(list)-limit+1)
	for _, x := range list {
		room := &light
		if weighs(x) {
			room = &heavy
		}
		if *room == 0 {
			rest = append(rest, x)
			continue
		}
		*room--
		out = append(out, x)
	}
	return append(out, more(rest))
}

// reached tells an exchange, answered or not, from an attempt that was refused.
func reached(e Egress) bool { return e.IP != "" || e.Status != 0 }

func moreEgress(rest []Egress) Egress {
	e := Egress{Host: fmt.Sprintf("(%d more)", len(rest))}
	for _, r := range rest {
		e.Bytes += r.Bytes
	}
	return e
}

func moreFS(rest []FSUse) FSUse {
	u := FSUse{Op: moreReads, Path: fmt.Sprintf("(%d more)", len(rest))}
	for _, r := range rest {
		u.Bytes += r.Bytes
		if r.Changes() {
			u.Op = "(more)"
		}
	}
	return u
}

// millis makes a duration fit for a record: three decimals, never NaN,
// infinite or negative, none of which JSON or a reader could take.
func millis(ms float64) float64 {
	if math.IsNaN(ms) || math.IsInf(ms, 0) || ms < 0 {
		return 0
	}
	return math.Round(ms*1000) / 1000
}

// isSlug reports whether s is a stable reason rather than free text.
func isSlug(s string) bool {
	return len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// isToken reports whether s may name a call or a kind in the head of a line.
func isToken(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._:-", rune(c)) {
			return false
		}
	}
	return true
}

// isKind reports whether s may name an administrative act: lower-case words
// joined by dots or dashes.
func isKind(s string) bool {
	word := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			word = true
		case (c == '.' || c == '-') && word:
			word = false
		default:
			return false
		}
	}
	return word && len(s) <= 64
}
