package js

import (
	"math"
	"reflect"
	"strings"
	"time"
	_ "time/tzdata" // zones must not depend on files of the host

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// The small part of ECMA-402 that tools use: DateTimeFormat and NumberFormat
// for the locales that have a table in intldata. Another locale, or an option that is not
// implemented, is a RangeError, never a different text. Without a timeZone
// everything is UTC.

func (s *session) intlObject() goja.Value {
	obj := s.vm.NewObject()
	build := map[string]func(obj *goja.Object, locales, options goja.Value){"DateTimeFormat": s.dateTimeFormat, "NumberFormat": s.numberFormat}
	for _, name := range script.IntlClasses {
		_ = obj.DefineDataProperty(name, s.intlClass(name, build[name]), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return obj
}

func (s *session) intlClass(name string, build func(obj *goja.Object, locales, options goja.Value)) *goja.Object {
	var c *goja.Object
	c = s.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		obj := call.This
		if call.NewTarget == nil { // called as a function, which makes an object all the same
			proto, _ := c.Get("prototype").(*goja.Object)
			obj = s.vm.CreateObject(proto)
		}
		build(obj, call.Argument(0), call.Argument(1))
		return obj
	}).(*goja.Object)
	_ = c.DefineDataProperty("name", s.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	s.hiddenMethod(c, "supportedLocalesOf", func(call goja.FunctionCall) goja.Value {
		out := []any{}
		for _, l := range s.localeList(call.Argument(0)) {
			if known := script.FormatLocale(l); known != "" {
				out = append(out, known)
			}
		}
		return s.vm.NewArray(out...)
	})
	return c
}

// baseLocale is the locale whose table a supported one uses.
func baseLocale(locale string) string {
	if _, own := dataOf[locale]; own {
		return locale
	}
	return locale[:2]
}

func (s *session) localeList(v goja.Value) []string {
	if goja.IsUndefined(v) {
		return nil
	}
	if obj, ok := v.(*goja.Object); ok && s.isArray(obj) {
		var out []string
		for i := int64(0); i < min(lengthOf(obj), 20); i++ {
			out = append(out, orUndefined(obj.Get(s.vm.ToValue(i).String())).String())
		}
		return out
	}
	return []string{v.String()}
}

// locale picks the first supported locale; none asked for is en-US.
func (s *session) locale(v goja.Value) string {
	list := s.localeList(v)
	if len(list) == 0 {
		return "en-US"
	}
	// The next one of the list would be a different text.
	if known := script.FormatLocale(list[0]); known != "" {
		return known
	}
	s.throwError("RangeError", script.FormatLocaleAdvice(list[0]))
	return ""
}

// option reads a string option and checks it against the allowed values.
func (s *session) option(opts goja.Value, known script.Options, name string) string {
	obj, ok := opts.(*goja.Object)
	if !ok {
		return ""
	}
	v := orUndefined(obj.Get(name))
	if goja.IsUndefined(v) {
		return ""
	}
	text := v.String()
	if problem := known.Refusal(name, text); problem != "" {
		s.throwError("RangeError", problem)
	}
	return text
}

// check reads options that change nothing: other values are refused.
func (s *session) check(opts goja.Value, known script.Options, names ...string) {
	for _, name := range names {
		s.option(opts, known, name)
	}
}

// number reads an integer option within bounds; absent is def.
func (s *session) number(opts goja.Value, name string, lo, hi, def int) int {
	obj, ok := opts.(*goja.Object)
	if !ok {
		return def
	}
	v := orUndefined(obj.Get(name))
	if goja.IsUndefined(v) {
		return def
	}
	x := v.ToFloat()
	if math.IsNaN(x) || x < float64(lo) || x > float64(hi) {
		s.throwError("RangeError", "the option "+name+" is out of range")
	}
	return int(math.Floor(x))
}

// zone finds a time zone by its IANA name or as an offset such as +09:00.
func (s *session) zone(name string) (*time.Location, string) {
	loc, known := s.findZone(name)
	if loc == nil {
		s.throwError("RangeError", "Invalid time zone specified: "+clip(name, 60))
	}
	return loc, known
}

// findZone is zone for callers that say by themselves what is wrong: nil for
// a name that is none.
func (s *session) findZone(name string) (*time.Location, string) {
	switch strings.ToUpper(name) {
	case "UTC", "Z":
		return time.UTC, "UTC"
	}
	if known := zoneTables().canonical[strings.ToLower(name)]; known == "UTC" {
		return time.UTC, known
	} else if known != "" {
		name = known
	}
	if loc, ok := s.rt.zones.Load(name); ok {
		return loc.(*time.Location), name
	}
	if len(name) == 6 && (name[0] == '+' || name[0] == '-') {
		if at, err := time.Parse("-07:00", name); err == nil {
			_, offset := at.Zone()
			return time.FixedZone(name, offset), name
		}
	}
	if zoneName(name) {
		if loc, err := time.LoadLocation(name); err == nil {
			s.rt.zones.Store(name, loc)
			return loc, name
		}
	}
	return nil, ""
}

func zoneName(name string) bool {
	if name == "" || len(name) > 64 || name == "Local" || !(name[0] >= 'A' && name[0] <= 'Z') {
		return false
	}
	for _, c := range []byte(name) {
		if !identByte(c) && c != '/' && c != '-' && c != '+' || c == '$' || c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// installLocale replaces the methods that the engine has without locales.
func (s *session) installLocale() {
	number := s.vm.GlobalObject().Get("Number").(*goja.Object).Get("prototype").(*goja.Object)
	s.hiddenMethod(number, "toLocaleString", func(call goja.FunctionCall) goja.Value {
		this := call.This
		if obj, ok := this.(*goja.Object); ok && obj.ClassName() == "Number" {
			this = obj.ToNumber()
		}
		if t := this.ExportType(); t != reflect.TypeFor[int64]() && t != reflect.TypeFor[float64]() {
			s.throwError("TypeError", "toLocaleString needs a number")
		}
		f := s.readNumberFormat(call.Argument(0), call.Argument(1))
		return s.vm.ToValue(joinParts(f.parts(this)))
	})
	bigint := s.vm.GlobalObject().Get("BigInt").(*goja.Object).Get("prototype").(*goja.Object)
	s.hiddenMethod(bigint, "toLocaleString", func(call goja.FunctionCall) goja.Value {
		if call.This.ExportType() != bigIntType {
			s.throwError("TypeError", "toLocaleString needs a BigInt")
		}
		return s.vm.ToValue(joinParts(s.readNumberFormat(call.Argument(0), call.Argument(1)).parts(call.This)))
	})
	s.installLocaleText()
	date := s.vm.GlobalObject().Get("Date").(*goja.Object).Get("prototype").(*goja.Object)
	for name, need := range map[string]string{"toLocaleString": "any", "toLocaleDateString": "date", "toLocaleTimeString": "time"} {
		s.hiddenMethod(date, name, func(call goja.FunctionCall) goja.Value {
			at, ok := s.instant(call.This)
			if obj, isObj := call.This.(*goja.Object); !isObj || obj.ClassName() != "Date" {
				s.throwError("TypeError", name+" needs a Date")
			}
			if !ok {
				return s.vm.ToValue("Invalid Date")
			}
			return s.vm.ToValue(s.readDateFormat(call.Argument(0), call.Argument(1), need).text(s, at))
		})
	}
}

// installLocaleText gives lists their locales.
func (s *session) installLocaleText() {
	array := s.vm.GlobalObject().Get("Array").(*goja.Object).Get("prototype").(*goja.Object)
	s.hiddenMethod(array, "toLocaleString", func(call goja.FunctionCall) goja.Value {
		obj := call.This.ToObject(s.vm)
		var b strings.Builder
		for i := range lengthOf(obj) {
			if i > 0 {
				b.WriteByte(',')
			}
			v := orUndefined(obj.Get(s.vm.ToValue(i).String()))
			if goja.IsUndefined(v) || goja.IsNull(v) {
				continue
			}
			fn, ok := s.callable(v.ToObject(s.vm).Get("toLocaleString"))
			if !ok {
				s.throwError("TypeError", "toLocaleString is not a function")
			}
			b.WriteString(fn(v, call.Argument(0), call.Argument(1)).String())
			if b.Len() > maxBulk {
				s.throwError("RangeError", "the text is too long")
			}
		}
		return s.vm.ToValue(b.String())
	})
}

// instant reads a Date or a number of milliseconds.
func (s *session) instant(v goja.Value) (time.Time, bool) {
	ms := v.ToFloat()
	if math.IsNaN(ms) || math.Abs(ms) > 8.64e15 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(ms)).UTC(), true
}

// A part is one member of formatToParts.
type part struct{ kind, value string }

func joinParts(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.value)
	}
	return b.String()
}

func (s *session) partsValue(parts []part) goja.Value {
	arr := s.vm.NewArray()
	for i, p := range parts {
		obj := s.vm.NewObject()
		_ = obj.Set("type", p.kind)
		_ = obj.Set("value", p.value)
		_ = arr.Set(s.vm.ToValue(i).String(), obj)
	}
	return arr
}
