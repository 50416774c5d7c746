package js

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// maxDigits bounds the numbers of BigInteger and BigDecimal.
const maxDigits = 20000

func (s *session) bigText(v goja.Value, class string) string {
	text := strings.TrimSpace(v.String())
	if len(text) > maxDigits {
		s.bad("too-large", class+" takes at most "+strconv.Itoa(maxDigits)+" digits")
	}
	return text
}

func (s *session) bounded(n *big.Int) *big.Int {
	if n.BitLen() > maxDigits*4 {
		s.bad("too-large", "the number would have more than "+strconv.Itoa(maxDigits)+" digits")
	}
	return n
}

func (s *session) javaBigInteger() *goja.Object {
	read := func(v goja.Value, radix int) *big.Int {
		text := s.bigText(v, "BigInteger")
		n, ok := new(big.Int).SetString(text, radix)
		if !ok || strings.Contains(text, "_") {
			s.bad("number-format", "BigInteger cannot read "+strconv.Quote(clip(text, 80)))
		}
		return n
	}
	t := s.newHostType("java.math.BigInteger", func(args []goja.Value) any {
		radix := 10
		if r := argument(args, 1); !goja.IsUndefined(r) {
			if radix = int(r.ToInteger()); radix < 2 || radix > 36 {
				s.bad("number-format", "the radix must be between 2 and 36")
			}
		}
		return read(argument(args, 0), radix)
	})
	t.static("valueOf", func(args []goja.Value) any { return t.instance(read(argument(args, 0), 10)) })
	for name, n := range map[string]int64{"ZERO": 0, "ONE": 1, "TWO": 2, "TEN": 10} {
		t.field(name, t.instance(big.NewInt(n)))
	}
	other := func(v goja.Value) *big.Int {
		n, ok := s.reveal(v).(*big.Int)
		if !ok {
			s.bad("big-integer-required", "the argument must be a BigInteger")
		}
		return n
	}
	binary := func(name string, divides bool, f func(z, a, b *big.Int) *big.Int) {
		instanceMethod(t, name, func(n *big.Int, _ *goja.Object, args []goja.Value) any {
			m := other(argument(args, 0))
			if divides && m.Sign() == 0 {
				s.bad("arithmetic", "division by zero")
			}
			return t.instance(s.bounded(f(new(big.Int), n, m)))
		})
	}
	binary("add", false, (*big.Int).Add)
	binary("subtract", false, (*big.Int).Sub)
	binary("multiply", false, (*big.Int).Mul)
	binary("divide", true, (*big.Int).Quo)
	binary("remainder", true, (*big.Int).Rem)
	binary("mod", true, (*big.Int).Mod)
	binary("gcd", false, func(z, a, b *big.Int) *big.Int { return z.GCD(nil, nil, new(big.Int).Abs(a), new(big.Int).Abs(b)) })
	instanceMethod(t, "pow", func(n *big.Int, _ *goja.Object, args []goja.Value) any {
		e := argument(args, 0).ToInteger()
		if e < 0 || e*int64(n.BitLen()) > maxDigits*4 || e > 1<<20 {
			s.bad("too-large", "the exponent is negative or too large")
		}
		return t.instance(new(big.Int).Exp(n, big.NewInt(e), nil))
	})
	instanceMethod(t, "modPow", func(n *big.Int, _ *goja.Object, args []goja.Value) any {
		e, m := other(argument(args, 0)), other(argument(args, 1))
		if m.Sign() <= 0 || e.Sign() < 0 || e.BitLen() > 4096 || m.BitLen() > 8192 {
			s.bad("arithmetic", "modPow needs a positive modulus and an exponent that is not negative, both of moderate size")
		}
		return t.instance(new(big.Int).Exp(n, e, m))
	})
	instanceMethod(t, "negate", func(n *big.Int, _ *goja.Object, _ []goja.Value) any { return t.instance(new(big.Int).Neg(n)) })
	instanceMethod(t, "abs", func(n *big.Int, _ *goja.Object, _ []goja.Value) any { return t.instance(new(big.Int).Abs(n)) })
	instanceMethod(t, "signum", func(n *big.Int, _ *goja.Object, _ []goja.Value) any { return n.Sign() })
	instanceMethod(t, "bitLength", func(n *big.Int, _ *goja.Object, _ []goja.Value) any { return n.BitLen() })
	instanceMethod(t, "isProbablePrime", func(n *big.Int, _ *goja.Object, _ []goja.Value) any {
		if n.BitLen() > 4096 {
			s.bad("too-large", "the number is too large for a prime test")
		}
		return n.ProbablyPrime(20)
	})
	instanceMethod(t, "compareTo", func(n *big.Int, _ *goja.Object, args []goja.Value) any { return n.Cmp(other(argument(args, 0))) })
	instanceMethod(t, "equals", func(n *big.Int, _ *goja.Object, args []goja.Value) any {
		m, ok := s.reveal(argument(args, 0)).(*big.Int)
		return ok && n.Cmp(m) == 0
	})
	for _, name := range []string{"intValue", "longValue", "doubleValue"} {
		instanceMethod(t, name, func(n *big.Int, _ *goja.Object, _ []goja.Value) any {
			f, _ := new(big.Float).SetInt(n).Float64()
			return f
		})
	}
	for _, name := range []string{"toString", "toJSON"} {
		instanceMethod(t, name, func(n *big.Int, _ *goja.Object, args []goja.Value) any {
			if r := argument(args, 0); name == "toString" && !goja.IsUndefined(r) {
				if radix := int(r.ToInteger()); radix >= 2 && radix <= 36 {
					return n.Text(radix)
				}
			}
			return n.String()
		})
	}
	return t.ctor
}

// decimal is unscaled * 10^-scale, Java's representation.
type decimal struct {
	unscaled *big.Int
	scale    int
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func parseDecimal(text string) (decimal, bool) {
	mantissa, exp := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(text[i+1:])
		if err != nil || n > maxDigits || n < -maxDigits {
			return decimal{}, false
		}
		mantissa, exp = text[:i], n
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := whole + frac
	if strings.Trim(digits, "+-") == "" || strings.ContainsAny(digits, "_") || strings.ContainsAny(frac, "+-") {
		return decimal{}, false
	}
	n, ok := new(big.Int).SetString(digits, 10)
	return decimal{n, len(frac) - exp}, ok
}

// rescale gives d at another scale, rounding by mode; it reports false when
// the mode forbids the rounding that is needed.
func (d decimal) rescale(scale int, mode string) (decimal, bool) {
	if scale >= d.scale {
		return decimal{new(big.Int).Mul(d.unscaled, pow10(scale-d.scale)), scale}, true
	}
	q, ok := divide(d.unscaled, pow10(d.scale-scale), mode)
	return decimal{q, scale}, ok
}

// divide rounds a quotient by one of Java's rounding modes.
func divide(a, b *big.Int, mode string) (*big.Int, bool) {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() == 0 {
		return q, true
	}
	sign := int64(a.Sign() * b.Sign())
	half := new(big.Int).Abs(new(big.Int).Lsh(r, 1)).Cmp(new(big.Int).Abs(b))
	away := false
	switch mode {
	case "UP":
		away = true
	case "DOWN":
	case "CEILING":
		away = sign > 0
	case "FLOOR":
		away = sign < 0
	case "HALF_UP":
		away = half >= 0
	case "HALF_DOWN":
		away = half > 0
	case "HALF_EVEN":
		away = half > 0 || half == 0 && q.Bit(0) == 1
	default:
		return nil, false
	}
	if away {
		q.Add(q, big.NewInt(sign))
	}
	return q, true
}

func (d decimal) plain() string {
	text := new(big.Int).Abs(d.unscaled).String()
	switch {
	case d.scale > 0:
		if pad := d.scale - len(text) + 1; pad > 0 {
			text = strings.Repeat("0", pad) + text
		}
		text = text[:len(text)-d.scale] + "." + text[len(text)-d.scale:]
	case d.scale < 0 && d.unscaled.Sign() != 0:
		text += strings.Repeat("0", -d.scale)
	}
	if d.unscaled.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// String is Java's canonical form, with an exponent for extreme scales.
func (d decimal) String() string {
	text := new(big.Int).Abs(d.unscaled).String()
	adjusted := len(text) - 1 - d.scale
	if d.scale >= 0 && adjusted >= -6 {
		return d.plain()
	}
	if len(text) > 1 {
		text = text[:1] + "." + text[1:]
	}
	text += "E"
	if adjusted >= 0 {
		text += "+"
	}
	text += strconv.Itoa(adjusted)
	if d.unscaled.Sign() < 0 {
		text = "-" + text
	}
	return text
}

func align(a, b decimal) (x, y *big.Int, scale int) {
	scale = max(a.scale, b.scale)
	x, y = a.unscaled, b.unscaled
	if a.scale < scale {
		x = new(big.Int).Mul(x, pow10(scale-a.scale))
	}
	if b.scale < scale {
		y = new(big.Int).Mul(y, pow10(scale-b.scale))
	}
	return x, y, scale
}

func (s *session) javaBigDecimal() *goja.Object {
	read := func(v goja.Value) decimal {
		text := s.bigText(v, "BigDecimal")
		d, ok := parseDecimal(text)
		if !ok {
			s.bad("number-format", "BigDecimal cannot read "+strconv.Quote(clip(text, 80)))
		}
		return d
	}
	t := s.newHostType("java.math.BigDecimal", func(args []goja.Value) any { return read(argument(args, 0)) })
	t.static("valueOf", func(args []goja.Value) any { return t.instance(read(argument(args, 0))) })
	t.field("ZERO", t.instance(decimal{big.NewInt(0), 0}))
	t.field("ONE", t.instance(decimal{big.NewInt(1), 0}))
	t.field("TEN", t.instance(decimal{big.NewInt(10), 0}))
	other := func(v goja.Value) decimal {
		d, ok := s.reveal(v).(decimal)
		if !ok {
			s.bad("big-decimal-required", "the argument must be a BigDecimal")
		}
		return d
	}
	out := func(d decimal) any {
		s.bounded(d.unscaled)
		if d.scale > maxDigits || d.scale < -maxDigits {
			s.bad("too-large", "the scale is too large")
		}
		return t.instance(d)
	}
	method := func(name string, f func(d decimal, args []goja.Value) any) {
		instanceMethod(t, name, func(d decimal, _ *goja.Object, args []goja.Value) any { return f(d, args) })
	}
	method("add", func(d decimal, args []goja.Value) any {
		x, y, scale := align(d, other(argument(args, 0)))
		return out(decimal{new(big.Int).Add(x, y), scale})
	})
	method("subtract", func(d decimal, args []goja.Value) any {
		x, y, scale := align(d, other(argument(args, 0)))
		return out(decimal{new(big.Int).Sub(x, y), scale})
	})
	method("multiply", func(d decimal, args []goja.Value) any {
		o := other(argument(args, 0))
		return out(decimal{new(big.Int).Mul(d.unscaled, o.unscaled), d.scale + o.scale})
	})
	mode := func(v goja.Value) string {
		if goja.IsUndefined(v) || goja.IsNull(v) {
			return "UNNECESSARY"
		}
		return strings.ToUpper(v.String())
	}
	method("setScale", func(d decimal, args []goja.Value) any {
		scale := argument(args, 0).ToInteger()
		if scale > maxDigits || scale < -maxDigits {
			s.bad("too-large", "the scale is too large")
		}
		r, ok := d.rescale(int(scale), mode(argument(args, 1)))
		if !ok {
			s.bad("rounding-necessary", `setScale must round; name the mode, such as setScale(2, "HALF_UP")`)
		}
		return out(r)
	})
	method("divide", func(d decimal, args []goja.Value) any {
		o := other(argument(args, 0))
		if o.unscaled.Sign() == 0 {
			s.bad("arithmetic", "division by zero")
		}
		if len(args) < 2 {
			s.bad("rounding-necessary", `divide needs a scale and a rounding mode, such as divide(x, 10, "HALF_UP")`)
		}
		scale := argument(args, 1).ToInteger()
		if scale > maxDigits || scale < 0 {
			s.bad("too-large", "the scale is out of range")
		}
		// d/o at scale n is d.unscaled * 10^(n - d.scale + o.scale) / o.unscaled.
		a, b, shift := d.unscaled, o.unscaled, int(scale)-d.scale+o.scale
		if shift >= 0 {
			a = new(big.Int).Mul(a, pow10(shift))
		} else {
			b = new(big.Int).Mul(b, pow10(-shift))
		}
		q, ok := divide(a, b, mode(argument(args, 2)))
		if !ok {
			s.bad("rounding-necessary", "the quotient must be rounded; name the mode as third argument")
		}
		return out(decimal{q, int(scale)})
	})
	method("negate", func(d decimal, _ []goja.Value) any { return out(decimal{new(big.Int).Neg(d.unscaled), d.scale}) })
	method("abs", func(d decimal, _ []goja.Value) any { return out(decimal{new(big.Int).Abs(d.unscaled), d.scale}) })
	method("signum", func(d decimal, _ []goja.Value) any { return d.unscaled.Sign() })
	method("scale", func(d decimal, _ []goja.Value) any { return d.scale })
	method("compareTo", func(d decimal, args []goja.Value) any {
		x, y, _ := align(d, other(argument(args, 0)))
		return x.Cmp(y)
	})
	method("equals", func(d decimal, args []goja.Value) any {
		o, ok := s.reveal(argument(args, 0)).(decimal)
		return ok && o.scale == d.scale && o.unscaled.Cmp(d.unscaled) == 0
	})
	method("doubleValue", func(d decimal, _ []goja.Value) any {
		f, _ := strconv.ParseFloat(d.String(), 64)
		return f
	})
	method("toPlainString", func(d decimal, _ []goja.Value) any { return d.plain() })
	method("toString", func(d decimal, _ []goja.Value) any { return d.String() })
	method("toJSON", func(d decimal, _ []goja.Value) any { return d.String() })
	return t.ctor
}
