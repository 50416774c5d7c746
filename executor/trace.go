package executor

import (
	"context"
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Spans of a call: one around it and one for each of decide, approve, execute
// and record. Their attributes are names of this program and of the catalog,
// ids and words of the decision: never an argument, a result, a message of an
// error, or a name that the caller made up. Names follow the semantic
// conventions of OpenTelemetry for MCP and generative AI where they have one.

// tracing is the state of a traced call. The zero value does nothing.
type tracing struct{ span trace.Span }

// startTrace begins the span of a call. A call without a trace of its caller
// begins one, which is then also the trace of its records.
func (e *Engine) startTrace(ctx context.Context, r *run) (traced context.Context) {
	if e.Tracer == nil {
		return ctx
	}
	defer func() {
		if p := recover(); p != nil {
			e.panicked(r, p)
			traced, r.trace.span = ctx, nil
		}
	}()
	ctx, r.trace.span = e.Tracer.Start(withParent(ctx, r.in.TraceParent), "tools/call", trace.WithSpanKind(spanKind(r.in.Origin)), trace.WithAttributes(
		attribute.String("mcp.method.name", "tools/call"),
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("toolwarrant.call.origin", string(r.in.Origin)),
	))
	if c := r.trace.span.SpanContext(); r.in.TraceID == "" && c.IsSampled() {
		r.in.TraceID = c.TraceID().String()
	}
	return ctx
}

func spanKind(o decision.Origin) trace.SpanKind {
	if o == decision.OriginMCPHTTP || o == decision.OriginMCPStdio {
		return trace.SpanKindServer
	}
	return trace.SpanKindInternal
}

// withParent makes the span that a caller named, in the form of a W3C
// traceparent, the parent of what follows. Another text is none.
func withParent(ctx context.Context, traceparent string) context.Context {
	if parent := TraceParent(traceparent); parent.IsValid() {
		return trace.ContextWithRemoteSpanContext(ctx, parent)
	}
	return ctx
}

// TraceParent reads a W3C traceparent. What is none gives a context that is not
// valid: version ff, an all-zero trace or span id, upper case, more fields than
// version 00 has (Trace Context, section 3.2.2), more than 256 bytes.
func TraceParent(text string) trace.SpanContext {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || len(text) > 256 {
		return trace.SpanContext{}
	}
	for i, n := range []int{2, 32, 16, 2} {
		if len(parts[i]) != n || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return trace.SpanContext{}
		}
	}
	if parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return trace.SpanContext{}
	}
	id, _ := trace.TraceIDFromHex(parts[1]) // all zeros are not valid
	span, _ := trace.SpanIDFromHex(parts[2])
	flags, _ := hex.DecodeString(parts[3])
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: span, TraceFlags: trace.TraceFlags(flags[0]) & trace.FlagsSampled, Remote: true,
	})
}

// within runs a step in a span of that name, "" = in none of its own.
func (r *run) within(ctx context.Context, name string, step func(context.Context) error) error {
	if r.trace.span == nil || name == "" {
		return step(ctx)
	}
	ctx, span := r.trace.span.TracerProvider().Tracer(TracerName).Start(ctx, name)
	defer span.End() // also where the step panics
	err := step(ctx)
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	return err
}

// begins begins a span that holds nothing, and gives what ends it.
func (r *run) begins(ctx context.Context, name string) (end func()) {
	if r.trace.span == nil {
		return func() {}
	}
	_, span := r.trace.span.TracerProvider().Tracer(TracerName).Start(ctx, name)
	return func() { span.End() }
}

// TracerName is the instrumentation scope of the spans of this package.
const TracerName = "github.com/toolwarrant/toolwarrant/executor"

// endTrace ends the span of a call that is settled, or waits for its client.
func (r *run) endTrace(res Result) {
	if r.trace.span == nil {
		return
	}
	defer r.trace.span.End()
	if !r.trace.span.IsRecording() {
		return
	}
	set := func(name, v string) {
		if v != "" {
			r.trace.span.SetAttributes(attribute.String(name, v))
		}
	}
	set("toolwarrant.call.id", r.callID)
	set("toolwarrant.call.outcome", string(res.Outcome))
	set("toolwarrant.approval.outcome", string(r.human.Outcome))
	if r.tool != nil && r.hidden == nil {
		r.trace.span.SetName("tools/call " + r.tool.Spec.Name)
		set("gen_ai.tool.name", r.tool.Spec.Name)
	}
	if d := r.decision; d != nil {
		set("toolwarrant.decision.id", d.DecisionID)
		set("toolwarrant.policy.revision", d.PolicyRevision)
		set("toolwarrant.risk.level", d.RiskLevel)
	}
	if res.Err != nil {
		set("error.type", string(res.Err.Code))
		r.trace.span.SetStatus(codes.Error, "")
	}
}
