package js

import "math"

// The function below computes powers step by step as fdlibm does, whose
// e_pow.c carries this notice:
//
//	Copyright (C) 2004 by Sun Microsystems, Inc. All rights reserved.
//	Permission to use, copy, modify, and distribute this software is freely
//	granted, provided that this notice is preserved.
//
// Node uses the same steps, so that the last digit is the same.

const (
	powL1, powL2, powL3 = 5.99999999999994648725e-01, 4.28571428578550184252e-01, 3.33333329818377432918e-01
	powL4, powL5, powL6 = 2.72728123808534006489e-01, 2.30660745775561754067e-01, 2.06975017800338417784e-01
	powP1, powP2, powP3 = 1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05
	powP4, powP5        = -1.65339022054652515390e-06, 4.13813679705723846039e-08

	lnTwo, lnTwoHigh, lnTwoLow       = 6.93147180559945286227e-01, 6.93147182464599609375e-01, -1.90465429995776804525e-09
	overflowTail                     = 8.0085662595372944372e-0017                                                         // -(1024 - log2(largest + half a step))
	scale, scaleHigh, scaleLow       = 9.61796693925975554329e-01, 9.61796700954437255859e-01, -7.02846165095275826516e-09 // 2/(3 ln 2)
	perLnTwo, perLnTwoHi, perLnTwoLo = 1.44269504088896338700e+00, 1.44269502162933349609e+00, 1.92596299112661746887e-08
)

var (
	powBase     = [2]float64{1, 1.5}
	powBaseHigh = [2]float64{0, 5.84962487220764160156e-01}
	powBaseLow  = [2]float64{0, 1.35003920212974897128e-08}
)

// power is x to the y as Number::exponentiate of the language has it.
func power(x, y float64) float64 {
	switch ax := math.Abs(x); {
	case y == 0:
		return 1
	case x != x || y != y:
		return math.NaN()
	case math.IsInf(y, 0):
		if ax == 1 {
			return math.NaN()
		}
		if (ax > 1) == (y > 0) {
			return math.Inf(1)
		}
		return 0
	case y == 1:
		return x
	case y == -1:
		return 1 / x
	case y == 2:
		return x * x
	case y == 0.5 && !math.Signbit(x):
		return math.Sqrt(x)
	case math.IsInf(x, 0) || x == 0 || ax == 1:
		z := ax
		if y < 0 {
			z = 1 / ax
		}
		if x < 0 || x == 0 && math.Signbit(x) {
			if whole, odd := oddness(y); ax == 1 && !whole {
				return math.NaN()
			} else if odd {
				z = -z
			}
		}
		return z
	}
	sign := 1.0
	if x < 0 {
		whole, odd := oddness(y)
		if !whole {
			return math.NaN()
		}
		if odd {
			sign = -1
		}
	}
	return sign * powerOf(math.Abs(x), y)
}

// oddness says whether y is a whole number, and whether it is odd.
func oddness(y float64) (whole, odd bool) {
	y = math.Abs(y)
	return y == math.Trunc(y), y < 1<<53 && math.Mod(y, 2) == 1
}

func highWord(x float64) int32 { return int32(math.Float64bits(x) >> 32) }

func lowWord(x float64) uint32 { return uint32(math.Float64bits(x)) }

func withHigh(x float64, high int32) float64 {
	return math.Float64frombits(uint64(uint32(high))<<32 | uint64(lowWord(x)))
}

func cutLow(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ math.MaxUint32) }

// powerOf is the power of a positive number. The conversions keep the compiler
// from joining a product and a sum, which would round once instead of twice.
func powerOf(ax, y float64) float64 {
	ix, hy := highWord(ax), highWord(y)
	iy := hy & 0x7fffffff
	var t1, t2 float64
	if iy > 0x41e00000 { // |y| > 2**31
		if iy > 0x43f00000 { // |y| > 2**64: over or under
			if ix <= 0x3fefffff {
				return extreme(hy < 0)
			}
			if ix >= 0x3ff00000 {
				return extreme(hy > 0)
			}
		}
		if ix < 0x3fefffff {
			return extreme(hy < 0)
		}
		if ix > 0x3ff00000 {
			return extreme(hy > 0)
		}
		t := ax - 1
		w := float64(t*t) * (0.5 - float64(t*(0.3333333333333333333333-float64(t*0.25))))
		u := perLnTwoHi * t
		v := float64(t*perLnTwoLo) - float64(w*perLnTwo)
		t1 = cutLow(u + v)
		t2 = v - (t1 - u)
	} else {
		t1, t2 = logTwo(ax, ix)
	}
	y1 := cutLow(y)
	pl := float64((y-y1)*t1) + float64(y*t2)
	ph := float64(y1 * t1)
	z := pl + ph
	j, i := highWord(z), int32(lowWord(z))
	if j >= 0x40900000 { // z >= 1024
		if (j-0x40900000)|i != 0 || pl+overflowTail > z-ph {
			return extreme(true)
		}
	} else if j&0x7fffffff >= 0x4090cc00 { // z <= -1075
		if (j-(-0x3f6f3400))|i != 0 || pl <= z-ph {
			return extreme(false)
		}
	}
	return exponential(ph, pl, z)
}

func extreme(over bool) float64 {
	if over {
		return math.Inf(1)
	}
	return 0
}

// logTwo is the logarithm of ax to the base 2, in two parts.
func logTwo(ax float64, ix int32) (t1, t2 float64) {
	n := int32(0)
	if ix < 0x00100000 { // subnormal
		ax *= 1 << 53
		n -= 53
		ix = highWord(ax)
	}
	n += ix>>20 - 0x3ff
	j := ix & 0x000fffff
	ix = j | 0x3ff00000
	k := 0
	switch {
	case j <= 0x3988E:
	case j < 0xBB67A:
		k = 1
	default:
		n++
		ix -= 0x00100000
	}
	ax = withHigh(ax, ix)
	u := ax - powBase[k]
	v := 1 / (ax + powBase[k])
	ss := float64(u * v)
	sh := cutLow(ss)
	th := withHigh(0, (ix>>1|0x20000000)+0x00080000+int32(k)<<18)
	tl := ax - (th - powBase[k])
	sl := v * ((u - float64(sh*th)) - float64(sh*tl))
	s2 := float64(ss * ss)
	r := float64(s2*s2) * (powL1 + float64(s2*(powL2+float64(s2*(powL3+float64(s2*(powL4+float64(s2*(powL5+float64(s2*powL6))))))))))
	r += float64(sl * (sh + ss))
	s2 = float64(sh * sh)
	th = cutLow(3 + s2 + r)
	tl = r - ((th - 3) - s2)
	u = float64(sh * th)
	v = float64(sl*th) + float64(tl*ss)
	ph := cutLow(u + v)
	pl := v - (ph - u)
	zh := float64(scaleHigh * ph)
	zl := float64(scaleLow*ph) + float64(pl*scale) + powBaseLow[k]
	t := float64(n)
	t1 = cutLow(((zh + zl) + powBaseHigh[k]) + t)
	t2 = zl - (((t1 - t) - powBaseHigh[k]) - zh)
	return t1, t2
}

// exponential is 2 to the ph+pl, whose sum is z.
func exponential(ph, pl, z float64) float64 {
	j := highWord(z)
	i := j & 0x7fffffff
	k := i>>20 - 0x3ff
	n := int32(0)
	if i > 0x3fe00000 { // |z| > 0.5: n is z rounded
		n = j + 0x00100000>>(k+1)
		k = (n&0x7fffffff)>>20 - 0x3ff
		t := withHigh(0, n&^(0x000fffff>>k))
		n = (n&0x000fffff | 0x00100000) >> (20 - k)
		if j < 0 {
			n = -n
		}
		ph -= t
	}
	t := cutLow(pl + ph)
	u := float64(t * lnTwoHigh)
	v := float64((pl-(t-ph))*lnTwo) + float64(t*lnTwoLow)
	z = u + v
	w := v - (z - u)
	t = float64(z * z)
	t1 := z - float64(t*(powP1+float64(t*(powP2+float64(t*(powP3+float64(t*(powP4+float64(t*powP5)))))))))
	// The one place that differs from the original: node divides by all of it.
	r := float64(z*t1) / ((t1 - 2) - (w + float64(z*w)))
	z = 1 - (r - z)
	if j = highWord(z) + n<<20; j>>20 <= 0 {
		return math.Ldexp(z, int(n)) // subnormal
	}
	return withHigh(z, j)
}
