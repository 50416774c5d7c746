package js

import (
	"math"
	"strconv"

	"github.com/dop251/goja"
)

// installSort gives Array.prototype.sort a list of its own to sort, which it
// then writes back (ECMA-262 23.1.3.30): the engine sorts the array itself,
// which the comparison may change under it.
func (s *session) installSort(array *goja.Object) {
	native, _ := s.callable(array.Get("sort"))
	fn := s.function("sort", func(call goja.FunctionCall) goja.Value {
		obj, ok := call.This.(*goja.Object)
		if _, compares := goja.AssertFunction(call.Argument(0)); !compares || !ok || !s.isArray(obj) {
			s.boundedLength(call.This, "sort")
			return native(call.This, call.Arguments...)
		}
		n := lengthOf(obj) // read once, as a proxy would notice
		if n > maxBulk {
			s.throwError("RangeError", "sort: the array is too long")
		}
		has := func(i int64) bool { return obj.Get(index(i)) != nil }
		if obj.ExportType() == proxyType { // which answers undefined for what it has not
			in, _ := s.callable(s.load(libHas()))
			has = func(i int64) bool { return in(goja.Undefined(), obj, s.vm.ToValue(i)).ToBoolean() }
		}
		list := make([]any, 0, min(n, 1<<12)) // the array may be sparse
		for i := range n {
			if has(i) {
				list = append(list, orUndefined(obj.Get(index(i))))
			}
		}
		sorted := s.vm.NewArray(list...)
		native(sorted, s.comparator(call.Argument(0)))
		for i := range n {
			var err error
			if i < int64(len(list)) {
				err = obj.Set(index(i), sorted.Get(index(i)))
			} else {
				err = obj.Delete(index(i))
			}
			if err != nil {
				panic(err)
			}
		}
		return call.This
	})
	_ = fn.DefineDataProperty("length", s.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = array.DefineDataProperty("sort", fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// installTypedSort does the same for typed arrays (ECMA-262 23.2.3.29).
func (s *session) installTypedSort() {
	typed := s.ctor("Uint8Array").Prototype()
	proto := s.member(typed, "prototype")
	native, _ := s.callable(proto.Get("sort"))
	slice, _ := s.callable(proto.Get("slice"))
	fn := s.function("sort", func(call goja.FunctionCall) goja.Value {
		obj, ok := call.This.(*goja.Object)
		if !ok {
			return native(call.This, call.Arguments...)
		}
		n, ok := s.typedArray(obj)
		if _, compares := goja.AssertFunction(call.Argument(0)); !compares || !ok {
			return native(call.This, call.Arguments...)
		}
		sorted, ok := slice(obj).(*goja.Object)
		if !ok {
			return native(call.This, call.Arguments...)
		}
		native(sorted, s.comparator(call.Argument(0)))
		for i := range min(n, lengthOf(obj)) { // the comparison may have detached it
			if err := obj.Set(index(i), sorted.Get(index(i))); err != nil {
				panic(err)
			}
		}
		return call.This
	})
	_ = fn.DefineDataProperty("length", s.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = proto.DefineDataProperty("sort", fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// compared are the arguments of toSorted with its comparison.
func (s *session) compared(call goja.FunctionCall) []goja.Value {
	if _, compares := goja.AssertFunction(call.Argument(0)); !compares {
		return call.Arguments
	}
	return []goja.Value{s.comparator(call.Argument(0))}
}

// comparator gives the engine a comparison whose answers are of three kinds,
// as for the language: the engine takes -0 and NaNs with a sign for "less".
func (s *session) comparator(v goja.Value) goja.Value {
	compare, ok := s.callable(v)
	if !ok {
		return v
	}
	return s.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		answer := compare(goja.Undefined(), call.Arguments...)
		if plainNumber(answer) {
			if f := answer.ToFloat(); f == 0 || math.IsNaN(f) {
				return s.vm.ToValue(0)
			}
			return answer
		}
		f := s.vm.ToValue(answer.ToFloat()) // which calls its valueOf, once
		if x := f.ToFloat(); x == 0 || math.IsNaN(x) {
			return s.vm.ToValue(0)
		}
		return f
	})
}

func index(i int64) string { return strconv.FormatInt(i, 10) }
