package js

import (
	"slices"

	"github.com/dop251/goja"
)

// guardReplaceAll keeps an empty search from the engine, which never ends one
// in a text with characters beyond ASCII and cannot be interrupted.
func (s *session) guardReplaceAll() {
	replace := goja.SymReplace
	proto := s.vm.ToValue("").ToObject(s.vm).Prototype()
	native, _ := s.callable(proto.Get("replaceAll"))
	fn := s.function("replaceAll", func(call goja.FunctionCall) goja.Value {
		search := call.Argument(0)
		if text, ok := search.(goja.String); ok && text.Length() > 0 {
			return native(call.This, call.Arguments...)
		}
		if obj, ok := search.(*goja.Object); ok {
			if method := obj.GetSymbol(replace); method != nil && !goja.IsUndefined(method) && !goja.IsNull(method) {
				return native(call.This, call.Arguments...)
			}
		} else if _, ok := search.(goja.String); !ok {
			return native(call.This, call.Arguments...) // no other value is written as the empty text
		}
		if goja.IsUndefined(call.This) || goja.IsNull(call.This) {
			return native(call.This, call.Arguments...)
		}
		text := s.asText(call.This)
		if search = s.asText(search); search.(goja.String).Length() > 0 {
			return native(text, search, call.Argument(1))
		}
		return s.between(text, call.Argument(1))
	})
	_ = fn.DefineDataProperty("length", s.vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = proto.DefineDataProperty("replaceAll", fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// asText is v as a string; a symbol is none.
func (s *session) asText(v goja.Value) goja.Value {
	if _, ok := v.(*goja.Symbol); ok {
		s.throwError("TypeError", "Cannot convert a Symbol value to a string")
	}
	if text, ok := v.ToString().(goja.String); ok {
		return text
	}
	return s.vm.ToValue(v.String()) // undefined and null
}

// between puts a replacement in front of each unit of a text and behind the
// last one. No group is set.
func (s *session) between(text, replacement goja.Value) goja.Value {
	units := utf16Units(text)
	replacer, calls := s.callable(replacement)
	var template []uint16
	if !calls {
		template = utf16Units(s.asText(replacement))
	}
	var out []uint16
	for i := range len(units) + 1 {
		if calls {
			out = append(out, utf16Units(s.asText(replacer(goja.Undefined(), s.vm.ToValue(""), s.vm.ToValue(i), text)))...)
		} else {
			out = fill(out, template, units[:i], units[i:])
		}
		if len(out) > maxBulk {
			s.throwError("RangeError", "Invalid string length")
		}
		out = append(out, units[i:min(i+1, len(units))]...)
	}
	return goja.StringFromUTF16(out)
}

// fill appends a template whose match is the empty text between before and
// after.
func fill(out, template, before, after []uint16) []uint16 {
	for len(template) > 0 && len(out) <= maxBulk {
		at := slices.Index(template, '$')
		if at < 0 || at+1 == len(template) {
			return append(out, template...)
		}
		out = append(out, template[:at]...)
		switch c := template[at+1]; c {
		case '$':
			out = append(out, '$')
		case '&':
		case '`':
			out = append(out, before...)
		case '\'':
			out = append(out, after...)
		default:
			out = append(out, '$')
			template = template[at+1:]
			continue
		}
		template = template[at+2:]
	}
	return out
}
