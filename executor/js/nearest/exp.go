package nearest

import "math"

// Exp is e to the x.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	case math.Abs(x) < 0x1p-40:
		return round3(1, x, float64(x*x)*0.5)
	}
	p, k := exp(pair{h: x})
	return finish(p, k)
}

// Expm1 is e to the x, less 1.
func Expm1(x float64) float64 {
	switch ax := math.Abs(x); {
	case x != x || ax < 0x1p-60:
		return x
	case x > 75:
		return Exp(x)
	case x < -75:
		return -1
	case ax < 0x1p-36:
		s := product(x, x)
		return round3(x, s.h*0.5, s.l*0.5+float64(s.h*x)/6)
	}
	return expm1(pair{h: x}).h
}

// reduce takes x = k * ln 2 + i/16 + t apart, with a small t.
func reduce(x pair) (t pair, i, k int) {
	n := math.RoundToEven(float64(x.h * perLn2.h))
	t = two(x.h-float64(n*ln2Top), x.l) // the difference is exact
	t = t.plus(product(-n, ln2Middle)).add(float64(-n * ln2Rest))
	m := math.RoundToEven(t.h * 16)
	return t.add(-m / 16), int(m), int(n)
}

// little is e^t - 1 for the t of reduce.
func little(t pair) pair { return horner(t, inverses[:], 8).times(t) }

// exp is e to the x, as p * 2^k.
func exp(x pair) (p pair, k int) {
	t, i, k := reduce(x)
	base := exps[i+len(exps)/2]
	return base.plus(base.times(little(t))), k
}

// expm1 is e to the x, less 1, where x is between -80 and 80.
func expm1(x pair) pair {
	t, i, k := reduce(x)
	p := little(t)
	if i == 0 && k == 0 {
		return p
	}
	base := exps[i+len(exps)/2]
	return base.plus(base.times(p)).shift(k).add(-1)
}

// Beyond alone, the other half of a hyperbolic function does not count.
const alone = 40

func Sinh(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case x != x || math.IsInf(x, 0) || ax < 0x1p-28:
		return x
	case ax > 711:
		return math.Copysign(math.Inf(1), x)
	case ax > alone:
		p, k := exp(pair{h: ax})
		return math.Copysign(finish(p, k-1), x)
	}
	u := expm1(pair{h: ax})
	return math.Copysign(u.plus(u.over(u.add(1))).h*0.5, x)
}

func Cosh(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case x != x:
		return x
	case ax > 711:
		return math.Inf(1)
	case ax < 0x1p-20:
		s := product(ax, ax)
		return round3(1, s.h*0.5, s.l*0.5+float64(s.h*s.h)/24)
	}
	p, k := exp(pair{h: ax})
	if ax > alone {
		return finish(p, k-1)
	}
	p = p.shift(k)
	return p.plus(pair{h: 1}.over(p)).h * 0.5
}

func Tanh(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case x != x || ax < 0x1p-28:
		return x
	case ax > 22:
		return math.Copysign(1, x)
	}
	u := expm1(pair{h: 2 * ax})
	return math.Copysign(u.over(u.add(2)).h, x)
}
