// Package telemetry sends the spans of calls to a collector of OpenTelemetry:
// OTLP over HTTP, in protobuf, by the client that the sinks of the audit log
// use as well (TLS, or loopback; credentials from a file; no proxy, no
// redirects). Package executor makes the spans and says what they hold.
//
// A collector that is slow or gone costs no call anything: spans wait in a
// bounded queue, and what does not fit is dropped. Traces are for looking at
// what takes time; the record of a call is the audit log.
package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlpresource "go.opentelemetry.io/proto/otlp/resource/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
)

// Options say where spans go.
type Options struct {
	To            remote.HTTP // a URL without a path gets /v1/traces
	SamplePercent int         // of the calls whose caller does not decide it, 0 to 100
	Name          string      // of this service
	Version       string      // of toolwarrant, "" = not said
	Logger        zerolog.Logger
}

// Traces make the spans of an installation and send them.
type Traces struct {
	provider *sdk.TracerProvider
	client   *remote.Client
}

// Start begins to send. Errors are USAGE, as those of a sink of the audit log.
func Start(o Options) (*Traces, error) {
	if u, err := url.Parse(o.To.URL); err == nil && (u.Path == "" || u.Path == "/") {
		u.Path = "/v1/traces"
		o.To.URL = u.String()
	}
	client, err := remote.NewClient(o.To)
	if err != nil {
		return nil, err
	}
	attributes := []attribute.KeyValue{attribute.String("service.name", o.Name)}
	if o.Version != "" {
		attributes = append(attributes, attribute.String("service.version", o.Version))
	}
	e := &exporter{client: client, log: o.Logger}
	return &Traces{client: client, provider: sdk.NewTracerProvider(
		sdk.WithBatcher(e, sdk.WithExportTimeout(exportPatience), sdk.WithMaxQueueSize(queue)),
		sdk.WithResource(resource.NewSchemaless(attributes...)),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(float64(o.SamplePercent)/100))),
		sdk.WithRawSpanLimits(sdk.SpanLimits{AttributeValueLengthLimit: 256, AttributeCountLimit: 32, EventCountLimit: 8, LinkCountLimit: 8}),
	)}, nil
}

const (
	queue          = 4096 // spans that wait
	exportPatience = 10 * time.Second
)

// Tracer is what makes spans.
func (t *Traces) Tracer(name string) trace.Tracer { return t.provider.Tracer(name) }

// Close sends what waits, as long as ctx lasts.
func (t *Traces) Close(ctx context.Context) error {
	err := t.provider.Shutdown(ctx)
	t.client.Close()
	return err
}

// exporter is the SDK's way out.
type exporter struct {
	client *remote.Client
	log    zerolog.Logger
	down   bool // what was said last; the SDK exports from one goroutine
}

// ExportSpans implements sdk.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := encode(spans)
	if err != nil {
		return err
	}
	_, err = e.client.Post(ctx, body, http.Header{"Content-Type": {"application/x-protobuf"}})
	switch {
	case err != nil && !e.down:
		e.log.Warn().Err(err).Msg("traces cannot be sent and are dropped; calls go on")
	case err == nil && e.down:
		e.log.Info().Msg("traces are sent again")
	}
	e.down = err != nil
	return nil // said here, and not again by the SDK
}

// Shutdown implements sdk.SpanExporter.
func (*exporter) Shutdown(context.Context) error { return nil }

// encode makes the request of the collector's service; TracesData has the same
// form on the wire, and the package of the service needs gRPC.
func encode(spans []sdk.ReadOnlySpan) ([]byte, error) {
	scopes := map[string]*otlp.ScopeSpans{}
	all := &otlp.ResourceSpans{Resource: &otlpresource.Resource{Attributes: keyValues(spans[0].Resource().Attributes())}}
	for _, s := range spans {
		name := s.InstrumentationScope().Name
		if scopes[name] == nil {
			scopes[name] = &otlp.ScopeSpans{Scope: &common.InstrumentationScope{Name: name}}
			all.ScopeSpans = append(all.ScopeSpans, scopes[name])
		}
		scopes[name].Spans = append(scopes[name].Spans, spanOf(s))
	}
	body, err := proto.Marshal(&otlp.TracesData{ResourceSpans: []*otlp.ResourceSpans{all}})
	if err != nil {
		return nil, fmt.Errorf("the spans cannot be encoded: %w", err)
	}
	return body, nil
}

func spanOf(s sdk.ReadOnlySpan) *otlp.Span {
	id, span := s.SpanContext().TraceID(), s.SpanContext().SpanID()
	out := &otlp.Span{
		TraceId: id[:], SpanId: span[:], TraceState: s.SpanContext().TraceState().String(), Name: s.Name(),
		Kind:              otlp.Span_SpanKind(s.SpanKind()), // the numbers are the same
		StartTimeUnixNano: uint64(s.StartTime().UnixNano()), EndTimeUnixNano: uint64(s.EndTime().UnixNano()),
		Attributes: keyValues(s.Attributes()), DroppedAttributesCount: uint32(s.DroppedAttributes()),
		Flags: uint32(s.SpanContext().TraceFlags()),
	}
	if p := s.Parent(); p.SpanID().IsValid() {
		parent := p.SpanID()
		out.ParentSpanId = parent[:]
	}
	switch s.Status().Code {
	case codes.Error:
		out.Status = &otlp.Status{Code: otlp.Status_STATUS_CODE_ERROR, Message: s.Status().Description}
	case codes.Ok:
		out.Status = &otlp.Status{Code: otlp.Status_STATUS_CODE_OK}
	}
	return out
}

// keyValues are attributes of text alone, which is all that there are.
func keyValues(in []attribute.KeyValue) []*common.KeyValue {
	out := make([]*common.KeyValue, len(in))
	for i, kv := range in {
		out[i] = &common.KeyValue{Key: string(kv.Key), Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: kv.Value.String()}}}
	}
	return out
}
