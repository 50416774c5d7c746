package telemetry

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
	"github.com/toolwarrant/toolwarrant/fault"
)

// collector keeps what it gets.
type collector struct {
	mu    sync.Mutex
	spans []*otlp.Span
	paths map[string]int
	fails bool
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var all otlp.TracesData
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails || proto.Unmarshal(body, &all) != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if c.paths == nil {
		c.paths = map[string]int{}
	}
	c.paths[r.URL.Path+" "+r.Header.Get("Content-Type")]++
	for _, rs := range all.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			c.spans = append(c.spans, ss.Spans...)
		}
	}
}

func TestSpansArrive(t *testing.T) {
	c := &collector{}
	hs := httptest.NewServer(c)
	defer hs.Close()
	tr, err := Start(Options{To: remote.HTTP{URL: hs.URL}, SamplePercent: 0, Name: "n", Version: "v", Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := trace.TraceIDFromHex("0af7651916cd43dd8448eb211c80319c")
	parent, _ := trace.SpanIDFromHex("b7ad6b7169203331")
	tracer := tr.Tracer("scope")
	// The caller decides it, where it says so.
	sampled := trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: parent, TraceFlags: trace.FlagsSampled, Remote: true}))
	ctx, span := tracer.Start(sampled, "tools/call x", trace.WithSpanKind(trace.SpanKindServer))
	_, child := tracer.Start(ctx, "decide")
	child.End()
	span.SetAttributes(attribute.String("long", strings.Repeat("x", 1000)))
	span.SetStatus(codes.Error, "")
	span.End()
	_, unsampled := tracer.Start(t.Context(), "nobody asked for it")
	unsampled.End()
	if err := tr.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.paths["/v1/traces application/x-protobuf"] == 0 || len(c.spans) != 2 {
		t.Fatalf("%v, %d spans", c.paths, len(c.spans))
	}
	decide, call := c.spans[0], c.spans[1]
	if hex.EncodeToString(call.TraceId) != id.String() || hex.EncodeToString(call.ParentSpanId) != parent.String() || !bytes.Equal(decide.ParentSpanId, call.SpanId) ||
		call.Kind != otlp.Span_SPAN_KIND_SERVER || call.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR || decide.Status != nil ||
		call.EndTimeUnixNano < call.StartTimeUnixNano || len(call.Attributes[0].GetValue().GetStringValue()) > 256 {
		t.Errorf("%v\n%v", call, decide)
	}
}

// TestCollectorThatFails is said once, and costs nothing.
func TestCollectorThatFails(t *testing.T) {
	c := &collector{fails: true}
	hs := httptest.NewServer(c)
	defer hs.Close()
	var log bytes.Buffer
	tr, err := Start(Options{To: remote.HTTP{URL: hs.URL}, SamplePercent: 100, Logger: zerolog.New(&log)})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, span := tr.Tracer("s").Start(context.Background(), "x")
		span.End()
		if err := tr.provider.ForceFlush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(log.String(), "cannot be sent"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
	_ = tr.Close(t.Context())
}

func TestAddressIsChecked(t *testing.T) {
	for _, url := range []string{"http://collector.example", "ftp://x", "https://user:pw@x", ""} {
		if _, err := Start(Options{To: remote.HTTP{URL: url}}); fault.From(err) == nil || fault.From(err).Code != fault.Usage {
			t.Errorf("%q: %v", url, err)
		}
	}
}
