package js

import "math"

// exponent is e to the x.
func exponent(x float64) float64 {
	const most, least, perLn = 7.09782712893383973096e+02, -7.45133219101941108420e+02, 1.44269504088896338700e+00
	switch {
	case x != x || x == math.Inf(1):
		return x
	case x > most:
		return math.Inf(1)
	case x < least:
		return 0
	case x == 1:
		return math.E
	}
	size := highWord(x) & 0x7fffffff
	var high, low float64
	k := int32(0)
	switch {
	case size > 0x3fd62e42: // |x| > ln(2)/2
		if size < 0x3ff0a2b2 { // |x| < 3 ln(2)/2
			k = int32(math.Copysign(1, x))
		} else {
			k = int32(float64(perLn*x) + math.Copysign(0.5, x))
		}
		high, low = x-float64(float64(k)*lnTwoTop), float64(float64(k)*lnTwoRest)
		x = high - low
	case size < 0x3e300000: // |x| < 2^-28
		return 1 + x
	}
	t := float64(x * x)
	c := x - float64(t*(powP1+float64(t*(powP2+float64(t*(powP3+float64(t*(powP4+float64(t*powP5)))))))))
	if k == 0 {
		return 1 - (float64(x*c)/(c-2) - x)
	}
	y := 1 - ((low - float64(x*c)/(2-c)) - high)
	switch {
	case k == 1024:
		return y * 2 * 0x1p1023
	case k >= -1021:
		return y * math.Ldexp(1, int(k))
	}
	return y * math.Ldexp(1, int(k)+1000) * 0x1p-1000
}

// overflowing is where exp overflows, and half of it does not.
const overflowing = 710.4758600739439

func sinh(x float64) float64 {
	if x != x || math.IsInf(x, 0) {
		return x
	}
	h := math.Copysign(0.5, x)
	switch ax := math.Abs(x); {
	case ax < 0x1p-28:
		return x
	case ax < 22:
		t := math.Expm1(ax)
		if ax < 1 {
			return h * (2*t - float64(t*t)/(t+1))
		}
		return h * (t + t/(t+1))
	case ax < 709.7822265625:
		return h * exponent(ax)
	case ax <= overflowing:
		w := exponent(0.5 * ax)
		return float64(h*w) * w
	}
	return math.Copysign(math.Inf(1), x)
}

func cosh(x float64) float64 {
	if x != x {
		return x
	}
	switch ax := math.Abs(x); {
	case ax < 0.34657287597656250: // the high word of ln(2)/2
		t := math.Expm1(ax)
		w := 1 + t
		if ax < 0x1p-55 {
			return w
		}
		return 1 + float64(t*t)/(w+w)
	case ax < 22:
		t := exponent(ax)
		return 0.5*t + 0.5/t
	case ax < 709.7822265625:
		return 0.5 * exponent(ax)
	case ax <= overflowing:
		w := exponent(0.5 * ax)
		return float64(0.5*w) * w
	}
	return math.Inf(1)
}

func tanh(x float64) float64 {
	if x != x {
		return x
	}
	var z float64
	switch ax := math.Abs(x); {
	case ax >= 22:
		z = 1
	case ax < 0x1p-28:
		return x
	case ax >= 1:
		z = 1 - 2/(math.Expm1(2*ax)+2)
	default:
		t := math.Expm1(-2 * ax)
		z = -t / (t + 2)
	}
	return math.Copysign(z, x)
}

func areaCosine(x float64) float64 {
	switch {
	case !(x >= 1):
		return math.NaN()
	case x == 1:
		return 0
	case x >= 1<<28:
		return natural(x) + math.Ln2
	case x > 2:
		return natural(float64(2*x) - 1/(x+math.Sqrt(float64(x*x)-1)))
	}
	t := x - 1
	return math.Log1p(t + math.Sqrt(float64(2*t)+float64(t*t)))
}

func areaSine(x float64) float64 {
	ax := math.Abs(x)
	var z float64
	switch {
	case x != x || math.IsInf(x, 0) || ax < 0x1p-28:
		return x
	case ax > 1<<28:
		z = natural(ax) + math.Ln2
	case ax > 2:
		z = natural(float64(2*ax) + 1/(math.Sqrt(float64(ax*ax)+1)+ax))
	default:
		t := float64(ax * ax)
		z = math.Log1p(ax + t/(1+math.Sqrt(1+t)))
	}
	return math.Copysign(z, x)
}
