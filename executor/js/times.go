package js

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/fault"
)

const timeHelper = "safety.time"

// timeObject is safety.time: times as a calendar and the clocks of a zone
// have them. Date.parse takes 30 February for 2 March and knows no zones.
func (s *session) timeObject() goja.Value {
	o := s.vm.NewObject()
	s.method(o, "parse", s.parseTime)
	s.method(o, "zoned", s.zonedTime)
	return o
}

// isoTime is a day, or a day and a time of it, with fraction and zone left out
// at will.
var isoTime = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?([Zz]|[+-]\d\d:\d\d)?)?$`)

// parseTime is safety.time.parse(text, name?): the milliseconds since 1970 of
// an ISO 8601 time, in UTC where it names no zone. name is what messages call
// the text.
func (s *session) parseTime(call goja.FunctionCall) goja.Value {
	name := "the time"
	if v := call.Argument(1); !goja.IsUndefined(v) {
		name = clip(s.fetchText(v), 60)
	}
	refuse := func(message string) {
		s.refuse(fault.InvalidInput, timeHelper, "invalid-time", "[safety.time] "+name+" "+message)
	}
	text := s.fetchText(call.Argument(0))
	shown := strconv.Quote(clip(text, 60))
	m := isoTime.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		refuse("must be an ISO 8601 time such as 2026-01-15T10:30:00Z, not " + shown)
	}
	number := func(i int) int { n, _ := strconv.Atoi(m[i]); return n } // digits, or "" for 0
	day := time.Date(number(1), time.Month(number(2)), number(3), 0, 0, 0, 0, time.UTC)
	millis, _ := strconv.Atoi((m[7] + "000")[:3])
	clock := time.Duration(number(4))*time.Hour + time.Duration(number(5))*time.Minute +
		time.Duration(number(6))*time.Second + time.Duration(millis)*time.Millisecond
	offset, ok := zoneOffset(m[8])
	// 24:00 is the midnight that ends the day. Other numbers out of range
	// would roll over into the next unit, which no calendar does.
	if !ok || day.Format(time.DateOnly) != m[1]+"-"+m[2]+"-"+m[3] || number(5) > 59 || number(6) > 59 || clock > 24*time.Hour {
		refuse(shown + " is not a time that exists")
	}
	return s.vm.ToValue(day.Add(clock - offset).UnixMilli())
}

// zoneOffset reads the zone at the end of a time, "" for UTC.
func zoneOffset(zone string) (time.Duration, bool) {
	if len(zone) < 6 {
		return 0, true
	}
	hours, _ := strconv.Atoi(zone[1:3])
	minutes, _ := strconv.Atoi(zone[4:])
	d := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if zone[0] == '-' {
		d = -d
	}
	return d, hours <= 23 && minutes <= 59
}

// zonedTime is safety.time.zoned(time, zone?): what the clocks of a zone, UTC
// when absent, show at a time, which is a Date or milliseconds since 1970.
func (s *session) zonedTime(call goja.FunctionCall) goja.Value {
	at, ok := s.instant(call.Argument(0))
	if !ok {
		s.refuse(fault.InvalidInput, timeHelper, "invalid-time", "[safety.time] zoned needs a Date or milliseconds since 1970")
	}
	name := ""
	if v := call.Argument(1); !goja.IsUndefined(v) && !goja.IsNull(v) {
		name = strings.TrimSpace(s.fetchText(v))
	}
	loc, _ := s.findZone(cmp.Or(name, "UTC"))
	if loc == nil {
		s.refuse(fault.InvalidInput, timeHelper, "unknown-time-zone",
			"[safety.time] unknown time zone "+strconv.Quote(clip(name, 60))+"; use an IANA name such as Asia/Seoul")
	}
	at = at.In(loc)
	// The wall clock shows the year 0 and those before as ISO 8601 does.
	year := fmt.Sprintf("%04d", at.Year())
	if at.Year() < 0 || at.Year() > 9999 {
		year = fmt.Sprintf("%+07d", at.Year())
	}
	offset := offsetText(at)
	o := s.vm.NewObject()
	for _, f := range []struct {
		name  string
		value any
	}{
		{"year", at.Year()},
		{"month", int(at.Month())},
		{"day", at.Day()},
		{"hour", at.Hour()},
		{"minute", at.Minute()},
		{"second", at.Second()},
		{"millisecond", at.Nanosecond() / int(time.Millisecond)},
		{"weekday", at.Format("Mon")},
		{"offset", offset},
		{"iso", year + at.Format("-01-02T15:04:05.000") + offset},
	} {
		_ = o.Set(f.name, f.value)
	}
	return o
}

// offsetText is the distance of a wall clock from UTC, with seconds where they
// are not 0: local mean times before standard time have them.
func offsetText(at time.Time) string {
	_, seconds := at.Zone()
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	text := fmt.Sprintf("%c%02d:%02d", sign, seconds/3600, seconds/60%60)
	if seconds%60 != 0 {
		text += fmt.Sprintf(":%02d", seconds%60)
	}
	return text
}
