package nearest

import (
	"math"
	"math/bits"
)

// Pow is x to the y as Number::exponentiate of the language has it.
func Pow(x, y float64) float64 {
	switch ax := math.Abs(x); {
	case y == 0:
		return 1
	case x != x || y != y:
		return math.NaN()
	case math.IsInf(y, 0):
		if ax == 1 {
			return math.NaN()
		}
		return extreme((ax > 1) == (y > 0))
	case math.Signbit(x):
		whole, odd := oddness(y)
		if !whole && ax != 0 && !math.IsInf(x, 0) {
			return math.NaN()
		}
		if odd {
			return -power(ax, y)
		}
		return power(ax, y)
	}
	return power(x, y)
}

// oddness says whether y is a whole number, and whether it is odd.
func oddness(y float64) (whole, odd bool) {
	y = math.Abs(y)
	return y == math.Trunc(y), y < 1<<53 && math.Mod(y, 2) == 1
}

func extreme(over bool) float64 {
	if over {
		return math.Inf(1)
	}
	return 0
}

// power is Pow for a finite y that is not 0, and an x that has no sign.
func power(x, y float64) float64 {
	switch {
	case x == 0 || math.IsInf(x, 1):
		return extreme((x == 0) == (y < 0))
	case x == 1 || y == 1:
		return x
	case y == 2: // each of these rounds once
		return x * x
	case y == -1:
		return 1 / x
	case y == 0.5:
		return math.Sqrt(x)
	}
	if z, ok := exactly(x, y); ok {
		return z
	}
	f := x - 1
	if p := product(y, f); math.Abs(f) < 0x1p-40 && math.Abs(p.h) < 0x1p-40 {
		// 1 + y*f can lie in the middle of two doubles.
		if math.Abs(p.h) < 0x1p-60 {
			return 1
		}
		return round3(1, p.h, p.l+float64(float64(p.h*f)*(y-1))*0.5)
	}
	base := log(pair{h: x})
	switch size := float64(base.h * y); {
	case size > 710:
		return math.Inf(1)
	case size < -746:
		return 0
	case math.Abs(size) < 0x1p-60:
		return 1
	}
	p, k := exp(base.by(y))
	return finish(p, k)
}

// exactly finds a power that has at most 55 digits of two, which may be a
// double, or lie in the middle of two. Then x is odd * 2^e, a whole root of
// that, as often as y can be doubled until it is whole, is a number too, and
// has so many digits that few factors of it fit.
func exactly(x, y float64) (float64, bool) {
	m, e := apart(x)
	odd := math.Float64bits(m)&(1<<52-1) | 1<<52
	zeros := bits.TrailingZeros64(odd)
	odd, e = odd>>zeros, e-52+zeros
	if odd == 1 { // 2^e
		n := product(float64(e), y)
		if n.l != 0 || n.h != math.Trunc(n.h) || math.Abs(n.h) > 1<<20 {
			return 0, false
		}
		return finish(pair{h: 1}, int(n.h)), true
	}
	if y < 0 || y > 35 {
		return 0, false
	}
	for y != math.Trunc(y) {
		root := uint64(math.Sqrt(float64(odd)))
		if root*root != odd || e%2 != 0 {
			return 0, false
		}
		odd, e, y = root, e/2, y*2
	}
	if y > 35 {
		return 0, false
	}
	n := int(y)
	all := uint64(1)
	for range n {
		high, low := bits.Mul64(all, odd)
		if high != 0 || low >= 1<<55 {
			return 0, false
		}
		all = low
	}
	high := float64(all)
	shift := exponentOf(high)
	return finish(pair{scale(high, -shift), scale(float64(int64(all)-int64(high)), -shift)}, e*n+shift), true
}
