package mask

import (
	"strings"
	"unicode/utf8"
)

// CutMark stands where Clip cut a text. It is unlike anything that people
// write, so String and JSON can hide the beginning of a secret before it
// without harm to ordinary text.
const CutMark = "…[cut]"

// minTail is the shortest beginning of a secret, in bytes, that is hidden
// where a text was cut.
const minTail = 4

// Clip shortens text to at most n bytes on a rune boundary, followed by
// CutMark, and makes it valid UTF-8. It is for text that is not masked yet:
// what it leaves of a secret that straddles the cut is recognised by the mark.
func Clip(text string, n int) string {
	if len(text) > n {
		for n = max(n, 0); n > 0 && !utf8.RuneStart(text[n]); {
			n--
		}
		text = text[:n]
		// A cut through the mark of an earlier one must not hide it.
		for k := len(CutMark) - 1; k > 0; k-- {
			if strings.HasSuffix(text, CutMark[:k]) && utf8.ValidString(CutMark[:k]) {
				text = text[:n-k]
				break
			}
		}
		text += CutMark
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// Clipped is String for text that may have been cut before it was masked:
// messages, log lines, paths. The beginning of a secret, from four bytes on,
// becomes Mask also where the text ends and before an ellipsis, "…" or "...".
func (s *Set) Clipped(text string) string {
	if s.Empty() {
		return text
	}
	ends := append(marks(text, "…"), marks(text, "...")...)
	return s.hide(text, append(ends, len(text)))
}

// marks lists where mark begins in text.
func marks(text, mark string) []int {
	var list []int
	for at := 0; ; {
		i := strings.Index(text[at:], mark)
		if i < 0 {
			return list
		}
		list = append(list, at+i)
		at += i + len(mark)
	}
}

// hide replaces the occurrences of the literals in text, and the beginnings
// of literals that stop at one of ends.
func (s *Set) hide(text string, ends []int) string {
	hidden := append(occurrences(text, s.literals), s.acrossLines(text)...)
	if len(ends) > 0 {
		hidden = append(hidden, s.tails(text, ends)...)
	}
	if len(hidden) == 0 {
		return text
	}
	return replace(text, join(hidden))
}

// tails finds, at each of ends, the longest proper beginning of every literal
// that stops there. It reads the text once for each literal (Knuth, Morris
// and Pratt), so that a text full of marks costs no more than another.
func (s *Set) tails(text string, ends []int) []span {
	at := make([]bool, len(text)+1)
	for _, end := range ends {
		at[end] = true
	}
	s.once.Do(func() {
		for _, lit := range s.literals {
			s.borders = append(s.borders, borders(lit))
		}
	})
	var out []span
	for i, lit := range s.literals {
		border, k := s.borders[i], 0
		for j := range len(text) + 1 {
			if k == len(lit) {
				k = border[k]
			}
			if at[j] && k >= minTail {
				out = append(out, span{j - k, j})
			}
			if j == len(text) {
				break
			}
			for k > 0 && lit[k] != text[j] {
				k = border[k]
			}
			if lit[k] == text[j] {
				k++
			}
		}
	}
	return out
}

// borders gives for each k the length of the longest proper beginning of
// lit[:k] that also ends it.
func borders(lit string) []int {
	out := make([]int, len(lit)+1)
	for i, k := 1, 0; i < len(lit); i++ {
		for k > 0 && lit[i] != lit[k] {
			k = out[k]
		}
		if lit[i] == lit[k] {
			k++
		}
		out[i+1] = k
	}
	return out
}
