package nearest

import "math"

// pair is the sum h+l, where l is at most half of the last digit of h.
type pair struct{ h, l float64 }

// two is a+b, exactly.
func two(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

// quick is a+b, exactly, where a is not the smaller one.
func quick(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

// product is a*b, exactly.
func product(a, b float64) pair {
	h := float64(a * b)
	return pair{h, math.FMA(a, b, -h)}
}

func (p pair) minus() pair { return pair{-p.h, -p.l} }

// shift is p * 2^k, for a small k.
func (p pair) shift(k int) pair {
	f := powerOfTwo(k)
	return pair{float64(p.h * f), float64(p.l * f)}
}

func (p pair) plus(q pair) pair {
	s, t := two(p.h, q.h), two(p.l, q.l)
	v := quick(s.h, s.l+t.h)
	return quick(v.h, t.l+v.l)
}

func (p pair) add(x float64) pair {
	s := two(p.h, x)
	return quick(s.h, p.l+s.l)
}

func (p pair) times(q pair) pair {
	t := product(p.h, q.h)
	l := math.FMA(p.l, q.h, math.FMA(p.h, q.l, float64(p.l*q.l)))
	return quick(t.h, t.l+l)
}

func (p pair) by(x float64) pair {
	t := product(p.h, x)
	return quick(t.h, math.FMA(p.l, x, t.l))
}

func (p pair) over(q pair) pair {
	h := p.h / q.h
	rest := math.FMA(-h, q.l, math.FMA(-h, q.h, p.h)+p.l)
	return quick(h, rest/q.h)
}

// root is the square root.
func (p pair) root() pair {
	h := math.Sqrt(p.h)
	if h == 0 {
		return pair{}
	}
	return quick(h, (math.FMA(-h, h, p.h)+p.l)/(2*h))
}

// horner is the polynomial c[0] + x*c[1] + x*x*c[2] ..., whose terms from the
// place plain on are so small that a double is enough for them.
func horner(x pair, c []pair, plain int) pair {
	y := 0.0
	for i := len(c) - 1; i >= plain; i-- {
		y = math.FMA(y, x.h, c[i].h)
	}
	p := pair{h: y}
	for i := plain - 1; i >= 0; i-- {
		p = p.times(x).plus(c[i])
	}
	return p
}
