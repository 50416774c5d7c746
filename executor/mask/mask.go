// Package mask is the one place that hides secrets and makes text safe to
// show. Everything that leaves the process towards a person, a log, a model
// or a file passes through a Set first.
//
// It owns what counts as an occurrence of a secret (Safe Tool Spec section
// 7.4: value identity, plain substring replacement by ***, nothing shorter
// than four characters) and how a JSON value is masked without breaking it.
// It imports nothing of this module, decides nothing and keeps no state
// beyond the set of one call.
//
// Threat model: the text is written by the code that holds the secret, so it
// may print it in pieces or encoded. Besides the value itself the set knows
// the spellings that ordinary code produces without trying: escaped in JSON
// up to five times, percent-encoded as Go, JavaScript, forms and URLs do it, in
// Base64 at each alignment, of the escaped forms, twice and broken into lines
// too, in hexadecimal, in a host name, in HTML. A text may have been cut before it
// is masked, where the code runs; see Clip and Clipped. Code that sets
// out to hide a secret (reversed, split, encrypted) succeeds: the remedy is to
// grant it no secret, and masking does not claim more.
package mask

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Mask is what stands where a secret stood.
const Mask = "***"

// MinLength is the shortest value, in characters, that is masked. Shorter
// ones would hide ordinary words.
const MinLength = 4

// Set is the secrets of one call. It is immutable after New and safe for
// concurrent use. The zero Set and a nil *Set mask nothing.
type Set struct {
	plain     []string // the values themselves, longest first
	literals  []string // the values and their encoded spellings, longest first
	wrappable []string // those that may stand in wrapped lines
	raw       [][]byte // literals again, to look into bytes without a copy

	once    sync.Once // guards borders, which few calls need
	borders [][]int   // of each literal, see tails
}

// New makes a Set. Values shorter than MinLength characters and duplicates
// are left out; the order of secrets does not matter.
func New(secrets []string) *Set {
	s := new(Set)
	for _, v := range secrets {
		for _, v := range append([]string{v}, decoded(v)...) {
			if utf8.RuneCountInString(v) < MinLength {
				continue
			}
			s.plain = append(s.plain, v)
			s.literals = append(s.literals, v)
			s.literals = append(s.literals, spellings(v)...)
		}
	}
	s.plain, s.literals = longestFirst(s.plain), longestFirst(s.literals)
	s.wrappable = wrappable(s.literals)
	s.raw = make([][]byte, len(s.literals))
	for i, lit := range s.literals {
		s.raw[i] = []byte(lit)
	}
	return s
}

func longestFirst(list []string) []string {
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(list)
}

// Empty reports whether the set masks nothing.
func (s *Set) Empty() bool { return s == nil || len(s.literals) == 0 }

// String replaces every occurrence of a secret in text by Mask. Occurrences
// that overlap become one Mask, so that no part of either is left. Text
// without a secret is returned as it is, without allocation. The beginning of
// a secret before CutMark, from four bytes on, counts as the secret.
func (s *Set) String(text string) string {
	if s.Empty() || !s.in(text) {
		return text
	}
	return s.hide(text, marks(text, CutMark))
}

// in reports whether text may have something to hide: a literal, or the place
// of a cut.
func (s *Set) in(text string) bool {
	if strings.Contains(text, CutMark) || len(s.wrappable) > 0 && wraps(text) {
		return true
	}
	for _, lit := range s.literals {
		if strings.Contains(text, lit) {
			return true
		}
	}
	return false
}

func (s *Set) inBytes(text []byte) bool {
	if bytes.Contains(text, cutMark) {
		return true
	}
	for _, lit := range s.raw {
		if bytes.Contains(text, lit) {
			return true
		}
	}
	return false
}

var cutMark = []byte(CutMark)

// span is a half-open range of bytes to hide.
type span struct{ from, to int }

// occurrences finds those of all literals, in any order.
func occurrences(text string, literals []string) []span {
	var all []span
	for _, lit := range literals {
		for at := 0; ; {
			i := strings.Index(text[at:], lit)
			if i < 0 {
				break
			}
			all = append(all, span{at + i, at + i + len(lit)})
			at += i + len(lit)
		}
	}
	return all
}

// join sorts spans and joins those that overlap. Spans that only touch stay
// apart, as plain replacement leaves them.
func join(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return a.from - b.from })
	joined := all[:0]
	for _, sp := range all {
		if n := len(joined); n > 0 && sp.from < joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, sp.to)
			continue
		}
		joined = append(joined, sp)
	}
	return joined
}

func replace(text string, hide []span) string {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, sp := range hide {
		b.WriteString(text[at:sp.from])
		b.WriteString(Mask)
		at = sp.to
	}
	b.WriteString(text[at:])
	return b.String()
}
