package js

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// date is a day of the ISO calendar, of the years 0 to 9999, as midnight UTC.
type date struct{ at time.Time }

func (d date) String() string { return d.at.Format("2006-01-02") }

func dateOf(y, m, d int) date { return date{time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)} }

// addMonths moves by months; a day that the month lacks is its last one.
func (d date) addMonths(n int) date {
	y, m, day := d.at.Date()
	first := dateOf(y, int(m)+n, 1)
	return dateOf(first.at.Year(), int(first.at.Month()), min(day, daysIn(first)))
}

func daysIn(d date) int { return dateOf(d.at.Year(), int(d.at.Month())+1, 0).at.Day() }

func (s *session) javaLocalDate() *goja.Object {
	t := s.newHostType("java.time.LocalDate", nil)
	out := func(d date) any {
		if y := d.at.Year(); y < 0 || y > 9999 {
			s.bad("date-time", "the date is outside of the years 0 to 9999")
		}
		return t.instance(d)
	}
	t.static("of", func(args []goja.Value) any {
		y, m, day := argument(args, 0).ToInteger(), argument(args, 1).ToInteger(), argument(args, 2).ToInteger()
		if y < 0 || y > 9999 || m < 1 || m > 12 || day < 1 || day > int64(daysIn(dateOf(int(y), int(m), 1))) {
			s.bad("date-time", "there is no such date")
		}
		return out(dateOf(int(y), int(m), int(day)))
	})
	t.static("parse", func(args []goja.Value) any {
		text := argument(args, 0).String()
		at, err := time.Parse("2006-01-02", text)
		if err != nil || len(text) != 10 {
			s.bad("date-time-parse", "java.time.LocalDate cannot read "+strconv.Quote(clip(text, 80)))
		}
		return out(date{at})
	})
	t.static("now", func([]goja.Value) any {
		y, m, d := time.Now().UTC().Date()
		return out(dateOf(y, int(m), d))
	})
	t.static("ofEpochDay", func(args []goja.Value) any {
		n := argument(args, 0).ToInteger()
		if n > 1<<22 || n < -(1<<22) {
			s.bad("date-time", "the date is outside of the years 0 to 9999")
		}
		return out(date{time.Unix(n*86400, 0).UTC()})
	})
	method := func(name string, f func(d date, args []goja.Value) any) {
		instanceMethod(t, name, func(d date, _ *goja.Object, args []goja.Value) any { return f(d, args) })
	}
	for unit, add := range map[string]func(date, int) date{
		"Days": func(d date, n int) date { return date{d.at.AddDate(0, 0, n)} }, "Weeks": func(d date, n int) date { return date{d.at.AddDate(0, 0, 7*n)} },
		"Months": date.addMonths, "Years": func(d date, n int) date { return d.addMonths(12 * n) },
	} {
		for name, sign := range map[string]int{"plus": 1, "minus": -1} {
			method(name+unit, func(d date, args []goja.Value) any {
				n := argument(args, 0).ToInteger()
				if n > 1<<22 || n < -(1<<22) {
					s.bad("date-time", "the date is outside of the years 0 to 9999")
				}
				return out(add(d, sign*int(n)))
			})
		}
	}
	for name, f := range map[string]func(date) any{
		"getYear": func(d date) any { return d.at.Year() }, "getMonthValue": func(d date) any { return int(d.at.Month()) },
		"getDayOfMonth": func(d date) any { return d.at.Day() }, "getDayOfYear": func(d date) any { return d.at.YearDay() },
		"getDayOfWeek":  func(d date) any { return strings.ToUpper(d.at.Weekday().String()) },
		"getMonth":      func(d date) any { return strings.ToUpper(d.at.Month().String()) },
		"lengthOfMonth": func(d date) any { return daysIn(d) },
		"isLeapYear":    func(d date) any { return daysIn(dateOf(d.at.Year(), 2, 1)) == 29 },
		"toEpochDay":    func(d date) any { return d.at.Unix() / 86400 }, "toString": func(d date) any { return d.String() }, "toJSON": func(d date) any { return d.String() },
	} {
		method(name, func(d date, _ []goja.Value) any { return f(d) })
	}
	compare := func(name string, f func(a, b date) any) {
		method(name, func(d date, args []goja.Value) any {
			o, ok := s.reveal(argument(args, 0)).(date)
			if !ok {
				if name == "equals" {
					return false
				}
				s.bad("date-required", name+" needs another LocalDate")
			}
			return f(d, o)
		})
	}
	compare("isBefore", func(a, b date) any { return a.at.Before(b.at) })
	compare("isAfter", func(a, b date) any { return a.at.After(b.at) })
	compare("isEqual", func(a, b date) any { return a.at.Equal(b.at) })
	compare("equals", func(a, b date) any { return a.at.Equal(b.at) })
	compare("compareTo", func(a, b date) any { return a.at.Compare(b.at) })
	return t.ctor
}

func (s *session) javaDuration() *goja.Object {
	t := s.newHostType("java.time.Duration", nil)
	const most = int64(1<<63-1) / 2
	of := func(n int64, unit time.Duration) any {
		if limit := most / int64(unit); n > limit || n < -limit {
			s.bad("arithmetic", "the duration is longer than 146 years")
		}
		return t.instance(time.Duration(n) * unit)
	}
	units := map[string]time.Duration{"Nanos": 1, "Millis": time.Millisecond, "Seconds": time.Second, "Minutes": time.Minute, "Hours": time.Hour, "Days": 24 * time.Hour}
	method := func(name string, f func(d time.Duration, args []goja.Value) any) {
		instanceMethod(t, name, func(d time.Duration, _ *goja.Object, args []goja.Value) any { return f(d, args) })
	}
	for name, unit := range units {
		t.static("of"+name, func(args []goja.Value) any { return of(argument(args, 0).ToInteger(), unit) })
		method("to"+name, func(d time.Duration, _ []goja.Value) any {
			if unit == time.Second || unit < time.Second {
				return floorDiv(int64(d), int64(unit))
			}
			return floorDiv(int64(d), int64(time.Second)) / int64(unit/time.Second)
		})
	}
	t.static("between", func(args []goja.Value) any {
		a, ok1 := s.reveal(argument(args, 0)).(time.Time)
		b, ok2 := s.reveal(argument(args, 1)).(time.Time)
		if !ok1 || !ok2 {
			s.bad("instant-required", "between needs two Instants")
		}
		return of(int64(b.Sub(a)), 1)
	})
	other := func(args []goja.Value) time.Duration {
		d, ok := s.reveal(argument(args, 0)).(time.Duration)
		if !ok {
			s.bad("duration-required", "the argument must be a Duration")
		}
		return d
	}
	method("plus", func(d time.Duration, args []goja.Value) any { return of(int64(d+other(args)), 1) })
	method("minus", func(d time.Duration, args []goja.Value) any { return of(int64(d-other(args)), 1) })
	method("negated", func(d time.Duration, _ []goja.Value) any { return of(-int64(d), 1) })
	method("abs", func(d time.Duration, _ []goja.Value) any { return of(int64(d.Abs()), 1) })
	method("isZero", func(d time.Duration, _ []goja.Value) any { return d == 0 })
	method("isNegative", func(d time.Duration, _ []goja.Value) any { return d < 0 })
	method("getSeconds", func(d time.Duration, _ []goja.Value) any { return floorDiv(int64(d), int64(time.Second)) })
	method("compareTo", func(d time.Duration, args []goja.Value) any { return int(sign(float64(d) - float64(other(args)))) })
	method("equals", func(d time.Duration, args []goja.Value) any {
		o, ok := s.reveal(argument(args, 0)).(time.Duration)
		return ok && o == d
	})
	for _, name := range []string{"toString", "toJSON"} {
		method(name, func(d time.Duration, _ []goja.Value) any { return durationText(d) })
	}
	return t.ctor
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// durationText is the ISO form as Java prints it: hours, minutes and seconds,
// each with its sign.
func durationText(d time.Duration) string {
	if d == 0 {
		return "PT0S"
	}
	out := "PT"
	if h := d / time.Hour; h != 0 {
		out += strconv.FormatInt(int64(h), 10) + "H"
	}
	if m := d % time.Hour / time.Minute; m != 0 {
		out += strconv.FormatInt(int64(m), 10) + "M"
	}
	if sec := d % time.Minute; sec != 0 {
		text := strings.TrimRight(fmt.Sprintf("%d.%09d", sec.Abs()/time.Second, sec.Abs()%time.Second), "0")
		if sec < 0 {
			out += "-"
		}
		out += strings.TrimSuffix(text, ".") + "S"
	}
	return out
}

type digest struct {
	name string
	hash.Hash
}

func (s *session) javaMessageDigest() *goja.Object {
	t := s.newHostType("java.security.MessageDigest", nil)
	makers := map[string]func() hash.Hash{"MD5": md5.New, "SHA-1": sha1.New, "SHA-224": sha256.New224, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New}
	t.static("getInstance", func(args []goja.Value) any {
		name := strings.ToUpper(argument(args, 0).String())
		if makers[name] == nil {
			s.bad("no-such-algorithm", "java.security.MessageDigest has no "+strconv.Quote(clip(name, 80)))
		}
		return t.instance(&digest{name, makers[name]()})
	})
	input := func(v goja.Value) []byte {
		if text, ok := text(v); ok {
			return []byte(text)
		}
		b, ok := s.bytesOf(v)
		if !ok {
			s.bad("bytes-required", "MessageDigest needs bytes or a string")
		}
		return b
	}
	instanceMethod(t, "update", func(d *digest, this *goja.Object, args []goja.Value) any {
		_, _ = d.Write(input(argument(args, 0)))
		return goja.Undefined()
	})
	instanceMethod(t, "digest", func(d *digest, _ *goja.Object, args []goja.Value) any {
		if len(args) > 0 {
			_, _ = d.Write(input(args[0]))
		}
		sum := d.Sum(nil)
		d.Reset()
		return s.bytesValue(sum)
	})
	instanceMethod(t, "reset", func(d *digest, _ *goja.Object, _ []goja.Value) any { d.Reset(); return goja.Undefined() })
	instanceMethod(t, "getAlgorithm", func(d *digest, _ *goja.Object, _ []goja.Value) any { return d.name })
	instanceMethod(t, "getDigestLength", func(d *digest, _ *goja.Object, _ []goja.Value) any { return d.Size() })
	return t.ctor
}
