package nearest

import "math"

// Cbrt is the cube root. A guess t is short by the solution d of
// x = t^3 + 3*t*t*d + 3*t*d*d.
func Cbrt(x float64) float64 {
	if x == 0 || x != x || math.IsInf(x, 0) {
		return x
	}
	m, k := apart(math.Abs(x))
	third := int(math.Floor(float64(k) / 3))
	m = scale(m, k-3*third)
	t := math.Cbrt(m)
	square := product(t, t)
	cube := square.by(t)
	d := ((m - cube.h) - cube.l) / (3 * square.h)
	d -= float64(d*d) / t
	return math.Copysign(scale(t+d, third), x)
}
