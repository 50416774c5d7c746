package js

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// radixCall is a call of toString with something in its parentheses.
var radixCall = regexp.MustCompile(`toString[\s\]"'.?]*\(\s*[^\s)]`)

// replace puts fn in the place of the method name of obj.
func (s *session) replace(obj *goja.Object, name string, length int, fn func(goja.FunctionCall) goja.Value) *goja.Object {
	f := s.function(name, fn)
	_ = f.DefineDataProperty("length", s.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = obj.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return f
}

// installRadix gives numbers between -1 and 0 their sign in toString(radix),
// which the engine loses.
func (s *session) installRadix() {
	proto := s.member(s.ctor("Number"), "prototype")
	native, _ := s.callable(proto.Get("toString"))
	s.replace(proto, "toString", 1, func(call goja.FunctionCall) goja.Value {
		out := native(call.This, call.Arguments...)
		v := call.This
		if obj, ok := v.(*goja.Object); ok {
			v = s.vm.ToValue(obj.Export())
		}
		if text := out.String(); v.ExportType() == floatType && v.ToFloat() < 0 && !strings.HasPrefix(text, "-") {
			return s.vm.ToValue("-" + text)
		}
		return out
	})
}

// installParseInt gives parseInt all the digits of a long decimal number: the
// engine rounds at each one.
func (s *session) installParseInt() {
	global := s.vm.GlobalObject()
	native, _ := s.callable(global.Get("parseInt"))
	f := s.replace(global, "parseInt", 2, func(call goja.FunctionCall) goja.Value {
		text, args := call.Argument(0), call.Arguments
		if isObject(text) { // it is converted once
			text = s.vm.ToValue(text.String())
			args = append([]goja.Value{text}, args[1:]...)
		}
		out := native(call.This, args...)
		if n := out.ToFloat(); math.Abs(n) < 1<<53 || len(args) > 1 && !s.decimal(args[1]) {
			return out
		}
		if digits := leadingDigits(text.String()); digits != "" {
			exact, _ := strconv.ParseFloat(digits, 64) // beyond all numbers it is infinite
			return s.vm.ToValue(exact)
		}
		return out
	})
	_ = s.ctor("Number").DefineDataProperty("parseInt", f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// decimal reports whether a radix is the usual one, without converting objects.
func (s *session) decimal(radix goja.Value) bool {
	if isObject(radix) {
		return false
	}
	n := radix.ToFloat()
	return n == 10 || n == 0 || n != n
}

// leadingDigits is the decimal number at the beginning of a text.
func leadingDigits(text string) string {
	text = strings.TrimLeft(text, "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff")
	end := 0
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		end = 1
	}
	from := end
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	if end == from || end == from+1 && end < len(text) && (text[end] == 'x' || text[end] == 'X') {
		return "" // a hexadecimal one
	}
	return text[:end]
}

// installFloatSearch makes the searches of Float32Array look for the number
// itself: the engine rounds it to the width of the elements first.
func (s *session) installFloatSearch() {
	typed := s.member(s.ctor("Uint8Array").Prototype(), "prototype")
	narrow := s.member(s.ctor("Float32Array"), "prototype")
	for name, none := range map[string]any{"includes": false, "indexOf": -1, "lastIndexOf": -1} {
		native, _ := s.callable(typed.Get(name))
		s.replace(typed, name, 1, func(call goja.FunctionCall) goja.Value {
			v := call.Argument(0)
			if obj, ok := call.This.(*goja.Object); ok && plainNumber(v) {
				f := v.ToFloat()
				if _, isTyped := s.typedArray(obj); isTyped && f == f && float64(float32(f)) != f && s.below(obj, narrow) {
					native(call.This, append([]goja.Value{goja.Undefined()}, call.Arguments[1:]...)...) // converts the start
					return s.vm.ToValue(none)
				}
			}
			return native(call.This, call.Arguments...)
		})
	}
}

func isObject(v goja.Value) bool { _, is := v.(*goja.Object); return is }

// below reports whether proto is among the prototypes of obj.
func (s *session) below(obj, proto *goja.Object) bool {
	for p := obj.Prototype(); p != nil; p = p.Prototype() {
		if p == proto {
			return true
		}
	}
	return false
}
