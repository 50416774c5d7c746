package export

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

// otelBatch is how many log records one line has at most.
const otelBatch = 100

// otelWriter writes the JSON encoding of OTLP LogsData, one in each line, as
// the file exporter of the OpenTelemetry Collector does and its otlpjsonfile
// receiver reads. The body is the line of the log, byte for byte; attributes
// are what it says, for routing.
type otelWriter struct {
	enc     *json.Encoder
	version string
	batch   []otelRecord
}

type otelRecord struct {
	TimeUnixNano         string    `json:"timeUnixNano"`
	ObservedTimeUnixNano string    `json:"observedTimeUnixNano"`
	SeverityNumber       int       `json:"severityNumber"`
	SeverityText         string    `json:"severityText"`
	EventName            string    `json:"eventName"`
	Body                 otelValue `json:"body"`
	Attributes           []otelKey `json:"attributes"`
	TraceID              string    `json:"traceId,omitempty"`
}

type otelKey struct {
	Key   string    `json:"key"`
	Value otelValue `json:"value"`
}

// otelValue has one of its fields; a 64-bit number is a text in JSON.
type otelValue struct {
	Text   *string `json:"stringValue,omitempty"`
	Number *string `json:"intValue,omitempty"`
}

func otelText(s string) otelValue { return otelValue{Text: &s} }

func (o *otelWriter) Add(r audit.Record, raw []byte) error {
	o.batch = append(o.batch, logRecord(&r, raw))
	if len(o.batch) < otelBatch {
		return nil
	}
	return o.Close()
}

func (o *otelWriter) Close() error {
	if len(o.batch) == 0 {
		return nil
	}
	about := []otelKey{{"service.name", otelText("toolwarrant")}}
	if o.version != "" {
		about = append(about, otelKey{"service.version", otelText(o.version)})
	}
	err := o.enc.Encode(object{"resourceLogs": []object{{
		"resource":  object{"attributes": about},
		"scopeLogs": []object{{"scope": object{"name": "github.com/toolwarrant/toolwarrant/audit"}, "logRecords": o.batch}},
	}}})
	o.batch = o.batch[:0]
	return err
}

func logRecord(r *audit.Record, raw []byte) otelRecord {
	at := "0"
	if t, err := time.Parse(time.RFC3339Nano, r.Time); err == nil && t.Unix() > 0 {
		at = strconv.FormatInt(t.UnixNano(), 10)
	}
	seq := strconv.FormatUint(r.Seq, 10)
	out := otelRecord{
		TimeUnixNano: at, ObservedTimeUnixNano: at, SeverityNumber: 9, SeverityText: "INFO", EventName: "toolwarrant.audit",
		Body: otelText(string(raw)), Attributes: []otelKey{{"toolwarrant.seq", otelValue{Number: &seq}}},
	}
	if text(r.Outcome) != string(fault.OK) {
		out.SeverityNumber, out.SeverityText = 13, "WARN"
	}
	if id := text(r.TraceID); len(id) == 32 {
		if _, err := hex.DecodeString(id); err == nil {
			out.TraceID = id
		}
	}
	tool, who, code := "", "", ""
	if r.Tool != nil {
		tool = r.Tool.Name
	}
	if r.Principal != nil {
		who = r.Principal.Subject
	}
	if r.Error != nil {
		code = string(r.Error.Code)
	}
	for _, a := range [][2]string{
		{"toolwarrant.phase", string(r.Phase)}, {"toolwarrant.writer", r.Writer}, {"toolwarrant.call_id", r.CallID}, {"toolwarrant.outcome", text(r.Outcome)},
		{"toolwarrant.tool", tool}, {"toolwarrant.principal", who}, {"toolwarrant.risk_level", text(r.RiskLevel)}, {"toolwarrant.code", code},
	} {
		if a[1] != "" {
			out.Attributes = append(out.Attributes, otelKey{a[0], otelText(a[1])})
		}
	}
	return out
}
