package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// hook is a receiver that is not there at first.
type hook struct {
	addr  string
	mu    sync.Mutex
	lines []string
}

func (h *hook) start(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		for line := range strings.Lines(string(body)) {
			if !slices.Contains(h.lines, line) {
				h.lines = append(h.lines, line)
			}
		}
	})}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
}

func (h *hook) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "")
}

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// sinkConfig is TOOLWARRANT_AUDIT_SINKS for one webhook.
func sinkConfig(t *testing.T, addr string, required bool) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(hookSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal([]map[string]any{{"name": "hook", "type": "webhook", "url": "http://" + addr + "/x", "secret-file": file, "required": required}})
	if err != nil {
		t.Fatal(err)
	}
	return "TOOLWARRANT_AUDIT_SINKS=" + string(list)
}

func (p *process) get(path string) (int, string) {
	resp, err := http.Get(strings.TrimSuffix(p.url, "/mcp") + path)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

func (p *process) waits(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%s did not come:\n%s", what, p.log)
		}
	}
}

func auditLog(t *testing.T, home string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(home, "audit", "audit.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRequiredSink: a server whose required sink is down starts, refuses
// calls, says so, and serves by itself once the sink is there. The sink has
// the whole log then, and its secret is nowhere.
func TestRequiredSink(t *testing.T) {
	home := t.TempDir()
	h := &hook{addr: freeAddr(t)}
	p := serve(t, home, []string{sinkConfig(t, h.addr, true)})
	s := sdkClient(t, p.url, "2025-11-25", nil)
	call := func() string {
		t.Helper()
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "base64", Arguments: map[string]any{"text": "hello world"}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Content[0].(*mcp.TextContent).Text
	}
	if got := call(); !strings.Contains(got, "AUDIT_UNAVAILABLE") {
		t.Errorf("while the sink is down: %s", got)
	}
	if status, body := p.get("/healthz"); status != 503 || !strings.Contains(body, `"sinks":[{"name":"hook","required":true,"up":false,"waiting":`) {
		t.Errorf("%d %s", status, body)
	}
	if _, body := p.get("/metrics"); !strings.Contains(body, `toolwarrant_audit_sink_up{required="true",sink="hook"} 0`+"\n") || strings.Contains(body, `toolwarrant_audit_sink_waiting_records{sink="hook"} 0`+"\n") {
		t.Error(body)
	}
	h.start(t)
	p.waits("health", func() bool { status, _ := p.get("/healthz"); return status == 200 })
	if got := call(); !strings.Contains(got, "aGVsbG8gd29ybGQ=") {
		t.Errorf("when the sink is back: %s", got)
	}
	if _, body := p.get("/metrics"); !strings.Contains(body, `toolwarrant_audit_sink_up{required="true",sink="hook"} 1`+"\n") {
		t.Error(body)
	}
	p.stop()
	if got := auditLog(t, home); got != h.text() || strings.Count(got, `"kind":"audit.outage"`) != 1 {
		t.Errorf("the sink has\n%s\nthe log\n%s", h.text(), got)
	}
	secret := strings.TrimPrefix(hookSecret, "whsec_")
	if strings.Contains(p.log.String(), secret) {
		t.Error("the secret is in the log of the process")
	}
	if err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("the secret is in %s", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestSinkAfterKill: what a killed process had recorded reaches a sink of best
// effort through the next one, in order and complete.
func TestSinkAfterKill(t *testing.T) {
	home := t.TempDir()
	h := &hook{addr: freeAddr(t)}
	env := []string{sinkConfig(t, h.addr, false)}
	for range 2 {
		p := serve(t, home, env)
		s := sdkClient(t, p.url, "2025-11-25", nil)
		for range 5 {
			res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "base64", Arguments: map[string]any{"text": "hello world"}})
			if err != nil || res.IsError {
				t.Fatalf("%v %v", err, res)
			}
		}
		if status, body := p.get("/healthz"); status != 200 || !strings.Contains(body, `"required":false,"up":false`) {
			t.Errorf("%d %s", status, body)
		}
		p.kill()
	}
	h.start(t)
	p := serve(t, home, env)
	p.waits("the whole log", func() bool { return h.text() == auditLog(t, home) })
	p.stop()
	if h.text() != auditLog(t, home) {
		t.Error("the last records are missing")
	}
}
