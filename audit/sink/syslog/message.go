package syslog

import (
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/audit/sink"
)

const (
	facility = 13 // log audit
	notice   = 5  // severity of a call that did not end well
	info     = 6

	app        = "toolwarrant"
	timeLayout = "2006-01-02T15:04:05.000000Z07:00"
)

// source is the part of the header that stays.
type source struct {
	host string
	pid  string
}

func newSource(host string, pid int) source {
	return source{host: printable(host, 255), pid: strconv.Itoa(pid)}
}

// frame adds one message to b: RFC 5424, framed by octet counting (RFC 5425,
// section 4.3). The message text is the line, byte for byte and without a
// byte order mark.
func (s source) frame(b, line []byte) []byte {
	h, _ := sink.HeadOf(line)
	severity := info
	if h.Refusal() {
		severity = notice
	}
	at := "-"
	if !h.Time.IsZero() {
		at = h.Time.UTC().Format(timeLayout)
	}
	header := "<" + strconv.Itoa(facility*8+severity) + ">1 " + at + " " + s.host + " " + app + " " + s.pid + " " + printable(h.Phase, 32) + " - "
	b = strconv.AppendInt(b, int64(len(header)+len(line)), 10)
	b = append(b, ' ')
	b = append(b, header...)
	return append(b, line...)
}

// printable makes a header field: printable ASCII without spaces, "-" for
// nothing.
func printable(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r < 33 || r > 126 {
			return '_'
		}
		return r
	}, text)
	if text == "" {
		return "-"
	}
	return text[:min(len(text), most)]
}
