package js

import (
	"github.com/dop251/goja/ast"
)

// maxPattern bounds the source of a regular expression made at run time.
const maxPattern = 32 << 10

// pattern checks the pattern of a literal and returns what the engine gets.
func (m *meter) pattern(e *ast.RegExpLiteral) string {
	if msg := unsupportedPattern(e.Pattern, e.Flags); msg != "" {
		m.fail(e.Idx, msg)
	}
	return e.Pattern
}

// unsupportedPattern says what the engine would silently get wrong, or "".
func unsupportedPattern(pattern, flags string) string {
	unicode := false
	for _, f := range flags {
		switch f {
		case 'u':
			unicode = true
		case 'v', 'd':
			return "regular expressions with the flag " + string(f) + " are not supported"
		}
	}
	if !unicode {
		return ""
	}
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		if c := pattern[i+1]; c == 'p' || c == 'P' {
			return `regular expressions with \p{..} are not supported; list the character ranges instead`
		}
		i++
	}
	return ""
}
