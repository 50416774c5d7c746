package js

import (
	"math"
	"math/big"

	"github.com/dop251/goja"
)

// installTypedSearch replaces the searches of typed arrays of floats and of
// BigInts. The engine compares the bits of elements: it finds no 0 where -0
// stands, not every NaN, what is only near to a narrow number, and BigInts that
// have no place in the array.
func (s *session) installTypedSearch() {
	typed := s.member(s.ctor("Uint8Array").Prototype(), "prototype")
	for _, name := range []string{"includes", "indexOf", "lastIndexOf"} {
		native, _ := s.callable(typed.Get(name))
		s.replace(typed, name, 1, func(call goja.FunctionCall) goja.Value {
			v := call.Argument(0)
			obj, ok := call.This.(*goja.Object)
			number, large := plainNumber(v), bigOf(v)
			if !ok || !number && large == nil {
				return native(call.This, call.Arguments...)
			}
			n, _ := s.typedArray(obj)
			if n == 0 || !searched(obj) {
				return native(call.This, call.Arguments...)
			}
			first, backward := 0.0, name == "lastIndexOf"
			if len(call.Arguments) > 1 {
				first = math.Trunc(call.Arguments[1].ToNumber().ToFloat())
			} else if backward {
				first = float64(n - 1)
			}
			if first != first {
				first = 0
			}
			if first < 0 {
				first += float64(n)
			}
			at := int64(-1)
			// The conversion may have run code that took the buffer away.
			if now, _ := s.typedArray(obj); now == n {
				if number {
					at = floatAt(obj.Export(), v.ToFloat(), name == "includes", first, backward)
				} else {
					at = bigAt(obj.Export(), large, first, backward)
				}
			}
			if name == "includes" {
				return s.vm.ToValue(at >= 0)
			}
			return s.vm.ToValue(at)
		})
	}
}

// searched says that the elements of a typed array are searched here.
func searched(obj *goja.Object) bool {
	switch obj.Export().(type) {
	case []float32, []float64, []int64, []uint64:
		return true
	}
	return false
}

// floatAt finds a number among floats, and NaN only where it is asked for.
func floatAt(list any, x float64, nan bool, first float64, backward bool) int64 {
	same := func(y float64) bool { return x == y || nan && x != x && y != y }
	switch list := list.(type) {
	case []float32:
		return place(len(list), first, backward, func(i int) bool { return same(float64(list[i])) })
	case []float64:
		return place(len(list), first, backward, func(i int) bool { return same(list[i]) })
	}
	return -1
}

// bigAt finds a BigInt.
func bigAt(list any, x *big.Int, first float64, backward bool) int64 {
	switch list := list.(type) {
	case []int64:
		if x.IsInt64() {
			want := x.Int64()
			return place(len(list), first, backward, func(i int) bool { return list[i] == want })
		}
	case []uint64:
		if x.IsUint64() {
			want := x.Uint64()
			return place(len(list), first, backward, func(i int) bool { return list[i] == want })
		}
	}
	return -1
}

// place is the first index from there on, or back from there, that is wanted.
func place(n int, first float64, backward bool, wanted func(int) bool) int64 {
	if backward {
		for i := int(min(first, float64(n-1))); i >= 0 && first >= 0; i-- {
			if wanted(i) {
				return int64(i)
			}
		}
		return -1
	}
	for i := int(max(0, min(first, float64(n)))); i < n; i++ {
		if wanted(i) {
			return int64(i)
		}
	}
	return -1
}
