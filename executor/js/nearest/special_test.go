package nearest

import (
	"math"
	"testing"
)

var inf, nan, zero = math.Inf(1), math.NaN(), math.Copysign(0, -1)

// TestSpecial holds what the language says of values that are special, and
// results that are exact.
func TestSpecial(t *testing.T) {
	for name, tc := range map[string]struct {
		fn   func(float64) float64
		rows [][2]float64 // of an argument and the result
	}{
		"Log":   {Log, [][2]float64{{nan, nan}, {-1, nan}, {-inf, nan}, {0, -inf}, {zero, -inf}, {1, 0}, {inf, inf}}},
		"Log2":  {Log2, [][2]float64{{nan, nan}, {-1, nan}, {0, -inf}, {zero, -inf}, {1, 0}, {8, 3}, {0x1p-1074, -1074}, {0x1p1023, 1023}, {inf, inf}}},
		"Log10": {Log10, [][2]float64{{nan, nan}, {-1, nan}, {0, -inf}, {zero, -inf}, {1, 0}, {1e15, 15}, {1e-5, -5}, {1e300, 300}, {0.1, -1}, {inf, inf}}},
		"Log1p": {Log1p, [][2]float64{{nan, nan}, {-1.5, nan}, {-inf, nan}, {-1, -inf}, {0, 0}, {zero, zero}, {5e-324, 5e-324}, {-0x1p-53, -0x1p-53}, {-0x1p-52, -0x1p-52 - 0x1p-104}, {inf, inf}}},
		"Exp":   {Exp, [][2]float64{{nan, nan}, {0, 1}, {zero, 1}, {-inf, 0}, {inf, inf}, {709.782712893384, 1.7976931348622732e308}, {709.7827128933841, inf}, {-745.1332191019412, 0}, {-745.1332191019411, 5e-324}, {1, math.E}, {0x1p-53, 1 + 0x1p-52}, {-0x1p-54, 1}, {1e-300, 1}, {-1e-300, 1}}},
		"Expm1": {Expm1, [][2]float64{{nan, nan}, {0, 0}, {zero, zero}, {-inf, -1}, {-100, -1}, {inf, inf}, {1000, inf}, {5e-324, 5e-324}}},
		"Sinh":  {Sinh, [][2]float64{{nan, nan}, {0, 0}, {zero, zero}, {inf, inf}, {-inf, -inf}, {711, inf}, {-711, -inf}, {-5e-324, -5e-324}}},
		"Cosh":  {Cosh, [][2]float64{{nan, nan}, {0, 1}, {zero, 1}, {inf, inf}, {-inf, inf}, {-711, inf}, {5e-324, 1}, {0x1p-26, 1 + 0x1p-52}, {0x1p-27, 1}}},
		"Tanh":  {Tanh, [][2]float64{{nan, nan}, {0, 0}, {zero, zero}, {inf, 1}, {-inf, -1}, {20, 1}, {-5e-324, -5e-324}}},
		"Asin":  {Asin, [][2]float64{{nan, nan}, {1.5, nan}, {-1.5, nan}, {0, 0}, {zero, zero}, {1, math.Pi / 2}, {-1, -math.Pi / 2}, {5e-324, 5e-324}}},
		"Acos":  {Acos, [][2]float64{{nan, nan}, {1.5, nan}, {-inf, nan}, {1, 0}, {-1, math.Pi}, {0, math.Pi / 2}, {zero, math.Pi / 2}, {5e-324, math.Pi / 2}}},
		"Atan":  {Atan, [][2]float64{{nan, nan}, {0, 0}, {zero, zero}, {inf, math.Pi / 2}, {-inf, -math.Pi / 2}, {1e300, math.Pi / 2}, {1, math.Pi / 4}, {-5e-324, -5e-324}}},
		"Asinh": {Asinh, [][2]float64{{nan, nan}, {0, 0}, {zero, zero}, {inf, inf}, {-inf, -inf}, {-5e-324, -5e-324}}},
		"Acosh": {Acosh, [][2]float64{{nan, nan}, {0.5, nan}, {-inf, nan}, {1, 0}, {inf, inf}}},
		"Atanh": {Atanh, [][2]float64{{nan, nan}, {1.5, nan}, {-inf, nan}, {1, inf}, {-1, -inf}, {0, 0}, {zero, zero}, {5e-324, 5e-324}}},
		"Cbrt":  {Cbrt, [][2]float64{{nan, nan}, {0, 0}, {zero, zero}, {inf, inf}, {-inf, -inf}, {27, 3}, {-1e9, -1000}, {0x1p-1074, 0x1p-358}}},
	} {
		for _, row := range tc.rows {
			if got := tc.fn(row[0]); !same(got, row[1]) {
				t.Errorf("%s(%v) is %v, want %v", name, row[0], got, row[1])
			}
		}
	}
}

// same also tells the zeros apart.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// TestSpecialOfTwo is for the functions of two numbers.
func TestSpecialOfTwo(t *testing.T) {
	for name, tc := range map[string]struct {
		fn   func(a, b float64) float64
		rows [][3]float64
	}{
		"Atan2": {Atan2, [][3]float64{{nan, 1, nan}, {1, nan, nan}, {inf, inf, math.Pi / 4}, {inf, -inf, 3 * math.Pi / 4}, {-inf, inf, -math.Pi / 4}, {-inf, -inf, -3 * math.Pi / 4},
			{inf, 1, math.Pi / 2}, {-inf, -1, -math.Pi / 2}, {0, 1, 0}, {0, 0, 0}, {0, zero, math.Pi}, {0, -1, math.Pi}, {zero, 1, zero}, {zero, 0, zero}, {zero, zero, -math.Pi}, {zero, -1, -math.Pi},
			{1, inf, 0}, {1, -inf, math.Pi}, {-1, inf, zero}, {-1, -inf, -math.Pi}, {1, 0, math.Pi / 2}, {1, zero, math.Pi / 2}, {-1, 0, -math.Pi / 2}, {1, 1, math.Pi / 4}, {1, -1, 3 * math.Pi / 4},
			{0x3p-1074, 2, 0x1p-1074}, {5e-324, 1e308, 0}, {-5e-324, 1e308, zero}, {1e308, 5e-324, math.Pi / 2}, {5e-324, -1e308, math.Pi}, {5e-324, 5e-324, math.Pi / 4}}},
		"Pow": {Pow, [][3]float64{{1, nan, nan}, {nan, 0, 1}, {nan, zero, 1}, {nan, 1, nan}, {1, inf, nan}, {-1, inf, nan}, {1, -inf, nan}, {2, inf, inf}, {2, -inf, 0}, {0.5, inf, 0}, {-0.5, -inf, inf},
			{inf, 2, inf}, {inf, -2, 0}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, 0.5, inf}, {-inf, -3, zero}, {-inf, -2, 0}, {0, 2, 0}, {0, -2, inf}, {zero, 3, zero}, {zero, 2, 0}, {zero, 0.5, 0}, {zero, -3, -inf}, {zero, -0.5, inf},
			{-8, 1.0 / 3, nan}, {-2, 3, -8}, {-2, 2, 4}, {-1, 1e300, 1}, {-1, 1<<53 - 1, -1}, {1, 1e300, 1}, {-1, 0.5, nan}, {2, -1074, 5e-324}, {2, -1075, 0}, {2, 1024, inf}, {-2, 1025, -inf}, {2, 1e300, inf}, {2, -1e300, 0}, {0x1p-1074, 0.5, 0x1p-537},
			{1.1, 2, 1.2100000000000002}, {10, -5, 1e-5}, {10, 22, 1e22}, {10, 308, 1e308}, {3, 34, 16677181699666568}, {9, 17, 16677181699666568}, {4, 0.5, 2}, {4, 1.5, 8}, {27, 2, 729}, {1e-320, 1e-320, 1},
			{1 + 0x1p-52, 1.5, 1 + 0x1p-51}, {1 - 0x1p-53, -3, 1 + 0x1p-51}, {3 * 0x1p-269, 4, 0x51p-1076}, {0x1.fffffffffffffp-1, 1e300, 0}}},
	} {
		for _, row := range tc.rows {
			if got := tc.fn(row[0], row[1]); !same(got, row[2]) {
				t.Errorf("%s(%v, %v) is %v, want %v", name, row[0], row[1], got, row[2])
			}
		}
	}
}

// TestWhereNodeIsOff holds that answers of node in which another digit stands
// are not the nearest.
func TestWhereNodeIsOff(t *testing.T) {
	for _, tc := range []struct{ node, got, want float64 }{
		{4.623152480188701e-108, Cbrt(1e-322), rounded(bigCbrt(number(1e-322)))},
		{1.6663642832806494e+308, Cosh(710.4), rounded(bigCosh(number(710.4)))},
		{2.34619382340565, Acos(-0.7), rounded(bigAcos(number(-0.7)))},
		{3.186711763849188, Acosh(12.125), rounded(bigAcosh(number(12.125)))},
		{0.30951960420311175, Atanh(0.3), rounded(bigAtanh(number(0.3)))},
		{3.522934458279748e+134, Pow(557, 49), rounded(bigPow(557, 49))},
		{9.999999999999999e+217, Pow(10, 218), rounded(bigPow(10, 218))},
	} {
		if tc.got != tc.want || tc.got == tc.node || math.Nextafter(tc.got, tc.node) != tc.node {
			t.Errorf("%v, want %v, and node has %v", tc.got, tc.want, tc.node)
		}
	}
}
