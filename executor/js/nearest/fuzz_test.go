package nearest

import (
	"math"
	"testing"
)

// FuzzNearest holds any two numbers against the reference, where it is quick,
// and the order of the results against that of the arguments.
func FuzzNearest(f *testing.F) {
	f.Add(1.1, 10.0)
	f.Add(3.0, 34.0)
	f.Add(1+0x1p-52, 1.5)
	f.Add(5e-324, -0.25)
	f.Add(-2.0, 1075.0)
	f.Add(709.78, 0x1p-53)
	f.Fuzz(func(t *testing.T, x, y float64) {
		for _, fn := range functions {
			got := fn.fn(x)
			if x == 0 || x != x || math.IsInf(x, 0) || !fn.has(x) {
				continue
			}
			if want := rounded(fn.reference(number(x))); got != want {
				t.Errorf("%s(%v) is %v, want %v", fn.name, x, got, want)
			}
			next := fn.fn(math.Nextafter(x, math.Inf(1)))
			falls := fn.name == "Acos" || fn.name == "Cosh" && x < 0
			if falls && next > got || !falls && next < got {
				t.Errorf("%s is not in order beside %v: %v, %v", fn.name, x, got, next)
			}
		}
		angle := Atan2(y, x)
		if angle < -math.Pi || angle > math.Pi {
			t.Errorf("Atan2(%v, %v) is %v", y, x, angle)
		}
		got, size := Pow(x, y), math.Abs(y*math.Log2(math.Abs(x)))
		if x > 0 && size > 0 && size < 1100 {
			if want := rounded(bigPow(x, y)); got != want {
				t.Errorf("Pow(%v, %v) is %v, want %v", x, y, got, want)
			}
		}
	})
}

func BenchmarkNearest(b *testing.B) {
	for _, f := range functions {
		b.Run(f.name, func(b *testing.B) {
			x := 0.7
			if f.name == "Acosh" {
				x = 1.7
			}
			for b.Loop() {
				f.fn(x)
			}
		})
	}
	b.Run("Pow", func(b *testing.B) {
		for b.Loop() {
			Pow(1.7, 9.3)
		}
	})
	b.Run("Atan2", func(b *testing.B) {
		for b.Loop() {
			Atan2(1.7, 9.3)
		}
	})
}
