package js

import (
	"strings"
	"unicode"
)

type dateKind int

const (
	dateOther dateKind = iota
	dateEnd
	dateNumber
	dateWord
	dateSpace
	dateMonth
	dateHalf
	dateZone
)

// dateWords are the words with a meaning, by their first three letters.
var dateWords = func() map[string]struct {
	kind  dateKind
	value int
} {
	type word = struct {
		kind  dateKind
		value int
	}
	out := map[string]word{"am": {dateHalf, 0}, "pm": {dateHalf, 12}}
	for i, m := range strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec") {
		out[m] = word{dateMonth, i + 1}
	}
	for name, hours := range map[string]int{"ut": 0, "utc": 0, "z": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6,
		"cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7} {
		out[name] = word{dateZone, hours}
	}
	return out
}()

// A dateToken is a number, a word in small letters that is cut after the third,
// a sign of punctuation, or something without meaning.
type dateToken struct {
	kind          dateKind
	value, length int // of a number
	word          string
	symbol        rune
}

func (t dateToken) digits(n int) bool { return t.kind == dateNumber && t.length == n }

func (t dateToken) sign() int {
	switch t.symbol {
	case '+':
		return 1
	case '-':
		return -1
	}
	return 0
}

// milliseconds reads a number as the fraction of a second.
func (t dateToken) milliseconds() int {
	n := t.value
	for l := t.length; l < 3; l++ {
		n *= 10
	}
	for l := min(t.length, maxDateDigits); l > 3; l-- {
		n /= 10
	}
	return n
}

// maxDateDigits are the digits of a number that count, zeros in front aside.
const maxDateDigits = 9

// dateScanner cuts the text into tokens. next is the one to come.
type dateScanner struct {
	text []rune
	at   int
	next dateToken
}

func (s *dateScanner) take() dateToken {
	t := s.next
	s.next = s.scan()
	return t
}

func (s *dateScanner) skip(symbol rune) bool {
	if s.next.symbol != symbol {
		return false
	}
	s.take()
	return true
}

func (s *dateScanner) scan() dateToken {
	if s.at >= len(s.text) {
		return dateToken{kind: dateEnd}
	}
	begin := s.at
	switch c := s.text[s.at]; {
	case dateDigit(c):
		n, significant := 0, 0
		for ; s.at < len(s.text) && dateDigit(s.text[s.at]); s.at++ {
			if significant == 0 && s.text[s.at] == '0' {
				continue
			}
			if significant++; significant <= maxDateDigits {
				n = n*10 + int(s.text[s.at]-'0')
			}
		}
		return dateToken{kind: dateNumber, value: n, length: s.at - begin}
	case strings.ContainsRune(":-+.)", c):
		s.at++
		return dateToken{symbol: c}
	case dateSpacing(c):
		s.at++
		return dateToken{kind: dateSpace}
	case c >= 'A':
		for s.at < len(s.text) && s.text[s.at] >= 'A' && !dateSpacing(s.text[s.at]) {
			s.at++
		}
		word := s.text[begin:s.at]
		letters := make([]rune, 0, 3)
		for _, c := range word[:min(len(word), 3)] {
			letters = append(letters, c|0x20)
		}
		text := string(letters)
		if len(word) > 3 && dateWords[text].kind != dateMonth {
			text = "" // only months may be longer
		}
		return dateToken{kind: dateWord, word: text}
	case c == '(':
		for depth := 0; s.at < len(s.text); {
			if c := s.text[s.at]; c == '(' {
				depth++
			} else if c == ')' {
				depth--
			}
			if s.at++; depth == 0 {
				break
			}
		}
		return dateToken{}
	}
	s.at++
	return dateToken{}
}

func dateDigit(c rune) bool { return c >= '0' && c <= '9' }

func dateSpacing(c rune) bool {
	return c >= '\t' && c <= '\r' || c == 0xFEFF || c == 0x2028 || c == 0x2029 || unicode.Is(unicode.Zs, c)
}
