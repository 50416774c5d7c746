package nearest

import "math"

// outside gives the logarithm of what has no other: true says so.
func outside(x float64) (float64, bool) {
	switch {
	case x == 0:
		return math.Inf(-1), true
	case !(x > 0):
		return math.NaN(), true
	case math.IsInf(x, 1):
		return x, true
	}
	return 0, false
}

// Log is the natural logarithm.
func Log(x float64) float64 {
	if y, ok := outside(x); ok {
		return y
	}
	if f := x - 1; math.Abs(f) < 0x1p-36 {
		return besideOne(f)
	}
	return log(pair{h: x}).h
}

// Log1p is the natural logarithm of 1+x.
func Log1p(x float64) float64 {
	switch {
	case x == -1:
		return math.Inf(-1)
	case !(x > -1):
		return math.NaN()
	case math.IsInf(x, 1) || math.Abs(x) < 0x1p-60:
		return x
	case math.Abs(x) < 0x1p-36:
		return besideOne(x)
	}
	return log1p(pair{h: x}).h
}

// besideOne is the logarithm of 1+f, for a small f. Here a result can be as
// near to the middle of two doubles as f^3/3.
func besideOne(f float64) float64 {
	s := product(f, f)
	return round3(f, -0.5*s.h, float64(s.h*f)/3-0.5*s.l)
}

func Log2(x float64) float64 {
	if y, ok := outside(x); ok {
		return y
	}
	u, k := split(pair{h: x})
	return near(u).times(perLn2).add(float64(k)).h
}

func Log10(x float64) float64 {
	if y, ok := outside(x); ok {
		return y
	}
	return log(pair{h: x}).times(perLn10).h
}

// split takes x = (1+u) * 2^k apart, with 1+u about between the roots of 1/2
// and of 2.
func split(x pair) (u pair, k int) {
	m, k := apart(x.h)
	l := 0.0
	if x.l != 0 {
		l = scale(x.l, -k)
	}
	if m > math.Sqrt2 {
		m, l, k = m*0.5, l*0.5, k+1
	}
	return two(m-1, l), k
}

func log(x pair) pair {
	u, k := split(x)
	if k == 0 {
		return near(u)
	}
	n := float64(k)
	return product(n, ln2Middle).add(float64(n * ln2Rest)).plus(pair{h: float64(n * ln2Top)}).plus(near(u))
}

// log1p is the logarithm of 1+u, for a u above -1.
func log1p(u pair) pair {
	if u.h > -0.29 && u.h < 0.41 {
		return near(u)
	}
	return log(two(1, u.h).add(u.l))
}

// near is the logarithm of 1+u for a u of split. With a guess y, it is y more
// than that of (1+u) * e^-y, which is 1 but for a small d.
func near(u pair) pair {
	if u.h == 0 {
		return pair{}
	}
	y := math.Log1p(u.h)
	e := expm1(pair{h: -y})
	d := u.plus(e).plus(u.times(e))
	return two(y, d.h).add(d.l - float64(d.h*d.h)*0.5)
}

func Asinh(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case x != x || math.IsInf(x, 0) || ax < 0x1p-28:
		return x
	case ax > 0x1p60:
		return math.Copysign(log(pair{h: ax * 0.5}).plus(twoLn2).h, x)
	}
	s := product(ax, ax)
	u := s.over(s.add(1).root().add(1)).add(ax)
	return math.Copysign(log1p(u).h, x)
}

func Acosh(x float64) float64 {
	switch {
	case !(x >= 1):
		return math.NaN()
	case math.IsInf(x, 1):
		return x
	case x > 0x1p60:
		return log(pair{h: x * 0.5}).plus(twoLn2).h
	}
	less := two(x, -1)
	return log1p(less.times(two(x, 1)).root().plus(less)).h
}

func Atanh(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case !(ax <= 1):
		return math.NaN()
	case ax == 1:
		return math.Copysign(math.Inf(1), x)
	case ax < 0x1p-28:
		return x
	}
	return math.Copysign(log1p(pair{h: 2 * ax}.over(two(1, -ax))).h*0.5, x)
}
