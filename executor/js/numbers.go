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

func isObject(v goja.Value) bool { _, is := v.(*goja.Object); return is }
