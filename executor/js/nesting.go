package js

import (
	"fmt"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	maxNesting = 250  // brackets, blocks and templates inside each other
	maxChain   = 6000 // right-recursive operators at one level without a separator
)

func tooDeep() *worker.Failure {
	return &worker.Failure{Code: string(fault.ResourceLimit), Reason: "source",
		Message: fmt.Sprintf("the code nests too deeply (more than %d levels of brackets or an expression of thousands of operators); split it", maxNesting)}
}

// checkNesting refuses code whose parsing would recurse deeply, before it is
// parsed. It reads tokens roughly: where a slash may begin a regular
// expression or divide, it decides by what stands before. Code that misleads
// it still meets sourceCeiling and maxTreeDepth.
func checkNesting(src string) *worker.Failure {
	var open []byte // '(' '[' '{' and '`' for a template's ${
	chain := 0
	last := byte(0) // last significant byte
	word := ""      // last identifier or keyword, when it is what stands before
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case strings.HasPrefix(src[i:], "//"):
			if n := strings.IndexAny(src[i:], "\n\r"); n >= 0 {
				i += n
			} else {
				i = len(src)
			}
			continue
		case strings.HasPrefix(src[i:], "/*"):
			if n := strings.Index(src[i+2:], "*/"); n >= 0 {
				i += n + 4
			} else {
				i = len(src)
			}
			continue
		case c == '\'' || c == '"':
			i = skipQuoted(src, i)
			last, word = c, ""
			continue
		case c == '`':
			var nested bool
			if i, nested = skipTemplate(src, i+1); nested {
				open = append(open, '`')
			}
			last, word = '`', ""
			if nested {
				last = '{'
			}
		case c == '/' && regexpMayStart(last, word):
			i = skipRegexp(src, i)
			last, word = '/', "/"
			continue
		case c == '(' || c == '[' || c == '{':
			open = append(open, c)
			last, word = c, ""
			i++
		case c == ')' || c == ']' || c == '}':
			i++
			last, word = c, ""
			if n := len(open); n > 0 {
				top := open[n-1]
				open = open[:n-1]
				if c == '}' && top == '`' {
					var nested bool
					if i, nested = skipTemplate(src, i); nested {
						open = append(open, '`')
						last = '{'
					} else {
						last = '`'
					}
				}
			}
		case identByte(c):
			j := i
			for j < len(src) && identByte(src[j]) {
				j++
			}
			word, last = src[i:j], 'a'
			i = j
			continue
		default:
			last, word = c, ""
			i++
		}
		switch c {
		case ';', ',':
			chain = 0
		case '=', '?', '!', '~', '+', '-', '*', ':':
			chain++
		}
		if len(open) > maxNesting || chain > maxChain {
			return tooDeep()
		}
	}
	return nil
}

func identByte(c byte) bool {
	return c == '$' || c == '_' || c == '\\' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func skipQuoted(src string, i int) int {
	quote := src[i]
	for i++; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case quote, '\n', '\r':
			return i + 1
		}
	}
	return len(src)
}

// skipTemplate goes to the end of a template's text, or behind a ${.
func skipTemplate(src string, i int) (next int, nested bool) {
	for ; i < len(src); i++ {
		switch {
		case src[i] == '\\':
			i++
		case src[i] == '`':
			return i + 1, false
		case strings.HasPrefix(src[i:], "${"):
			return i + 2, true
		}
	}
	return len(src), false
}

func skipRegexp(src string, i int) int {
	class := false
	for i++; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '\n', '\r':
			return i
		case '/':
			if !class {
				return i + 1
			}
		}
	}
	return len(src)
}

func regexpMayStart(last byte, word string) bool {
	switch word {
	case "":
	case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "await", "yield", "instanceof":
		return true
	default:
		return false
	}
	switch last {
	case ')', ']', '}', '\'', '"', '`':
		return false
	}
	return true
}
