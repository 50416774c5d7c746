package nearest

import "math"

// turn gives the sine and the cosine of an angle from 0 to a quarter of pi.
func turn(angle float64) (sin, cos pair) {
	i := int(float64(angle*16) + 0.5)
	t := pair{h: angle - float64(i)/16} // exact
	s := product(t.h, t.h)
	sin = horner(s, sines[:], 4).times(t)
	cos = horner(s, cosines[:], 4)
	if i == 0 {
		return sin, cos
	}
	at := circle[i]
	return at.sin.times(cos).plus(at.cos.times(sin)), at.cos.times(cos).plus(at.sin.times(sin).minus())
}

// angle is that of the point x, y, where neither is negative. What is left when
// the point is turned back by a guess is small, and so is its tangent.
func angle(y, x pair) pair {
	if y.h > x.h {
		return halfPi.plus(angle(x, y).minus())
	}
	guess := math.Atan(y.h / x.h)
	sin, cos := turn(guess)
	up := y.times(cos).plus(x.times(sin).minus())
	along := x.times(cos).plus(y.times(sin))
	return two(guess, up.h/along.h)
}

func Atan(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case x != x || ax < 0x1p-28:
		return x
	case ax > 0x1p62:
		return math.Copysign(halfPi.h, x)
	}
	return math.Copysign(angle(pair{h: ax}, pair{h: 1}).h, x)
}

// across is the root of 1 - x*x.
func across(x float64) pair { return two(1, -x).times(two(1, x)).root() }

func Asin(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case !(ax <= 1):
		return math.NaN()
	case ax < 0x1p-28:
		return x
	}
	return math.Copysign(angle(pair{h: ax}, across(ax)).h, x)
}

func Acos(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case !(ax <= 1):
		return math.NaN()
	case x == 1:
		return 0
	case ax < 0x1p-60:
		return halfPi.h
	}
	a := angle(across(ax), pair{h: ax})
	if x < 0 {
		a = halfPi.shift(1).plus(a.minus())
	}
	return a.h
}

// Atan2 is the angle of the point x, y.
func Atan2(y, x float64) float64 {
	if x != x || y != y {
		return math.NaN()
	}
	return math.Copysign(upper(math.Abs(y), x), y)
}

// upper is Atan2 for a y that is not negative.
func upper(y, x float64) float64 {
	left := math.Signbit(x)
	switch infinite := math.IsInf(x, 0); {
	case y == 0 && left:
		return math.Pi
	case y == 0:
		return 0
	case math.IsInf(y, 0) && infinite && left:
		return 3 * math.Pi / 4
	case math.IsInf(y, 0) && infinite:
		return math.Pi / 4
	case infinite && left:
		return math.Pi
	case infinite:
		return 0
	case x == 0 || math.IsInf(y, 0):
		return math.Pi / 2
	}
	my, ky := apart(y)
	mx, kx := apart(math.Abs(x))
	switch k := ky - kx; {
	case k > 62:
		return math.Pi / 2
	case k < -62 && left:
		return math.Pi
	case k < -62:
		return ratio(my, mx, k)
	case k < 0:
		my = scale(my, k)
	default:
		mx = scale(mx, -k)
	}
	a := angle(pair{h: my}, pair{h: mx})
	if left {
		a = halfPi.shift(1).plus(a.minus())
	}
	return a.h
}

// ratio is the angle whose tangent is y/x * 2^k, which is that tangent but for
// so little that it counts only beside the middle of two subnormal numbers.
func ratio(y, x float64, k int) float64 {
	q := pair{h: y}.over(pair{h: x})
	if q.l == 0 {
		q.l = -0x1p-100
	}
	return finish(q, k)
}
