package config

import (
	"fmt"
	"strings"
	"unicode"

	near "github.com/toolwarrant/toolwarrant/internal/suggest"
)

// didYouMean names the key that was probably meant by an unknown path, as
// the end of a sentence, or "".
func (s *schema) didYouMean(path []string) string {
	var known []string
	s.root.walk(func(k *key) {
		if len(k.path) > 0 {
			known = append(known, dotted(k.path))
		}
	})
	return suggest(dotted(path), known)
}

// suggest finds the known name that is closest to name: the same after
// folding case and separators, the same last part elsewhere, or a few
// letters away.
func suggest(name string, known []string) string {
	if len(name) > 256 {
		return ""
	}
	want := fold(name)
	best, least := "", 1+len(want)/3
	for _, k := range known {
		have := fold(k)
		d := near.Distance(want, have)
		if d > 0 && last(have) == last(want) && !strings.Contains(k, prefix) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// fold brings camelCase, snake_case and kebab-case of one name together.
func fold(s string) string {
	var b strings.Builder
	lower := false
	for _, r := range s {
		switch {
		case r == '_':
			b.WriteByte('-')
		case unicode.IsUpper(r):
			if lower {
				b.WriteByte('-')
			}
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
		lower = unicode.IsLower(r)
	}
	return b.String()
}

func last(dotted string) string { return dotted[strings.LastIndexByte(dotted, '.')+1:] }
