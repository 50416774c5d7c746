package js

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// installDigits replaces toPrecision and toExponential, where the engine loses
// the sign and the point of a negative number that rounds up to a new digit.
func (s *session) installDigits() {
	proto := s.member(s.ctor("Number"), "prototype")
	valueOf, _ := s.callable(proto.Get("valueOf"))
	toString, _ := s.callable(proto.Get("toString"))
	for name, write := range map[string]func(float64, int) string{"toPrecision": precisionText, "toExponential": exponentText} {
		least := 0
		if name == "toPrecision" {
			least = 1
		}
		s.replace(proto, name, 1, func(call goja.FunctionCall) goja.Value {
			x := valueOf(call.This).ToFloat() // throws for what is no number
			var digits float64
			asked := !goja.IsUndefined(call.Argument(0))
			if asked {
				digits = call.Argument(0).ToNumber().ToFloat() // the conversion may throw, and comes first
			}
			switch {
			case math.IsNaN(x) || math.IsInf(x, 0) || !asked && least == 1:
				return toString(s.vm.ToValue(x))
			case !asked:
				return s.vm.ToValue(exponentOf(strconv.FormatFloat(x+0, 'e', -1, 64)))
			}
			if digits = math.Trunc(digits); digits != digits {
				digits = 0
			}
			if digits < float64(least) || digits > 100 {
				s.throwError("RangeError", name+"() argument must be between "+strconv.Itoa(least)+" and 100")
			}
			return s.vm.ToValue(write(x, int(digits)))
		})
	}
}

// exponentText is x with so many digits behind the point and an exponent.
func exponentText(x float64, digits int) string {
	return exponentOf(roundedDigits(x, digits+1))
}

// precisionText is x with so many digits in all.
func precisionText(x float64, digits int) string {
	text := roundedDigits(x, digits)
	mantissa, exponent, _ := strings.Cut(text, "e")
	e, _ := strconv.Atoi(exponent)
	if e < -6 || e >= digits {
		return exponentOf(text)
	}
	sign := ""
	if mantissa[0] == '-' {
		sign, mantissa = "-", mantissa[1:]
	}
	mantissa = strings.Replace(mantissa, ".", "", 1)
	switch {
	case e == digits-1:
		return sign + mantissa
	case e >= 0:
		return sign + mantissa[:e+1] + "." + mantissa[e+1:]
	}
	return sign + "0." + strings.Repeat("0", -e-1) + mantissa
}

// exponentOf writes the exponent without the zero that Go puts before it.
func exponentOf(text string) string {
	at := strings.IndexByte(text, 'e') + 2
	if at+1 < len(text) && text[at] == '0' {
		return text[:at] + text[at+1:]
	}
	return text
}

// maxExact is at least the number of digits that any double has.
const maxExact = 780

// roundedDigits is x, rounded to so many digits, in Go's notation with an
// exponent. A number in the middle goes away from zero: of two candidates the
// language takes the larger one (ECMA-262 21.1.3.2), and Go the even one.
func roundedDigits(x float64, digits int) string {
	if x == 0 {
		x = 0 // without a sign
	}
	rounded := strconv.FormatFloat(x, 'e', digits-1, 64)
	longer, _, _ := strings.Cut(strconv.FormatFloat(x, 'e', digits, 64), "e")
	if longer[len(longer)-1] != '5' {
		return rounded
	}
	exact := strconv.FormatFloat(x, 'e', maxExact, 64)
	if rest, _, _ := strings.Cut(exact[len(longer):], "e"); !strings.HasPrefix(exact, longer) || strings.Trim(rest, "0") != "" {
		return rounded
	}
	return nextDigit(strings.TrimSuffix(longer[:len(longer)-1], "."), exact[strings.IndexByte(exact, 'e'):])
}

// nextDigit adds one to the last digit of a mantissa.
func nextDigit(mantissa, exponent string) string {
	b := []byte(mantissa)
	for i := len(b) - 1; i >= 0; i-- {
		switch {
		case b[i] == '.' || b[i] == '-':
		case b[i] < '9':
			b[i]++
			return string(b) + exponent
		default:
			b[i] = '0'
		}
	}
	// All were nines: 9.99e+02 becomes 1.00e+03.
	b[strings.IndexByte(mantissa, '9')] = '1'
	e, _ := strconv.Atoi(exponent[1:])
	sign := "+"
	if e++; e < 0 {
		sign, e = "-", -e
	}
	return string(b) + "e" + sign + strconv.Itoa(e)
}
