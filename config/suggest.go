package config

import (
	"fmt"
	"strings"
	"unicode"
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
		d := distance(want, have)
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

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
