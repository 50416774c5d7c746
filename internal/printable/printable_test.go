package printable

import "testing"

func TestName(t *testing.T) {
	for s, want := range map[string]bool{
		"":         false,
		"ann":      true,
		" ann ":    true,
		"김하":       true,
		"12345678": true, "123456789": false,
		"an\nn":      false,
		"an\x00n":    false,
		"an\x1b[1m":  false,
		"a\u200bn":   false, // zero width space
		"a\u202en":   false, // right-to-left override
		"a\u00a0n":   false, // a space that is not U+0020
		"a\xffn":     false,
		"\ufeffn":    false,
		"a\ufffdn":   true, // a character that prints, although of no meaning
		"\U000e0041": false,
	} {
		if Name(s, 8) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}
