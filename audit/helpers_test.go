package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

func ptr[T any](v T) *T { return &v }

// sampleCall is a close with every field set.
func sampleCall(id string) Call {
	return Call{
		Phase: PhaseClose, CallID: id, RelatedCallID: ptr("call-0"), TraceID: ptr("4bf92f3577b34da6a3ce929d0e0e4736"),
		Origin:    decision.OriginMCPHTTP,
		Principal: &Principal{Subject: "alice", Method: "jwt", ClientID: "desk <1.0>", Groups: []string{"ops"}},
		Tool:      &decision.Tool{ToolID: "5f0c8a52-7a4e-4a0e-9a54-0d8f4a6a2b11", Name: "fetch_page", Category: "web", SpecDigest: "sha256:" + strings.Repeat("ab", 32)},
		Policy:    &Policy{Revision: "sha256:" + strings.Repeat("cd", 32), ProfileChain: []string{"base", "web"}},
		Decision: &Decision{ID: "dec-" + id, DecidedAt: "2026-01-02T03:04:05.678Z", InputDigest: "sha256:" + strings.Repeat("ef", 32),
			Input: json.RawMessage(`{"principal":{"subject":"alice"},"call":{"origin":"mcp-http","args":{"url":"https://example.org/"}},"now":"2026-01-02T03:04:05.678Z","approvals":[]}`)},
		ToolSafety: &spec.ToolSafety{Version: "1.0", Runtime: spec.ToolSafetyRuntime{ID: "toolwarrant/goja", MinVersion: "0.1.0", ECMAVersion: "2024", Console: true},
			Category: spec.ToolSafetyCategory{Source: "user", ID: "web"}, Capabilities: spec.Capabilities{Network: spec.CapabilityNetwork{Mode: "allowlist", Hosts: []string{"example.org"}}}},
		Effective: &decision.EffectivePolicy{AllowClasses: []string{"java.lang.Math"}, DenyClasses: []string{"java.lang.ProcessBuilder", "java.io.*"},
			Network: decision.Network{Mode: "allowlist", Hosts: []string{"example.org"}, Ports: []int{443}}, FS: decision.FS{BasePath: "/srv/work"},
			MaxStatements: 500000, TimeoutSeconds: 30, MaxMemoryBytes: 64 << 20, MaxOutputBytes: 1 << 20, MaxLogLines: 1000,
			Sandbox: &decision.Sandbox{Backends: []string{"process"}, Require: map[string]string{"memory": "full", "env": "full"},
				Limits: decision.SandboxLimits{CPUMillis: 1000, MemoryMB: 256, DiskMB: 64, MaxProcesses: 64}, Env: []string{}}},
		RiskLevel: ptr("L2"), RiskSignals: []decision.Signal{{ID: "risk.network.allowlist", Level: "L2", Message: "may reach example.org"}},
		Reasons:      []decision.Reason{},
		HITL:         &HITL{Mode: "REQUIRED", Outcome: HITLAccepted, Approver: ptr("bob"), Channel: ptr("terminal"), ElapsedMs: ptr(int64(1200)), PromptDigest: ptr("sha256:" + strings.Repeat("12", 32))},
		Params:       json.RawMessage(`{"url": "https://example.org/", "n": 1.50}`),
		ParamsDigest: ptr("hmac-sha256:k1:" + strings.Repeat("34", 32)),
		Outcome:      ptr(fault.Failed),
		Error:        &Error{Code: fault.JSError, Reason: ptr("thrown"), Message: "TypeError: x is\nnot a function"},
		Duration:     &Duration{Decide: 0.12345, Approve: 1200, Execute: 45.5, Total: 1245.6234},
		Usage: &Usage{Statements: ptr(int64(1234)), Egress: []Egress{{Host: "example.org", IP: "93.184.216.34", Status: 200, Bytes: 512}},
			FS: []FSUse{{Op: "readText", Path: "a/b.txt", Bytes: 7}}, LogLines: 3, MemoryBytes: ptr(int64(4096))},
		Result:    &Result{Bytes: 17, Digest: "sha256:" + strings.Repeat("56", 32)},
		Isolation: &worker.Isolation{Mode: "process", Namespaces: []string{"net", "pid"}, Landlock: ptr(6), Seccomp: ptr(true), Memory: ptr("rlimit"), Cgroup: ptr(false)},
		TestMode:  ptr("fixture"),
		Shadow: &Shadow{Revision: "sha256:" + strings.Repeat("78", 32), Kind: ptr("newly-denied"), Rules: []string{"site-no-scripts"}, Differences: []Difference{
			{Path: "allow", Direction: "tightened", Old: json.RawMessage("true"), New: json.RawMessage("false")},
			{Path: "effectivePolicy.network.hosts", Direction: "tightened", Old: json.RawMessage(`["example.org"]`), New: json.RawMessage("[]"), Removed: []string{"example.org"}},
		}},
		Sandbox: []Sandbox{{SandboxID: "sb-1", Backend: "process", Image: "host", Argv: []string{"python3", "-c", "print(1)"}, Mounts: []SandboxMount{{Source: "/srv/data", Target: "/work", Writable: true}}, ExitCode: ptr(int64(137)), TimedOut: true, LimitHit: ptr("memory"),
			Usage: SandboxUsage{WallMs: 12.5, CPUMs: ptr(3.25), PeakMemory: ptr(int64(4096)), NetIn: ptr(int64(1)), NetOut: ptr(int64(2)), Orphans: 1}, Network: "AllowList",
			Connections: []SandboxConnection{{Host: "example.org", Port: 443, Address: "93.184.216.34:443", Allowed: true, In: 1, Out: 2}, {Host: "other.example", Reason: ptr("not-allowed")}},
			Partial:     map[string]string{"memory": "partial: rlimit", "disk": "none"}}},
	}
}

// bareCall is a close with as little as is allowed.
func bareCall(id string) Call {
	return Call{CallID: id, Origin: decision.OriginCLIRun, Outcome: ptr(fault.OK)}
}

// askCall is an ask that expires at t.
func askCall(id string, t time.Time) Call {
	c := sampleCall(id)
	c.Outcome, c.Error, c.Result = nil, nil, nil
	c.HITL = &HITL{Mode: "REQUIRED", PromptDigest: ptr("sha256:" + strings.Repeat("12", 32)), ExpiresAt: ptr(t.UTC().Format(time.RFC3339))}
	return c
}

// clock stands still.
func clock() func() time.Time {
	t := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	return func() time.Time { return t }
}

// handClock is moved on by the test.
type handClock struct{ at atomic.Int64 }

func newHandClock() *handClock {
	c := &handClock{}
	c.at.Store(clock()().UnixNano())
	return c
}

func (c *handClock) now() time.Time       { return time.Unix(0, c.at.Load()) }
func (c *handClock) pass(d time.Duration) { c.at.Add(int64(d)) }

func mustOpen(t testing.TB, dir string, o Options) *Writer {
	t.Helper()
	w, err := Open(dir, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = w.Shutdown(context.Background()) })
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantReason fails unless err is AUDIT_UNAVAILABLE with the reason.
func wantReason(t testing.TB, err error, reason string) {
	t.Helper()
	f := fault.From(err)
	if f == nil || f.Code != fault.AuditUnavailable || f.Reason != reason {
		t.Fatalf("got %v (cause %v), want AUDIT_UNAVAILABLE (%s)", err, causeOf(f), reason)
	}
}

func causeOf(f *fault.Error) error {
	if f == nil {
		return nil
	}
	return f.Unwrap()
}

func verify(t testing.TB, paths ...string) Report {
	t.Helper()
	r, err := Verify(context.Background(), paths, VerifyOptions{})
	must(t, err)
	return r
}

func wantOK(t testing.TB, paths ...string) Report {
	t.Helper()
	r := verify(t, paths...)
	if !r.OK {
		t.Fatalf("log does not verify: %+v", r.Findings[0])
	}
	return r
}

// records decodes a whole log.
func records(t testing.TB, paths ...string) []Record {
	t.Helper()
	var out []Record
	must(t, Scan(context.Background(), paths, func(l Line) error {
		r, err := l.Decode()
		if err == nil {
			out = append(out, r)
		}
		return err
	}))
	return out
}

func phases(rs []Record) string {
	var b strings.Builder
	for _, r := range rs {
		if r.Kind != nil {
			fmt.Fprintf(&b, "%s:%s ", r.Phase, *r.Kind)
			continue
		}
		fmt.Fprintf(&b, "%s:%s ", r.Phase, r.CallID)
	}
	return strings.TrimSpace(b.String())
}

func logPath(dir string) string { return filepath.Join(dir, FileName) }

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// sampleLog writes one line of every phase and gives its bytes.
func sampleLog(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{Now: clock(), writer: "w1"})
	ctx := context.Background()
	c := sampleCall("call-1")
	must(t, w.Ask(ctx, askCall("call-1", time.Date(2026, 1, 2, 3, 6, 5, 0, time.UTC)), nil))
	must(t, w.Open(ctx, c, true, nil))
	must(t, w.Close(ctx, c, nil))
	must(t, w.Object(ctx, Object{Kind: "spec", Digest: "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", Content: json.RawMessage(`{}`)}))
	must(t, w.Event(ctx, Event{Kind: "publish", Principal: c.Principal, Detail: map[string]any{"tool": "fetch_page", "n": 1}}, nil))
	must(t, w.Close(ctx, bareCall("call-2"), nil))
	must(t, w.Event(ctx, Event{Kind: "reload"}, nil))
	must(t, w.Close(ctx, bareCall("call-3"), nil))
	must(t, w.Shutdown(ctx))
	return readFile(t, logPath(dir))
}

func decode(raw json.RawMessage, v any) error { return json.Unmarshal(raw, v) }

func digestOf(b []byte) string { return digest.Bytes(b) }
