package js

import "math"

// The functions below compute step by step as e_asin.c, e_acos.c, s_atan.c and
// e_atan2.c of fdlibm do, whose notice stands in logs.go.

const (
	halfPi, halfPiRest     = 1.57079632679489655800e+00, 6.12323399573676603587e-17
	quarterPi              = 7.85398163397448278999e-01
	wholePi, wholePiRest   = 3.14159265358979311600e+00, 1.2246467991473531772e-16
	asinP0, asinP1, asinP2 = 1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01
	asinP3, asinP4, asinP5 = -4.00555345006794114027e-02, 7.91534994289814532176e-04, 3.47933107596021167570e-05
	asinQ1, asinQ2         = -2.40339491173441421878e+00, 2.02094576023350569471e+00
	asinQ3, asinQ4         = -6.88283971605453293030e-01, 7.70381505559019352791e-02
)

// arcRatio is the quotient of polynomials behind asin and acos.
func arcRatio(t float64) float64 {
	p := t * (asinP0 + float64(t*(asinP1+float64(t*(asinP2+float64(t*(asinP3+float64(t*(asinP4+float64(t*asinP5))))))))))
	q := 1 + float64(t*(asinQ1+float64(t*(asinQ2+float64(t*(asinQ3+float64(t*asinQ4)))))))
	return float64(p) / q
}

func arcSine(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case !(ax <= 1):
		return math.NaN()
	case ax == 1:
		return float64(x*halfPi) + float64(x*halfPiRest)
	case ax < 0x1p-27:
		return x
	case ax < 0.5:
		return x + float64(x*arcRatio(float64(x*x)))
	}
	t := float64((1 - ax) * 0.5)
	s, w := math.Sqrt(t), arcRatio(t)
	if highWord(ax) >= 0x3fef3333 { // |x| > 0.975
		return math.Copysign(halfPi-(float64(2*(s+float64(s*w)))-halfPiRest), x)
	}
	top := cutLow(s)
	c := (t - float64(top*top)) / (s + top)
	p := float64(float64(2*s)*w) - (halfPiRest - float64(2*c))
	q := quarterPi - float64(2*top)
	return math.Copysign(quarterPi-(p-q), x)
}

func arcCosine(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case !(ax <= 1):
		return math.NaN()
	case x == 1:
		return 0
	case x == -1:
		return wholePi + float64(2*halfPiRest)
	case highWord(ax) <= 0x3c600000: // |x| < 2^-57
		return halfPi + halfPiRest
	case ax < 0.5:
		return halfPi - (x - (halfPiRest - float64(x*arcRatio(float64(x*x)))))
	case x < 0:
		z := float64((1 + x) * 0.5)
		s := math.Sqrt(z)
		w := float64(arcRatio(z)*s) - halfPiRest
		return wholePi - float64(2*(s+w))
	}
	z := float64((1 - x) * 0.5)
	s := math.Sqrt(z)
	top := cutLow(s)
	c := (z - float64(top*top)) / (s + top)
	w := float64(arcRatio(z)*s) + c
	return float64(2 * (top + w))
}

var (
	atanHigh = [4]float64{4.63647609000806093515e-01, quarterPi, 9.82793723247329054082e-01, halfPi}
	atanLow  = [4]float64{2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17, halfPiRest}
	atanT    = [11]float64{3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
		9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
		4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02}
)

func arcTangent(x float64) float64 {
	ax := math.Abs(x)
	part := -1
	t := x
	switch {
	case x != x:
		return x
	case ax >= 0x1p66:
		return math.Copysign(halfPi+halfPiRest, x)
	case ax < 0x1p-27:
		return x
	case ax < 0.4375:
	case ax < 0.6875:
		part, t = 0, (float64(2*ax)-1)/(2+ax)
	case ax < 1.1875:
		part, t = 1, (ax-1)/(ax+1)
	case ax < 2.4375:
		part, t = 2, (ax-1.5)/(1+float64(1.5*ax))
	default:
		part, t = 3, -1/ax
	}
	z := float64(t * t)
	w := float64(z * z)
	a := &atanT
	s1 := z * (a[0] + float64(w*(a[2]+float64(w*(a[4]+float64(w*(a[6]+float64(w*(a[8]+float64(w*a[10]))))))))))
	s2 := w * (a[1] + float64(w*(a[3]+float64(w*(a[5]+float64(w*(a[7]+float64(w*a[9]))))))))
	sum := float64(t * (float64(s1) + float64(s2)))
	if part < 0 {
		return t - sum
	}
	return math.Copysign(atanHigh[part]-((sum-atanLow[part])-t), x)
}

// arcTangent2 is the angle of the point x, y.
func arcTangent2(y, x float64) float64 {
	switch {
	case x != x || y != y:
		return math.NaN()
	case x == 1:
		return arcTangent(y)
	case y == 0 || x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Atan2(y, x) // a multiple of a quarter of pi
	}
	k := (highWord(y)&0x7fffffff - highWord(x)&0x7fffffff) >> 20
	var z float64
	left := x < 0
	switch {
	case k > 60:
		z, left = halfPi+float64(0.5*wholePiRest), false
	case left && k < -60:
	default:
		z = arcTangent(math.Abs(y / x))
	}
	if left {
		z = wholePi - (z - wholePiRest)
	}
	return math.Copysign(z, y)
}
