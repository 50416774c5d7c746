package js

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// A dateFormat is a resolved Intl.DateTimeFormat. An empty field is not shown.
type dateFormat struct {
	locale, zoneName                                                      string
	zone                                                                  *time.Location
	weekday, year, month, day, hour, minute, second, dateStyle, timeStyle string
	fraction                                                              int
	cycle                                                                 string // h11, h12, h23, h24
	zoneStyle                                                             string
}

// readDateFormat resolves locales and options. need says what a format
// without any field shows: "any" date and time, "date", "time", or "" for the
// date that the constructor defaults to.
func (s *session) readDateFormat(loc, opts goja.Value, need string) *dateFormat {
	f := &dateFormat{locale: s.locale(loc), zone: time.UTC, zoneName: "UTC"}
	if goja.IsNull(opts) {
		s.throwError("TypeError", "the options cannot be null")
	}
	if obj, ok := opts.(*goja.Object); ok {
		if v := orUndefined(obj.Get("timeZone")); !goja.IsUndefined(v) {
			f.zone, f.zoneName = s.zone(v.String())
		}
		s.unsupported(opts, "era", "dayPeriod")
		s.option(opts, "calendar", "gregory", "iso8601")
		s.option(opts, "numberingSystem", "latn")
	}
	f.weekday = s.option(opts, "weekday", "short", "long", "narrow")
	f.year = s.option(opts, "year", "numeric", "2-digit")
	f.month = s.option(opts, "month", "numeric", "2-digit", "short", "long", "narrow")
	f.day = s.option(opts, "day", "numeric", "2-digit")
	f.hour = s.option(opts, "hour", "numeric", "2-digit")
	f.minute = s.option(opts, "minute", "numeric", "2-digit")
	f.second = s.option(opts, "second", "numeric", "2-digit")
	f.fraction = s.number(opts, "fractionalSecondDigits", 1, 3, 0)
	f.zoneStyle = s.option(opts, "timeZoneName", "short", "shortOffset", "longOffset")
	f.dateStyle = s.option(opts, "dateStyle", "full", "long", "medium", "short")
	f.timeStyle = s.option(opts, "timeStyle", "long", "medium", "short")
	f.cycle = s.option(opts, "hourCycle", "h11", "h12", "h23", "h24")
	if obj, ok := opts.(*goja.Object); ok {
		if v := orUndefined(obj.Get("hour12")); !goja.IsUndefined(v) {
			f.cycle = "h23"
			if v.ToBoolean() {
				f.cycle = "h12"
			}
		}
	}
	if f.cycle == "" {
		f.cycle = "h12"
		if f.locale == "en-GB" {
			f.cycle = "h23"
		}
	}
	hasDate := f.weekday+f.year+f.month+f.day != ""
	hasTime := f.hour+f.minute+f.second != "" || f.fraction > 0
	if f.dateStyle+f.timeStyle != "" {
		if hasDate || hasTime || f.zoneStyle != "" {
			s.throwError("TypeError", "dateStyle and timeStyle cannot be mixed with single fields")
		}
		f.styles(s, need)
		return f
	}
	if (need == "" || need == "any") && !hasDate && !hasTime || need == "date" && !hasDate {
		f.year, f.month, f.day = "numeric", "numeric", "numeric"
	}
	if need == "any" && !hasDate && !hasTime || need == "time" && !hasTime {
		f.hour, f.minute, f.second = "numeric", "2-digit", "2-digit"
	}
	return f
}

func (f *dateFormat) styles(s *session, need string) {
	if need == "date" && f.timeStyle != "" || need == "time" && f.dateStyle != "" {
		s.throwError("TypeError", "this method does not take that style")
	}
	switch f.dateStyle {
	case "full":
		f.weekday, f.year, f.month, f.day = "long", "numeric", "long", "numeric"
	case "long":
		f.year, f.month, f.day = "numeric", "long", "numeric"
	case "medium":
		f.year, f.month, f.day = "numeric", "short", "numeric"
	case "short":
		f.year, f.month, f.day = "numeric", "numeric", "numeric"
		if f.locale == "en-US" || f.locale == "en" {
			f.year = "2-digit"
		}
	}
	switch f.timeStyle {
	case "short":
		f.hour, f.minute = "numeric", "2-digit"
	case "medium":
		f.hour, f.minute, f.second = "numeric", "2-digit", "2-digit"
	case "long":
		f.hour, f.minute, f.second, f.zoneStyle = "numeric", "2-digit", "2-digit", "short"
	}
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
		return s.vm.ToValue(joinParts(f.parts(at(call))))
	})
	s.hiddenMethod(obj, "formatToParts", func(call goja.FunctionCall) goja.Value {
		return s.partsValue(f.parts(at(call)))
	})
	s.hiddenMethod(obj, "resolvedOptions", func(goja.FunctionCall) goja.Value {
		out := s.vm.NewObject()
		set := func(name, v string) {
			if v != "" {
				_ = out.Set(name, v)
			}
		}
		set("locale", f.locale)
		set("calendar", "gregory")
		set("numberingSystem", "latn")
		set("timeZone", f.zoneName)
		if f.hour != "" {
			set("hourCycle", f.cycle)
			_ = out.Set("hour12", f.cycle == "h11" || f.cycle == "h12")
		}
		if f.dateStyle+f.timeStyle != "" {
			set("dateStyle", f.dateStyle)
			set("timeStyle", f.timeStyle)
			return out
		}
		for _, p := range [][2]string{{"weekday", f.weekday}, {"year", f.year}, {"month", f.month}, {"day", f.day},
			{"hour", f.hour}, {"minute", f.minute}, {"second", f.second}, {"timeZoneName", f.zoneStyle}} {
			set(p[0], p[1])
		}
		if f.fraction > 0 {
			_ = out.Set("fractionalSecondDigits", f.fraction)
		}
		return out
	})
}

// parts formats one instant.
func (f *dateFormat) parts(at time.Time) []part {
	at = at.In(f.zone)
	date, clock := f.datePart(at), f.timePart(at)
	out := date
	if len(date) > 0 && len(clock) > 0 {
		glue := ", "
		switch {
		case f.month == "long" && f.day != "":
			glue = " at "
		case f.weekday != "" && f.year+f.month+f.day == "" && f.locale != "en-GB":
			glue = " "
		}
		out = append(out, part{"literal", glue})
	}
	out = append(out, clock...)
	if f.zoneStyle != "" {
		switch {
		case len(clock) > 0:
			out = append(out, part{"literal", " "})
		case len(date) > 0:
			out = append(out, part{"literal", ", "})
		}
		out = append(out, part{"timeZoneName", f.offset(at)})
	}
	return out
}

func pad(n int) string { return fmt.Sprintf("%02d", n) }

func name(text, style string) string {
	switch style {
	case "short":
		return text[:3]
	case "narrow":
		return text[:1]
	}
	return text
}

func (f *dateFormat) datePart(at time.Time) []part {
	fields := 0
	for _, v := range []string{f.year, f.month, f.day} {
		if v != "" {
			fields++
		}
	}
	padded := f.locale != "en-US" && f.locale != "en" && fields > 1
	textual := f.month == "short" || f.month == "long" || f.month == "narrow"
	num := func(n int, style string) string {
		if style == "2-digit" || padded && !textual {
			return pad(n)
		}
		return strconv.Itoa(n)
	}
	var day, month, year []part
	if f.day != "" {
		day = []part{{"day", num(at.Day(), f.day)}}
	}
	if f.month != "" {
		text := num(int(at.Month()), f.month)
		if textual {
			text = name(at.Month().String(), f.month)
		}
		month = []part{{"month", text}}
	}
	if f.year != "" {
		text := strconv.Itoa(at.Year())
		if f.year == "2-digit" {
			text = pad(((at.Year() % 100) + 100) % 100)
		}
		year = []part{{"year", text}}
	}
	var out []part
	add := func(p []part, sep string) {
		if len(p) == 0 {
			return
		}
		if len(out) > 0 {
			out = append(out, part{"literal", sep})
		}
		out = append(out, p...)
	}
	switch {
	case f.locale == "en-GB" && textual:
		add(day, "")
		add(month, " ")
		add(year, " ")
	case f.locale == "en-GB":
		add(day, "")
		add(month, "/")
		add(year, "/")
	case textual:
		add(month, "")
		add(day, " ")
		if f.day != "" {
			add(year, ", ")
		} else {
			add(year, " ")
		}
	case f.locale == "en-CA":
		add(year, "")
		add(month, "-")
		add(day, "-")
	default:
		add(month, "")
		add(day, "/")
		add(year, "/")
	}
	if f.weekday == "" {
		return out
	}
	w := part{"weekday", name(at.Weekday().String(), f.weekday)}
	switch {
	case len(out) == 0:
		return []part{w}
	case fields == 1 && f.day != "" && f.locale != "en-GB" && f.locale != "en-CA":
		return append(out, part{"literal", " "}, w)
	case fields == 1 && f.day != "" || f.locale == "en-GB" && textual && f.year == "":
		return append([]part{w, {"literal", " "}}, out...)
	}
	return append([]part{w, {"literal", ", "}}, out...)
}

func (f *dateFormat) timePart(at time.Time) []part {
	var out []part
	sep := func(text string) {
		if len(out) > 0 {
			out = append(out, part{"literal", text})
		}
	}
	twelve := f.cycle == "h11" || f.cycle == "h12"
	if f.hour != "" {
		h := at.Hour()
		switch f.cycle {
		case "h11":
			h %= 12
		case "h12":
			h = (h+11)%12 + 1
		case "h24":
			h = (h+23)%24 + 1
		}
		text := strconv.Itoa(h)
		if f.hour == "2-digit" || !twelve {
			text = pad(h)
		}
		out = append(out, part{"hour", text})
	}
	if f.minute != "" {
		text := strconv.Itoa(at.Minute())
		if f.hour != "" || f.second != "" {
			text = pad(at.Minute())
		}
		sep(":")
		out = append(out, part{"minute", text})
	}
	if f.second != "" {
		text := strconv.Itoa(at.Second())
		if f.minute != "" || f.hour != "" {
			text = pad(at.Second())
		}
		sep(":")
		out = append(out, part{"second", text})
	}
	if f.fraction > 0 {
		sep(".")
		out = append(out, part{"fractionalSecond", fmt.Sprintf("%03d", at.Nanosecond()/1e6)[:f.fraction]})
	}
	if f.hour != "" && twelve {
		half := "AM"
		if at.Hour() >= 12 {
			half = "PM"
		}
		switch f.locale {
		case "en-CA":
			half = strings.ToLower(half[:1]) + ".m."
		case "en-GB":
			half = strings.ToLower(half)
		}
		out = append(out, part{"literal", " "}, part{"dayPeriod", half})
	}
	return out
}

// northAmerican are the abbreviations that these locales know; elsewhere an
// offset is shown.
var northAmerican = map[string]bool{"EST": true, "EDT": true, "CST": true, "CDT": true, "MST": true, "MDT": true,
	"PST": true, "PDT": true, "AKST": true, "AKDT": true, "HST": true}

func (f *dateFormat) offset(at time.Time) string {
	abbreviation, seconds := at.Zone()
	if f.zoneStyle == "short" {
		if f.zoneName == "UTC" {
			return "UTC"
		}
		american := strings.HasPrefix(f.zoneName, "America/") || strings.HasPrefix(f.zoneName, "US/") || f.zoneName == "Pacific/Honolulu"
		if american && northAmerican[abbreviation] && f.locale != "en-GB" {
			return abbreviation
		}
	}
	signText := "+"
	if seconds < 0 {
		signText, seconds = "-", -seconds
	}
	h, m := seconds/3600, seconds/60%60
	switch {
	case f.zoneStyle == "longOffset":
		return fmt.Sprintf("GMT%s%02d:%02d", signText, h, m)
	case m != 0:
		return fmt.Sprintf("GMT%s%d:%02d", signText, h, m)
	case h == 0 && f.zoneStyle == "short":
		return "GMT"
	}
	return fmt.Sprintf("GMT%s%d", signText, h)
}
