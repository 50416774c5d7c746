package mask

import "strings"

// Encoders break long Base64 and hexadecimal into lines, of 64 letters in PEM
// and 76 in mail, indented or not. A secret in it is then no substring of the
// text.
const (
	minWrapped = 12       // letters of a spelling that is looked for across lines
	minRun     = 16       // letters of a line that may go on in the next
	maxIndent  = 8        // spaces before the next
	maxBlock   = 64 << 10 // bytes that a Writer holds back for such lines
)

func encodedLetter(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '/' || c == '-' || c == '_' || c == '='
}

// wrappable are the literals that may stand in such lines.
func wrappable(literals []string) []string {
	var out []string
	for _, lit := range literals {
		if len(lit) >= minWrapped && !strings.ContainsFunc(lit, func(r rune) bool { return r >= 0x80 || !encodedLetter(byte(r)) }) {
			out = append(out, lit)
		}
	}
	return out
}

// lineBreak gives what stands between two lines of one text, where the first
// ends before its line end at i: the bytes from..to, or false.
func lineBreak(text string, i int) (from, to int, ok bool) {
	from, to = i, i+1
	if from > 0 && text[from-1] == '\r' {
		from--
	}
	if from < minRun {
		return 0, 0, false
	}
	for j := from - minRun; j < from; j++ {
		if !encodedLetter(text[j]) {
			return 0, 0, false
		}
	}
	for n := 0; to < len(text) && n < maxIndent && (text[to] == ' ' || text[to] == '\t'); n++ {
		to++
	}
	return from, to, to < len(text) && encodedLetter(text[to])
}

// wraps reports whether an encoder may have broken text somewhere.
func wraps(text string) bool {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return false
		}
		if _, _, ok := lineBreak(text, at+i); ok {
			return true
		}
		at += i + 1
	}
}

// acrossLines finds the spellings that such line breaks interrupt.
func (s *Set) acrossLines(text string) []span {
	if len(s.wrappable) == 0 || !wraps(text) {
		return nil
	}
	joined := make([]byte, 0, len(text))
	at := make([]int, 0, len(text)) // where each byte of joined stands
	add := func(from, to int) {
		for i := from; i < to; i++ {
			joined, at = append(joined, text[i]), append(at, i)
		}
	}
	done := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '\n' {
			continue
		}
		if from, to, ok := lineBreak(text, i); ok {
			add(done, from)
			done = to
			i = to - 1
		}
	}
	add(done, len(text))
	found := occurrences(string(joined), s.wrappable)
	for i, sp := range found {
		found[i] = span{at[sp.from], at[sp.to-1] + 1}
	}
	return found
}

// blockStart is where the lines begin that may be one with what stands behind
// end: a Writer has to look at them together.
func blockStart(text string, end int) int {
	start := end
	for start > 0 && end-start < maxBlock {
		run := start
		for run > 0 && encodedLetter(text[run-1]) {
			run--
		}
		start = run
		before := run
		for before > 0 && run-before <= maxIndent && (text[before-1] == ' ' || text[before-1] == '\t') {
			before--
		}
		if before == 0 || text[before-1] != '\n' {
			break
		}
		from := before - 1
		if from > 0 && text[from-1] == '\r' {
			from--
		}
		if from == 0 || !encodedLetter(text[from-1]) {
			break
		}
		start = from
	}
	if end-start >= maxBlock {
		return end
	}
	return start
}
