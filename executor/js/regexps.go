package js

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// maxPattern bounds the source of a regular expression made at run time.
const maxPattern = 32 << 10

// pattern gives the engine the form of a literal's pattern that it reads
// right, and remembers what the author wrote.
func (m *meter) pattern(e *ast.RegExpLiteral) string {
	out, flags, msg := script.Native(e.Pattern, e.Flags)
	if msg != "" {
		m.fail(e.Idx, msg)
		return e.Pattern
	}
	m.textual = m.textual || !plainPattern(out, flags)
	if m.shows && strings.Contains(e.Pattern, "/") && escapedSlashes(out) != out {
		// The engine shows a slash in a class as \u002f. The group tells it from the
		// same pattern of an author.
		out = escapedSlashes(out) + "(?:)"
	}
	if out != e.Pattern {
		if m.patterns == nil {
			m.patterns = map[string]string{}
		}
		author := e.Flags + "/" + e.Pattern
		if flags == e.Flags {
			author = "/" + e.Pattern // the flags are right as they are
		}
		// What two authors wrote may become the same.
		for known, ok := m.patterns[out]; ok && known != author; known, ok = m.patterns[out] {
			out += "(?:)"
		}
		m.patterns[out] = author
		e.Flags = flags
	}
	return out
}

// escapedSlashes puts a backslash before each slash that has none, which means
// the same.
func escapedSlashes(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			b.WriteByte(c)
			i++
		case c == '/':
			b.WriteByte('\\')
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// showsPatterns reports whether a program may show a regular expression.
func showsPatterns(source string) bool {
	for _, n := range []string{"source", "tring", "${", "RegExp", "getOwnProperty", "\"\"", "''"} {
		if strings.Contains(source, n) {
			return true
		}
	}
	return false
}

// regexps changes the class RegExp where a program makes expressions at run
// time or has one that the engine gets in another form. alsoOurs is what
// regexpTexts gave.
func (s *session) regexps(alsoOurs goja.Value) {
	author := s.function("author", func(call goja.FunctionCall) goja.Value {
		if known, ok := s.prog.patterns[call.Argument(0).String()]; ok {
			_, source, _ := strings.Cut(known, "/")
			return s.vm.ToValue(source)
		}
		return call.Argument(0)
	})
	authorFlags := s.function("authorFlags", func(call goja.FunctionCall) goja.Value {
		flags, _, _ := strings.Cut(s.prog.patterns[call.Argument(0).String()], "/")
		return s.vm.ToValue(flags)
	})
	namesCase := s.vm.ToValue(strings.Contains(s.prog.source, "ignoreCase"))
	if !s.prog.needs.regexp && !s.splitsByWords() {
		proto := s.vm.GlobalObject().Get("RegExp").ToObject(s.vm).Get("prototype")
		s.load(libRegexpView(), proto, author, authorFlags, namesCase, orUndefined(alsoOurs))
		return
	}
	s.load(libRegexp(), s.vm.GlobalObject(),
		s.function("expand", func(call goja.FunctionCall) goja.Value {
			source, flags := patternText(call.Argument(0)), call.Argument(1).String()
			if len(source) > maxPattern {
				s.throwError("SyntaxError", "the regular expression is too long")
			}
			out, native, msg := script.Native(source, flags)
			if msg != "" {
				s.throwError("SyntaxError", msg)
			}
			if out == source {
				return call.Argument(0) // as it is, lone surrogates included
			}
			if native != flags {
				return s.vm.NewArray(out, native)
			}
			return s.vm.ToValue(out)
		}),
		author, authorFlags, namesCase,
		s.function("indices", s.matchIndices),
		s.vm.ToValue(s.vm.NewArray(keptNames(s.prog.source)...)),
		s.function("notKept", func(call goja.FunctionCall) goja.Value {
			return s.vm.ToValue(script.LastMatchAdvice(call.Argument(0).String()))
		}), alsoOurs)
}

// keptNames are the members of RegExp that keep the last match, as far as a
// program may ask for them: reading one is an error there.
func keptNames(source string) (out []any) {
	all := strings.Contains(source, "RegExp[") || strings.Contains(source, "constructor[") || strings.Contains(source, "Reflect")
	for _, n := range script.LastMatch {
		if all || strings.Contains(source, n) && n != "$'" && n != "$`" || strings.Contains(source, `"`+n) {
			out = append(out, n)
		}
	}
	return out
}

var libRegexpView = library("regexpview.js")

// splitsByWords says that a text may be split by the bounds of words, which the
// matcher that splits takes otherwise.
func (s *session) splitsByWords() bool {
	if !s.prog.needs.global && !strings.Contains(s.prog.source, "split") {
		return false
	}
	for pattern := range s.prog.patterns {
		if strings.Contains(pattern, `\b`) || strings.Contains(pattern, `\B`) {
			return true
		}
	}
	return false
}

// patternText is a pattern as text: lone surrogates are written as escapes.
func patternText(v goja.Value) string {
	text := v.String()
	if !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	var b strings.Builder
	units := utf16Units(v)
	for i := 0; i < len(units); i++ {
		switch u := units[i]; {
		case u < 0xD800 || u > 0xDFFF:
			b.WriteRune(rune(u))
		case u < 0xDC00 && i+1 < len(units) && units[i+1] >= 0xDC00 && units[i+1] <= 0xDFFF:
			b.WriteRune(utf16.DecodeRune(rune(u), rune(units[i+1])))
			i++
		default:
			fmt.Fprintf(&b, `\u%04X`, u)
		}
	}
	return b.String()
}

// matchIndices finds where the groups of a match lie, for the flag d: the
// arguments are the expanded pattern, the flags, the text and the place of the
// match. The answer is a flat list of first, end and name, or undefined where
// this matcher does not find the same.
func (s *session) matchIndices(call goja.FunctionCall) goja.Value {
	pattern, flags := call.Argument(0).String(), call.Argument(1).String()
	opts := matchOptions(flags)
	re, err := regexp2.Compile(pattern, opts)
	if err != nil {
		return goja.Undefined()
	}
	units := utf16Units(call.Argument(2))
	at := int(call.Argument(3).ToInteger())
	runes, offsets := make([]rune, 0, len(units)), make([]int, 0, len(units)+1)
	start := -1
	for i := 0; i < len(units); {
		if i == at {
			start = len(runes)
		}
		offsets = append(offsets, i)
		r, n := rune(units[i]), 1
		if opts&regexp2.Unicode != 0 && i+1 < len(units) && r >= 0xD800 && r < 0xDC00 && units[i+1] >= 0xDC00 && units[i+1] < 0xE000 {
			r, n = 0x10000+(r-0xD800)<<10+(rune(units[i+1])-0xDC00), 2
		}
		runes = append(runes, r)
		i += n
	}
	offsets = append(offsets, len(units))
	if at == len(units) {
		start = len(runes)
	}
	if start < 0 {
		return goja.Undefined()
	}
	m, err := re.FindRunesMatchStartingAt(runes, start)
	if err != nil || m == nil || m.RuneIndex != start {
		return goja.Undefined()
	}
	var out []any
	for i, g := range m.Groups() {
		name := ""
		if i > 0 && (g.Name == "" || g.Name[0] < '0' || g.Name[0] > '9') {
			name = g.Name
		}
		if len(g.Captures) == 0 {
			out = append(out, -1, -1, name)
			continue
		}
		out = append(out, offsets[g.RuneIndex], offsets[g.RuneIndex+g.RuneLength], name)
	}
	return s.vm.NewArray(out...)
}

// utf16Units reads a string as JavaScript counts it.
func utf16Units(v goja.Value) []uint16 {
	str, ok := v.ToString().(goja.String)
	if !ok {
		return nil
	}
	out := make([]uint16, str.Length())
	for i := range out {
		out[i] = str.CharAt(i)
	}
	return out
}
