package js

import (
	"math"
	"strings"

	"github.com/dop251/goja"
)

// A numberFormat is a resolved Intl.NumberFormat. The three locales group and
// point alike.
type numberFormat struct {
	locale, style, currency, symbol string
	minInteger, minFrac, maxFrac    int
	grouping                        bool
}

var currencySymbols = map[string]string{"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "KRW": "₩", "INR": "₹",
	"CNY": "CN¥", "BRL": "R$", "MXN": "MX$", "CAD": "CA$", "AUD": "A$", "NZD": "NZ$", "ILS": "₪", "VND": "₫", "TWD": "NT$", "HKD": "HK$"}

func (s *session) readNumberFormat(loc, opts goja.Value) *numberFormat {
	f := &numberFormat{locale: s.locale(loc), style: s.option(opts, "style", "decimal", "percent", "currency"), grouping: true}
	s.unsupported(opts, "minimumSignificantDigits", "maximumSignificantDigits", "unit", "roundingMode", "roundingIncrement", "trailingZeroDisplay")
	s.option(opts, "notation", "standard")
	s.option(opts, "signDisplay", "auto")
	s.option(opts, "currencyDisplay", "symbol")
	s.option(opts, "currencySign", "standard")
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
		f.symbol = f.currencySymbol()
		defMin, defMax = 2, 2
		switch f.currency {
		case "JPY", "KRW", "VND", "CLP", "ISK":
			defMin, defMax = 0, 0
		}
	}
	f.minInteger = s.number(opts, "minimumIntegerDigits", 1, 21, 1)
	f.minFrac = s.number(opts, "minimumFractionDigits", 0, 100, -1)
	f.maxFrac = s.number(opts, "maximumFractionDigits", 0, 100, -1)
	switch {
	case f.minFrac < 0 && f.maxFrac < 0:
		f.minFrac, f.maxFrac = defMin, defMax
	case f.minFrac < 0:
		f.minFrac = min(defMin, f.maxFrac)
	case f.maxFrac < 0:
		f.maxFrac = max(defMax, f.minFrac)
	case f.minFrac > f.maxFrac:
		s.throwError("RangeError", "minimumFractionDigits is larger than maximumFractionDigits")
	}
	if obj, ok := opts.(*goja.Object); ok {
		if v := orUndefined(obj.Get("useGrouping")); !goja.IsUndefined(v) {
			f.grouping = v.ToBoolean() && v.String() != "false"
		}
	}
	return f
}

func (f *numberFormat) currencySymbol() string {
	home := map[string]string{"en-US": "USD", "en": "USD", "en-CA": "CAD", "en-GB": "GBP"}
	if f.currency == home[f.locale] && f.currency != "GBP" {
		return "$"
	}
	if f.currency == "USD" && f.locale != "en-US" && f.locale != "en" {
		return "US$"
	}
	if sym := currencySymbols[f.currency]; sym != "" {
		return sym
	}
	return f.currency + "\u00a0"
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
		_ = out.Set("locale", f.locale)
		_ = out.Set("numberingSystem", "latn")
		_ = out.Set("style", f.style)
		if f.currency != "" {
			_ = out.Set("currency", f.currency)
		}
		_ = out.Set("minimumIntegerDigits", f.minInteger)
		_ = out.Set("minimumFractionDigits", f.minFrac)
		_ = out.Set("maximumFractionDigits", f.maxFrac)
		_ = out.Set("useGrouping", f.grouping)
		return out
	})
}

// numeric keeps a BigInt exact and makes everything else a number.
func numeric(v goja.Value) goja.Value {
	if v.ExportType() == bigIntType {
		return v
	}
	return v.ToNumber()
}

func (f *numberFormat) parts(v goja.Value) []part {
	text := v.String()
	negative := strings.HasPrefix(text, "-")
	if x, ok := v.Export().(float64); ok && x == 0 && math.Signbit(x) {
		negative = true
	}
	var out []part
	if negative {
		out = append(out, part{"minusSign", "-"})
	}
	if f.symbol != "" {
		out = append(out, part{"currency", f.symbol})
	}
	text = strings.TrimPrefix(text, "-")
	switch text {
	case "NaN":
		return append(out, part{"nan", "NaN"})
	case "Infinity":
		out = append(out, part{"infinity", "∞"})
	default:
		out = append(out, f.digits(text)...)
	}
	if f.style == "percent" {
		out = append(out, part{"percentSign", "%"})
	}
	return out
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
	if d.scale > f.maxFrac {
		d, _ = d.rescale(f.maxFrac, "HALF_UP")
	}
	if d.scale < 0 {
		d, _ = d.rescale(0, "DOWN")
	}
	whole, frac, _ := strings.Cut(d.plain(), ".")
	frac = strings.TrimRight(frac, "0")
	if len(frac) < f.minFrac {
		frac += strings.Repeat("0", f.minFrac-len(frac))
	}
	if len(whole) < f.minInteger {
		whole = strings.Repeat("0", f.minInteger-len(whole)) + whole
	}
	var out []part
	if f.grouping {
		for i := 0; i < len(whole); {
			n := (len(whole) - i) % 3
			if n == 0 {
				n = 3
			}
			if i > 0 {
				out = append(out, part{"group", ","})
			}
			out = append(out, part{"integer", whole[i : i+n]})
			i += n
		}
	} else {
		out = append(out, part{"integer", whole})
	}
	if frac != "" {
		out = append(out, part{"decimal", "."}, part{"fraction", frac})
	}
	return out
}
