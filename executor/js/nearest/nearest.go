// Package nearest has the functions of Math of the language (ECMA-262, 21.3.2)
// whose answer is seldom a double: each gives the double that is nearest to the
// true value, but for one in some thousand million answers.
//
// A function computes with about twice the digits of a double, as a sum of two
// (pair), and rounds once. Where it starts from a function of Go, that is only
// a guess, which one step of Newton's rule corrects: a guess that is wrong in
// its last digits gives the same answer, so that every machine has the same.
//
// A product that meets a sum is converted by float64, or goes through math.FMA:
// otherwise the compiler could join the two on some machines.
package nearest

import "math"

// finish is p * 2^k, rounded once, for a positive p of a size about 1.
func finish(p pair, k int) float64 {
	switch size := exponentOf(p.h) + k; {
	case size > 1024:
		return math.Inf(1)
	case size >= -1022:
		return scale(p.h, k)
	case size < -1080:
		return 0
	}
	// The result is subnormal: a whole number of units, where a sum with a
	// number of 2^52 units has no digits below them.
	unit := powerOfTwo(-1074 - k)
	big := unit * (1 << 52)
	n := (big + p.h) - big
	switch rest := p.h - n; {
	case rest == unit/2 && p.l > 0:
		n += unit
	case rest == -unit/2 && p.l < 0:
		n -= unit
	}
	return scale(n, k)
}

// round3 is a+b+c rounded once, where each is small beside the one before it.
// It is for sums whose first two make a number halfway between two doubles.
func round3(a, b, c float64) float64 {
	s := quick(a, b)
	t := quick(s.l, c)
	if bits := math.Float64bits(t.h); t.l != 0 && bits&1 == 0 {
		// The last digit says that there is more, and on which side.
		if (t.l > 0) == (t.h > 0) {
			bits++
		} else {
			bits--
		}
		t.h = math.Float64frombits(bits)
	}
	return s.h + t.h
}

// exponentOf is the exponent of a number that is not subnormal.
func exponentOf(x float64) int { return int(math.Float64bits(x)>>52&0x7ff) - 1023 }

// powerOfTwo is 2^k for a k from -1022 to 1023.
func powerOfTwo(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }

// scale is x * 2^k, where no more than the last of the two steps rounds.
func scale(x float64, k int) float64 {
	return float64(x*powerOfTwo(k/2)) * powerOfTwo(k-k/2)
}

// apart takes a positive number apart: x = m * 2^k, with m from 1 to 2.
func apart(x float64) (m float64, k int) {
	if x < 0x1p-1022 {
		x *= 1 << 54
		k = -54
	}
	k += exponentOf(x)
	return math.Float64frombits(math.Float64bits(x)&(1<<52-1) | 1023<<52), k
}
