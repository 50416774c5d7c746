package nearest

import (
	"math"
	"math/big"
)

// The functions below compute the same with some hundred digits of two, by other ways
// where there are some: by series alone.

const digits = 320

func number(x float64) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(x) }

func fresh() *big.Float { return new(big.Float).SetPrec(digits) }

func sum(a, b *big.Float) *big.Float { return fresh().Add(a, b) }

func less(a, b *big.Float) *big.Float { return fresh().Sub(a, b) }

func mul(a, b *big.Float) *big.Float { return fresh().Mul(a, b) }

func quo(a, b *big.Float) *big.Float { return fresh().Quo(a, b) }

func rootOf(a *big.Float) *big.Float { return fresh().Sqrt(a) }

func times2(a *big.Float, k int) *big.Float { return fresh().SetMantExp(a, k) }

// series adds terms until they no longer count. next makes a term of the one before.
func series(first *big.Float, next func(n int, term *big.Float) *big.Float, part func(n int, term *big.Float) *big.Float) *big.Float {
	total := fresh()
	for n, term := 0, first; term.Sign() != 0; n, term = n+1, next(n+1, term) {
		p := part(n, term)
		if total.Sign() != 0 && p.MantExp(nil) < total.MantExp(nil)-digits {
			break
		}
		total = sum(total, p)
	}
	return total
}

func itself(_ int, term *big.Float) *big.Float { return term }

func perOdd(n int, term *big.Float) *big.Float { return quo(term, number(float64(2*n+1))) }

// areaTangent and arcSeries are z ± z^3/3 + z^5/5 ..., for a small z.
func areaTangent(z *big.Float) *big.Float {
	s := mul(z, z)
	return series(z, func(_ int, t *big.Float) *big.Float { return mul(t, s) }, perOdd)
}

func arcSeries(z *big.Float) *big.Float {
	s := mul(z, z)
	s.Neg(s)
	return series(z, func(_ int, t *big.Float) *big.Float { return mul(t, s) }, perOdd)
}

var (
	one    = number(1)
	bigLn2 = times2(areaTangent(quo(one, number(3))), 1)
	bigPi  = times2(bigAtan(one), 2)
	bigE10 = bigLog(number(10))
)

func bigLog(x *big.Float) *big.Float {
	m := fresh()
	k := x.MantExp(m)
	if m.Cmp(number(math.Sqrt2/2)) < 0 {
		m, k = times2(m, 1), k-1
	}
	return sum(mul(number(float64(k)), bigLn2), times2(areaTangent(quo(less(m, one), sum(m, one))), 1))
}

// bigLog1p keeps the digits of a small x.
func bigLog1p(x *big.Float) *big.Float {
	if x.Cmp(number(-0.4)) < 0 || x.Cmp(number(0.6)) > 0 {
		return bigLog(sum(one, x))
	}
	return times2(areaTangent(quo(x, sum(x, number(2)))), 1)
}

// bigExp is the series for a part of x that is small, squared again.
func bigExp(x *big.Float) *big.Float {
	k, _ := quo(x, bigLn2).Int64()
	r := times2(less(x, mul(number(float64(k)), bigLn2)), -8)
	p := series(one, func(n int, t *big.Float) *big.Float { return quo(mul(t, r), number(float64(n))) }, itself)
	for range 8 {
		p = mul(p, p)
	}
	return times2(p, int(k))
}

// bigExpm1 is a series where 1 would swallow digits.
func bigExpm1(x *big.Float) *big.Float {
	if x.MantExp(nil) > -20 {
		return less(bigExp(x), one)
	}
	return series(x, func(n int, t *big.Float) *big.Float { return quo(mul(t, x), number(float64(n+1))) }, itself)
}

func bigSinh(x *big.Float) *big.Float {
	u, v := bigExpm1(x), bigExpm1(fresh().Neg(x))
	return times2(less(u, v), -1)
}

func bigCosh(x *big.Float) *big.Float { return times2(sum(bigExp(x), quo(one, bigExp(x))), -1) }

func bigTanh(x *big.Float) *big.Float {
	u := bigExpm1(times2(x, 1))
	return quo(u, sum(u, number(2)))
}

// bigAtan halves the angle until the series is short. Where its second term
// would be lost, one that is not stands for it, as an angle is less than its tangent.
func bigAtan(x *big.Float) *big.Float {
	if x.MantExp(nil) < -digits/2 {
		return less(x, times2(x, 20-digits))
	}
	for range 5 {
		x = quo(x, sum(one, rootOf(sum(one, mul(x, x)))))
	}
	return times2(arcSeries(x), 5)
}

func bigAcross(x *big.Float) *big.Float { return rootOf(mul(less(one, x), sum(one, x))) }

func bigAsin(x *big.Float) *big.Float {
	return times2(bigAtan(quo(x, sum(one, bigAcross(x)))), 1)
}

// bigAcos is twice the angle whose tangent is the root of (1-x)/(1+x).
func bigAcos(x *big.Float) *big.Float {
	return times2(bigAtan(rootOf(quo(less(one, x), sum(one, x)))), 1)
}

func bigAsinh(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		a := bigAsinh(fresh().Neg(x))
		return a.Neg(a)
	}
	s := mul(x, x)
	return bigLog1p(sum(x, quo(s, sum(one, rootOf(sum(one, s))))))
}

func bigAcosh(x *big.Float) *big.Float {
	u := less(x, one)
	return bigLog1p(sum(u, rootOf(mul(u, sum(x, one)))))
}

func bigAtanh(x *big.Float) *big.Float {
	return times2(bigLog1p(quo(times2(x, 1), less(one, x))), -1)
}

// bigCbrt doubles the right digits with each step.
func bigCbrt(x *big.Float) *big.Float {
	k := x.MantExp(nil) / 3
	m := times2(x, -3*k)
	f, _ := m.Float64()
	t := number(math.Copysign(math.Pow(math.Abs(f), 1.0/3), f))
	for range 6 {
		t = quo(sum(times2(t, 1), quo(m, mul(t, t))), number(3))
	}
	return times2(t, k)
}

func bigAtan2(y, x *big.Float) *big.Float {
	a := bigAtan(quo(y, fresh().Abs(x)))
	if x.Sign() < 0 {
		return less(bigPi, a)
	}
	return a
}

// bigPow multiplies where a double can be the answer, which a logarithm misses.
func bigPow(x, y float64) *big.Float {
	base := number(x)
	for range 5 {
		if y == math.Trunc(y) {
			break
		}
		if r := rootOf(base); mul(r, r).Cmp(base) == 0 && r.MinPrec() <= 53 {
			base, y = r, y*2
		}
	}
	if y == math.Trunc(y) && math.Abs(y) <= 64 {
		z := new(big.Float).SetPrec(4000).SetInt64(1)
		for range int(math.Abs(y)) {
			z.Mul(z, base)
		}
		if y < 0 {
			z.Quo(number(1), z)
		}
		return z
	}
	if base.MinPrec() == 1 && y == math.Trunc(y) && math.Abs(y) < 2000 {
		return times2(one, (base.MantExp(nil)-1)*int(y))
	}
	return bigExp(mul(number(y), bigLog(base)))
}
