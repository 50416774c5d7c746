package js

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// A numberFormat is a resolved Intl.NumberFormat.
type numberFormat struct {
	locale, style, currency, symbol string
	sign, currencySign, display     string
	data                            *localeData
	minInteger, minFrac, maxFrac    int
	minSig, maxSig                  int // 0 = fractions count
	grouping                        string
}

// groupings are the texts of an option that also takes other values.
var groupings = script.Options{"useGrouping": {"auto", "always", "min2"}}

func (s *session) readNumberFormat(loc, opts goja.Value) *numberFormat {
	f := &numberFormat{locale: s.locale(loc), style: s.option(opts, script.NumberOptions, "style"), grouping: "auto"}
	f.data = dataOf[baseLocale(f.locale)]()
	s.check(opts, script.NumberOptions, "unit", "compactDisplay", "notation", "roundingMode", "roundingIncrement",
		"roundingPriority", "trailingZeroDisplay", "numberingSystem")
	f.sign = s.option(opts, script.NumberOptions, "signDisplay")
	f.display = s.option(opts, script.NumberOptions, "currencyDisplay")
	f.currencySign = s.option(opts, script.NumberOptions, "currencySign")
	defMin, defMax := 0, 3
	switch f.style {
	case "":
		f.style = "decimal"
	case "percent":
		defMax = 0
	case "currency":
		f.currency = strings.ToUpper(orUndefined(opts.(*goja.Object).Get("currency")).String())
		if len(f.currency) != 3 || strings.Trim(f.currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			s.throwError("TypeError", "the style currency needs a currency such as USD")
		}
		f.symbol = f.currency
		if sym, ok := f.data.symbols[f.currency]; ok && f.display != "code" {
			f.symbol = sym[0]
			if f.display == "narrowSymbol" {
				f.symbol = sym[1]
			}
		}
		defMin = 2
		if n, ok := currencyDigits()[f.currency]; ok {
			defMin = n
		}
		defMax = defMin
	}
	f.minInteger = s.number(opts, "minimumIntegerDigits", 1, 21, 1)
	f.minFrac = s.number(opts, "minimumFractionDigits", 0, 100, -1)
	f.maxFrac = s.number(opts, "maximumFractionDigits", 0, 100, -1)
	f.minSig = s.number(opts, "minimumSignificantDigits", 1, 21, 0)
	f.maxSig = s.number(opts, "maximumSignificantDigits", max(f.minSig, 1), 21, 0)
	if f.minSig+f.maxSig > 0 {
		f.minSig = max(f.minSig, 1)
		if f.maxSig == 0 {
			f.maxSig = 21
		}
	}
	switch {
	case f.minFrac < 0 && f.maxFrac < 0:
		f.minFrac, f.maxFrac = defMin, defMax
	case f.minFrac < 0:
		f.minFrac = min(defMin, f.maxFrac)
	case f.maxFrac < 0:
		f.maxFrac = max(defMax, f.minFrac)
	case f.minFrac > f.maxFrac && f.maxSig == 0:
		s.throwError("RangeError", "minimumFractionDigits is larger than maximumFractionDigits")
	}
	if obj, ok := opts.(*goja.Object); ok {
		switch v := orUndefined(obj.Get("useGrouping")); {
		case goja.IsUndefined(v):
		case v.ExportType() == reflect.TypeFor[bool]() && v.ToBoolean():
			f.grouping = "always"
		case !v.ToBoolean():
			f.grouping = "false"
		case v.String() == "true" || v.String() == "false":
		default:
			f.grouping = s.option(opts, groupings, "useGrouping")
		}
	}
	return f
}

func (s *session) numberFormat(obj *goja.Object, loc, opts goja.Value) {
	f := s.readNumberFormat(loc, opts)
	s.hiddenMethod(obj, "format", func(call goja.FunctionCall) goja.Value {
		return s.vm.ToValue(joinParts(f.parts(numeric(call.Argument(0)))))
	})
	s.hiddenMethod(obj, "formatToParts", func(call goja.FunctionCall) goja.Value {
		return s.partsValue(f.parts(numeric(call.Argument(0))))
	})
	s.hiddenMethod(obj, "resolvedOptions", func(goja.FunctionCall) goja.Value {
		out := s.vm.NewObject()
		set := func(name string, v any) { _ = out.Set(name, v) }
		orDefault := func(v, def string) string {
			if v == "" {
				return def
			}
			return v
		}
		set("locale", f.locale)
		set("numberingSystem", "latn")
		set("style", f.style)
		if f.currency != "" {
			set("currency", f.currency)
			set("currencyDisplay", orDefault(f.display, "symbol"))
			set("currencySign", orDefault(f.currencySign, "standard"))
		}
		set("minimumIntegerDigits", f.minInteger)
		if f.maxSig > 0 {
			set("minimumSignificantDigits", f.minSig)
			set("maximumSignificantDigits", f.maxSig)
		} else {
			set("minimumFractionDigits", f.minFrac)
			set("maximumFractionDigits", f.maxFrac)
		}
		if f.grouping == "false" {
			set("useGrouping", false)
		} else {
			set("useGrouping", f.grouping)
		}
		set("notation", "standard")
		set("signDisplay", orDefault(f.sign, "auto"))
		set("roundingMode", "halfExpand")
		set("roundingIncrement", 1)
		set("trailingZeroDisplay", "auto")
		set("roundingPriority", "auto")
		return out
	})
}

// longDecimal is a text with more digits than a double can be sure to hold.
var longDecimal = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)$`)

const maxDecimal = 1000 // characters of one that is kept exact

// numeric keeps a BigInt and the digits of a text exact and makes everything
// else a number (ToIntlMathematicalValue, ECMA-402 16.5.16).
func numeric(v goja.Value) goja.Value {
	if v.ExportType() == bigIntType {
		return v
	}
	n := v.ToNumber()
	if kind := v.ExportType(); kind == nil || kind.Kind() != reflect.String || n.ToFloat() == 0 || math.IsInf(n.ToFloat(), 0) {
		return n
	}
	if text := strings.TrimSpace(v.String()); len(text) > 15 && len(text) <= maxDecimal && longDecimal.MatchString(text) {
		return goja.StringFromUTF16(utf16.Encode([]rune(strings.TrimPrefix(text, "+"))))
	}
	return n
}

func (f *numberFormat) parts(v goja.Value) []part {
	text := v.String()
	negative := strings.HasPrefix(text, "-")
	if x, ok := v.Export().(float64); ok && x == 0 && math.Signbit(x) {
		negative = true
	}
	var digits []part
	zero := false
	switch text = strings.TrimPrefix(text, "-"); text {
	case "NaN":
		digits, zero = []part{{"nan", "NaN"}}, true
	case "Infinity":
		digits = []part{{"infinity", "∞"}}
	default:
		digits = f.digits(text)
		zero = !slices.ContainsFunc(digits, func(p part) bool {
			return (p.kind == "integer" || p.kind == "fraction") && strings.Trim(p.value, "0") != ""
		})
	}
	sign := ""
	switch {
	case f.sign == "never", zero && (f.sign == "exceptZero" || f.sign == "negative"):
	case negative:
		sign = "-"
	case f.sign == "always" || f.sign == "exceptZero":
		sign = "+"
	}
	shape := f.shape(sign)
	if digits[0].kind == "nan" || digits[0].kind == "infinity" {
		shape = strings.ReplaceAll(shape, "¤\u00a0#", "¤#") // letters stand apart from digits alone
	}
	var out []part
	for _, r := range shape {
		switch r {
		case '#':
			out = append(out, digits...)
		case '-':
			out = append(out, part{"minusSign", "-"})
		case '+':
			out = append(out, part{"plusSign", "+"})
		case '%':
			out = append(out, part{"percentSign", "%"})
		case '¤':
			out = append(out, part{"currency", f.symbol})
		default:
			out = append(out, part{"literal", string(r)})
		}
	}
	return out
}

// shape is the pattern around the digits for a sign.
func (f *numberFormat) shape(sign string) string {
	switch f.style {
	case "percent":
		if sign == "" {
			return strings.TrimPrefix(f.data.shapes["percent-"], "-")
		}
		return f.data.shapes["percent"+sign]
	case "currency":
		kind := "standard"
		if f.currencySign == "accounting" {
			kind = "accounting"
		}
		// A symbol that ends in a letter stands apart from the digits.
		if last, _ := utf8.DecodeLastRuneInString(f.symbol); !unicode.IsSymbol(last) {
			kind += "-letters"
		}
		return f.data.shapes[kind+sign]
	}
	return sign + "#"
}

// digits rounds the shortest decimal form half away from zero.
func (f *numberFormat) digits(text string) []part {
	d, ok := parseDecimal(text)
	if !ok {
		return []part{{"literal", text}}
	}
	if f.style == "percent" {
		d.scale -= 2
	}
	minFrac, maxFrac := f.minFrac, f.maxFrac
	if f.maxSig > 0 {
		for range 2 { // rounding 9.99 makes one digit more
			whole := len(d.unscaled.String()) - d.scale // digits before the point
			if d.unscaled.Sign() == 0 {
				whole = 1
			}
			minFrac, maxFrac = max(f.minSig-whole, 0), f.maxSig-whole
			if d.scale > maxFrac {
				d, _ = d.rescale(maxFrac, "HALF_UP")
			}
		}
		maxFrac = max(maxFrac, 0)
	}
	if d.scale > maxFrac {
		d, _ = d.rescale(maxFrac, "HALF_UP")
	}
	if d.scale < 0 {
		d, _ = d.rescale(0, "DOWN")
	}
	whole, frac, _ := strings.Cut(d.plain(), ".")
	frac = strings.TrimRight(frac, "0")
	if len(frac) < minFrac {
		frac += strings.Repeat("0", minFrac-len(frac))
	}
	if len(whole) < f.minInteger {
		whole = strings.Repeat("0", f.minInteger-len(whole)) + whole
	}
	var out []part
	if f.grouping != "false" && (f.grouping != "min2" || len(whole) > 4) {
		for i := 0; i < len(whole); {
			n := (len(whole) - i) % 3
			if n == 0 {
				n = 3
			}
			if i > 0 {
				out = append(out, part{"group", f.data.group})
			}
			out = append(out, part{"integer", whole[i : i+n]})
			i += n
		}
	} else {
		out = append(out, part{"integer", whole})
	}
	if frac != "" {
		out = append(out, part{"decimal", f.data.decimal}, part{"fraction", frac})
	}
	return out
}
