package executor

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

var carol = approval.Approver{Subject: "carol", Method: "os-user"}

// asked is a rig whose tool asks, and the call that waits for an answer.
func asked(t *testing.T) (*rig, Call, string) {
	t.Helper()
	g := newRig(t, plainTool)
	g.decide = func() (*decision.Decision, error) { return allowing("REQUIRED"), nil }
	g.run = func(c worker.Call, _ worker.Broker) (worker.Reply, error) {
		return worker.Reply{Result: c.Args}, nil
	}
	call := Call{Name: "t", Origin: decision.OriginMCPHTTP, Principal: decision.Principal{Subject: "local", Method: "none"}, Args: json.RawMessage(`{"a":"1"}`)}
	res := g.Call(t.Context(), call)
	if res.ApprovalID == "" {
		t.Fatalf("%+v", res.Err)
	}
	return g, call, res.ApprovalID
}

func (g *rig) accept(t *testing.T, id string) {
	t.Helper()
	if _, err := g.Approvals.Settle(t.Context(), id, approval.ActionAccept, carol); err != nil {
		t.Fatal(err)
	}
}

// lastClose is the newest close record.
func (g *rig) lastClose(t *testing.T) audit.Call {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := len(g.log) - 1; i >= 0; i-- {
		if g.log[i].Phase == audit.PhaseClose {
			return g.log[i]
		}
	}
	t.Fatal("no close record")
	return audit.Call{}
}

func endsAs(t *testing.T, res Result, want string) {
	t.Helper()
	got := "OK"
	if res.Err != nil {
		got = string(res.Err.Code) + "/" + res.Err.Reason
	}
	if got != want {
		t.Errorf("ended %s, want %s (%v)", got, want, res.Err)
	}
}

// An accepted call runs once; made again by the same caller it gets the same
// outcome, and another caller is asked.
func TestOutcomeIsReplayed(t *testing.T) {
	for name, tc := range map[string]struct {
		run  func(worker.Call, worker.Broker) (worker.Reply, error)
		want string
	}{
		"fine": {nil, "OK"},
		"fails": {func(worker.Call, worker.Broker) (worker.Reply, error) {
			return worker.Reply{Failure: &worker.Failure{Code: "JS_ERROR", Reason: "Error", Message: "no"}}, nil
		}, "JS_ERROR/Error"},
	} {
		t.Run(name, func(t *testing.T) {
			g, call, id := asked(t)
			if tc.run != nil {
				g.run = tc.run
			}
			g.accept(t, id)
			first := g.Call(t.Context(), call)
			endsAs(t, first, tc.want)
			if c := g.lastClose(t); c.HITL.Outcome != audit.HITLAccepted || *c.HITL.Approver != "carol" {
				t.Errorf("the record of the run says %+v", c.HITL)
			}
			again := g.Call(t.Context(), call)
			endsAs(t, again, tc.want)
			if string(again.Value) != string(first.Value) || g.ran != 1 || again.CallID == first.CallID || !strings.Contains(again.Note, first.CallID) {
				t.Errorf("again: %s %q, ran %d times", again.Value, again.Note, g.ran)
			}
			c := g.lastClose(t)
			if c.CallID != again.CallID || c.HITL.Outcome != audit.HITLReplayed || c.RelatedCallID == nil || *c.RelatedCallID != first.CallID || c.Usage != nil {
				t.Errorf("the record of the replay: %+v, related %v, usage %v", c.HITL, c.RelatedCallID, c.Usage)
			}
			other := call
			other.Principal.ClientID = "other"
			endsAs(t, g.Call(t.Context(), other), "APPROVAL_PENDING/pending")
			if g.ran != 1 {
				t.Errorf("ran %d times", g.ran)
			}
		})
	}
}

// After five minutes, or where the result was too large to keep, the same call
// is a new one.
func TestReplayEnds(t *testing.T) {
	t.Run("time", func(t *testing.T) {
		g, call, _ := asked(t)
		clock := approvaltest.NewClock()
		g.Now, g.Approvals = clock.Now, approval.NewGate(&approvaltest.Memory{}, approvaltest.Keys{"k"}, clock.Now)
		id := g.Call(t.Context(), call).ApprovalID
		g.accept(t, id)
		endsAs(t, g.Call(t.Context(), call), "OK")
		clock.Add(approval.ReplayFor - time.Second)
		endsAs(t, g.Call(t.Context(), call), "OK")
		clock.Add(time.Second)
		endsAs(t, g.Call(t.Context(), call), "APPROVAL_PENDING/pending")
		if g.ran != 1 {
			t.Errorf("ran %d times", g.ran)
		}
	})
	t.Run("size", func(t *testing.T) {
		g, call, _ := asked(t)
		g.decide = func() (*decision.Decision, error) {
			d := allowing("REQUIRED")
			d.EffectivePolicy.MaxOutputBytes = 1 << 20
			return d, nil
		}
		id := g.Call(t.Context(), call).ApprovalID // another decision
		g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
			return worker.Reply{Result: json.RawMessage(`"` + strings.Repeat("x", 300<<10) + `"`)}, nil
		}
		g.accept(t, id)
		endsAs(t, g.Call(t.Context(), call), "OK")
		endsAs(t, g.Call(t.Context(), call), "APPROVAL_PENDING/pending")
		if g.ran != 1 {
			t.Errorf("ran %d times", g.ran)
		}
	})
}

// While the accepted call runs, the same call is told to come back.
func TestWhileItRuns(t *testing.T) {
	g, call, id := asked(t)
	var meanwhile Result
	g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
		meanwhile = g.Call(context.Background(), call)
		return worker.Reply{Result: json.RawMessage(`1`)}, nil
	}
	g.accept(t, id)
	endsAs(t, g.Call(t.Context(), call), "OK")
	endsAs(t, meanwhile, "APPROVAL_PENDING/running")
	if meanwhile.ApprovalID != id || meanwhile.RetryAfterMs != retryRunning.Milliseconds() || g.ran != 1 {
		t.Errorf("%+v, ran %d times", meanwhile, g.ran)
	}
}

// A process that died while the accepted call ran leaves a use without an
// outcome: nobody runs it again, and after its time the call is a new one.
func TestUseWithoutOutcome(t *testing.T) {
	g, call, _ := asked(t)
	clock := approvaltest.NewClock()
	g.Now, g.Approvals = clock.Now, approval.NewGate(&approvaltest.Memory{}, approvaltest.Keys{"k"}, clock.Now)
	id := g.Call(t.Context(), call).ApprovalID
	g.accept(t, id)
	p, err := g.Approvals.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Approvals.Consume(t.Context(), id, p.Binding); err != nil {
		t.Fatal(err)
	}
	endsAs(t, g.Call(t.Context(), call), "APPROVAL_PENDING/running")
	clock.Add(runsBeyond + 2*time.Second)
	endsAs(t, g.Call(t.Context(), call), "APPROVAL_PENDING/pending")
	if g.ran != 0 {
		t.Errorf("ran %d times", g.ran)
	}
}

// An acceptance for which there was no place to run is given back.
func TestUnusedAcceptanceComesBack(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(g *rig) (repair func())
		want  string
	}{
		"no worker is free": {func(g *rig) func() {
			run := g.run
			g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
				return worker.Reply{}, fault.New(fault.RateLimited, "workers-busy", "all are busy")
			}
			return func() { g.run = run }
		}, "RATE_LIMITED/workers-busy"},
		"no open record": {func(g *rig) func() {
			g.failLog = func(p audit.Phase) error {
				if p == audit.PhaseOpen {
					return fault.New(fault.AuditUnavailable, "disk-full", "full")
				}
				return nil
			}
			return func() { g.failLog = nil }
		}, "AUDIT_UNAVAILABLE/disk-full"},
	} {
		t.Run(name, func(t *testing.T) {
			g, call, id := asked(t)
			g.accept(t, id)
			repair := tc.spoil(g)
			endsAs(t, g.Call(t.Context(), call), tc.want)
			repair()
			g.ran = 0
			endsAs(t, g.Call(t.Context(), call), "OK")
			endsAs(t, g.Call(t.Context(), call), "OK") // told again
			if g.ran != 1 {
				t.Errorf("ran %d times", g.ran)
			}
		})
	}
	t.Run("not for ever", func(t *testing.T) {
		g, call, id := asked(t)
		g.accept(t, id)
		g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
			return worker.Reply{}, fault.New(fault.RateLimited, "workers-busy", "all are busy")
		}
		for range 20 {
			g.Call(t.Context(), call)
		}
		if p, err := g.Approvals.Get(t.Context(), id); err != nil || p.State != approval.StateConsumed {
			t.Errorf("%s, %v", p.State, err)
		}
	})
}

// The approver's arguments are validated, decided about and what runs; the
// record has the digests of both.
func TestAmendedCallRuns(t *testing.T) {
	g, call, id := asked(t)
	p, err := g.Approvals.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ args, want string }{
		"unknown parameter": {`{"b":1}`, "INVALID_ARGUMENTS/"},
		"not JSON":          {`{"a"`, "INVALID_ARGUMENTS/"},
		"the same":          {`{"a":"1"}`, "INVALID_ARGUMENTS/unchanged"},
	} {
		if _, err := g.Amend(t.Context(), p, json.RawMessage(tc.args)); err == nil || !strings.HasPrefix(string(fault.From(err).Code)+"/"+fault.From(err).Reason, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g.decide = func() (*decision.Decision, error) {
		d := allowing("REQUIRED")
		d.Allow, d.Reasons = false, []decision.Reason{{ID: "no", Message: "no"}}
		return d, nil
	}
	if _, err := g.Amend(t.Context(), p, json.RawMessage(`{"a":"2"}`)); err == nil || fault.From(err).Code != fault.PolicyDenied {
		t.Errorf("denied by the policy: %v", err)
	}
	g.decide = func() (*decision.Decision, error) { return allowing("REQUIRED"), nil }
	amended, err := g.Amend(t.Context(), p, json.RawMessage(`{"a":"2"}`))
	if err != nil {
		t.Fatal(err)
	}
	settled, err := g.Approvals.Amend(t.Context(), id, carol, amended)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(settled.Amendment.Args), `"2"`) {
		t.Error("the arguments lie in the store as they are")
	}
	altered := call
	altered.Args = json.RawMessage(`{"a":"2"}`) // the caller does not know them
	endsAs(t, g.Call(t.Context(), altered), "APPROVAL_PENDING/pending")

	res := g.Call(t.Context(), call)
	endsAs(t, res, "OK")
	if string(res.Value) != `{"a":"2"}` || g.ran != 1 || !strings.Contains(res.Note, `{"a":"2"}`) {
		t.Errorf("%s, note %q, ran %d times", res.Value, res.Note, g.ran)
	}
	c := g.lastClose(t)
	if c.HITL.Outcome != audit.HITLModified || c.HITL.OriginalParamsDigest == nil || *c.HITL.OriginalParamsDigest != p.Binding.ParamsDigest ||
		*c.ParamsDigest != amended.ParamsDigest || *c.HITL.PromptDigest != amended.Question.PromptDigest || string(c.Params) != `{"a":"2"}` {
		t.Errorf("the record says %+v, %s %s", c.HITL, *c.ParamsDigest, c.Params)
	}
	again := g.Call(t.Context(), call)
	endsAs(t, again, "OK")
	if g.ran != 1 || string(again.Value) != `{"a":"2"}` || !strings.Contains(again.Note, "changed its arguments") {
		t.Errorf("again: %s %q, ran %d times", again.Value, again.Note, g.ran)
	}
}

// What changed between the approver's answer and the retry refuses it.
func TestAmendedMismatch(t *testing.T) {
	g, call, id := asked(t)
	p, err := g.Approvals.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	amended, err := g.Amend(t.Context(), p, json.RawMessage(`{"a":"2"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Approvals.Amend(t.Context(), id, carol, amended); err != nil {
		t.Fatal(err)
	}
	n := 0
	g.decide = func() (*decision.Decision, error) {
		d := allowing("REQUIRED")
		if n++; n == 2 { // the decision about the arguments of the approver
			d.RiskLevel = "L5"
		}
		return d, nil
	}
	endsAs(t, g.Call(t.Context(), call), "APPROVAL_DENIED/mismatch")
	if c := g.lastClose(t); c.HITL.Outcome != audit.HITLMismatch || g.ran != 0 {
		t.Errorf("%s, ran %d times", c.HITL.Outcome, g.ran)
	}
	n = 10
	endsAs(t, g.Call(t.Context(), call), "OK") // nothing was burnt
	if g.ran != 1 {
		t.Errorf("ran %d times", g.ran)
	}
}

// Only out of band, and only by somebody who may accept both.
func TestWhoMayAmend(t *testing.T) {
	g, _, id := asked(t)
	ctx := t.Context()
	p, err := g.Approvals.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	amended, err := g.Amend(ctx, p, json.RawMessage(`{"a":"2"}`))
	if err != nil {
		t.Fatal(err)
	}
	stricter := amended
	stricter.Approvers = decision.Approvers{Groups: []string{"sre"}}
	if _, err := g.Approvals.Amend(ctx, id, carol, stricter); !errors.Is(err, approval.ErrNotApprover) {
		t.Errorf("somebody who may not accept the amended call: %v", err)
	}
	b := p.Binding
	inBand, err := g.Approvals.Pose(ctx, approval.Posed{Binding: b, Question: p.Question, Channel: approval.ChannelElicitation, Expiry: time.Minute, Origin: p.Origin})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Approvals.Amend(ctx, inBand.ID, carol, amended); !errors.Is(err, approval.ErrNotApprover) {
		t.Errorf("a question in band: %v", err)
	}
	if _, err := g.Approvals.Settle(ctx, id, approval.ActionDecline, carol); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Approvals.Amend(ctx, id, carol, amended); !errors.Is(err, approval.ErrConflict) {
		t.Errorf("after it was declined: %v", err)
	}
}

// A caller who may not accept is not asked in band.
func TestApproverGroupsInBand(t *testing.T) {
	for name, tc := range map[string]struct {
		groups []string
		who    decision.Approvers
		want   string
	}{
		"member":           {[]string{"sre"}, decision.Approvers{Groups: []string{"sre"}}, "OK"},
		"no member":        {[]string{"dev"}, decision.Approvers{Groups: []string{"sre"}}, "APPROVAL_PENDING/pending"},
		"second person":    {[]string{"sre"}, decision.Approvers{Groups: []string{"sre"}, FourEyes: true}, "APPROVAL_PENDING/pending"},
		"anybody's enough": {nil, decision.Approvers{}, "OK"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, plainTool)
			g.decide = func() (*decision.Decision, error) {
				d := allowing("REQUIRED")
				d.HumanInTheLoop.Approvers = tc.who
				return d, nil
			}
			seen := 0
			res := g.Call(t.Context(), Call{
				Name: "t", Origin: decision.OriginMCPHTTP, Principal: decision.Principal{Subject: "alice", Method: "oidc", Groups: tc.groups},
				Asker: groupAsker{tc.groups, &seen},
			})
			endsAs(t, res, tc.want)
			if (seen == 1) != (tc.want == "OK") {
				t.Errorf("asked in band %d times", seen)
			}
		})
	}
}

type groupAsker struct {
	groups []string
	seen   *int
}

func (groupAsker) Channel() string { return approval.ChannelElicitation }
func (a groupAsker) Ask(context.Context, approval.Question) (approval.Answer, error) {
	*a.seen++
	return approval.Answer{Action: approval.ActionAccept, Approver: approval.Approver{Subject: "alice", Method: approval.ChannelElicitation, Groups: a.groups}}, nil
}

// Somebody else may answer while the client's human is asked: an acceptance of
// both runs, and the refusal of either does not.
func TestBothAreAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		elsewhere, here approval.Action
		want            string
	}{
		"both accept":         {approval.ActionAccept, approval.ActionAccept, "OK"},
		"refused here":        {approval.ActionAccept, approval.ActionDecline, "APPROVAL_DENIED/declined"},
		"refused elsewhere":   {approval.ActionDecline, approval.ActionAccept, "APPROVAL_DENIED/declined"},
		"dismissed here":      {approval.ActionAccept, approval.ActionCancel, "APPROVAL_DENIED/cancelled"},
		"refused and nothing": {approval.ActionDecline, approval.ActionCancel, "APPROVAL_DENIED/cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, plainTool)
			g.decide = func() (*decision.Decision, error) { return allowing("REQUIRED"), nil }
			res := g.Call(t.Context(), Call{
				Name: "t", Origin: decision.OriginMCPHTTP, Principal: decision.Principal{Subject: "local", Method: "none"},
				Asker: asker{channel: "elicitation", action: tc.here, before: func() {
					all, err := g.Approvals.List(t.Context())
					if err != nil || len(all) != 1 {
						t.Fatal(all, err)
					}
					if _, err := g.Approvals.Settle(t.Context(), all[0].ID, tc.elsewhere, carol); err != nil {
						t.Error(err)
					}
				}},
			})
			endsAs(t, res, tc.want)
			if (g.ran == 1) != (tc.want == "OK") {
				t.Errorf("ran %d times", g.ran)
			}
		})
	}
}

// A keyring that is rotated between question and retry changes nothing; one
// that is rotated twice forgets.
func TestRotationBetweenAskAndRetry(t *testing.T) {
	for name, tc := range map[string]struct {
		keys approvaltest.Keys
		want string
	}{
		"once":  {approvaltest.Keys{"k2", "k"}, "OK"},
		"twice": {approvaltest.Keys{"k3", "k2"}, "APPROVAL_PENDING/pending"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &approvaltest.Memory{}
			g, call, _ := asked(t)
			g.Approvals = approval.NewGate(store, approvaltest.Keys{"k"}, nil)
			id := g.Call(t.Context(), call).ApprovalID
			state := Call{Asker: asker{channel: "input_required", action: approval.ActionDeferred}}
			state.Name, state.Origin, state.Principal, state.Args = call.Name, call.Origin, call.Principal, json.RawMessage(`{"a":"in band"}`)
			inBand := g.Call(t.Context(), state).InputRequired
			g.accept(t, id)

			g.Keys, g.Approvals = tc.keys, approval.NewGate(store, tc.keys, nil)
			endsAs(t, g.Call(t.Context(), call), tc.want)
			state.State, state.Answer = inBand.State, approval.ActionAccept
			want := "OK"
			if tc.want != "OK" {
				want = "APPROVAL_DENIED/mismatch"
			}
			endsAs(t, g.Call(t.Context(), state), want)
		})
	}
}
