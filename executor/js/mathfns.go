package js

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/js/nearest"
)

// mathFunctions replace the engine's, whose last digits differ between
// machines, and whose logarithms of powers are not whole.
var mathFunctions = []struct {
	name string
	fn   func(float64) float64
}{{"log", nearest.Log}, {"log2", nearest.Log2}, {"log10", nearest.Log10}, {"log1p", nearest.Log1p}, {"exp", nearest.Exp}, {"expm1", nearest.Expm1}, {"cbrt", nearest.Cbrt},
	{"sinh", nearest.Sinh}, {"cosh", nearest.Cosh}, {"tanh", nearest.Tanh}, {"asinh", nearest.Asinh}, {"acosh", nearest.Acosh}, {"atanh", nearest.Atanh},
	{"asin", nearest.Asin}, {"acos", nearest.Acos}, {"atan", nearest.Atan}, {"atan2", nil}}

// mathIn are the places in mathFunctions of those that a program names.
func mathIn(source string) (out []int) {
	if !strings.Contains(source, "Math") {
		return nil
	}
	for i, f := range mathFunctions {
		if strings.Contains(source, f.name) {
			out = append(out, i)
		}
	}
	return out
}

func (s *session) installMath() {
	math := s.member(s.vm.GlobalObject(), "Math")
	for _, i := range s.prog.needs.math {
		f := mathFunctions[i]
		if f.fn == nil { // of two numbers
			s.replace(math, f.name, 2, func(call goja.FunctionCall) goja.Value {
				y, x := call.Argument(0).ToNumber(), call.Argument(1).ToNumber()
				return s.vm.ToValue(nearest.Atan2(y.ToFloat(), x.ToFloat()))
			})
			continue
		}
		s.replace(math, f.name, 1, func(call goja.FunctionCall) goja.Value {
			return s.vm.ToValue(f.fn(call.Argument(0).ToNumber().ToFloat()))
		})
	}
}
