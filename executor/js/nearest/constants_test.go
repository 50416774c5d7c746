package nearest

import (
	"fmt"
	"math/big"
	"testing"
)

// pairOf is a number as the sum of two doubles.
func pairOf(x *big.Float) pair {
	h, _ := x.Float64()
	l, _ := less(x, number(h)).Float64()
	return pair{h, l}
}

// bigTurn gives the sine and the cosine of an angle by their series.
func bigTurn(x *big.Float) (sin, cos *big.Float) {
	s := mul(x, x)
	s.Neg(s)
	term := func(from int) func(n int, t *big.Float) *big.Float {
		return func(n int, t *big.Float) *big.Float {
			return quo(mul(t, s), number(float64((2*n-1+from)*(2*n+from))))
		}
	}
	return series(x, term(1), itself), series(one, term(0), itself)
}

// TestConstants computes all constants again.
func TestConstants(t *testing.T) {
	same := func(name string, got, want pair) {
		t.Helper()
		if got != want {
			t.Errorf("%s is {%x, %x}, want {%x, %x}", name, got.h, got.l, want.h, want.l)
		}
	}
	top := new(big.Float).SetPrec(32).SetMode(big.ToZero).Set(bigLn2)
	same("ln2Top", pair{h: ln2Top}, pairOf(top))
	rest := pairOf(less(bigLn2, top))
	same("ln2Middle, ln2Rest", pair{ln2Middle, ln2Rest}, rest)
	same("perLn2", perLn2, pairOf(quo(one, bigLn2)))
	same("perLn10", perLn10, pairOf(quo(one, bigE10)))
	same("twoLn2", twoLn2, pairOf(times2(bigLn2, 1)))
	same("halfPi", halfPi, pairOf(times2(bigPi, -1)))
	for i, got := range exps {
		same(fmt.Sprint("exps ", i), got, pairOf(bigExp(number(float64(i-len(exps)/2)/16))))
	}
	for i, got := range circle {
		sin, cos := bigTurn(number(float64(i) / 16))
		same(fmt.Sprint("sine ", i), got.sin, pairOf(sin))
		same(fmt.Sprint("cosine ", i), got.cos, pairOf(cos))
	}
	factorial, sign := number(1), number(1)
	for n := 1; n <= 2*len(sines); n++ {
		if n%2 == 1 && n/2 < len(sines) {
			if n/2 > 0 {
				same(fmt.Sprint("cosines ", n/2), cosines[n/2], pairOf(quo(sign, factorial)))
			}
			factorial = mul(factorial, number(float64(n)))
			same(fmt.Sprint("sines ", n/2), sines[n/2], pairOf(quo(sign, factorial)))
			sign.Neg(sign)
		} else {
			factorial = mul(factorial, number(float64(n)))
		}
		if n <= len(inverses) {
			same(fmt.Sprint("inverses ", n), inverses[n-1], pairOf(quo(one, factorial)))
		}
	}
	same("cosines 0", cosines[0], pair{h: 1})
}
