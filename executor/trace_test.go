package executor

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func traced(g *rig) *tracetest.SpanRecorder {
	spans := tracetest.NewSpanRecorder()
	g.Tracer = sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)).Tracer(TracerName)
	return spans
}

// TestSpansOfACall: one span around the call, below that of its caller, and one
// for each step that takes time; nothing of what was sent is in them.
func TestSpansOfACall(t *testing.T) {
	g := newRig(t, plainTool)
	spans := traced(g)
	g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
		return worker.Reply{Result: json.RawMessage(`"hunter3"`)}, nil
	}
	in := Call{Name: "t", Origin: decision.OriginMCPHTTP, Args: json.RawMessage(`{"a":"hunter2"}`), TraceParent: parent, TraceID: "0af7651916cd43dd8448eb211c80319c"}
	res := g.Call(t.Context(), in)
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	in.Name = "hunter4"
	g.Call(t.Context(), in)
	var names []string
	for _, s := range spans.Ended() {
		names = append(names, s.Name())
		if got := s.SpanContext().TraceID().String(); got != in.TraceID {
			t.Errorf("%s is of the trace %s", s.Name(), got)
		}
		for _, kv := range s.Attributes() {
			if strings.Contains(kv.Value.String(), "hunter") {
				t.Errorf("%s has %s = %s", s.Name(), kv.Key, kv.Value.String())
			}
		}
		if strings.HasPrefix(s.Name(), "tools/call") && s.Parent().SpanID().String() != "b7ad6b7169203331" {
			t.Errorf("the parent of %s is %v", s.Name(), s.Parent())
		}
	}
	if want := []string{"decide", "approve", "execute", "record", "tools/call t", "record", "tools/call"}; !slices.Equal(names, want) {
		t.Errorf("spans %v, want %v", names, want)
	}
	for _, kv := range spans.Ended()[4].Attributes() {
		if want := map[string]string{
			"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "toolwarrant.call.id": res.CallID,
			"toolwarrant.call.origin": "mcp-http", "toolwarrant.call.outcome": "OK", "toolwarrant.approval.outcome": "NOT_REQUIRED",
			"toolwarrant.decision.id": "d", "toolwarrant.policy.revision": "sha256:0", "toolwarrant.risk.level": "L0",
		}[string(kv.Key)]; want != kv.Value.AsString() {
			t.Errorf("%s is %q, want %q", kv.Key, kv.Value.AsString(), want)
		}
	}
	// A call without a trace begins one, which its record names.
	g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP})
	last := spans.Ended()[len(spans.Ended())-1].SpanContext().TraceID().String()
	if r := g.log[len(g.log)-1]; r.TraceID == nil || *r.TraceID != last {
		t.Errorf("the record is of the trace %v, the span of %s", r.TraceID, last)
	}
}

// panicking is a tracer that fails.
type panicking struct{ trace.Tracer }

func (panicking) Start(context.Context, string, ...trace.SpanStartOption) (context.Context, trace.Span) {
	panic("tracer")
}

func TestTracerThatPanics(t *testing.T) {
	g := newRig(t, plainTool)
	g.Tracer = panicking{}
	if res := g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP}); res.Err != nil {
		t.Error(res.Err)
	}
}

func FuzzTraceParent(f *testing.F) {
	f.Add(parent)
	f.Add("00-0-0-0")
	f.Add("---")
	f.Fuzz(func(t *testing.T, text string) {
		c := trace.SpanContextFromContext(withParent(context.Background(), text))
		if c.IsValid() && !strings.Contains(strings.ToLower(text), c.TraceID().String()) {
			t.Errorf("%q gives %v", text, c)
		}
	})
}

// metered counts as a Meter, and fails where it is to.
type metered struct {
	all   []Ended
	fails bool
}

func (m *metered) Ended(e Ended) {
	m.all = append(m.all, e)
	if m.fails {
		panic("meter")
	}
}

// TestMeter: every settled call is counted once, with its tool only where there
// is one that the caller may know of.
func TestMeter(t *testing.T) {
	g := newRig(t, plainTool)
	m := &metered{}
	g.Meter = m
	call := func(name string) Result {
		return g.Call(t.Context(), Call{Name: name, Origin: decision.OriginMCPHTTP})
	}
	call("t")
	call("nosuch")
	g.visible = false
	call("t")
	g.visible, m.fails = true, true
	if res := call("t"); res.Err != nil {
		t.Error("a meter that fails costs the call:", res.Err)
	}
	for i, want := range []Ended{
		{Tool: "t", Outcome: fault.OK, RiskLevel: "L0", Decided: true, Ran: true},
		{Code: fault.NotFound, Reason: "unknown-tool", Outcome: fault.Denied},
		{Code: fault.NotFound, Reason: "unknown-tool", Outcome: fault.Denied},
		{Tool: "t", Outcome: fault.OK, RiskLevel: "L0", Decided: true, Ran: true},
	} {
		got := m.all[i]
		if got.Record <= 0 || got.Total < got.Execute {
			t.Errorf("call %d took %+v", i, got)
		}
		got.Decide, got.Approve, got.Execute, got.Record, got.Total = 0, 0, 0, 0, 0
		want.Origin = decision.OriginMCPHTTP
		if got != want {
			t.Errorf("call %d: %+v, want %+v", i, got, want)
		}
	}
	if len(m.all) != 4 {
		t.Errorf("%d are counted", len(m.all))
	}
}
