package js

import (
	"crypto/md5"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
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

func (s *session) javaUUID() *goja.Object {
	t := s.newHostType("java.util.UUID", nil)
	t.static("randomUUID", func([]goja.Value) any { return t.instance(uuid.New()) })
	t.static("fromString", func(args []goja.Value) any {
		text := argument(args, 0).String()
		id, err := uuid.Parse(text)
		if err != nil || len(text) != 36 {
			s.bad("invalid-uuid", "java.util.UUID cannot read "+strconv.Quote(clip(text, 80)))
		}
		return t.instance(id)
	})
	t.static("nameUUIDFromBytes", func(args []goja.Value) any {
		b, ok := s.bytesOf(argument(args, 0))
		if !ok {
			s.bad("bytes-required", "nameUUIDFromBytes needs bytes")
		}
		id := uuid.UUID(md5.Sum(b))
		id[6], id[8] = id[6]&0x0f|0x30, id[8]&0x3f|0x80
		return t.instance(id)
	})
	for _, name := range []string{"toString", "toJSON"} {
		instanceMethod(t, name, func(id uuid.UUID, _ *goja.Object, _ []goja.Value) any { return id.String() })
	}
	instanceMethod(t, "version", func(id uuid.UUID, _ *goja.Object, _ []goja.Value) any { return int(id.Version()) })
	instanceMethod(t, "equals", func(id uuid.UUID, _ *goja.Object, args []goja.Value) any {
		other, ok := s.reveal(argument(args, 0)).(uuid.UUID)
		return ok && other == id
	})
	return t.ctor
}

func (s *session) javaBase64() *goja.Object {
	t := s.newHostType("java.util.Base64", nil)
	coder := func(enc *base64.Encoding, encode bool) func([]goja.Value) any {
		return func([]goja.Value) any {
			obj := s.vm.NewObject()
			input := func(call goja.FunctionCall) []byte {
				if b, ok := s.bytesOf(call.Argument(0)); ok {
					return b
				}
				if text, ok := text(call.Argument(0)); ok {
					return []byte(text)
				}
				s.bad("bytes-required", "Base64 needs bytes or a string")
				return nil
			}
			if encode {
				s.hiddenMethod(obj, "encodeToString", func(call goja.FunctionCall) goja.Value {
					return s.vm.ToValue(enc.EncodeToString(input(call)))
				})
				return obj
			}
			s.hiddenMethod(obj, "decode", func(call goja.FunctionCall) goja.Value {
				b, err := enc.WithPadding(base64.NoPadding).DecodeString(strings.TrimRight(string(input(call)), "="))
				if err != nil {
					s.bad("invalid-base64", "the text is not base64")
				}
				return s.bytesValue(b)
			})
			return obj
		}
	}
	t.static("getEncoder", coder(base64.StdEncoding, true))
	t.static("getUrlEncoder", coder(base64.URLEncoding, true))
	t.static("getDecoder", coder(base64.StdEncoding, false))
	t.static("getUrlDecoder", coder(base64.URLEncoding, false))
	return t.ctor
}

func (s *session) javaInstant() *goja.Object {
	t := s.newHostType("java.time.Instant", nil)
	t.static("now", func([]goja.Value) any { return t.instance(time.Now().UTC()) })
	t.static("parse", func(args []goja.Value) any {
		at, err := time.Parse(time.RFC3339Nano, argument(args, 0).String())
		if err != nil {
			s.bad("date-time-parse", "java.time.Instant cannot read "+strconv.Quote(clip(argument(args, 0).String(), 80)))
		}
		return t.instance(at.UTC())
	})
	t.static("ofEpochMilli", func(args []goja.Value) any {
		return t.instance(time.UnixMilli(argument(args, 0).ToInteger()).UTC())
	})
	t.static("ofEpochSecond", func(args []goja.Value) any {
		return t.instance(time.Unix(argument(args, 0).ToInteger(), 0).UTC())
	})
	instanceMethod(t, "toEpochMilli", func(at time.Time, _ *goja.Object, _ []goja.Value) any { return at.UnixMilli() })
	instanceMethod(t, "getEpochSecond", func(at time.Time, _ *goja.Object, _ []goja.Value) any { return at.Unix() })
	for name, unit := range map[string]time.Duration{"plusMillis": time.Millisecond, "plusSeconds": time.Second, "minusMillis": -time.Millisecond, "minusSeconds": -time.Second} {
		instanceMethod(t, name, func(at time.Time, _ *goja.Object, args []goja.Value) any {
			n := argument(args, 0).ToInteger()
			if n > 1<<33 || n < -(1<<33) {
				s.bad("arithmetic", "the amount is out of range")
			}
			return t.instance(at.Add(time.Duration(n) * unit))
		})
	}
	compare := func(name string, f func(a, b time.Time) any) {
		instanceMethod(t, name, func(at time.Time, _ *goja.Object, args []goja.Value) any {
			other, ok := s.reveal(argument(args, 0)).(time.Time)
			if !ok {
				s.bad("instant-required", name+" needs another Instant")
			}
			return f(at, other)
		})
	}
	compare("isBefore", func(a, b time.Time) any { return a.Before(b) })
	compare("isAfter", func(a, b time.Time) any { return a.After(b) })
	compare("compareTo", func(a, b time.Time) any { return a.Compare(b) })
	compare("equals", func(a, b time.Time) any { return a.Equal(b) })
	for _, name := range []string{"toString", "toJSON"} {
		instanceMethod(t, name, func(at time.Time, _ *goja.Object, _ []goja.Value) any { return instantText(at) })
	}
	return t.ctor
}

// instantText has no fraction, or three, six or nine digits, as Java prints.
func instantText(at time.Time) string {
	out := at.Format("2006-01-02T15:04:05")
	ns := at.Nanosecond()
	switch {
	case ns == 0:
	case ns%1e6 == 0:
		out += at.Format(".000")
	case ns%1e3 == 0:
		out += at.Format(".000000")
	default:
		out += at.Format(".000000000")
	}
	return out + "Z"
}
