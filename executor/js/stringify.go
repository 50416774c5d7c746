package js

import (
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// installStringify replaces JSON.stringify for programs that indent. The engine
// keeps the indent of an empty object or list for all that follows, counts the
// indent in bytes, and reads numbers beyond an integer wrong. Without an indent
// it is right, so that its own text is indented here.
func (s *session) installStringify() {
	json := s.member(s.vm.GlobalObject(), "JSON")
	native, _ := s.callable(json.Get("stringify"))
	s.replace(json, "stringify", 3, func(call goja.FunctionCall) goja.Value {
		if len(call.Arguments) < 3 {
			return native(call.This, call.Arguments...)
		}
		gap, lines := indentOf(call.Arguments[2])
		out := native(call.This, call.Arguments[:2]...)
		if !lines || goja.IsUndefined(out) {
			return out
		}
		text := out.String()
		if len(text) < 3 { // a digit, "", [] or {}
			return out
		}
		// Half of a surrogate pair can stand in the indent only.
		if plain := string(utf16.Decode(gap)); !strings.ContainsRune(plain, '\uFFFD') {
			return s.vm.ToValue(s.indented(text, plain))
		}
		const mark = "\x00" // no character of JSON text
		var units []uint16
		for i, part := range strings.Split(s.indented(text, mark), mark) {
			if i > 0 {
				units = append(units, gap...)
			}
			units = append(units, utf16.Encode([]rune(part))...)
		}
		return goja.StringFromUTF16(units)
	})
}

// maxIndent is how many characters of an indent count (ECMA-262 25.5.2).
const maxIndent = 10

// indentOf reads the third argument of JSON.stringify, and whether members have
// lines of their own: as in node they do where a number above 0 is cut to
// an indent of nothing.
func indentOf(v goja.Value) (gap []uint16, lines bool) {
	if obj, ok := v.(*goja.Object); ok {
		switch obj.ClassName() {
		case "Number":
			v = obj.ToNumber()
		case "String":
			v = obj.ToString()
		default:
			return nil, false
		}
	}
	switch {
	case plainNumber(v):
		if n := v.ToFloat(); n > 0 {
			return utf16.Encode([]rune(strings.Repeat(" ", int(min(n, maxIndent))))), true
		}
	default:
		if _, is := v.(goja.String); is {
			units := utf16Units(v)
			return units[:min(len(units), maxIndent)], len(units) > 0
		}
	}
	return nil, false
}

// indented puts the members of JSON text without spaces on lines of their own.
func (s *session) indented(text, gap string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	depth := 0
	line := func() {
		b.WriteByte('\n')
		for range depth {
			b.WriteString(gap)
		}
		if b.Len() > maxBulk { // each level of nesting adds to every line
			s.throwError("RangeError", "Invalid string length")
		}
	}
	from := 0 // what is not written yet
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if text[i+1] == '}' || text[i+1] == ']' {
				i++ // an empty one stays closed
				continue
			}
			b.WriteString(text[from : i+1])
			from = i + 1
			depth++
			line()
		case '}', ']':
			b.WriteString(text[from:i])
			from = i
			depth--
			line()
		case ',':
			b.WriteString(text[from : i+1])
			from = i + 1
			line()
		case ':':
			b.WriteString(text[from : i+1])
			b.WriteByte(' ')
			from = i + 1
		}
	}
	b.WriteString(text[from:])
	return b.String()
}
