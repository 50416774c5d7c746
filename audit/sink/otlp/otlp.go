// Package otlp is the audit sink that sends lines as OpenTelemetry log
// records: OTLP over HTTP, protobuf encoded. Through a collector they reach
// whatever it exports to: Kafka, Splunk, Elasticsearch, object stores.
//
// The body of a log record is the line of the log, byte for byte. A few of
// its members are attributes as well, for routing: they are what the line
// says and prove nothing.
package otlp

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink"
	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
)

const (
	scope     = "github.com/toolwarrant/toolwarrant/audit"
	eventName = "toolwarrant.audit"
)

// Sink exports batches. Safe for concurrent use.
type Sink struct {
	client   *remote.Client
	resource *resource.Resource
}

var _ audit.Sink = (*Sink)(nil)

// New makes a sink. A URL without a path gets /v1/logs, as the protocol has
// it. version is that of toolwarrant, "" = not said. Errors are USAGE.
func New(to remote.HTTP, version string) (*Sink, error) {
	if u, err := url.Parse(to.URL); err == nil && (u.Path == "" || u.Path == "/") {
		u.Path = "/v1/logs"
		to.URL = u.String()
	}
	client, err := remote.NewClient(to)
	if err != nil {
		return nil, err
	}
	r := &resource.Resource{Attributes: []*common.KeyValue{text("service.name", "toolwarrant")}}
	if version != "" {
		r.Attributes = append(r.Attributes, text("service.version", version))
	}
	return &Sink{client: client, resource: r}, nil
}

// Write exports a batch; nil means that the receiver has every line. Lines
// that it rejects are a *sink.Refused.
func (s *Sink) Write(ctx context.Context, lines [][]byte, _ bool) error {
	records := make([]*logs.LogRecord, len(lines))
	for i, l := range lines {
		records[i] = record(l, time.Now())
	}
	// The request of the collector's service has the same form on the wire as
	// LogsData, and the package of the service needs gRPC.
	body, err := proto.Marshal(&logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{
		Resource:  s.resource,
		ScopeLogs: []*logs.ScopeLogs{{Scope: &common.InstrumentationScope{Name: scope}, LogRecords: records}},
	}}})
	if err != nil {
		return fmt.Errorf("the lines cannot be encoded: %w", err)
	}
	answer, err := s.client.Post(ctx, body, http.Header{"Content-Type": {"application/x-protobuf"}})
	if err != nil {
		return err
	}
	if n, why := rejected(answer); n > 0 {
		return &sink.Refused{Lines: n, Why: why}
	}
	return nil
}

// record turns one line into a log record.
func record(line []byte, now time.Time) *logs.LogRecord {
	r := &logs.LogRecord{
		ObservedTimeUnixNano: uint64(now.UnixNano()),
		SeverityNumber:       logs.SeverityNumber_SEVERITY_NUMBER_INFO, SeverityText: "INFO",
		EventName: eventName,
		Body:      &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: string(line)}},
	}
	if !utf8.Valid(line) { // a text of protobuf is UTF-8; bytes are bytes
		r.Body = &common.AnyValue{Value: &common.AnyValue_BytesValue{BytesValue: line}}
		return r
	}
	h, ok := sink.HeadOf(line)
	if !ok {
		return r
	}
	if h.Time.Unix() > 0 {
		r.TimeUnixNano = uint64(h.Time.UnixNano())
	}
	if h.Refusal() {
		r.SeverityNumber, r.SeverityText = logs.SeverityNumber_SEVERITY_NUMBER_WARN, "WARN"
	}
	if id, err := hex.DecodeString(h.TraceID); err == nil && len(id) == 16 {
		r.TraceId = id
	}
	r.Attributes = []*common.KeyValue{{
		Key: "toolwarrant.seq", Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: h.Seq}},
	}}
	for _, a := range [][2]string{
		{"toolwarrant.phase", h.Phase}, {"toolwarrant.writer", h.Writer}, {"toolwarrant.call_id", h.CallID},
		{"toolwarrant.outcome", h.Outcome}, {"toolwarrant.kind", h.Kind},
	} {
		if a[1] != "" {
			r.Attributes = append(r.Attributes, text(a[0], a[1]))
		}
	}
	return r
}

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

// rejected reads ExportLogsServiceResponse: field 1, partial_success, has
// rejected_log_records in field 1 and error_message in field 2. An answer of
// another form rejects nothing, as the protocol wants of a client.
func rejected(answer []byte) (n int64, why string) {
	fields(answer, func(number protowire.Number, _ uint64, partial []byte) {
		if number != 1 || partial == nil {
			return
		}
		fields(partial, func(number protowire.Number, v uint64, b []byte) {
			switch {
			case number == 1 && b == nil && int64(v) > 0:
				n = int64(v)
			case number == 2 && b != nil:
				why = string(b[:min(len(b), 200)])
			}
		})
	})
	return n, why
}

// fields gives the varint and length-delimited fields of a message, until its
// end or until it is none.
func fields(m []byte, each func(number protowire.Number, v uint64, b []byte)) {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return
		}
		m = m[n:]
		switch kind {
		case protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(m); n >= 0 {
				each(number, v, nil)
			}
		case protowire.BytesType:
			var b []byte
			if b, n = protowire.ConsumeBytes(m); n >= 0 {
				each(number, 0, append([]byte{}, b...))
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, m)
		}
		if n < 0 {
			return
		}
		m = m[n:]
	}
}

// Close gives connections back.
func (s *Sink) Close() error {
	s.client.Close()
	return nil
}
