package js

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// A dateFormat is a resolved Intl.DateTimeFormat.
type dateFormat struct {
	locale, zoneName     string
	data                 *localeData
	zone                 *time.Location
	cycle                string // h11, h12, h23, h24
	dateStyle, timeStyle string
	zoneStyle            string
	asked                map[string]string // the options of single fields
	pattern              string
}

var (
	monthStyles = script.DateOptions["month"]
	numberStyle = script.DateOptions["day"]
	textStyles  = script.DateOptions["weekday"]
	wholeStyles = script.DateOptions["dateStyle"]
	hourCycles  = script.DateOptions["hourCycle"]
)

// digit is the position of v in list, counted from 1, as keys have it.
func digit(list []string, v string) string { return strconv.Itoa(slices.Index(list, v) + 1) }

// readDateFormat resolves locales and options. need says what a format
// without any field shows: "any" date and time, "date", "time", or "" for the
// date that the constructor defaults to.
func (s *session) readDateFormat(loc, opts goja.Value, need string) *dateFormat {
	f := &dateFormat{locale: s.locale(loc), zone: time.UTC, zoneName: "UTC", asked: map[string]string{}}
	f.data = dataOf[baseLocale(f.locale)]()
	if goja.IsNull(opts) {
		s.throwError("TypeError", "the options cannot be null")
	}
	if obj, ok := opts.(*goja.Object); ok {
		if v := orUndefined(obj.Get("timeZone")); !goja.IsUndefined(v) {
			f.zone, f.zoneName = s.zone(v.String())
		}
		s.check(opts, script.DateOptions, "era", "dayPeriod", "calendar", "numberingSystem", "localeMatcher", "formatMatcher")
	}
	a := f.asked
	a["weekday"] = s.option(opts, script.DateOptions, "weekday")
	a["year"] = s.option(opts, script.DateOptions, "year")
	a["month"] = s.option(opts, script.DateOptions, "month")
	a["day"] = s.option(opts, script.DateOptions, "day")
	a["hour"] = s.option(opts, script.DateOptions, "hour")
	a["minute"] = s.option(opts, script.DateOptions, "minute")
	a["second"] = s.option(opts, script.DateOptions, "second")
	fraction := s.number(opts, "fractionalSecondDigits", 1, 3, 0)
	f.zoneStyle = s.option(opts, script.DateOptions, "timeZoneName")
	f.dateStyle = s.option(opts, script.DateOptions, "dateStyle")
	f.timeStyle = s.option(opts, script.DateOptions, "timeStyle")
	asked := s.option(opts, script.DateOptions, "hourCycle")
	if obj, ok := opts.(*goja.Object); ok {
		if v := orUndefined(obj.Get("hour12")); !goja.IsUndefined(v) {
			// As the standard has had it since 2023: never 24, and 0 in the
			// twelve hours of Japan alone.
			switch {
			case !v.ToBoolean():
				asked = "h23"
			case baseLocale(f.locale) == "ja":
				asked = "h11"
			default:
				asked = "h12"
			}
		}
	}
	f.cycle = asked
	if f.cycle == "" {
		f.cycle = f.data.cycle
	}
	hasDate := a["weekday"]+a["year"]+a["month"]+a["day"] != ""
	hasTime := a["hour"]+a["minute"]+a["second"] != "" || fraction > 0
	if f.dateStyle+f.timeStyle != "" {
		if hasDate || hasTime || f.zoneStyle != "" {
			s.throwError("TypeError", "dateStyle and timeStyle cannot be mixed with single fields")
		}
		if need == "date" && f.timeStyle != "" || need == "time" && f.dateStyle != "" {
			s.throwError("TypeError", "this method does not take that style")
		}
		key := "S" + digit(wholeStyles, f.dateStyle) + digit(wholeStyles, f.timeStyle)
		if f.timeStyle == "" {
			key += "0"
		} else {
			key += digit(hourCycles, asked)
		}
		f.find(s, key)
		f.zoneStyle = map[string]string{"full": "long", "long": "short"}[f.timeStyle]
		return f
	}
	if (need == "" || need == "any") && !hasDate && !hasTime || need == "date" && !hasDate {
		a["year"], a["month"], a["day"] = "numeric", "numeric", "numeric"
		hasDate = true
		if need == "any" {
			a["hour"], a["minute"], a["second"] = "numeric", "numeric", "numeric"
			hasTime = true
		}
	}
	if need == "time" && !hasTime {
		a["hour"], a["minute"], a["second"] = "numeric", "numeric", "numeric"
		hasTime = true
	}
	f.fields(s, hasDate, hasTime, fraction)
	return f
}

// fields finds the pattern of single fields: of the whole where the locale
// has one, else of the date and of the time, joined.
func (f *dateFormat) fields(s *session, hasDate, hasTime bool, fraction int) {
	a := f.asked
	date := digit(textStyles, a["weekday"]) + digit(numberStyle, a["year"]) + digit(monthStyles, a["month"]) + digit(numberStyle, a["day"])
	clock := digit(numberStyle, a["hour"]) + digit(numberStyle, a["minute"]) + digit(numberStyle, a["second"]) + strconv.Itoa(fraction)
	if a["hour"] != "" {
		clock += digit(hourCycles, f.cycle)
	} else {
		clock += "0"
	}
	d, t, b := "D", "T", "B"
	if f.zoneStyle != "" {
		d, t, b = "d", "t", "b"
	}
	switch {
	case !hasTime:
		f.find(s, d+date)
	case !hasDate:
		f.find(s, t+clock)
	default:
		if f.pattern = f.known(b + date + clock); f.pattern != "" {
			return
		}
		f.find(s, t+clock)
		tail := f.pattern
		f.find(s, "G"+date)
		glue := strings.ReplaceAll(f.pattern, "{}", "")
		f.find(s, "D"+date)
		f.pattern += glue + tail
	}
}

func (f *dateFormat) find(s *session, key string) {
	if f.pattern = f.known(key); f.pattern == "" {
		s.throwError("RangeError", "that combination of date and time options is not supported")
	}
}

// zoneKinds end the keys of patterns that are for one kind of name of the zone.
var zoneKinds = map[string]string{"long": "l", "shortOffset": "o", "longOffset": "O"}

// known is the pattern behind a key, one for the kind of name first, or nothing.
func (f *dateFormat) known(key string) string {
	if kind := zoneKinds[f.zoneStyle]; kind != "" && f.dateStyle+f.timeStyle == "" {
		if p, ok := f.data.patterns[key+kind]; ok {
			return p
		}
	}
	return f.data.patterns[key]
}

func (s *session) dateTimeFormat(obj *goja.Object, loc, opts goja.Value) {
	f := s.readDateFormat(loc, opts, "")
	at := func(call goja.FunctionCall) time.Time {
		if goja.IsUndefined(call.Argument(0)) {
			return time.Now()
		}
		t, ok := s.instant(call.Argument(0))
		if !ok {
			s.throwError("RangeError", "Invalid time value")
		}
		return t
	}
	s.hiddenMethod(obj, "format", func(call goja.FunctionCall) goja.Value {
		return s.vm.ToValue(f.text(s, at(call)))
	})
	s.hiddenMethod(obj, "formatToParts", func(call goja.FunctionCall) goja.Value {
		return s.partsValue(f.parts(s, at(call)))
	})
	s.hiddenMethod(obj, "resolvedOptions", func(goja.FunctionCall) goja.Value { return f.resolved(s) })
}

// resolved lists the options as the pattern shows them.
func (f *dateFormat) resolved(s *session) goja.Value {
	out := s.vm.NewObject()
	set := func(name string, v any) { _ = out.Set(name, v) }
	set("locale", f.locale)
	set("calendar", "gregory")
	set("numberingSystem", "latn")
	set("timeZone", f.zoneName)
	if strings.Contains(f.pattern, "{h") {
		set("hourCycle", f.cycle)
		set("hour12", f.cycle == "h11" || f.cycle == "h12")
	}
	if f.dateStyle+f.timeStyle != "" {
		for _, p := range [][2]string{{"dateStyle", f.dateStyle}, {"timeStyle", f.timeStyle}} {
			if p[1] != "" {
				set(p[0], p[1])
			}
		}
		return out
	}
	for _, p := range [][2]string{{"weekday", "E"}, {"year", "y"}, {"month", "M"}, {"day", "d"}, {"hour", "h"}, {"minute", "m"}, {"second", "s"}} {
		switch {
		case f.asked[p[0]] == "" && !strings.Contains(f.pattern, "{"+p[1]):
		case strings.Contains(f.pattern, "{"+p[1]+p[1]+"}"):
			set(p[0], "2-digit")
		case strings.Contains(f.pattern, "{"+p[1]+"}"):
			set(p[0], "numeric")
		default:
			set(p[0], f.asked[p[0]])
		}
	}
	if i := strings.Index(f.pattern, "{S"); i >= 0 {
		set("fractionalSecondDigits", int(f.pattern[i+2]-'0'))
	}
	if f.zoneStyle != "" {
		set("timeZoneName", f.zoneStyle)
	}
	return out
}

// text is the format as one text, which has a plain space where the parts have
// a narrow one, as every engine does it.
func (f *dateFormat) text(s *session, at time.Time) string {
	return strings.ReplaceAll(joinParts(f.parts(s, at)), "\u202f", " ")
}

// parts formats one instant.
func (f *dateFormat) parts(s *session, at time.Time) (out []part) {
	at = at.In(f.zone)
	for rest := f.pattern; rest != ""; {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			return append(out, part{"literal", rest})
		}
		if open > 0 {
			out = append(out, part{"literal", rest[:open]})
		}
		end := strings.IndexByte(rest, '}')
		out = append(out, f.field(s, rest[open+1:end], at))
		rest = rest[end+1:]
	}
	return out
}

func (f *dateFormat) field(s *session, field string, at time.Time) part {
	number := func(kind string, n int) part {
		if len(field) == 2 {
			return part{kind, fmt.Sprintf("%02d", n)}
		}
		return part{kind, strconv.Itoa(n)}
	}
	list := func(i int) string {
		n, _ := strconv.Atoi(field[1:])
		return f.data.lists[n][i]
	}
	switch field[0] {
	case 'y':
		year := at.Year()
		if year <= 0 {
			year = 1 - year // of its era
		}
		if field == "yy" {
			year %= 100
		}
		return number("year", year)
	case 'M':
		if len(field) > 1 && field[1] != 'M' {
			return part{"month", list(int(at.Month()) - 1)}
		}
		return number("month", int(at.Month()))
	case 'E':
		return part{"weekday", list(int(at.Weekday()))}
	case 'a':
		return part{"dayPeriod", list(at.Hour() / 12)}
	case 'd':
		return number("day", at.Day())
	case 'h':
		return number("hour", hourIn(f.cycle, at.Hour()))
	case 'm':
		return number("minute", at.Minute())
	case 's':
		return number("second", at.Second())
	case 'S':
		return part{"fractionalSecond", fmt.Sprintf("%03d", at.Nanosecond()/1e6)[:field[1]-'0']}
	}
	return part{"timeZoneName", f.zoneText(s, at)}
}

func hourIn(cycle string, h int) int {
	switch {
	case cycle == "h11":
		return h % 12
	case cycle == "h12":
		return (h+11)%12 + 1
	case cycle == "h24" && h == 0:
		return 24
	}
	return h
}

// zoneText names the zone at one time.
func (f *dateFormat) zoneText(s *session, at time.Time) string {
	_, offset := at.Zone()
	long := f.zoneStyle == "long" || f.zoneStyle == "longOffset"
	if f.zoneStyle == "short" || f.zoneStyle == "long" {
		if f.zoneName == "UTC" {
			if !long {
				return "UTC"
			}
			return map[string]string{"de": "Koordinierte Weltzeit", "fr": "temps universel coordonné", "ko": "협정 세계시", "ja": "協定世界時"}[baseLocale(f.locale)] +
				map[bool]string{true: "Coordinated Universal Time"}[strings.HasPrefix(f.locale, "en")]
		}
		if f.zoneName[0] != '+' && f.zoneName[0] != '-' {
			name := "=" // the tables end with the year 9999, and begin with 1970
			if at.Unix() < 0 {
				name = ""
			} else if at.Year() <= 9999 {
				name = zoneTables().name(f.zoneName, at.Unix(), offset, f.data.position, long)
			}
			switch name {
			case "=":
			case "":
				s.throwError("RangeError", "the name of the time zone "+f.zoneName+" at that time is not known; use shortOffset")
			default:
				return name
			}
		}
	}
	zero := "GMT"
	if baseLocale(f.locale) == "fr" {
		zero = "UTC"
	}
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	if zero == "UTC" && sign == "-" {
		sign = "\u2212"
	}
	h, m, sec := offset/3600, offset/60%60, offset%60
	text := zero + sign
	if long {
		text += fmt.Sprintf("%02d:%02d", h, m)
	} else {
		text += strconv.Itoa(h)
		if m != 0 || sec != 0 {
			text += fmt.Sprintf(":%02d", m)
		}
	}
	if sec != 0 {
		text += fmt.Sprintf(":%02d", sec)
	}
	return text
}
