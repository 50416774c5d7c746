package js

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/dop251/goja"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/toolwarrant/toolwarrant/executor/js/nearest"
)

// Where the engine gives a wrong answer without a word, the right one is put
// in its place, in programs that name what is concerned.

var (
	libNumber  = library("number.js")
	libDate    = library("date.js")
	libOldDate = library("olddate.js")
)

// corrections changes methods of the engine.
func (s *session) corrections() {
	n := &s.prog.needs
	if n.bigints {
		s.load(libNumber(), s.vm.GlobalObject())
		s.installWidths()
	}
	if n.dates {
		s.installISODate()
	}
	if n.oldDates {
		s.load(libOldDate(), s.member(s.ctor("Date"), "prototype"))
	}
	if n.dates && (n.readsDates || n.global) {
		s.load(libDate(), s.vm.GlobalObject(), s.function("read", func(call goja.FunctionCall) goja.Value {
			if ms, ok := parseDate(call.Argument(0).String(), time.Local); ok {
				return s.vm.ToValue(ms)
			}
			return s.vm.ToValue(math.NaN())
		}))
	}
	if n.powers {
		math := s.member(s.vm.GlobalObject(), "Math")
		fn := s.function("pow", func(call goja.FunctionCall) goja.Value {
			x, y := call.Argument(0).ToNumber(), call.Argument(1).ToNumber()
			return s.vm.ToValue(nearest.Pow(x.ToFloat(), y.ToFloat()))
		})
		_ = fn.DefineDataProperty("length", s.vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		_ = math.DefineDataProperty("pow", fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	if len(n.math) > 0 {
		s.installMath()
	}
	if n.radix {
		s.installRadix()
	}
	if n.digits {
		s.installDigits()
	}
	if n.matches {
		s.installMatchOrder()
	}
	if n.indents {
		s.installStringify()
	}
	if n.milliseconds {
		s.installMilliseconds()
	}
	if n.parseInt {
		s.installParseInt()
	}
	if n.narrow {
		s.installTypedSearch()
	}
	s.installWords()
	if n.integers {
		s.installIntegers()
	}
	if n.views {
		s.installViews()
	}
	if n.casing {
		s.installCasing()
	}
	if n.names("GoError") { // a class of the engine, which the language has not
		_ = s.vm.GlobalObject().Delete("GoError")
	}
}

// maxWidth is the largest number of bits that is left to the engine, which
// makes a number of that size first.
const maxWidth = 1 << 16

// installWidths makes BigInt.asIntN and asUintN cheap for widths that their
// value does not fill, and refuses those whose answer would be too large.
func (s *session) installWidths() {
	class := s.ctor("BigInt")
	for _, name := range []string{"asIntN", "asUintN"} {
		s.guard(class, name, func(call goja.FunctionCall) []goja.Value {
			bits := call.Argument(0).ToFloat()
			v, ok := call.Argument(1).Export().(*big.Int)
			if !ok || !(bits > maxWidth) {
				return call.Arguments
			}
			if name == "asUintN" && v.Sign() < 0 || float64(v.BitLen()) >= bits {
				s.throwError("RangeError", name+": the number would be too large")
			}
			return []goja.Value{s.vm.ToValue(v.BitLen() + 1), call.Argument(1)}
		})
	}
}

// installISODate writes years of more than four digits with a sign and six
// digits (ECMA-262 21.4.1.32).
func (s *session) installISODate() {
	date := s.member(s.ctor("Date"), "prototype")
	native, _ := s.callable(date.Get("toISOString"))
	s.hiddenMethod(date, "toISOString", func(call goja.FunctionCall) goja.Value {
		text := native(call.This).String()
		t, ok := call.This.Export().(time.Time)
		if y := t.UTC().Year(); ok && (y < 0 || y > 9999) {
			sign := '+'
			if y < 0 {
				sign, y = '-', -y
			}
			return s.vm.ToValue(fmt.Sprintf("%c%06d%s", sign, y, t.UTC().Format("-01-02T15:04:05.000Z")))
		}
		return s.vm.ToValue(text)
	})
}

// installCasing gives the changes of case their locales. Turkish, Azeri and
// Lithuanian are the ones that have rules of their own.
func (s *session) installCasing() {
	proto := s.vm.ToValue("").ToObject(s.vm).Prototype()
	for name, caser := range map[string]func(language.Tag, ...cases.Option) cases.Caser{"Lower": cases.Lower, "Upper": cases.Upper} {
		native, _ := s.callable(proto.Get("to" + name + "Case"))
		s.hiddenMethod(proto, "toLocale"+name+"Case", func(call goja.FunctionCall) goja.Value {
			list := s.localeList(call.Argument(0))
			if len(list) == 0 {
				return native(call.This)
			}
			tag, err := language.Parse(list[0])
			if err != nil || strings.Contains(list[0], "_") {
				s.throwError("RangeError", "Incorrect locale information provided")
			}
			switch base, _ := tag.Base(); base.String() {
			case "tr", "az", "lt":
				native(call.This) // the receiver is checked there
				text := call.This.String()
				if len(text) > maxBulk/16 {
					s.throwError("RangeError", "toLocale"+name+"Case: the text is too long")
				}
				return s.vm.ToValue(caser(language.Make(base.String())).String(text))
			}
			return native(call.This)
		})
	}
}
