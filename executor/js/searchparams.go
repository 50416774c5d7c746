package js

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// searchParams is the Go side of URLSearchParams.
type searchParams struct {
	pairs [][2]string
	owner *urlObject // the URL that follows every change, or nil
}

// parseForm reads application/x-www-form-urlencoded.
func parseForm(text string) (out [][2]string) {
	for seq := range strings.SplitSeq(text, "&") {
		if seq == "" {
			continue
		}
		name, value, _ := strings.Cut(seq, "=")
		decode := func(s string) string { return decodeUTF8([]byte(unpercent(strings.ReplaceAll(s, "+", " ")))) }
		out = append(out, [2]string{decode(name), decode(value)})
	}
	return out
}

func formEncode(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case c == '*' || c == '-' || c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}

// String is the serialised list.
func (p *searchParams) String() string {
	parts := make([]string, len(p.pairs))
	for i, kv := range p.pairs {
		parts[i] = formEncode(kv[0]) + "=" + formEncode(kv[1])
	}
	return strings.Join(parts, "&")
}

func (p *searchParams) changed() {
	if p.owner != nil {
		p.owner.sync()
	}
}

// searchParamsClass gives the one class of this call.
func (s *session) searchParamsClass() *goja.Object {
	if s.params == nil {
		s.params = s.makeSearchParams()
	}
	return s.params
}

func (s *session) makeSearchParams() *goja.Object {
	ctor := s.class("URLSearchParams", func(obj *goja.Object, call goja.ConstructorCall) {
		p := &searchParams{}
		s.readParams(p, call.Argument(0))
		s.hide(obj, p)
	})
	proto := ctor.Get("prototype").(*goja.Object)
	method := func(name string, f func(p *searchParams, call goja.FunctionCall) goja.Value) *goja.Object {
		fn := s.function(name, func(call goja.FunctionCall) goja.Value {
			p, ok := s.reveal(call.This).(*searchParams)
			if !ok {
				s.throwError("TypeError", "the receiver is not a URLSearchParams")
			}
			return f(p, call)
		})
		_ = proto.DefineDataProperty(name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		return fn
	}
	text := func(call goja.FunctionCall, i int) string { return call.Argument(i).String() }
	method("append", func(p *searchParams, call goja.FunctionCall) goja.Value {
		p.pairs = append(p.pairs, [2]string{text(call, 0), text(call, 1)})
		p.changed()
		return goja.Undefined()
	})
	method("set", func(p *searchParams, call goja.FunctionCall) goja.Value {
		name, value, found := text(call, 0), text(call, 1), false
		p.pairs = slices.DeleteFunc(p.pairs, func(kv [2]string) bool {
			if kv[0] != name {
				return false
			}
			again := found
			found = true
			return again
		})
		for i := range p.pairs {
			if p.pairs[i][0] == name {
				p.pairs[i][1] = value
			}
		}
		if !found {
			p.pairs = append(p.pairs, [2]string{name, value})
		}
		p.changed()
		return goja.Undefined()
	})
	match := func(call goja.FunctionCall) func([2]string) bool {
		name := text(call, 0)
		if goja.IsUndefined(call.Argument(1)) {
			return func(kv [2]string) bool { return kv[0] == name }
		}
		value := text(call, 1)
		return func(kv [2]string) bool { return kv[0] == name && kv[1] == value }
	}
	method("delete", func(p *searchParams, call goja.FunctionCall) goja.Value {
		p.pairs = slices.DeleteFunc(p.pairs, match(call))
		p.changed()
		return goja.Undefined()
	})
	method("has", func(p *searchParams, call goja.FunctionCall) goja.Value {
		return s.vm.ToValue(slices.ContainsFunc(p.pairs, match(call)))
	})
	method("get", func(p *searchParams, call goja.FunctionCall) goja.Value {
		name := text(call, 0)
		for _, kv := range p.pairs {
			if kv[0] == name {
				return s.vm.ToValue(kv[1])
			}
		}
		return goja.Null()
	})
	method("getAll", func(p *searchParams, call goja.FunctionCall) goja.Value {
		name, out := text(call, 0), []any{}
		for _, kv := range p.pairs {
			if kv[0] == name {
				out = append(out, kv[1])
			}
		}
		return s.vm.NewArray(out...)
	})
	method("sort", func(p *searchParams, _ goja.FunctionCall) goja.Value {
		slices.SortStableFunc(p.pairs, func(a, b [2]string) int {
			return slices.Compare(utf16.Encode([]rune(a[0])), utf16.Encode([]rune(b[0])))
		})
		p.changed()
		return goja.Undefined()
	})
	method("toString", func(p *searchParams, _ goja.FunctionCall) goja.Value { return s.vm.ToValue(p.String()) })
	method("forEach", func(p *searchParams, call goja.FunctionCall) goja.Value {
		fn, ok := s.callable(call.Argument(0))
		if !ok {
			s.throwError("TypeError", "forEach needs a function")
		}
		for i := 0; i < len(p.pairs); i++ {
			fn(call.Argument(1), s.vm.ToValue(p.pairs[i][1]), s.vm.ToValue(p.pairs[i][0]), call.This)
		}
		return goja.Undefined()
	})
	list := func(entry func(kv [2]string) goja.Value) func(*searchParams, goja.FunctionCall) goja.Value {
		return func(p *searchParams, _ goja.FunctionCall) goja.Value {
			arr := s.vm.NewArray()
			for i, kv := range p.pairs {
				_ = arr.Set(strconv.Itoa(i), entry(kv))
			}
			return s.iterator(arr)
		}
	}
	entries := method("entries", list(func(kv [2]string) goja.Value { return s.vm.NewArray(kv[0], kv[1]) }))
	method("keys", list(func(kv [2]string) goja.Value { return s.vm.ToValue(kv[0]) }))
	method("values", list(func(kv [2]string) goja.Value { return s.vm.ToValue(kv[1]) }))
	_ = proto.DefineDataPropertySymbol(goja.SymIterator, entries, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	size := s.function("get size", func(call goja.FunctionCall) goja.Value {
		p, _ := s.reveal(call.This).(*searchParams)
		if p == nil {
			return goja.Undefined()
		}
		return s.vm.ToValue(len(p.pairs))
	})
	_ = proto.DefineAccessorProperty("size", size, goja.Undefined(), goja.FLAG_TRUE, goja.FLAG_TRUE)
	return ctor
}

// readParams fills p from a string, another URLSearchParams, pairs or an
// object.
func (s *session) readParams(p *searchParams, v goja.Value) {
	if goja.IsUndefined(v) || goja.IsNull(v) {
		return
	}
	if other, ok := s.reveal(v).(*searchParams); ok {
		p.pairs = slices.Clone(other.pairs)
		return
	}
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() == "String" {
		p.pairs = parseForm(strings.TrimPrefix(v.String(), "?"))
		return
	}
	if _, iterable := goja.AssertFunction(orUndefined(obj.GetSymbol(goja.SymIterator))); !iterable {
		for _, k := range obj.Keys() {
			p.pairs = append(p.pairs, [2]string{k, orUndefined(obj.Get(k)).String()})
		}
		return
	}
	s.vm.ForOf(obj, func(pair goja.Value) bool {
		kv, ok := pair.(*goja.Object)
		if !ok || lengthOf(kv) != 2 || len(p.pairs) > 100000 {
			s.throwError("TypeError", "each pair of URLSearchParams needs a name and a value")
		}
		p.pairs = append(p.pairs, [2]string{orUndefined(kv.Get("0")).String(), orUndefined(kv.Get("1")).String()})
		return true
	})
}
