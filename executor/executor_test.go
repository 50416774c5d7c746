package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// rig is an engine whose parts a test can make fail.
type rig struct {
	*Engine
	tool    *catalog.Tool
	hidden  string // why the catalog does not expose the tool
	visible bool
	decide  func() (*decision.Decision, error)
	run     func(worker.Call, worker.Broker) (worker.Reply, error)
	ran     int

	mu      sync.Mutex
	log     []audit.Call
	synced  []bool
	failLog func(audit.Phase) error
}

func (g *rig) Lookup(_ context.Context, name string) (*catalog.Tool, error) {
	if name != g.tool.Spec.Name && name != g.tool.Spec.ToolID {
		return nil, fault.New(fault.NotFound, "unknown-tool", "there is no tool %q", name)
	}
	return g.tool, nil
}
func (g *rig) Artefact(string) (resolver.Artefact, bool) { return resolver.Artefact{}, false }
func (g *rig) Exposed(*catalog.Tool) (bool, string)      { return g.hidden == "", g.hidden }
func (g *rig) Resolve(context.Context, resolver.Request) (*decision.Decision, error) {
	return g.decide()
}
func (g *rig) Visible(context.Context, decision.Principal, []resolver.Tool) ([]bool, error) {
	return []bool{g.visible}, nil
}
func (g *rig) Run(_ context.Context, c worker.Call, b worker.Broker) (worker.Reply, error) {
	g.ran++
	return g.run(c, b)
}
func (g *rig) Isolation() worker.Isolation { return worker.Isolation{Mode: "in-process"} }

// closer is the part of Runtime and of Log that share a name.
type runtimeOf struct{ *rig }

func (runtimeOf) Close() error { return nil }

type logOf struct{ *rig }

func (l logOf) keep(c audit.Call, sync bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failLog != nil {
		if err := l.failLog(c.Phase); err != nil {
			return err
		}
	}
	if c.HITL != nil { // what it says now, not later
		h := *c.HITL
		c.HITL = &h
	}
	l.log, l.synced = append(l.log, c), append(l.synced, sync)
	return nil
}
func (l logOf) Ask(_ context.Context, c audit.Call, _ audit.Masker) error { return l.keep(c, true) }
func (l logOf) Open(_ context.Context, c audit.Call, sync bool, _ audit.Masker) error {
	return l.keep(c, sync)
}
func (l logOf) Close(ctx context.Context, c audit.Call, _ audit.Masker) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.keep(c, true)
}
func (l logOf) Object(context.Context, audit.Object) error             { return nil }
func (l logOf) Event(context.Context, audit.Event, audit.Masker) error { return nil }

func newRig(t *testing.T, doc string) *rig {
	t.Helper()
	s, errs := spec.Parse("tool.json", []byte(doc))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	g := &rig{tool: &catalog.Tool{Spec: s, Source: catalog.SourceUser, State: catalog.StateActive}, visible: true}
	g.decide = func() (*decision.Decision, error) { return allowing("DISABLED"), nil }
	g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
		return worker.Reply{Result: json.RawMessage(`"done"`)}, nil
	}
	e, err := New(Components{
		Catalog: g, Policy: g, Audit: logOf{g}, Runtime: runtimeOf{g}, Keys: approvaltest.Keys{"k"},
		Approvals: approval.NewGate(&approvaltest.Memory{}, approvaltest.Keys{"k"}, nil),
		Secrets:   secret.New(filepath.Join(t.TempDir(), "none"), func(string) (string, bool) { return "", false }),
		Now:       time.Now, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Engine = e
	return g
}

func allowing(mode string) *decision.Decision {
	return &decision.Decision{
		DecisionID: "d", DecidedAt: "2026-01-01T00:00:00.000Z", Allow: true, PolicyRevision: "sha256:0", ProfileChain: []string{},
		EffectivePolicy: decision.EffectivePolicy{
			Network: decision.Network{Mode: "blocked"}, MaxStatements: 1000, TimeoutSeconds: 1, MaxOutputBytes: 1000,
		},
		RiskLevel: "L0", RiskSignals: []decision.Signal{}, Reasons: []decision.Reason{},
		HumanInTheLoop: decision.HumanInTheLoop{
			Mode: mode, Prompt: "Run '{toolName}' with {args}?", ExpirySeconds: 60, OutOfBandExpirySeconds: 60,
			Channels: []string{"input_required", "elicitation", "terminal", "out_of_band"},
		},
		Isolation: decision.IsolationMinimum{Minimum: "in-process"},
	}
}

const plainTool = `{"name": "t", "codeType": "Javascript", "code": "return 1;",
	"params": [{"name": "a", "type": "STRING", "required": false}]}`

// asker answers with one action; before runs first.
type asker struct {
	channel string
	action  approval.Action
	err     error
	before  func()
}

func (a asker) Channel() string { return a.channel }
func (a asker) Ask(context.Context, approval.Question) (approval.Answer, error) {
	if a.before != nil {
		a.before()
	}
	return approval.Answer{Action: a.action, Approver: approval.Approver{Subject: "local", Method: a.channel}}, a.err
}

// TestEveryExit ends a call at every step in every way, and looks for its one
// close record and for whether the code ran.
func TestEveryExit(t *testing.T) {
	unavailable := fault.New(fault.AuditUnavailable, "disk-full", "the disk is full")
	failing := func(phase audit.Phase) func(*rig) {
		return func(g *rig) {
			g.failLog = func(p audit.Phase) error {
				if p == phase || p == audit.PhaseClose {
					return unavailable
				}
				return nil
			}
		}
	}
	required := func(g *rig) {
		g.decide = func() (*decision.Decision, error) { return allowing("REQUIRED"), nil }
	}
	replying := func(r worker.Reply, err error) func(*rig) {
		return func(g *rig) { g.run = func(worker.Call, worker.Broker) (worker.Reply, error) { return r, err } }
	}
	ask := func(a asker) Call { return Call{Asker: a} }
	for name, tc := range map[string]struct {
		prepare      func(*rig)
		call         Call
		code, reason string
		human        audit.HITLOutcome
		ran          int
		closes       int // 1 unless the log itself fails
	}{
		"fine":             {human: audit.HITLNotRequired, ran: 1, closes: 1},
		"unknown tool":     {call: Call{Name: "nosuch"}, code: "NOT_FOUND", human: audit.HITLNotRequired, closes: 1},
		"not exposed":      {prepare: func(g *rig) { g.hidden = "the preset leaves it out" }, code: "NOT_FOUND", human: audit.HITLNotRequired, closes: 1},
		"hidden by policy": {prepare: func(g *rig) { g.visible = false }, code: "NOT_FOUND", human: audit.HITLNotRequired, closes: 1},
		"draft": {prepare: func(g *rig) { g.tool = &catalog.Tool{Spec: g.tool.Spec, State: catalog.StateDraft, Why: "a draft"} },
			code: "NOT_ACTIVE", reason: "state-draft", human: audit.HITLNotRequired, closes: 1},
		"bad arguments": {call: Call{Args: json.RawMessage(`{"b":1}`)}, code: "INVALID_ARGUMENTS", human: audit.HITLNotRequired, closes: 1},
		"not JSON":      {call: Call{Args: json.RawMessage(`{"a":`)}, code: "INVALID_ARGUMENTS", human: audit.HITLNotRequired, closes: 1},
		"policy unavailable": {prepare: func(g *rig) {
			g.decide = func() (*decision.Decision, error) {
				return nil, fault.New(fault.PolicyUnavailable, "undefined", "no decision")
			}
		}, code: "POLICY_UNAVAILABLE", human: audit.HITLNotRequired, closes: 1},
		"policy panics": {prepare: func(g *rig) { g.decide = func() (*decision.Decision, error) { panic("boom") } },
			code: "INTERNAL", reason: "panic", human: audit.HITLNotRequired, closes: 1},
		"unknown failure": {prepare: func(g *rig) {
			g.decide = func() (*decision.Decision, error) { return nil, errors.New("secret detail") }
		}, code: "INTERNAL", human: audit.HITLNotRequired, closes: 1},
		"denied": {prepare: func(g *rig) {
			g.decide = func() (*decision.Decision, error) {
				d := allowing("DISABLED")
				d.Allow, d.Reasons = false, []decision.Reason{{ID: "too-risky", Message: "too risky"}}
				return d, nil
			}
		}, code: "POLICY_DENIED", reason: "too-risky", human: audit.HITLNotRequired, closes: 1},
		"isolation": {prepare: func(g *rig) {
			g.decide = func() (*decision.Decision, error) {
				d := allowing("DISABLED")
				d.Isolation.Minimum = "process"
				return d, nil
			}
		}, code: "POLICY_DENIED", reason: "isolation", human: audit.HITLNotRequired, closes: 1},
		"isolation that nobody knows": {prepare: func(g *rig) {
			g.decide = func() (*decision.Decision, error) {
				d := allowing("DISABLED")
				d.Isolation.Minimum = "moon-base"
				return d, nil
			}
		}, code: "POLICY_DENIED", reason: "isolation", human: audit.HITLNotRequired, closes: 1},

		"accepted":         {prepare: required, call: ask(asker{channel: "elicitation", action: "accept"}), human: audit.HITLAccepted, ran: 1, closes: 1},
		"declined":         {prepare: required, call: ask(asker{channel: "elicitation", action: "decline"}), code: "APPROVAL_DENIED", reason: "declined", human: audit.HITLDeclined, closes: 1},
		"cancelled":        {prepare: required, call: ask(asker{channel: "elicitation", action: "cancel"}), code: "APPROVAL_DENIED", reason: "cancelled", human: audit.HITLCancelled, closes: 1},
		"unheard-of":       {prepare: required, call: ask(asker{channel: "elicitation", action: "whatever"}), code: "APPROVAL_DENIED", reason: "declined", human: audit.HITLDeclined, closes: 1},
		"asking fails":     {prepare: required, call: ask(asker{channel: "elicitation", action: "accept", err: errors.New("gone")}), code: "APPROVAL_DENIED", reason: "cancelled", human: audit.HITLCancelled, closes: 1},
		"asking panics":    {prepare: required, call: ask(asker{channel: "elicitation", before: func() { panic("boom") }}), code: "INTERNAL", human: audit.HITLPending, closes: 1},
		"nobody to ask":    {prepare: required, code: "APPROVAL_PENDING", human: audit.HITLPending, closes: 1},
		"made-up state":    {prepare: required, call: Call{State: "x", Answer: "accept"}, code: "APPROVAL_DENIED", reason: "mismatch", human: audit.HITLMismatch, closes: 1},
		"state for no ask": {call: Call{State: "x", Answer: "accept"}, code: "APPROVAL_DENIED", reason: "mismatch", human: audit.HITLMismatch, closes: 1},
		"no channel left": {prepare: func(g *rig) {
			g.decide = func() (*decision.Decision, error) {
				d := allowing("REQUIRED")
				d.HumanInTheLoop.Channels = []string{"input_required"}
				return d, nil
			}
		}, code: "APPROVAL_DENIED", reason: "unsupported", human: audit.HITLUnsupported, closes: 1},
		"auto-approved": {prepare: func(g *rig) {
			g.decide = func() (*decision.Decision, error) {
				d := allowing("DISABLED")
				d.HumanInTheLoop.AutoApproved = true
				return d, nil
			}
		}, human: audit.HITLAutoApproved, ran: 1, closes: 1},

		"code throws": {prepare: replying(worker.Reply{Failure: &worker.Failure{Code: "JS_ERROR", Reason: "Error", Message: "no"}}, nil),
			code: "JS_ERROR", reason: "Error", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"a worker claims another's code": {prepare: replying(worker.Reply{Failure: &worker.Failure{Code: "APPROVAL_PENDING"}}, nil),
			code: "RUNTIME_ERROR", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"runtime fails":                 {prepare: replying(worker.Reply{}, errors.New("gone")), code: "RUNTIME_ERROR", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"no worker is free":             {prepare: replying(worker.Reply{}, fault.New(fault.RateLimited, "workers-busy", "all are busy")), code: "RATE_LIMITED", reason: "workers-busy", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"gone before a worker was free": {prepare: replying(worker.Reply{}, context.Canceled), code: "INTERRUPTED", reason: "cancelled", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"worker dies": {prepare: replying(worker.Reply{Failure: &worker.Failure{Code: "RUNTIME_ERROR", Reason: "worker-died"}}, nil),
			code: "RUNTIME_ERROR", reason: "worker-died", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"worker sends garbage": {prepare: replying(worker.Reply{Result: json.RawMessage("\x00\xff"), Failure: &worker.Failure{Code: "\x00", Reason: "\xff", Message: "\x1b["}}, nil),
			code: "RUNTIME_ERROR", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"runtime panics": {prepare: func(g *rig) { g.run = func(worker.Call, worker.Broker) (worker.Reply, error) { panic("boom") } },
			code: "INTERNAL", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"too much output": {prepare: replying(worker.Reply{Result: json.RawMessage(`"` + strings.Repeat("x", 2000) + `"`)}, nil),
			code: "RESOURCE_LIMIT", reason: "output", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"output that is no JSON": {prepare: replying(worker.Reply{Result: json.RawMessage(`{`)}, nil), code: "RUNTIME_ERROR", human: audit.HITLNotRequired, ran: 1, closes: 1},
		"a tool that reports failure": {prepare: replying(worker.Reply{Result: json.RawMessage(`{"isError":true}`)}, nil),
			code: "JS_ERROR", reason: "tool-is-error", human: audit.HITLNotRequired, ran: 1, closes: 1},

		"no open record":  {prepare: failing(audit.PhaseOpen), code: "AUDIT_UNAVAILABLE"},
		"no close record": {prepare: failing(audit.PhaseClose), code: "AUDIT_UNAVAILABLE", ran: 1},
		"no ask record": {prepare: func(g *rig) { required(g); failing(audit.PhaseAsk)(g) }, call: ask(asker{channel: "elicitation", action: "accept"}),
			code: "AUDIT_UNAVAILABLE"},
	} {
		everyShadow(t, name, func(t *testing.T, shadow Shadow) {
			g := newRig(t, plainTool)
			g.Shadow, g.ShadowPatience = shadow, 0
			if tc.prepare != nil {
				tc.prepare(g)
			}
			call := tc.call
			if call.Name == "" {
				call.Name = "t"
			}
			call.Origin, call.Principal = decision.OriginMCPHTTP, decision.Principal{Subject: "local", Method: "none"}
			res := g.Call(t.Context(), call)
			wantOutcome := fault.OK
			if tc.code != "" {
				wantOutcome = fault.Code(tc.code).Outcome()
				if res.Err == nil || string(res.Err.Code) != tc.code || tc.reason != "" && res.Err.Reason != tc.reason {
					t.Errorf("ended %v, want %s/%s", res.Err, tc.code, tc.reason)
				}
				if strings.Contains(res.Err.Error(), "secret detail") {
					t.Errorf("an inner failure left: %v", res.Err)
				}
			} else if res.Err != nil {
				t.Errorf("ended %v", res.Err)
			}
			if res.Outcome != wantOutcome || g.ran != tc.ran {
				t.Errorf("outcome %s, ran %d times; want %s, %d", res.Outcome, g.ran, wantOutcome, tc.ran)
			}
			closes := 0
			for _, c := range g.log {
				if c.Phase != audit.PhaseClose {
					continue
				}
				closes++
				if c.CallID != res.CallID || *c.Outcome != wantOutcome || c.HITL.Outcome != tc.human || (c.Error == nil) != (tc.code == "") {
					t.Errorf("close record: %s %s %v", *c.Outcome, c.HITL.Outcome, c.Error)
				}
			}
			if closes != tc.closes {
				t.Errorf("%d close records, want %d", closes, tc.closes)
			}
			if tc.closes == 0 && res.Value != nil {
				t.Errorf("a result left without its record: %s", res.Value)
			}
		})
	}
}

// TestClientGone keeps the record of a caller that did not wait.
func TestClientGone(t *testing.T) {
	g := newRig(t, plainTool)
	ctx, cancel := context.WithCancel(t.Context())
	g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
		cancel()
		return worker.Reply{Failure: &worker.Failure{Code: "INTERRUPTED", Reason: "cancelled"}}, nil
	}
	res := g.Call(ctx, Call{Name: "t"})
	if len(g.log) != 2 || g.log[1].Phase != audit.PhaseClose || res.Err.Code != fault.Interrupted {
		t.Errorf("%v, %d records", res.Err, len(g.log))
	}
}

// TestPolicyChangesWhileAsking refuses what a human accepted under another
// decision than the one now in force, and lets an unrelated reload pass.
func TestPolicyChangesWhileAsking(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*decision.Decision)
		reason string
	}{
		"unrelated reload": {func(d *decision.Decision) { d.PolicyRevision, d.DecisionID = "sha256:1", "other" }, ""},
		"wider now":        {func(d *decision.Decision) { d.EffectivePolicy.FS.Write = true }, "mismatch"},
		"riskier now":      {func(d *decision.Decision) { d.RiskLevel = "L4" }, "mismatch"},
		"other prompt":     {func(d *decision.Decision) { d.HumanInTheLoop.Prompt = "?" }, "mismatch"},
		"denied now":       {func(d *decision.Decision) { d.Allow = false }, "denied"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, plainTool)
			g.decide = func() (*decision.Decision, error) { return allowing("REQUIRED"), nil }
			a := asker{channel: "elicitation", action: "accept", before: func() {
				d := allowing("REQUIRED")
				tc.change(d)
				g.decide = func() (*decision.Decision, error) { return d, nil }
			}}
			res := g.Call(t.Context(), Call{Name: "t", Asker: a, Principal: decision.Principal{Subject: "local", Method: "none"}})
			got := ""
			if res.Err != nil {
				got = res.Err.Reason
			}
			if got != tc.reason || (g.ran == 1) != (tc.reason == "") {
				t.Errorf("ended %v, ran %d times", res.Err, g.ran)
			}
		})
	}
}

// TestSync asks for a durable open record exactly where code may act on the
// world.
func TestSync(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*decision.Decision)
		want   bool
	}{
		"pure":    {func(*decision.Decision) {}, false},
		"read":    {func(d *decision.Decision) { d.EffectivePolicy.FS.Read, d.RiskLevel = true, "L3" }, false},
		"write":   {func(d *decision.Decision) { d.EffectivePolicy.FS.Write = true }, true},
		"network": {func(d *decision.Decision) { d.EffectivePolicy.Network.Mode = "strict" }, true},
		"classes": {func(d *decision.Decision) { d.RiskLevel = "L5" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := allowing("DISABLED")
			tc.change(d)
			if got := actsOnWorld(d); got != tc.want {
				t.Errorf("synced %t, want %t", got, tc.want)
			}
		})
	}
}

// TestLimits counts calls as the policy says, per caller and tool.
func TestLimits(t *testing.T) {
	g := newRig(t, plainTool)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g.Now = func() time.Time { return now }
	d := allowing("DISABLED")
	d.Limits = decision.Limits{RatePerMinute: 2, Concurrency: 1}
	g.decide = func() (*decision.Decision, error) { return d, nil }
	call := func(subject string) string {
		res := g.Call(t.Context(), Call{Name: "t", Principal: decision.Principal{Subject: subject}})
		if res.Err == nil {
			return "ran"
		}
		return string(res.Err.Code) + "/" + res.Err.Reason
	}
	for i, want := range []string{"ran", "ran", "RATE_LIMITED/rate"} {
		if got := call("a"); got != want {
			t.Errorf("call %d: %s, want %s", i+1, got, want)
		}
	}
	if got := call("b"); got != "ran" {
		t.Errorf("another caller: %s", got)
	}
	now = now.Add(31 * time.Second)
	if got := call("a"); got != "ran" {
		t.Errorf("half a minute later: %s", got)
	}
	// One at a time: a call that comes while another runs is refused.
	now = now.Add(10 * time.Minute)
	inner := ""
	g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
		if inner == "" {
			inner = call("a")
		}
		return worker.Reply{Result: json.RawMessage("1")}, nil
	}
	if got := call("a"); got != "ran" || inner != "RATE_LIMITED/concurrency" {
		t.Errorf("outer %s, inner %s", got, inner)
	}
	if got := call("a"); got != "RATE_LIMITED/rate" {
		t.Errorf("the refused call was not counted: %s", got)
	}
	for _, c := range g.log {
		if c.Phase == audit.PhaseClose && c.Error != nil && *c.Outcome != fault.Denied {
			t.Errorf("a limited call was recorded %s", *c.Outcome)
		}
	}
}

// TestQuestionsAreBounded keeps a caller from filling the store, or a human's
// day, with questions.
func TestQuestionsAreBounded(t *testing.T) {
	g := newRig(t, plainTool)
	g.decide = func() (*decision.Decision, error) { return allowing("REQUIRED"), nil }
	call := func(subject, a string) string {
		args, _ := json.Marshal(map[string]string{"a": a})
		res := g.Call(t.Context(), Call{Name: "t", Args: args, Principal: decision.Principal{Subject: subject, Method: "none"}})
		return string(res.Err.Code) + "/" + res.Err.Reason
	}
	for i := range maxWaiting {
		if got := call("local", fmt.Sprint(i)); got != "APPROVAL_PENDING/pending" {
			t.Fatalf("question %d: %s", i, got)
		}
	}
	if got := call("local", "one more"); got != "RATE_LIMITED/approvals" {
		t.Errorf("one more: %s", got)
	}
	if got := call("local", "7"); got != "APPROVAL_PENDING/pending" {
		t.Errorf("a question that waits already: %s", got)
	}
	if got := call("other", "one more"); got != "APPROVAL_PENDING/pending" {
		t.Errorf("another caller: %s", got)
	}
	if got := call("other", strings.Repeat("x", maxPrompt)); got != "APPROVAL_DENIED/too-large" {
		t.Errorf("more than a human can read: %s", got)
	}
}
