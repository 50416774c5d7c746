package nearest

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// functions are those of one number, with where they have an answer that is
// neither special nor trivial.
var functions = []struct {
	name      string
	fn        func(float64) float64
	reference func(*big.Float) *big.Float
	has       func(x float64) bool
}{
	{"Log", Log, bigLog, positive},
	{"Log2", Log2, func(x *big.Float) *big.Float { return quo(bigLog(x), bigLn2) }, positive},
	{"Log10", Log10, func(x *big.Float) *big.Float { return quo(bigLog(x), bigE10) }, positive},
	{"Log1p", Log1p, bigLog1p, func(x float64) bool { return x > -1 }},
	{"Exp", Exp, bigExp, func(x float64) bool { return math.Abs(x) < 750 }},
	{"Expm1", Expm1, bigExpm1, func(x float64) bool { return math.Abs(x) < 750 }},
	{"Sinh", Sinh, bigSinh, func(x float64) bool { return math.Abs(x) < 750 }},
	{"Cosh", Cosh, bigCosh, func(x float64) bool { return math.Abs(x) < 750 }},
	{"Tanh", Tanh, bigTanh, func(x float64) bool { return math.Abs(x) < 100 }},
	{"Asin", Asin, bigAsin, func(x float64) bool { return x >= -1 && x <= 1 }},
	{"Acos", Acos, bigAcos, func(x float64) bool { return x > -1 && x <= 1 }},
	{"Atan", Atan, bigAtan, always},
	{"Asinh", Asinh, bigAsinh, always},
	{"Acosh", Acosh, bigAcosh, func(x float64) bool { return x >= 1 }},
	{"Atanh", Atanh, bigAtanh, func(x float64) bool { return x > -1 && x < 1 }},
	{"Cbrt", Cbrt, bigCbrt, always},
}

func positive(x float64) bool { return x > 0 }

func always(float64) bool { return true }

// someNumber is of any kind that a function treats in its own way.
func someNumber(r *rand.Rand) float64 {
	var x float64
	switch r.IntN(10) {
	case 0:
		for x = math.NaN(); x != x || math.IsInf(x, 0); x = math.Float64frombits(r.Uint64()) {
		}
		return x
	case 1:
		x = r.Float64() * 750
	case 2, 3:
		x = r.Float64()
	case 4:
		x = math.Ldexp(r.Float64(), -r.IntN(70))
	case 5: // beside 1
		return 1 + math.Ldexp(float64(r.IntN(4000)-2000), -53)
	case 6:
		x = 1 + math.Ldexp(r.Float64()-0.5, -r.IntN(52))
	case 7: // few digits
		x = math.Ldexp(float64(1+r.IntN(300)), -r.IntN(64))
	case 8:
		x = float64(r.IntN(1000))
	default:
		x = r.Float64() * 20
	}
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

// rounded is a number of the reference as the double that is nearest.
func rounded(x *big.Float) float64 {
	y, _ := x.Float64()
	return y
}

// TestNearest holds each function against many digits.
func TestNearest(t *testing.T) {
	for i, f := range functions {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(i)))
			for tried := 0; tried < 4000; {
				x := someNumber(r)
				if x == 0 || !f.has(x) {
					continue
				}
				tried++
				if got, want := f.fn(x), rounded(f.reference(number(x))); got != want {
					t.Errorf("%s(%v = %x) is %v, want %v", f.name, x, x, got, want)
				}
			}
		})
	}
}

// TestNearestOfTwo is for the functions of two numbers.
func TestNearestOfTwo(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 6000 {
		y, x := math.Abs(someNumber(r)), someNumber(r)
		if r.IntN(4) == 0 { // subnormal angles
			y, x = math.Ldexp(float64(1+r.IntN(40)), -1074), float64(1+r.IntN(40))
		}
		if x == 0 || y == 0 {
			continue
		}
		if got, want := Atan2(y, x), rounded(bigAtan2(number(y), number(x))); got != want {
			t.Errorf("Atan2(%v, %v) is %v, want %v", y, x, got, want)
		}
	}
	for range 10000 {
		x, y := somePower(r)
		if got, want := Pow(x, y), rounded(bigPow(x, y)); got != want {
			t.Errorf("Pow(%v, %v) is %v, want %v", x, y, got, want)
		}
	}
}

// somePower gives a base and an exponent whose power is of a size with digits.
func somePower(r *rand.Rand) (x, y float64) {
	for {
		x = math.Abs(someNumber(r))
		switch r.IntN(5) {
		case 0:
			y = someNumber(r)
		case 1:
			y = float64(r.IntN(80) - 40)
		case 2: // roots
			y = float64(r.IntN(160)) / 32
		case 3: // to any size, also beyond all
			y = (r.Float64() - 0.5) * 3000 / math.Log2(x)
		default: // of whole numbers with few digits
			x, y = math.Ldexp(float64(1+2*r.IntN(40)), r.IntN(60)-30), float64(1+r.IntN(40))
			if r.IntN(2) == 0 {
				y = math.Ldexp(y, -r.IntN(4))
				x *= x
			}
		}
		if size := y * math.Log2(x); math.Abs(size) < 1100 && y != 0 {
			return x, y
		}
	}
}
