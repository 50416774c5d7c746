package js

import (
	"math"
	"strings"

	"github.com/dop251/goja"
)

// The functions below compute step by step as fdlibm and the mathematical
// library of FreeBSD do (e_log.c, e_log2.c, e_log10.c, e_exp.c, e_sinh.c,
// e_cosh.c, s_tanh.c, s_cbrt.c, s_asinh.c, e_acosh.c), which carry this notice:
//
//	Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//	Permission to use, copy, modify, and distribute this software is freely
//	granted, provided that this notice is preserved.
//
// Node uses the same steps, so that the last digit is the same, and powers of
// ten and of two have whole logarithms. The conversions to float64 keep the
// compiler from joining a product and a sum, which would round once.

// mathFunctions replace the engine's, whose last digits differ.
var mathFunctions = []struct {
	name string
	fn   func(float64) float64
}{{"log", natural}, {"log2", binary}, {"log10", decadic}, {"cbrt", cubeRoot}, {"exp", exponent}, {"sinh", sinh}, {"cosh", cosh}, {"tanh", tanh},
	{"asin", arcSine}, {"acos", arcCosine}, {"atan", arcTangent}, {"atan2", nil}, {"acosh", areaCosine}, {"asinh", areaSine}}

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
				return s.vm.ToValue(arcTangent2(y.ToFloat(), x.ToFloat()))
			})
			continue
		}
		s.replace(math, f.name, 1, func(call goja.FunctionCall) goja.Value {
			return s.vm.ToValue(f.fn(call.Argument(0).ToNumber().ToFloat()))
		})
	}
}

const (
	lg1, lg2, lg3, lg4 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01
	lg5, lg6, lg7      = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01
	lnTwoTop           = 6.93147180369123816490e-01 // ln 2 in two parts that leave room for a factor
	lnTwoRest          = 1.90821492927058770002e-10
)

// logParts takes a positive number apart: x = 2^k * (1+f), with 1+f between
// sqrt(2)/2 and sqrt(2). fraction is the top of the mantissa.
func logParts(x float64) (k int32, f float64, fraction int32) {
	high := highWord(x)
	if high < 0x00100000 { // subnormal
		k -= 54
		x *= 1 << 54
		high = highWord(x)
	}
	k += high>>20 - 1023
	fraction = high & 0x000fffff
	i := (fraction + 0x95f64) & 0x100000
	return k + i>>20, withHigh(x, fraction|(i^0x3ff00000)) - 1, fraction
}

// outside gives the logarithm of what has no other: true says so.
func outside(x float64) (float64, bool) {
	switch {
	case x == 0:
		return math.Inf(-1), true
	case x != x || x < 0:
		return math.NaN(), true
	case math.IsInf(x, 1):
		return x, true
	}
	return 0, false
}

// series is the part of ln(1+f) that is left to a polynomial.
func series(z float64) float64 {
	w := float64(z * z)
	t1 := w * (lg2 + float64(w*(lg4+float64(w*lg6))))
	t2 := z * (lg1 + float64(w*(lg3+float64(w*(lg5+float64(w*lg7))))))
	return float64(t2) + float64(t1)
}

func natural(x float64) float64 {
	if y, ok := outside(x); ok {
		return y
	}
	k, f, fraction := logParts(x)
	dk := float64(k)
	if 0x000fffff&(2+fraction) < 3 { // |f| < 2^-20
		if f == 0 {
			return float64(dk*lnTwoTop) + float64(dk*lnTwoRest)
		}
		r := float64(f*f) * (0.5 - float64(0.33333333333333333*f))
		if k == 0 {
			return f - float64(r)
		}
		return float64(dk*lnTwoTop) - ((float64(r) - float64(dk*lnTwoRest)) - f)
	}
	s := f / (2 + f)
	r := series(float64(s * s))
	if (fraction-0x6147a)|(0x6b851-fraction) > 0 {
		half := float64(float64(0.5*f) * f)
		if k == 0 {
			return f - (half - float64(s*(half+r)))
		}
		return float64(dk*lnTwoTop) - ((half - (float64(s*(half+r)) + float64(dk*lnTwoRest))) - f)
	}
	if k == 0 {
		return f - float64(s*(f-r))
	}
	return float64(dk*lnTwoTop) - ((float64(s*(f-r)) - float64(dk*lnTwoRest)) - f)
}

func binary(x float64) float64 {
	const perLnTop, perLnRest = 1.44269504072144627571e+00, 1.67517131648865118353e-10
	if y, ok := outside(x); ok {
		return y
	}
	k, f, _ := logParts(x)
	y := float64(k)
	half := float64(float64(0.5*f) * f)
	s := f / (2 + f)
	r := float64(s * (half + series(float64(s*s))))
	high := cutLow(f - half)
	low := (f - high) - half + r
	top := float64(high * perLnTop)
	rest := float64((low+high)*perLnRest) + float64(low*perLnTop)
	w := y + top
	rest += (y - w) + top
	return rest + w
}

func decadic(x float64) float64 {
	const perLnTen, top, rest = 4.34294481903251816668e-01, 3.01029995663611771306e-01, 3.69423907715893078616e-13
	if y, ok := outside(x); ok {
		return y
	}
	if x == 1 {
		return 0
	}
	k := int32(0)
	if highWord(x) < 0x00100000 {
		k = -54
		x *= 1 << 54
	}
	high := highWord(x)
	k += high>>20 - 1023
	i := int32(uint32(k) >> 31)
	y := float64(k + i)
	x = withHigh(x, high&0x000fffff|(0x3ff-i)<<20)
	return float64(y*rest) + float64(perLnTen*natural(x)) + float64(y*top)
}

func cubeRoot(x float64) float64 {
	const p0, p1, p2, p3, p4 = 1.87595182427177009643, -1.88497979543377169875, 1.621429720105354466140, -0.758397934778766047437, 0.145996192886612446982
	if x == 0 || x != x || math.IsInf(x, 0) {
		return x
	}
	sign := math.Float64bits(x) >> 63 << 63
	high := uint64(highWord(math.Abs(x)))
	if high < 0x00100000 { // subnormal
		high = uint64(highWord(math.Abs(x*(1<<54))))/3 + 696219795
	} else {
		high = high/3 + 715094163
	}
	t := math.Float64frombits(sign | high<<32)
	r := float64(t*t) * (t / x)
	t *= (p0 + float64(r*(p1+float64(r*p2)))) + float64(float64(float64(r*r)*r)*(p3+float64(r*p4)))
	t = math.Float64frombits((math.Float64bits(t) + 0x80000000) & 0xffffffffc0000000)
	r = x / float64(t*t)
	r = (r - t) / (t + t + r)
	return t + float64(t*r)
}
