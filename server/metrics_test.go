package server

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolwarrant/toolwarrant/decision"
)

// TestMetricsNameNoTools: whoever calls tools reads no names of them in
// /metrics, unless it has a role or the operator opened the path.
func TestMetricsNameNoTools(t *testing.T) {
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "calls_total"}, []string{"tool"})
	other := prometheus.NewCounter(prometheus.CounterOpts{Name: "other_total"})
	calls.WithLabelValues("hiddenTool").Inc()
	registry := prometheus.NewRegistry()
	registry.MustRegister(calls, other)
	viewers := func(p *decision.Principal) bool { return p != nil && p.Subject == "vera" }
	for name, tc := range map[string]struct {
		who    string
		change func(*Options)
		named  bool
	}{
		"a caller":               {"alice", func(o *Options) { asks(o); o.ToolNames = viewers }, false},
		"a viewer":               {"vera", func(o *Options) { asks(o); o.ToolNames = viewers }, true},
		"nobody is asked":        {"", func(o *Options) { o.ToolNames = viewers }, false},
		"nobody says who may":    {"vera", asks, false},
		"opened by the operator": {"", func(o *Options) { asks(o); o.OpenMetrics = true }, true},
	} {
		_, url := start(t, newFake(), tc.change, func(o *Options) { o.Metrics = registry })
		res, body := do(t, "GET", strings.TrimSuffix(url, "/mcp")+"/metrics", tc.who, "", nil)
		if res.StatusCode != 200 || !strings.Contains(body, "other_total") || strings.Contains(body, "hiddenTool") != tc.named {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
}
