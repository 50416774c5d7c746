package cue_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"cuelang.org/go/cue"
	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

var update = flag.Bool("update", false, "write the golden files of the Go types")

var (
	moment = time.Date(2026, 1, 2, 3, 4, 5, 678000000, time.UTC)
	sha    = "sha256:" + strings.Repeat("0a", 32)
	mac    = "hmac-sha256:k1:" + strings.Repeat("0b", 32)
)

func ptr[T any](v T) *T { return &v }

func texts() []string { return []string{"x"} }

func filledDecision() decision.Decision {
	return decision.Decision{
		DecisionID: "d1", DecidedAt: "2026-01-02T03:04:05.678Z", Allow: true, PolicyRevision: sha, ProfileChain: texts(),
		Tool:            decision.Tool{ToolID: "t1", Name: "base64", Category: "ENCODING", SpecDigest: sha},
		EffectivePolicy: filledPolicy(), ToolSafety: filledSafety(), RiskLevel: "L3",
		RiskSignals: []decision.Signal{{ID: "network-allowlist", Level: "L3", Message: "m"}},
		HumanInTheLoop: decision.HumanInTheLoop{Mode: "REQUIRED", Source: "threshold", RuleID: "r", AutoApproved: true, Prompt: "p",
			Channels: []string{"input_required", "elicitation", "terminal", "out_of_band"}, Approvers: filledApprovers(),
			ExpirySeconds: 120, OutOfBandExpirySeconds: 900},
		Limits: decision.Limits{RatePerMinute: 1, Concurrency: 2, Principal: decision.Rates{RatePerMinute: 3, Concurrency: 4}, Tool: decision.Rates{RatePerMinute: 5, Concurrency: 6}}, Isolation: decision.IsolationMinimum{Minimum: "process"},
		Reasons: []decision.Reason{{ID: "r", Message: "m", Path: "/p"}},
		Mask:    texts(),
		Record:  decision.Record{How: map[string]decision.Form{"/a": decision.FormDrop}, Drop: texts(), Result: decision.ResultContent},
	}
}

func filledApprovers() decision.Approvers {
	return decision.Approvers{Groups: texts(), FourEyes: true}
}

func filledPolicy() decision.EffectivePolicy {
	return decision.EffectivePolicy{
		AllowClasses: texts(), DenyClasses: texts(), Env: texts(),
		Network: decision.Network{Mode: "allowlist", Hosts: texts(), HostsDeny: texts(), Ports: []int{443}, PrivateHosts: texts()},
		FS:      decision.FS{Read: true, Write: true, BasePath: "/b"}, MaxStatements: 1, TimeoutSeconds: 2, MaxMemoryBytes: 3,
		MaxOutputBytes: 4, MaxLogLines: 5,
		Sandbox: &decision.Sandbox{Image: "i", Backends: texts(), Require: map[string]string{"memory": "full"},
			Limits: decision.SandboxLimits{CPUMillis: 1, MemoryMB: 2, DiskMB: 3, MaxProcesses: 4}, AllowPartial: true, Env: texts(), Warm: "python"},
	}
}

func filledSafety() spec.ToolSafety {
	return spec.ToolSafety{
		Version: "1.0", Category: spec.ToolSafetyCategory{Source: "builtin", ID: "ENCODING"},
		Runtime: spec.ToolSafetyRuntime{ID: "toolwarrant/goja", MinVersion: "0.1.0", ECMAVersion: "2024", JavaInterop: true,
			Helpers: []string{"safety.http/v1"}, Console: true},
		Capabilities: spec.Capabilities{Network: spec.CapabilityNetwork{Mode: "allowlist", Hosts: texts()}, FileRead: true, FileWrite: true},
	}
}

func filledIsolation() worker.Isolation {
	return worker.Isolation{Mode: "process", Namespaces: texts(), Landlock: ptr(1), Seccomp: ptr(true), Memory: ptr("rlimit"), Cgroup: ptr(true)}
}

func filledCall() audit.Call {
	d := filledDecision()
	return audit.Call{
		Phase: audit.PhaseClose, CallID: "c1", RelatedCallID: ptr("c0"), TraceID: ptr("tr"), Origin: decision.OriginMCPHTTP,
		Principal: &audit.Principal{Subject: "local", Method: "none", ClientID: "c", Groups: texts()},
		Tool:      &d.Tool, Policy: &audit.Policy{Revision: sha, ProfileChain: texts()},
		Decision: &audit.Decision{ID: "d1", DecidedAt: d.DecidedAt, InputDigest: sha, MaskedPointers: texts(),
			Input: json.RawMessage(`{"principal":{},"call":{"origin":"mcp-http","args":{}},"now":"2026-01-02T03:04:05.678Z","approvals":[]}`)},
		ToolSafety: &d.ToolSafety, Effective: &d.EffectivePolicy, RiskLevel: &d.RiskLevel, RiskSignals: d.RiskSignals, Reasons: d.Reasons,
		HITL: &audit.HITL{Mode: "REQUIRED", Outcome: audit.HITLAccepted, Approver: ptr("a"), Channel: ptr("terminal"),
			ElapsedMs: ptr(int64(1)), PromptDigest: &sha, ExpiresAt: ptr("2026-01-02T03:04:05.678Z"),
			RuleID: ptr("site-two"), FourEyes: ptr(true), OriginalParamsDigest: ptr(mac)},
		Params: json.RawMessage(`{"a":1}`), ParamsDigest: &mac, Outcome: ptr(fault.OK),
		Error:    &audit.Error{Code: fault.JSError, Reason: ptr("r"), Message: "m"},
		Duration: &audit.Duration{Decide: 1, Approve: 2.5, Execute: 3, Total: 6.5},
		Usage: &audit.Usage{Statements: ptr(int64(1)), Egress: []audit.Egress{{Host: "h", IP: "192.0.2.1", Status: 200, Bytes: 1}},
			FS: []audit.FSUse{{Op: "fs.readText", Path: "a", Bytes: 1}}, LogLines: 1, MemoryBytes: ptr(int64(1))},
		Result: &audit.Result{Bytes: 1, Digest: sha, Content: json.RawMessage(`{"a":1}`)}, Isolation: ptr(filledIsolation()), TestMode: ptr("live"),
		Sandbox: []audit.Sandbox{{SandboxID: "s", Backend: "process", Image: "host", Argv: texts(), Mounts: []audit.SandboxMount{{Source: "/s", Target: "/t", Writable: true}}, ExitCode: ptr(int64(1)), TimedOut: true, LimitHit: ptr("memory"), Error: ptr("e"),
			Usage:       audit.SandboxUsage{WallMs: 1.5, CPUMs: ptr(2.5), PeakMemory: ptr(int64(3)), NetIn: ptr(int64(4)), NetOut: ptr(int64(5)), Orphans: 6},
			Network:     "AllowList",
			Connections: []audit.SandboxConnection{{Host: "h", Port: 1, Address: "a", Allowed: true, Reason: ptr("r"), In: 2, Out: 3}},
			Partial:     map[string]string{"memory": "partial"}}},
		Shadow: &audit.Shadow{Revision: sha, Kind: ptr("changed"), Rules: texts(), Error: &audit.Error{Code: fault.PolicyUnavailable, Reason: ptr("r"), Message: "m"},
			Differences: []audit.Difference{{Path: "riskLevel", Direction: "tightened", Old: json.RawMessage(`"L3"`), New: json.RawMessage(`"L4"`), Added: texts(), Removed: texts()}}},
		Drop: texts(),
	}
}

func filledPending() approval.Pending {
	p := decision.Principal{Subject: "local", Method: "none", ClientID: "c", Groups: texts(), Scopes: texts(), Untrusted: true}
	return approval.Pending{
		Version: approval.Version, ID: "a1",
		Binding: approval.Binding{CallID: "c1", ToolID: "t1", SpecDigest: sha, ParamsDigest: mac, Principal: p, DecisionDigest: sha,
			ExpiresAt: moment, Nonce: "n"},
		Question: approval.Question{Tool: "t", Prompt: "p", Args: "{}", ArgsDigest: mac, RiskLevel: "L4",
			RiskSignals: []decision.Signal{{ID: "r", Level: "L4", Message: "m"}}, PromptDigest: sha},
		Channel: approval.ChannelOutOfBand, Approvers: filledApprovers(), State: approval.StateAccepted, CreatedAt: moment,
		DecidedAt: &moment, Approver: &approval.Approver{Subject: "a", Method: "terminal", Groups: texts()}, Ask: []byte("{}"),
		Origin: decision.OriginMCPHTTP, ConsumedAt: &moment, Released: 1,
		Amendment: &approval.Amendment{Args: []byte("x"), ParamsDigest: mac, DecisionDigest: sha, Question: approval.Question{Tool: "t", Prompt: "p", Args: "{}",
			ArgsDigest: mac, RiskLevel: "L4", RiskSignals: []decision.Signal{{ID: "r", Level: "L4", Message: "m"}}, PromptDigest: sha}},
		Outcome: &approval.Outcome{At: moment, CallID: "c2", Content: []byte("x")},
	}
}

func filledFailure() *worker.Failure {
	return &worker.Failure{Code: "SECURITY", Reason: "r", Helper: "fetch", Message: "m", Name: "Error", Line: 1, Column: 2}
}

// wire are the Go types that are stored or exchanged, every field filled.
func wire() map[string]any {
	pass := catalog.Pass{PassedDigest: sha, At: moment, Mode: "live", Runtime: "r", PolicyRevision: sha, Exposure: "exposed"}
	kept := catalog.Kept{Preset: "p", AutoExpose: true, Asked: map[string]string{"t1": "REQUIRED"}, Choices: map[string]string{"t1": "hidden"},
		Approvals: map[string]catalog.Standing{"t1": {Mode: "DISABLED", Reason: "r", By: "uid:1", At: moment}}}
	call := filledCall()
	return map[string]any{
		"Decision": filledDecision(),
		"State": struct {
			Version int `json:"version"`
			catalog.Kept
			Tools map[string]catalog.Pass `json:"tools"`
		}{2, kept, map[string]catalog.Pass{"t1": pass}},
		"Passes": struct {
			Version int                     `json:"version"`
			Tools   map[string]catalog.Pass `json:"tools"`
		}{1, map[string]catalog.Pass{"t1": pass}},
		"Pending": filledPending(),
		"WorkerCall": worker.Call{
			CallID: "c1", Program: worker.Program{ID: "p", Name: "n.js", Source: "return 1", Params: texts()}, Args: json.RawMessage(`{"a":1}`),
			Statics: []worker.Static{{Name: "k", Value: "v"}}, Globals: worker.Globals{Fetch: true, FSRead: true, FSWrite: true},
			Limits: worker.Limits{MaxStatements: 1, TimeoutMillis: 2, MaxMemoryBytes: 3, MaxOutputBytes: 4, MaxLogLines: 5, MaxLogBytes: 6}, Spare: true,
		},
		"WorkerReply": worker.Reply{
			Result: json.RawMessage(`1`), Failure: filledFailure(), Logs: []worker.LogLine{{Level: "log", Text: "x"}},
			Usage: worker.Usage{Statements: ptr(int64(1)), MemoryBytes: ptr(int64(1)), LogLines: 1},
		},
		"BrokerRequest": worker.BrokerRequest{Op: worker.OpFetch, Args: json.RawMessage(`["x"]`)},
		"BrokerReply":   worker.BrokerReply{Result: json.RawMessage(`1`), Failure: filledFailure()},
		"Isolation":     filledIsolation(),
		"Fault":         fault.New(fault.SpecParse, "not-json", "m").At("f.json", "/a", 1, 2),
		"AuditCall":     envelope{"2026-01-02T03:04:05.678901Z", audit.Schema, 1, sha, "w", sha, &call},
	}
}

// envelope is what the writer of the log puts around a call.
type envelope struct {
	Time   string `json:"time"`
	Schema string `json:"schema"`
	Seq    int    `json:"seq"`
	Prev   string `json:"prev"`
	Writer string `json:"writer"`
	Sum    string `json:"sum"`
	*audit.Call
}

// TestWireTypes: the Go types and the formats state the same members. Every
// member of these formats is required and every struct is closed, so that a
// fully filled value that is valid has all of them and no other.
func TestWireTypes(t *testing.T) {
	for name, v := range wire() {
		t.Run(name, func(t *testing.T) {
			filled(t, reflect.ValueOf(v), name)
			raw, err := json.MarshalIndent(v, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			raw = append(raw, '\n')
			if err := verdict(t, "#"+name, raw); err != nil {
				t.Errorf("the Go type and #%s differ: %v\n%s", name, err, raw)
			}
			golden := filepath.Join("testdata", "golden", name+".json")
			if *update {
				if err := os.WriteFile(golden, raw, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(raw)); d != "" {
				t.Errorf("%s (-want +got); a format only grows: after adding to it, run \"go test ./cue -update\":\n%s", golden, d)
			}
		})
	}
}

// filled reports every field that was left at its zero value, since such a
// field could hide that it is missing from the format.
func filled(t *testing.T, v reflect.Value, at string) {
	t.Helper()
	if v.IsZero() {
		t.Errorf("%s is not filled", at)
		return
	}
	if _, ok := v.Interface().(json.Marshaler); ok {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		filled(t, v.Elem(), at)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				filled(t, v.Field(i), at+"."+v.Type().Field(i).Name)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 {
			t.Errorf("%s is empty", at)
			return
		}
		filled(t, v.Index(0), at+"[0]")
	}
}

// TestConfigType: every key of the configuration has a Go field and the
// other way round. Keys are optional in the format, so that the keys
// themselves are compared.
func TestConfigType(t *testing.T) {
	c, err := config.Load("", nil, map[string]any{"secrets.grants": []config.Grant{{
		Names: texts(), Tools: texts(), Categories: texts(), Sources: texts(),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := verdict(t, "#Config", raw); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	var doc any
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	same(t, definition(t, "#Config"), doc, "")
}

func same(t *testing.T, def cue.Value, doc any, at string) {
	t.Helper()
	switch doc := doc.(type) {
	case map[string]any:
		it, err := def.Fields(cue.Optional(true))
		if err != nil {
			t.Fatal(err)
		}
		for it.Next() {
			name := it.Selector().Unquoted()
			v, ok := doc[name]
			if !ok {
				t.Errorf("the Go type lacks %s/%s", at, name)
				continue
			}
			same(t, it.Value(), v, at+"/"+name)
		}
	case []any:
		if len(doc) > 0 {
			same(t, def.LookupPath(cue.MakePath(cue.AnyIndex)), doc[0], at+"/0")
		}
	}
}

// TestErrorTable: package fault and #ErrorTable state the same table.
func TestErrorTable(t *testing.T) {
	type row struct {
		Outcome fault.Outcome `json:"outcome"`
		Exit    int           `json:"exit"`
	}
	want := map[fault.Code]row{}
	for _, c := range faultCodes(t) {
		want[c] = row{c.Outcome(), c.Exit()}
	}
	got := map[fault.Code]row{}
	rows, err := definition(t, "#ErrorTable").Fields()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var r row
		if err := rows.Value().Decode(&r); err != nil {
			t.Fatal(err)
		}
		got[fault.Code(rows.Selector().Unquoted())] = r
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("error table (-fault +cue):\n%s", d)
	}
}

// TestOlderRecords: a record of before a member was added is of the format.
func TestOlderRecords(t *testing.T) {
	for _, gone := range []string{"shadow", "sandbox", "humanInTheLoop.ruleId", "humanInTheLoop.fourEyes", "humanInTheLoop.originalParamsDigest"} {
		raw, err := json.Marshal(wire()["AuditCall"])
		if err != nil {
			t.Fatal(err)
		}
		var record map[string]any
		if err := json.Unmarshal(raw, &record); err != nil {
			t.Fatal(err)
		}
		if part, member, ok := strings.Cut(gone, "."); ok {
			delete(record[part].(map[string]any), member)
		} else {
			delete(record, gone)
		}
		if raw, err = json.Marshal(record); err != nil {
			t.Fatal(err)
		}
		if err := verdict(t, "#AuditCall", raw); err != nil {
			t.Errorf("without %s: %v", gone, err)
		}
	}
}
