package js

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// rareJSON reports whether the engine's own JSON.parse may differ from the
// language on a text: it turns half of a surrogate pair into U+FFFD, and
// refuses numbers that are too large for a double, which are Infinity. So what
// matters is \uD8 and beyond, an exponent of three digits, and 309 digits.
func rareJSON(text string) bool {
	digits, exponent, inExponent := 0, false, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			if digits == 0 {
				inExponent = exponent
			}
			if digits++; digits == 309 || digits == 3 && inExponent {
				return true
			}
			exponent = false
			continue
		case c == '\\' && i+3 < len(text) && text[i+1] == 'u' && text[i+2]|0x20 == 'd':
			if h := text[i+3] | 0x20; h == '8' || h == '9' || 'a' <= h && h <= 'f' {
				return true
			}
			exponent = false
		case c|0x20 == 'e':
			exponent = true
		case c == '+':
		default:
			exponent = false
		}
		digits = 0
	}
	return false
}

// exactJSON puts our reading of such text in front of the engine's.
func (s *session) exactJSON(native callee) callee {
	return func(this goja.Value, args ...goja.Value) goja.Value {
		if len(args) == 0 {
			return native(this)
		}
		text := args[0].String()
		if !rareJSON(text) || nesting(text) > maxJSONDepth || !json.Valid([]byte(text)) {
			return native(this, args...)
		}
		r := jsonReader{s: s, text: text}
		v := r.value()
		if len(args) > 1 {
			if reviver, ok := s.callable(args[1]); ok {
				holder := s.vm.NewObject()
				define(holder, "", v)
				return s.revive(reviver, holder, "")
			}
		}
		return v
	}
}

func define(obj *goja.Object, key string, v goja.Value) {
	if err := obj.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
		panic(err)
	}
}

// revive is InternalizeJSONProperty of the language.
func (s *session) revive(reviver callee, holder *goja.Object, key string) goja.Value {
	v := orUndefined(holder.Get(key))
	if obj, ok := v.(*goja.Object); ok {
		var keys []string
		if s.isArray(obj) {
			for i := range lengthOf(obj) {
				keys = append(keys, strconv.FormatInt(i, 10))
			}
		} else {
			keys = obj.Keys()
		}
		for _, k := range keys {
			if nv := s.revive(reviver, obj, k); goja.IsUndefined(nv) {
				_ = obj.Delete(k)
			} else {
				_ = obj.DefineDataProperty(k, nv, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			}
		}
	}
	return reviver(holder, s.vm.ToValue(key), v)
}

// jsonReader reads text that is known to be valid.
type jsonReader struct {
	s    *session
	text string
	at   int
}

func (r *jsonReader) peek() byte {
	for strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[r.at]
}

func (r *jsonReader) value() goja.Value {
	vm := r.s.vm
	switch r.peek() {
	case '{':
		return r.object()
	case '[':
		var items []any
		for r.at++; r.peek() != ']'; {
			items = append(items, r.value())
			if r.peek() == ',' {
				r.at++
			}
		}
		r.at++
		return vm.NewArray(items...)
	case '"':
		v, _ := r.str()
		return v
	case 't':
		r.at += len("true")
		return vm.ToValue(true)
	case 'f':
		r.at += len("false")
		return vm.ToValue(false)
	case 'n':
		r.at += len("null")
		return goja.Null()
	}
	start := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.eE0123456789", r.text[r.at]) >= 0 {
		r.at++
	}
	n, _ := strconv.ParseFloat(r.text[start:r.at], 64) // of a valid number: out of range is infinity
	return vm.ToValue(n)
}

func (r *jsonReader) object() goja.Value {
	obj := r.s.vm.NewObject()
	for r.at++; r.peek() != '}'; {
		r.peek()
		key, whole := r.str()
		r.peek()
		r.at++ // the colon
		v := r.value()
		if whole {
			define(obj, key.String(), v)
		} else {
			obj = r.s.load(libMember(), obj, key, v).(*goja.Object)
		}
		if r.peek() == ',' {
			r.at++
		}
	}
	r.at++
	return obj
}

// libMember adds a member whose name no Go string can hold.
var libMember = library("member.js")

// str reads a string; whole says that a Go string can hold it.
func (r *jsonReader) str() (v goja.Value, whole bool) {
	var units []uint16
	for r.at++; r.text[r.at] != '"'; {
		c := r.text[r.at]
		if c != '\\' {
			letter, n := utf8.DecodeRuneInString(r.text[r.at:])
			units = utf16.AppendRune(units, letter)
			r.at += n
			continue
		}
		c = r.text[r.at+1]
		r.at += 2
		switch c {
		case 'u':
			n, _ := strconv.ParseUint(r.text[r.at:r.at+4], 16, 16)
			units = append(units, uint16(n))
			r.at += 4
		case 'b', 'f', 'n', 'r', 't':
			units = append(units, uint16("\b\f\n\r\t"[strings.IndexByte("bfnrt", c)]))
		default:
			units = append(units, uint16(c))
		}
	}
	r.at++
	for i := 0; i < len(units); i++ {
		if !utf16.IsSurrogate(rune(units[i])) {
			continue
		}
		if i+1 == len(units) || utf16.DecodeRune(rune(units[i]), rune(units[i+1])) == utf8.RuneError {
			return goja.StringFromUTF16(units), false
		}
		i++
	}
	return goja.StringFromUTF16(units), true
}
