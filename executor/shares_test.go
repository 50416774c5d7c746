package executor

import (
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// limited is an engine under limits, with a clock of its own.
func limited(t *testing.T, l decision.Limits) (*rig, *time.Time) {
	t.Helper()
	g := newRig(t, plainTool)
	g.decide = func() (*decision.Decision, error) {
		d := allowing("DISABLED")
		d.Limits = l
		return d, nil
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g.Now = func() time.Time { return now }
	return g, &now
}

func (g *rig) asks(t *testing.T, p decision.Principal, toolID string) Result {
	t.Helper()
	g.tool.Spec.ToolID = toolID
	return g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP, Principal: p})
}

func reason(res Result) string {
	if res.Err == nil {
		return "ran"
	}
	return string(res.Err.Code) + "/" + res.Err.Reason
}

// TestSharedRates: what a caller does with all tools, and what all callers do
// with one, are counted each for itself, and beside caller and tool.
func TestSharedRates(t *testing.T) {
	ann, ben := decision.Principal{Subject: "ann", Method: "oidc", ClientID: "c1"}, decision.Principal{Subject: "ben", Method: "oidc"}
	renamed, other := ann, ann
	renamed.ClientID, other.Method = "c2", "api-key"
	type ask struct {
		p          decision.Principal
		tool, want string
	}
	for name, tt := range map[string]struct {
		limits decision.Limits
		asks   []ask
	}{
		"a caller, over all tools": {
			decision.Limits{Principal: decision.Rates{RatePerMinute: 2}},
			[]ask{{ann, "a", "ran"}, {ann, "b", "ran"}, {ann, "c", "RATE_LIMITED/principal-rate"}, {ben, "c", "ran"}},
		},
		"another name of the client is no other caller": {
			decision.Limits{Principal: decision.Rates{RatePerMinute: 1}},
			[]ask{{ann, "a", "ran"}, {renamed, "a", "RATE_LIMITED/principal-rate"}, {other, "a", "ran"}},
		},
		"a tool, over all callers": {
			decision.Limits{Tool: decision.Rates{RatePerMinute: 2}},
			[]ask{{ann, "a", "ran"}, {ben, "a", "ran"}, {other, "a", "RATE_LIMITED/tool-rate"}, {ann, "b", "ran"}},
		},
		"a caller with a tool": {
			decision.Limits{RatePerMinute: 1},
			[]ask{{ann, "a", "ran"}, {ann, "a", "RATE_LIMITED/rate"}, {renamed, "a", "ran"}, {ann, "b", "ran"}},
		},
		"what one limit refuses takes nothing of another": {
			decision.Limits{RatePerMinute: 1, Principal: decision.Rates{RatePerMinute: 2}, Tool: decision.Rates{RatePerMinute: 2}},
			[]ask{{ann, "a", "ran"}, {ann, "a", "RATE_LIMITED/rate"}, {ann, "a", "RATE_LIMITED/rate"}, {ann, "b", "ran"}, {ann, "c", "RATE_LIMITED/principal-rate"}, {ben, "a", "ran"}},
		},
	} {
		g, now := limited(t, tt.limits)
		for i, a := range tt.asks {
			res := g.asks(t, a.p, a.tool)
			if got := reason(res); got != a.want {
				t.Fatalf("%s: call %d: %s, want %s", name, i, got, a.want)
			}
			if refused := res.Err != nil; refused != (res.RetryAfterMs > 0) {
				t.Errorf("%s: call %d: %v, and to be tried again after %d ms", name, i, res.Err, res.RetryAfterMs)
			}
			if res.Err == nil {
				continue
			}
			// What it is told is true: then, and not before, a call gets through.
			was := *now
			*now = was.Add(time.Duration(res.RetryAfterMs) * time.Millisecond)
			if got := reason(g.asks(t, a.p, a.tool)); got != "ran" {
				t.Errorf("%s: call %d, after the time that it was told: %s", name, i, got)
			}
			break
		}
	}
}

// TestSharedRatesTakeAllOrNothing goes on after a refusal.
func TestSharedRatesTakeAllOrNothing(t *testing.T) {
	g, _ := limited(t, decision.Limits{RatePerMinute: 1, Principal: decision.Rates{RatePerMinute: 2}, Tool: decision.Rates{RatePerMinute: 2}})
	ann, ben := decision.Principal{Subject: "ann"}, decision.Principal{Subject: "ben"}
	for i, a := range []struct {
		p          decision.Principal
		tool, want string
	}{
		{ann, "a", "ran"}, {ann, "a", "RATE_LIMITED/rate"}, {ann, "a", "RATE_LIMITED/rate"}, {ann, "b", "ran"},
		{ann, "c", "RATE_LIMITED/principal-rate"}, {ben, "a", "ran"}, {decision.Principal{Subject: "cy"}, "a", "RATE_LIMITED/tool-rate"},
		{decision.Principal{Subject: "cy"}, "d", "ran"}, {decision.Principal{Subject: "cy"}, "e", "ran"},
	} {
		if got := reason(g.asks(t, a.p, a.tool)); got != a.want {
			t.Errorf("call %d: %s, want %s", i, got, a.want)
		}
	}
}

// TestSharedConcurrency: places are taken of every limit or of none, and come
// back.
func TestSharedConcurrency(t *testing.T) {
	for name, tt := range map[string]struct {
		limits decision.Limits
		inside decision.Principal
		tool   string
		want   string
	}{
		"a caller with another tool":   {decision.Limits{Principal: decision.Rates{Concurrency: 1}}, decision.Principal{Subject: "ann"}, "b", "RATE_LIMITED/principal-concurrency"},
		"another caller":               {decision.Limits{Principal: decision.Rates{Concurrency: 1}}, decision.Principal{Subject: "ben"}, "a", "ran"},
		"another caller of the tool":   {decision.Limits{Tool: decision.Rates{Concurrency: 1}}, decision.Principal{Subject: "ben"}, "a", "RATE_LIMITED/tool-concurrency"},
		"another tool":                 {decision.Limits{Tool: decision.Rates{Concurrency: 1}}, decision.Principal{Subject: "ben"}, "b", "ran"},
		"two of a caller, one of each": {decision.Limits{Concurrency: 1, Principal: decision.Rates{Concurrency: 2}}, decision.Principal{Subject: "ann"}, "b", "ran"},
	} {
		g, _ := limited(t, tt.limits)
		got := ""
		g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
			g.run = func(worker.Call, worker.Broker) (worker.Reply, error) { return worker.Reply{}, nil }
			got = reason(g.asks(t, tt.inside, tt.tool))
			return worker.Reply{}, nil
		}
		if out := reason(g.asks(t, decision.Principal{Subject: "ann"}, "a")); out != "ran" || got != tt.want {
			t.Errorf("%s: %s, want %s; around it: %s", name, got, tt.want, out)
		}
		for key, c := range g.limits.counts {
			if c.running != 0 {
				t.Errorf("%s: %d places of %v are not given back", name, c.running, key)
			}
		}
	}
}

// TestCountedIsBounded: names that nobody knew before do not fill the memory,
// and those who are idle make room for them.
func TestCountedIsBounded(t *testing.T) {
	g, now := limited(t, decision.Limits{Principal: decision.Rates{RatePerMinute: 5}})
	g.limits.maximum = 2
	for i, subject := range []string{"a", "b", "c", "a"} {
		want := "ran"
		if subject == "c" {
			want = "RATE_LIMITED/callers"
		}
		if got := reason(g.asks(t, decision.Principal{Subject: subject}, "t")); got != want {
			t.Errorf("call %d: %s, want %s", i, got, want)
		}
	}
	*now = now.Add(forgetAfter + time.Second)
	if got := reason(g.asks(t, decision.Principal{Subject: "c"}, "t")); got != "ran" {
		t.Errorf("after the others were idle: %s", got)
	}
	if n := len(g.limits.counts); n != 1 {
		t.Errorf("%d are counted", n)
	}
}

// TestRatesFromManyCalls is for the detector of races; the sum is right too.
func TestRatesFromManyCalls(t *testing.T) {
	g, _ := limited(t, decision.Limits{Principal: decision.Rates{RatePerMinute: 50}, Tool: decision.Rates{Concurrency: 100}})
	var wg sync.WaitGroup
	var mu sync.Mutex
	ran := 0
	for range 100 {
		wg.Go(func() {
			r := g.receive(Call{Principal: decision.Principal{Subject: "ann"}})
			r.tool = g.tool
			r.decision, _ = g.decide()
			if g.limit(t.Context(), r) != nil {
				return
			}
			leave, err := g.enter(r)
			if err != nil {
				t.Error(err)
				return
			}
			leave()
			mu.Lock()
			defer mu.Unlock()
			ran++
		})
	}
	wg.Wait()
	if ran != 50 {
		t.Errorf("%d calls of 100 were let through, want 50", ran)
	}
}
