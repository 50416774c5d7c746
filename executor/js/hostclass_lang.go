package js

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
	"github.com/google/uuid"
)

func (s *session) javaMath() *goja.Object {
	t := s.newHostType("java.lang.Math", nil)
	t.field("PI", math.Pi)
	t.field("E", math.E)
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "cbrt": math.Cbrt, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin,
		"acos": math.Acos, "atan": math.Atan, "sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "exp": math.Exp,
		"log": math.Log, "log10": math.Log10, "log1p": math.Log1p, "expm1": math.Expm1, "floor": math.Floor, "ceil": math.Ceil,
		"rint": math.RoundToEven, "abs": math.Abs,
		"round":     func(x float64) float64 { return math.Floor(x + 0.5) },
		"signum":    func(x float64) float64 { return sign(x) },
		"toRadians": func(x float64) float64 { return x / 180 * math.Pi },
		"toDegrees": func(x float64) float64 { return x * 180 / math.Pi },
	} {
		t.static(name, func(args []goja.Value) any { return f(argument(args, 0).ToFloat()) })
	}
	for name, f := range map[string]func(a, b float64) float64{
		"pow": math.Pow, "atan2": math.Atan2, "hypot": math.Hypot, "max": math.Max, "min": math.Min,
		"floorDiv": func(a, b float64) float64 { return math.Floor(a / b) },
		"floorMod": func(a, b float64) float64 { return a - math.Floor(a/b)*b },
	} {
		t.static(name, func(args []goja.Value) any {
			a, b := argument(args, 0).ToFloat(), argument(args, 1).ToFloat()
			if b == 0 && strings.HasPrefix(name, "floor") {
				s.bad("arithmetic", "division by zero")
			}
			return f(a, b)
		})
	}
	t.static("random", func([]goja.Value) any {
		id := uuid.New()
		var n uint64
		for _, b := range id[:7] {
			n = n<<8 | uint64(b)
		}
		return float64(n&(1<<48-1)) / (1 << 48)
	})
	return t.ctor
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// wholeNumbers is the common part of Integer and Long.
func (s *session) wholeNumbers(name, parse string, bits int) *goja.Object {
	t := s.newHostType(name, nil)
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if bits == 32 {
		lo, hi = math.MinInt32, math.MaxInt32
	}
	t.field("MAX_VALUE", hi)
	t.field("MIN_VALUE", lo)
	read := func(args []goja.Value) any {
		radix := 10
		if r := argument(args, 1); !goja.IsUndefined(r) {
			radix = int(r.ToInteger())
		}
		text := argument(args, 0).String()
		if radix < 2 || radix > 36 || strings.ContainsRune(text, '_') {
			s.bad("number-format", name+" cannot read "+strconv.Quote(clip(text, 80)))
		}
		n, err := strconv.ParseInt(text, radix, bits)
		if err != nil {
			s.bad("number-format", name+" cannot read "+strconv.Quote(clip(text, 80)))
		}
		return n
	}
	t.static(parse, read)
	t.static("valueOf", read)
	t.static("compare", func(args []goja.Value) any {
		a, b := argument(args, 0).ToInteger(), argument(args, 1).ToInteger()
		return int(sign(float64(a) - float64(b)))
	})
	unsigned := func(n int64) uint64 {
		if bits == 32 {
			return uint64(uint32(n))
		}
		return uint64(n)
	}
	for method, radix := range map[string]int{"toHexString": 16, "toBinaryString": 2, "toOctalString": 8} {
		t.static(method, func(args []goja.Value) any {
			return strconv.FormatUint(unsigned(argument(args, 0).ToInteger()), radix)
		})
	}
	t.static("toString", func(args []goja.Value) any {
		radix := 10
		if r := argument(args, 1); !goja.IsUndefined(r) {
			if radix = int(r.ToInteger()); radix < 2 || radix > 36 {
				radix = 10
			}
		}
		return strconv.FormatInt(argument(args, 0).ToInteger(), radix)
	})
	return t.ctor
}

func (s *session) javaInteger() *goja.Object {
	return s.wholeNumbers("java.lang.Integer", "parseInt", 32)
}
func (s *session) javaLong() *goja.Object {
	return s.wholeNumbers("java.lang.Long", "parseLong", 64)
}

func (s *session) javaDouble() *goja.Object {
	t := s.newHostType("java.lang.Double", nil)
	read := func(args []goja.Value) any {
		text := strings.TrimSpace(argument(args, 0).String())
		x, err := strconv.ParseFloat(strings.TrimRight(text, "dDfF"), 64)
		if err != nil || strings.ContainsAny(text, "_xX") {
			s.bad("number-format", "java.lang.Double cannot read "+strconv.Quote(clip(text, 80)))
		}
		return x
	}
	t.static("parseDouble", read)
	t.static("valueOf", read)
	t.static("isNaN", func(args []goja.Value) any { return math.IsNaN(argument(args, 0).ToFloat()) })
	t.static("isInfinite", func(args []goja.Value) any { return math.IsInf(argument(args, 0).ToFloat(), 0) })
	t.static("compare", func(args []goja.Value) any {
		return int(sign(argument(args, 0).ToFloat() - argument(args, 1).ToFloat()))
	})
	t.field("MAX_VALUE", math.MaxFloat64)
	t.field("MIN_VALUE", math.SmallestNonzeroFloat64)
	t.field("NaN", math.NaN())
	return t.ctor
}

func (s *session) javaBoolean() *goja.Object {
	t := s.newHostType("java.lang.Boolean", nil)
	read := func(args []goja.Value) any { return strings.EqualFold(argument(args, 0).String(), "true") }
	t.static("parseBoolean", read)
	t.static("valueOf", read)
	return t.ctor
}

// stringBuilder counts in UTF-16 units, as Java and JavaScript do.
type stringBuilder struct{ units []uint16 }

func (b *stringBuilder) String() string { return string(utf16.Decode(b.units)) }

func (s *session) javaStringBuilder() *goja.Object {
	t := s.newHostType("java.lang.StringBuilder", func(args []goja.Value) any {
		b := &stringBuilder{}
		if text, ok := text(argument(args, 0)); ok {
			b.units = utf16.Encode([]rune(text))
		}
		return b
	})
	room := func(b *stringBuilder, n int) {
		if len(b.units)+n > maxBulk {
			s.bad("too-large", "the StringBuilder would grow beyond its limit")
		}
	}
	index := func(b *stringBuilder, v goja.Value, last int) int {
		i := v.ToInteger()
		if i < 0 || i > int64(last) {
			s.bad("index", "the index "+strconv.FormatInt(i, 10)+" is outside of the StringBuilder")
		}
		return int(i)
	}
	instanceMethod(t, "append", func(b *stringBuilder, this *goja.Object, args []goja.Value) any {
		add := utf16.Encode([]rune(argument(args, 0).String()))
		room(b, len(add))
		b.units = append(b.units, add...)
		return this
	})
	instanceMethod(t, "insert", func(b *stringBuilder, this *goja.Object, args []goja.Value) any {
		i := index(b, argument(args, 0), len(b.units))
		add := utf16.Encode([]rune(argument(args, 1).String()))
		room(b, len(add))
		b.units = append(b.units[:i:i], append(add, b.units[i:]...)...)
		return this
	})
	instanceMethod(t, "reverse", func(b *stringBuilder, this *goja.Object, _ []goja.Value) any {
		runes := []rune(b.String())
		for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
			runes[i], runes[j] = runes[j], runes[i]
		}
		b.units = utf16.Encode(runes)
		return this
	})
	instanceMethod(t, "deleteCharAt", func(b *stringBuilder, this *goja.Object, args []goja.Value) any {
		i := index(b, argument(args, 0), len(b.units)-1)
		b.units = append(b.units[:i], b.units[i+1:]...)
		return this
	})
	instanceMethod(t, "setLength", func(b *stringBuilder, _ *goja.Object, args []goja.Value) any {
		b.units = b.units[:index(b, argument(args, 0), len(b.units))]
		return goja.Undefined()
	})
	instanceMethod(t, "length", func(b *stringBuilder, _ *goja.Object, _ []goja.Value) any { return len(b.units) })
	instanceMethod(t, "charAt", func(b *stringBuilder, _ *goja.Object, args []goja.Value) any {
		return string(utf16.Decode(b.units[index(b, argument(args, 0), len(b.units)-1):][:1]))
	})
	for _, name := range []string{"toString", "toJSON"} {
		instanceMethod(t, name, func(b *stringBuilder, _ *goja.Object, _ []goja.Value) any { return b.String() })
	}
	return t.ctor
}
