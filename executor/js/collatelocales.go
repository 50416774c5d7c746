package js

import (
	"strconv"
	"strings"
	"unicode"
)

// A collationRule says where the tables that we have are older or smaller than
// those of node, so that no text is put in another order: such texts are
// refused.
type collationRule struct {
	like  string                // the language whose order is taken
	own   *unicode.RangeTable   // letters that come first in this language; the tables do not move them
	never []*unicode.RangeTable // letters whose order is not known
	odd   []string              // parts of words of that kind, in small letters
}

// collationRules are those of languages that need one.
var collationRules = map[string]collationRule{
	"it": {like: "en"}, "pt": {like: "en"}, "nl": {like: "en"}, "id": {like: "en"},
	"da": danish, "nb": danish, "no": danish, "nn": danish,
	"ru": {own: unicode.Cyrillic}, "uk": {own: unicode.Cyrillic}, "bg": {own: unicode.Cyrillic}, "el": {own: unicode.Greek},
	"he": {own: unicode.Hebrew}, "ar": {own: unicode.Arabic}, "fa": {own: unicode.Arabic}, "hi": {own: unicode.Devanagari},
	"ko": {own: unicode.Hangul, never: []*unicode.RangeTable{unicode.Han}},
	"ja": {never: []*unicode.RangeTable{unicode.Han}, odd: []string{"ー", "ゝ", "ゞ", "ヽ", "ヾ"}}, // marks that repeat or lengthen
}

// danish puts å, which may be written aa, at the end, and large letters first.
var danish = collationRule{like: "da", odd: []string{"œ", "aå"}, never: []*unicode.RangeTable{unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Hiragana, unicode.Katakana}}

// unlike says why two texts, joined, cannot be compared as in node, or nothing.
func unlike(rule collationRule, joined string, numeric, byCase bool) string {
	own, other := false, false
	zero := rune(0) // of the digits of one script
	for _, c := range joined {
		switch {
		case c < unicode.MaxASCII && !unicode.IsLetter(c):
		case unicode.In(c, rule.never...):
			return "the order of " + strconv.QuoteRune(c) + " in this language is not known"
		case numeric && c > unicode.MaxASCII && unicode.IsNumber(c):
			return "numeric takes no digits but 0 to 9"
		case byCase && c > unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsNumber(c)):
			return `sensitivity "case" takes the letters a to z only`
		case c > unicode.MaxASCII && unicode.IsDigit(c):
			if z := c &^ 15; zero != 0 && zero != z {
				return "digits of two scripts are not supported"
			} else {
				zero = z
			}
		case rule.own == nil:
		case unicode.Is(rule.own, c):
			own = true
		case unicode.IsLetter(c):
			other = true
		}
	}
	for _, part := range rule.odd {
		if strings.Contains(strings.ToLower(joined), part) {
			return "the order of " + strconv.Quote(part) + " in this language is not known"
		}
	}
	if own && other {
		return "letters of this language beside those of another script are not supported; compare without a locale"
	}
	return ""
}

// spreadNumbers writes each number without its leading zeros, and in front of
// it how many digits it has, so that the order of the texts is that of the
// numbers.
func spreadNumbers(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] < '0' || text[i] > '9' {
			b.WriteByte(text[i])
			i++
			continue
		}
		end := i
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		digits := strings.TrimLeft(text[i:end], "0")
		for n := len(digits); ; n -= 9 { // 9 stands for nine digits, and more to come
			b.WriteByte('0' + byte(min(n, 9)))
			if n < 9 {
				break
			}
		}
		b.WriteString(digits)
		i = end
	}
	return b.String()
}
