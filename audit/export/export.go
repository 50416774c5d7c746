// Package export writes closed calls of an audit log for other programs: OCSF
// events, OTLP log records, or CSV. What is in a record is masked already;
// an export has nothing that the log has not. It writes as it reads: memory
// does not grow with the number of calls.
package export

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

// The formats.
const (
	OCSF = "ocsf"
	OTel = "otel"
	CSV  = "csv"
)

// Formats are the names of all formats.
func Formats() []string { return []string{OCSF, OTel, CSV} }

// A Writer takes closes, in any number. It is not safe for concurrent use.
type Writer interface {
	// Add takes a close. raw is its line, read during the call alone. The
	// error is that of the output.
	Add(r audit.Record, raw []byte) error
	// Close writes what is left. It does not close the output.
	Close() error
}

// New gives the writer of a format. version is that of toolwarrant, "" = not
// said. The error is USAGE.
func New(format string, w io.Writer, version string) (Writer, error) {
	switch format {
	case OCSF:
		return &ocsfWriter{enc: encoder(w), version: version}, nil
	case OTel:
		return &otelWriter{enc: encoder(w), version: version}, nil
	case CSV:
		return newCSV(w), nil
	}
	return nil, fault.New(fault.Usage, "format", "unknown format %q; want one of %s", format, strings.Join(Formats(), ", "))
}

// encoder writes one JSON value in each line.
func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// text is the value of what may be null.
func text[T ~string](s *T) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

// ended says how a call ended, in a few words.
func ended(r *audit.Record) string {
	name := "an unknown tool"
	if r.Tool != nil && r.Tool.Name != "" {
		name = r.Tool.Name
	}
	s := fmt.Sprintf("%s: %s", name, text(r.Outcome))
	if r.Error != nil {
		s += fmt.Sprintf(" (%s)", r.Error.Code)
	}
	return s
}

// rules are the ids of what raised the level, and of why it was refused.
func rules(r *audit.Record) (signals, reasons []string) {
	signals, reasons = []string{}, []string{}
	for _, s := range r.RiskSignals {
		signals = append(signals, s.ID)
	}
	for _, x := range r.Reasons {
		reasons = append(reasons, x.ID)
	}
	return signals, reasons
}
