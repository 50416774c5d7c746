// Package printable says which text from outside may name somebody: the
// subject of a token or a certificate, a group, the name of a key.
//
// Such a name is compared, shown to people and recorded. What could not be
// seen in it, or would show as something else, is refused and never cleaned:
// cleaned, a name could be another's.
//
// It is a leaf: any package may import it and it imports nothing of ours.
package printable

import (
	"unicode"
	"unicode/utf8"
)

// Name reports whether s is UTF-8 of one to most bytes, all of it characters
// that print.
func Name(s string, most int) bool {
	if s == "" || len(s) > most || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
