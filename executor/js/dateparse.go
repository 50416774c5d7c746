package js

import (
	"math"
	"time"
)

// parseDate reads a text as Date.parse does: the date format of the language,
// and everything else by the loose rules that programs have come to rely on,
// where words before the first number and text in parentheses mean nothing.
// It gives the time in milliseconds, and false where the text is no date.
// A time without a zone is one of the given place.
func parseDate(text string, place *time.Location) (int64, bool) {
	p := dateParser{dateScanner: dateScanner{text: []rune(text)}}
	p.next = p.scan()
	p.zone.hour, p.zone.minute = none, none
	token, ok := p.standard()
	if !ok || token.kind != dateEnd && !p.loose(token) {
		return 0, false
	}
	return p.time(place)
}

const none = -1

type dateParser struct {
	dateScanner
	day struct {
		parts    []int
		month    int // by name
		standard bool
	}
	clock struct {
		parts   []int
		half    int // hours to add, where half is set
		halfSet bool
	}
	zone struct{ sign, hour, minute int }
}

// standard reads the format of the language. It gives the token at which that
// format ends, from where the loose rules go on, or false for a wrong time
// behind a T, which those do not accept either.
func (p *dateParser) standard() (dateToken, bool) {
	switch {
	case p.next.sign() != 0:
		sign := p.take()
		if !p.next.digits(6) || sign.sign() < 0 && p.next.value == 0 {
			if p.next.digits(6) {
				p.take()
			}
			return sign, true
		}
		p.addDay(sign.sign() * p.take().value)
	case p.next.digits(4):
		p.addDay(p.take().value)
	default:
		return p.take(), true
	}
	if p.skip('-') {
		if !p.next.digits(2) || !between(p.next.value, 1, 12) {
			return p.take(), true
		}
		p.addDay(p.take().value)
		if p.skip('-') {
			if !p.next.digits(2) || !between(p.next.value, 1, 31) {
				return p.take(), true
			}
			p.addDay(p.take().value)
		}
	}
	if p.next.word == "t" {
		p.take()
		if !p.standardTime() {
			return dateToken{}, false
		}
	} else if p.next.kind != dateEnd {
		return p.take(), true
	}
	if p.zone.sign == 0 && len(p.clock.parts) == 0 {
		p.setZone(0)
	}
	p.day.standard = true
	return dateToken{kind: dateEnd}, true
}

// standardTime reads what stands behind the T.
func (p *dateParser) standardTime() bool {
	for i, most := range []int{24, 59, 59} {
		if i > 0 && !p.skip(':') {
			if i == 1 {
				return false
			}
			break
		}
		late := i > 0 && p.clock.parts[0] == 24
		if !p.next.digits(2) || p.next.value > most || late && p.next.value > 0 {
			return false
		}
		p.addTime(p.take().value)
		if i == 2 && p.skip('.') {
			if p.next.kind != dateNumber || late && p.next.value > 0 {
				return false
			}
			p.addTime(p.take().milliseconds())
		}
	}
	if p.next.word == "z" {
		p.take()
		p.setZone(0)
	} else if sign := p.next.sign(); sign != 0 {
		p.take()
		p.zone.sign = sign
		switch {
		case p.next.digits(4):
			n := p.take().value
			p.zone.hour, p.zone.minute = n/100, n%100
		case p.next.digits(2):
			p.zone.hour = p.take().value
			if !p.skip(':') || !p.next.digits(2) {
				return false
			}
			p.zone.minute = p.take().value
		default:
			return false
		}
		if p.zone.hour > 23 || p.zone.minute > 59 {
			return false
		}
	}
	return p.next.kind == dateEnd
}

// loose reads the rest of a text that is not in the format of the language.
func (p *dateParser) loose(t dateToken) bool {
	numbers := len(p.day.parts) > 0
	for ; t.kind != dateEnd; t = p.take() {
		switch {
		case t.kind == dateNumber:
			numbers = true
			if !p.number(t) {
				return false
			}
		case t.kind == dateWord:
			switch w, known := dateWords[t.word]; {
			case known && w.kind == dateHalf && len(p.clock.parts) > 0:
				p.clock.half, p.clock.halfSet = w.value, true
			case known && w.kind == dateMonth:
				p.day.month = w.value
				p.skip('-')
			case known && w.kind == dateZone && numbers:
				p.setZone(w.value)
			case numbers || p.next.kind == dateNumber:
				return false
			}
		case t.sign() != 0 && (p.zone.hour == 0 && p.zone.minute == 0 || len(p.clock.parts) > 0):
			numbers = true
			if !p.offset(t.sign()) {
				return false
			}
		case (t.sign() != 0 || t.symbol == ')') && numbers:
			return false
		}
	}
	return true
}

// number takes a number for a part of the time, of the zone or of the day.
func (p *dateParser) number(t dateToken) bool {
	n := t.value
	if p.skip(':') {
		if p.skip(':') { // an empty minute
			if len(p.clock.parts) > 0 {
				return false
			}
			p.addTime(n)
			p.addTime(0)
			return true
		}
		if !p.addTime(n) {
			return false
		}
		p.skip('.')
		return true
	}
	switch {
	case p.skip('.') && p.expectsTime(n):
		p.addTime(n)
		if p.next.kind != dateNumber {
			return false
		}
		p.endTime(p.take().milliseconds())
	case p.zone.hour != none && p.zone.minute == none && n <= 59:
		p.zone.minute = n
	case p.expectsTime(n):
		p.endTime(n)
		return p.next.kind == dateEnd || p.next.kind == dateSpace || p.next.word == "z" || p.next.sign() != 0
	default:
		if !p.addDay(n) {
			return false
		}
		p.skip('-')
	}
	return true
}

// offset reads the zone behind its sign.
func (p *dateParser) offset(sign int) bool {
	p.zone.sign = sign
	n, length := 0, 0
	if p.next.kind == dateNumber {
		t := p.take()
		n, length = t.value, t.length
	}
	switch {
	case p.next.symbol == ':':
		p.zone.hour, p.zone.minute = n, none
	case length == 1 || length == 2:
		p.zone.hour, p.zone.minute = n, 0
	case length == 3 || length == 4:
		p.zone.hour, p.zone.minute = n/100, n%100
	default:
		return false
	}
	return true
}

func (p *dateParser) addDay(n int) bool {
	if len(p.day.parts) == 3 {
		return false
	}
	p.day.parts = append(p.day.parts, n)
	return true
}

func (p *dateParser) addTime(n int) bool {
	if len(p.clock.parts) == 4 {
		return false
	}
	p.clock.parts = append(p.clock.parts, n)
	return true
}

// endTime adds the last part of the time.
func (p *dateParser) endTime(n int) {
	for p.addTime(n) {
		n = 0
	}
}

func (p *dateParser) expectsTime(n int) bool {
	switch len(p.clock.parts) {
	case 1, 2:
		return n <= 59
	case 3:
		return n <= 999
	}
	return false
}

func (p *dateParser) setZone(hours int) {
	p.zone.sign, p.zone.hour, p.zone.minute = 1, max(hours, -hours), 0
	if hours < 0 {
		p.zone.sign = -1
	}
}

// date tells year, month and day apart.
func (p *dateParser) date() (year, month, day int, ok bool) {
	d := p.day.parts
	if len(d) == 0 {
		return 0, 0, 0, false
	}
	for len(d) < 3 {
		d = append(d, 1)
	}
	first := between(d[0], 1, 31)
	switch {
	case p.day.month != 0 && first:
		year, month, day = d[1], p.day.month, d[0]
	case p.day.month != 0:
		year, month, day = d[0], p.day.month, d[1]
	case p.day.standard || !first:
		year, month, day = d[0], d[1], d[2]
	default:
		year, month, day = d[2], d[0], d[1]
	}
	if !p.day.standard && between(year, 0, 49) {
		year += 2000
	} else if !p.day.standard && between(year, 50, 99) {
		year += 1900
	}
	return year, month, day, between(month, 1, 12) && between(day, 1, 31)
}

// maxTime is the last time of the language, in milliseconds.
const maxTime = 8.64e15

func (p *dateParser) time(place *time.Location) (int64, bool) {
	year, month, day, ok := p.date()
	if !ok || year < -300000 || year > 300000 {
		return 0, false
	}
	p.endTime(0)
	c := p.clock.parts
	hour := c[0]
	if p.clock.halfSet {
		if hour > 12 {
			return 0, false
		}
		hour = hour%12 + p.clock.half
	}
	if (hour > 23 || c[1] > 59 || c[2] > 59 || c[3] > 999) && (hour != 24 || c[1] != 0 || c[2] != 0 || c[3] != 0) {
		return 0, false
	}
	offset := uint32(max(p.zone.hour, 0))*3600 + uint32(max(p.zone.minute, 0))*60
	if p.zone.sign != 0 {
		if place = time.UTC; offset > math.MaxInt32 {
			return 0, false
		}
	}
	at := time.Date(year, time.Month(month), day, hour, c[1], c[2], c[3]*1e6, place).UnixMilli() - int64(p.zone.sign)*int64(offset)*1000
	return at, at >= -maxTime && at <= maxTime
}

func between(n, low, high int) bool { return n >= low && n <= high }
