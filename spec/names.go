package spec

import (
	"slices"
	"strings"
	"unicode"
)

// injected are the names that the runtime puts in front of the code (section
// 8.2) and the few of the language that cannot be bound anew. A parameter or
// static variable of such a name would hide a helper or be hidden by it.
var injected = []string{
	"Infinity", "Intl", "Java", "NaN", "TextDecoder", "TextEncoder", "URL", "URLSearchParams",
	"args", "arguments", "atob", "btoa", "console", "crypto", "eval", "fetch", "globalThis", "safety", "undefined",
}

// reservedWords of ECMAScript, with those of strict mode and of async bodies.
var reservedWords = []string{
	"await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete",
	"do", "else", "enum", "export", "extends", "false", "finally", "for", "function", "if", "implements",
	"import", "in", "instanceof", "interface", "let", "new", "null", "package", "private", "protected",
	"public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "var",
	"void", "while", "with", "yield",
}

// Injected reports whether the runtime owns the global name.
func Injected(name string) bool {
	_, found := slices.BinarySearch(injected, name)
	return found
}

// Identifier reports whether name can be bound as a JavaScript variable.
func Identifier(name string) bool {
	if name == "" {
		return false
	}
	for i, r := range name {
		switch {
		case r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r):
		case i > 0 && (unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Pc)):
		default:
			return false
		}
	}
	_, reserved := slices.BinarySearch(reservedWords, name)
	return !reserved
}

// classPattern reports whether p names one class or, with a last segment "*",
// the classes of a package.
func classPattern(p string) bool {
	segs := strings.Split(p, ".")
	for i, seg := range segs {
		if seg == "*" && i > 0 && i == len(segs)-1 {
			continue
		}
		if !javaName(seg) {
			return false
		}
	}
	return true
}

func javaName(s string) bool {
	for i, r := range s {
		if r != '$' && r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// badPlaceholder gives the first "${" of value that does not follow the
// grammar of section 7.2, with what stands there, or "".
func badPlaceholder(value string) string {
	for rest := value; ; {
		i := strings.Index(rest, "${")
		if i < 0 {
			return ""
		}
		rest = rest[i:]
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return rest
		}
		if !placeholderName(rest[2:end]) {
			return rest[:end+1]
		}
		rest = rest[end+1:]
	}
}

// placeholderNames appends the names of the placeholders in value.
func placeholderNames(value string, out []string) []string {
	for {
		i := strings.Index(value, "${")
		if i < 0 {
			return out
		}
		value = value[i+2:]
		end := strings.IndexByte(value, '}')
		if end < 0 {
			return out
		}
		if placeholderName(value[:end]) {
			out = append(out, value[:end])
			value = value[end+1:]
		}
	}
}

// placeholderName is [A-Z_]+[A-Z0-9_]*.
func placeholderName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
