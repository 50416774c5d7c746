package filesystem

import (
	"regexp"
	"strings"
)

// maxGlob bounds a glob in bytes.
const maxGlob = 256

// compileGlob turns a glob for one name into a pattern: * and ? are any
// letters and one letter, [abc], [a-z] and [!a] are classes, {a,b} is a
// choice that does not nest, a backslash takes the next letter as it is.
func compileGlob(glob string) (*regexp.Regexp, bool) {
	if len(glob) > maxGlob {
		return nil, false
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	choice := false
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			if i == 0 || glob[i-1] != '*' || i > 1 && glob[i-2] == '\\' {
				b.WriteString(`.*`)
			}
		case '?':
			b.WriteString(`.`)
		case '\\':
			if i++; i == len(glob) {
				return nil, false
			}
			b.WriteString(quoteByte(glob[i]))
		case '[':
			class, width, ok := globClass(glob[i:])
			if !ok {
				return nil, false
			}
			b.WriteString(class)
			i += width - 1
		case '{':
			if choice {
				return nil, false
			}
			choice = true
			b.WriteString(`(?:`)
		case '}':
			if !choice {
				return nil, false
			}
			choice = false
			b.WriteString(`)`)
		case ',':
			if choice {
				b.WriteString(`|`)
			} else {
				b.WriteString(`,`)
			}
		case '/':
			return nil, false // a glob is for the name alone
		default:
			b.WriteString(quoteByte(c))
		}
	}
	if choice {
		return nil, false
	}
	b.WriteString(`$`)
	re, err := regexp.Compile(b.String())
	return re, err == nil
}

// quoteByte leaves the bytes of longer UTF-8 letters as they are.
func quoteByte(c byte) string {
	if c >= 0x80 {
		return string([]byte{c})
	}
	return regexp.QuoteMeta(string(rune(c)))
}

// globClass reads the class at the start of glob.
func globClass(glob string) (class string, width int, ok bool) {
	end := strings.IndexByte(glob, ']')
	if end < 2 {
		return "", 0, false
	}
	body := glob[1:end]
	negate := ""
	if body[0] == '!' || body[0] == '^' {
		if body, negate = body[1:], "^"; body == "" {
			return "", 0, false
		}
	}
	if strings.ContainsAny(body, `/[\`) {
		return "", 0, false
	}
	return "[" + negate + strings.NewReplacer("^", `\^`, "&", `\&`).Replace(body) + "]", end + 1, true
}
