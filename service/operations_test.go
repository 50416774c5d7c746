package service

import (
	"bytes"
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
)

func TestMemoryLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is known": {nil, 0},
		"the machine":      {map[string]string{"/proc/meminfo": "MemTotal:        1024 kB\nMemFree: 1 kB\n"}, 1 << 20},
		"version 2, at the group itself": {map[string]string{
			"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "1000\n", "/sys/fs/cgroup/a/memory.max": "max\n"}, 1000},
		"version 2, above it": {map[string]string{
			"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "2000\n", "/sys/fs/cgroup/a/memory.max": "900"}, 900},
		"version 2, a container": {map[string]string{"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "800"}, 800},
		"version 1": {map[string]string{
			"/proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n", "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "700\n"}, 700},
		"version 1, no limit": {map[string]string{
			"/proc/self/cgroup": "4:memory:/\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"no number": {map[string]string{"/proc/meminfo": "MemTotal: much kB", "/proc/self/cgroup": "0\n\nx:y\n0::/../..\n", "/sys/fs/cgroup/memory.max": "-1"}, 0},
	} {
		read := func(path string) ([]byte, error) {
			if text, ok := tt.files[path]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		}
		if got := memoryLimit(read); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

func FuzzMemoryLimit(f *testing.F) {
	f.Add("MemTotal: 1 kB", "0::/a/../..//b\n", "max")
	f.Fuzz(func(t *testing.T, info, group, limit string) {
		got := memoryLimit(func(path string) ([]byte, error) {
			switch path {
			case "/proc/meminfo":
				return []byte(info), nil
			case "/proc/self/cgroup":
				return []byte(group), nil
			}
			if !strings.HasPrefix(path, "/sys/fs/cgroup/") {
				t.Errorf("%s is read", path)
			}
			return []byte(limit), nil
		})
		if got < 0 {
			t.Error(got)
		}
	})
}

func TestHeapFloorYields(t *testing.T) {
	defer func() { ballast = nil }()
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		env := func(n string) (string, bool) { return "100", n == name }
		if HeapFloor(1<<20, env) || ballast != nil {
			t.Errorf("%s is set and does not count", name)
		}
	}
	none := func(string) (string, bool) { return "", false }
	if HeapFloor(0, none) || HeapFloor(1<<59, none) || ballast != nil {
		t.Error("a floor of nothing, or of more than there is")
	}
	if !HeapFloor(1<<20, none) || len(ballast) != 1<<20 {
		t.Error("no floor")
	}
}

func TestLogMask(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "secrets.yaml")
	check(t, os.WriteFile(file, []byte("ACME_TOKEN: hunter2hunter2\n"), 0o600))
	s := opened(t, home, settings(t, map[string]any{"secrets.grants": `[{"names":["ACME_TOKEN","OTHER_*"]}]`}))
	var out bytes.Buffer
	l := NewLogMask(&out)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.MaskLog(ctx, l) }()
	for end := time.Now().Add(20 * time.Second); l.set.Load().Empty(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing is hidden")
		}
	}
	cancel()
	<-done
	line := "a library says https://x.example/?t=hunter2hunter2 failed\n"
	if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := out.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "***") || !strings.HasSuffix(got, "failed\n") {
		t.Error(got)
	}
}

// TestCallMetrics: names and reasons that nobody knows do not make time series
// without end.
func TestCallMetrics(t *testing.T) {
	s := opened(t, t.TempDir(), settings(t, nil))
	for i := range 2 * maxToolLabels {
		s.Metrics.Ended(executor.Ended{Tool: "tool" + strings.Repeat("x", i), Outcome: fault.OK, RiskLevel: "L0", Decided: true, Ran: true})
		s.Metrics.Ended(executor.Ended{Code: fault.Security, Reason: "r" + strings.Repeat("x", i), Outcome: fault.Failed})
		s.Metrics.AuthFailed("oidc", "r"+strings.Repeat("x", i))
	}
	s.Metrics.Ended(executor.Ended{Code: fault.Security, Reason: "Text of a \"tool\"\n", Outcome: fault.Failed})
	s.Metrics.Register(prometheus.NewGauge(prometheus.GaugeOpts{Name: "of_another_part"}))
	w := httptest.NewRecorder()
	promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body := w.Body.String()
	for text, most := range map[string]int{"toolwarrant_calls_total{": maxToolLabels + 2, "toolwarrant_guard_blocks_total{": maxReasonLabels + 1, "toolwarrant_auth_failures_total{": maxReasonLabels + 1} {
		if n := strings.Count(body, "\n"+text); n == 0 || n > most {
			t.Errorf("%d series of %s", n, text)
		}
	}
	for _, text := range []string{
		`toolwarrant_calls_total{level="L0",outcome="OK",tool="other"} 200`, `toolwarrant_call_duration_seconds_count{step="execute"} 400`,
		`toolwarrant_call_duration_seconds_count{step="approve"} 0`, `toolwarrant_approvals_pending 0`, `toolwarrant_audit_up 1`,
		`toolwarrant_calls_running 0`, "of_another_part 0", "go_goroutines",
	} {
		if !strings.Contains(body, text) {
			t.Errorf("no %s", text)
		}
	}
	if w.Code != http.StatusOK || strings.Contains(body, "Text of a") {
		t.Errorf("%d", w.Code)
	}
}
