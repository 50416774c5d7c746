package executor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// other is a second policy.
type other struct {
	hides  bool
	decide func(context.Context) (*decision.Decision, error)
}

func (o other) Revision() string                          { return "sha256:1" }
func (o other) Artefact(string) (resolver.Artefact, bool) { return resolver.Artefact{}, false }
func (o other) Visible(context.Context, decision.Principal, []resolver.Tool) ([]bool, error) {
	return []bool{!o.hides}, nil
}
func (o other) Resolve(ctx context.Context, _ resolver.Request) (*decision.Decision, error) {
	return o.decide(ctx)
}

// answers is a policy with one answer, that of allowing as changed.
func answers(change func(*decision.Decision)) other {
	return other{decide: func(context.Context) (*decision.Decision, error) {
		d := allowing("DISABLED")
		d.PolicyRevision = "sha256:2" // swapped since it was asked for its revision
		if change != nil {
			change(d)
		}
		return d, nil
	}}
}

func denying(id string) func(*decision.Decision) {
	return func(d *decision.Decision) {
		d.Allow, d.Reasons = false, []decision.Reason{{ID: id, Message: "not with hunter2"}}
	}
}

// asking is a policy that asks by a rule.
func asking(rule string, fourEyes bool) func(*decision.Decision) {
	return func(d *decision.Decision) {
		h := &d.HumanInTheLoop
		h.Mode, h.AutoApproved, h.RuleID, h.Approvers.FourEyes = "REQUIRED", false, rule, fourEyes
	}
}

var (
	panics  = other{decide: func(context.Context) (*decision.Decision, error) { panic("boom") }}
	hangs   = other{decide: func(ctx context.Context) (*decision.Decision, error) { <-ctx.Done(); return nil, ctx.Err() }}
	forever = other{decide: func(context.Context) (*decision.Decision, error) { select {} }}
)

// everyShadow runs a test without a shadow, and with those that do their
// worst.
func everyShadow(t *testing.T, name string, f func(*testing.T, Shadow)) {
	t.Run(name, func(t *testing.T) { f(t, nil) })
	for kind, s := range map[string]Shadow{"denies": answers(denying("no")), "panics": panics, "hangs": hangs} {
		t.Run(name+", and the shadow "+kind, func(t *testing.T) { f(t, s) })
	}
}

// tallied counts as an Observer.
type tallied struct {
	sync.Mutex
	seen []string
}

func (t *tallied) add(s string)           { t.Lock(); defer t.Unlock(); t.seen = append(t.seen, s) }
func (t *tallied) Decided(outcome string) { t.add("decided " + outcome) }
func (t *tallied) Shadowed(result string) { t.add("shadowed " + result) }
func closeOf(t *testing.T, g *rig) audit.Call {
	t.Helper()
	for _, c := range g.log {
		if c.Phase == audit.PhaseClose {
			return c
		}
		if c.Shadow != nil {
			t.Errorf("a %s record has a shadow", c.Phase)
		}
	}
	t.Fatal("no close record")
	return audit.Call{}
}

// TestShadow: the record says how the call would have come out, and the call
// comes out as the policy in force decided.
func TestShadow(t *testing.T) {
	masking := func(d *decision.Decision) { d.Mask = []string{"/a"} }
	for name, tc := range map[string]struct {
		policy func(*decision.Decision) // in force
		hidden bool                     // by it
		shadow other
		soon   bool // it has no time
		args   string
		doc    string
		kind   string // else reason, of an error
		reason string
		rules  []string
		says   []string // "path direction old new"
	}{
		"the same":  {shadow: answers(nil), kind: "same"},
		"it denies": {shadow: answers(denying("no-words")), kind: "newly-denied", rules: []string{"no-words"}, says: []string{"allow tightened true false", `reasons.no-words changed null ""`}},
		"it asks": {shadow: answers(func(d *decision.Decision) { d.HumanInTheLoop.Mode, d.HumanInTheLoop.RuleID = "REQUIRED", "hitl-floor" }),
			kind: "approval-changed", rules: []string{"hitl-floor"}, says: []string{`humanInTheLoop.mode tightened "DISABLED" "REQUIRED"`, `humanInTheLoop.ruleId changed "" "hitl-floor"`}},
		"it asks for somebody else": {policy: asking("hitl-default", false), shadow: answers(asking("site-two", true)),
			kind: "approval-changed", rules: []string{"site-two"}, says: []string{`humanInTheLoop.ruleId changed "hitl-default" "site-two"`, `humanInTheLoop.approvers.fourEyes tightened false true`}},
		"anybody may accept": {policy: asking("site-two", true), shadow: answers(asking("hitl-default", false)),
			kind: "approval-changed", rules: []string{"site-two"}, says: []string{`humanInTheLoop.ruleId changed "site-two" "hitl-default"`, `humanInTheLoop.approvers.fourEyes widened true false`}},
		"four eyes, and arguments kept out": {policy: asking("site-two", true), shadow: answers(func(d *decision.Decision) { asking("hitl-default", false)(d); masking(d) }),
			kind: "approval-changed", rules: []string{"site-two"}, says: []string{`humanInTheLoop.ruleId changed "site-two" "hitl-default"`,
				`humanInTheLoop.approvers.fourEyes widened true false`, `mask tightened "***" "***"`}},
		"a higher level": {shadow: answers(func(d *decision.Decision) {
			d.RiskLevel, d.RiskSignals = "L2", []decision.Signal{{ID: "odd-name", Level: "L2", Message: "hunter2"}}
		}), kind: "changed", rules: []string{"odd-name"}, says: []string{`riskLevel tightened "L0" "L2"`, `riskSignals.odd-name changed null "L2"`}},
		"less of everything": {shadow: answers(func(d *decision.Decision) { d.EffectivePolicy.TimeoutSeconds, d.Limits.RatePerMinute = 0, 5 }),
			kind: "changed", rules: []string{"effectivePolicy.timeoutSeconds", "limits.ratePerMinute"},
			says: []string{"effectivePolicy.timeoutSeconds widened 1 0", "limits.ratePerMinute tightened 0 5"}},
		"it hides": {shadow: other{hides: true, decide: answers(nil).decide}, kind: "newly-denied", rules: []string{"hidden"},
			says: []string{"allow tightened true false", "rejected tightened false true", "visible tightened true false", `reasons.hidden changed null ""`}},
		"it rejects": {shadow: other{hides: true, decide: func(context.Context) (*decision.Decision, error) {
			return nil, &resolver.Rejection{All: []*fault.Error{fault.New(fault.ResolverReject, "network-mode", "no")}}
		}}, kind: "newly-denied", rules: []string{"network-mode"},
			says: []string{"allow tightened true false", "rejected tightened false true", "visible tightened true false", `reasons.network-mode changed null ""`}},
		"it allows": {policy: denying("words"), shadow: answers(nil), kind: "newly-allowed", rules: []string{"words"},
			says: []string{"allow widened false true", `reasons.words changed "" null`}},
		"both deny": {policy: denying("words"), shadow: answers(denying("words")), kind: "same"},
		"it shows": {hidden: true, shadow: answers(nil), kind: "newly-allowed", rules: []string{"hidden"},
			says: []string{"allow widened false true", "rejected widened true false", "visible widened false true", `reasons.hidden changed "" null`}},
		"both hide":                 {hidden: true, shadow: other{hides: true, decide: answers(nil).decide}, kind: "same"},
		"hidden, and bad arguments": {hidden: true, args: `{"b":1}`, shadow: answers(nil)},
		"bad arguments":             {args: `{"b":1}`, shadow: answers(nil)},
		"a prompt is not shown": {policy: func(d *decision.Decision) { d.HumanInTheLoop.Mode, d.HumanInTheLoop.AutoApproved = "REQUIRED", false }, args: `{"a":"hunter2"}`,
			shadow: answers(func(d *decision.Decision) { d.HumanInTheLoop.Mode, d.HumanInTheLoop.Prompt = "REQUIRED", "hunter2?" }), kind: "changed",
			rules: []string{"humanInTheLoop.prompt"}},
		"arguments that the policy keeps out": {policy: masking, args: `{"a":"hunter2"}`, shadow: answers(func(d *decision.Decision) {
			masking(d)
			d.RiskLevel, d.EffectivePolicy.Network = "L3", decision.Network{Mode: "allowlist", Hosts: []string{"hunter2"}}
		}), kind: "changed", rules: []string{"effectivePolicy.network.hosts", "effectivePolicy.network.mode", "riskLevel"},
			says: []string{`effectivePolicy.network.mode widened "***" "***"`, `effectivePolicy.network.hosts widened "***" "***"`, `riskLevel changed "L0" "L3"`}},
		"arguments that the shadow keeps out": {args: `{"a":"hunter2"}`, shadow: answers(masking), kind: "changed", rules: []string{"mask"}, says: []string{`mask tightened "***" "***"`}},

		"it fails": {shadow: other{decide: func(context.Context) (*decision.Decision, error) {
			return nil, fault.New(fault.PolicyUnavailable, "undefined", "no decision")
		}}, reason: "undefined"},
		"it panics":                  {shadow: panics, reason: "panic"},
		"it is slow":                 {shadow: hangs, soon: true, reason: "shadow-late"},
		"it never answers":           {shadow: forever, soon: true, reason: "shadow-late"},
		"it never answers a refusal": {policy: denying("words"), shadow: forever, soon: true, reason: "shadow-late"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, plainTool)
			counts := &tallied{}
			g.visible, g.Shadow, g.Observer, g.ShadowPatience = !tc.hidden, tc.shadow, counts, time.Minute
			if tc.soon {
				g.ShadowPatience = 0
			}
			if tc.policy != nil {
				g.decide = answersOf(tc.policy)
			}
			call := Call{Name: "t", Origin: decision.OriginMCPHTTP, Args: json.RawMessage(tc.args), Principal: decision.Principal{Subject: "local", Method: "none"}}
			with := g.Call(t.Context(), call)
			s := closeOf(t, g).Shadow
			g.Shadow = nil
			without := g.Call(t.Context(), call)
			if with.Outcome != without.Outcome || string(with.Value) != string(without.Value) || (with.Err == nil) != (without.Err == nil) ||
				with.Err != nil && with.Err.Reason != without.Err.Reason {
				t.Errorf("the call ended %s %s %v, and without a shadow %s %s %v", with.Outcome, with.Value, with.Err, without.Outcome, without.Value, without.Err)
			}
			if tc.kind == "" && tc.reason == "" {
				if s != nil {
					t.Errorf("there was nothing to decide, and the record has %+v", s)
				}
				return
			}
			if s == nil {
				t.Fatal("the record says nothing")
			}
			if tc.reason != "" {
				if s.Error == nil || *s.Error.Reason != tc.reason || s.Kind != nil || s.Differences != nil || s.Revision != "sha256:1" {
					t.Errorf("the record says %+v %+v", s, s.Error)
				}
				if !slices.Contains(counts.seen, "shadowed failed") {
					t.Errorf("counted %v", counts.seen)
				}
				return
			}
			if s.Error != nil || *s.Kind != tc.kind || !slices.Equal(s.Rules, tc.rules) {
				t.Errorf("the record says %v %v %+v, want %s %v", *s.Kind, s.Rules, s.Error, tc.kind, tc.rules)
			}
			if !slices.Contains(counts.seen, "shadowed "+tc.kind) {
				t.Errorf("counted %v", counts.seen)
			}
			var says []string
			for _, d := range s.Differences {
				says = append(says, strings.Join([]string{d.Path, d.Direction, string(d.Old), string(d.New)}, " "))
			}
			if d := cmp.Diff(tc.says, says); d != "" && tc.says != nil {
				t.Errorf("differences (-want +got):\n%s", d)
			}
			if raw, err := json.Marshal(s); err != nil || strings.Contains(string(raw), "hunter2") {
				t.Errorf("an argument is in the record: %s %v", raw, err)
			}
		})
	}
}

func answersOf(change func(*decision.Decision)) func() (*decision.Decision, error) {
	return func() (*decision.Decision, error) {
		d := allowing("DISABLED")
		change(d)
		return d, nil
	}
}

// TestShadowRevision: the revision is of the policy that answered, also when
// it was swapped after it was asked.
func TestShadowRevision(t *testing.T) {
	g := newRig(t, plainTool)
	g.Shadow, g.ShadowPatience = answers(nil), time.Minute
	g.Call(t.Context(), Call{Name: "t"})
	if s := closeOf(t, g).Shadow; s == nil || s.Revision != "sha256:2" {
		t.Errorf("%+v", s)
	}
}

// TestShadowOfAnApprovedCall: the answer is to the decision that the call ran
// under, which is made again once the human has answered.
func TestShadowOfAnApprovedCall(t *testing.T) {
	g := newRig(t, plainTool)
	g.decide = func() (*decision.Decision, error) { return allowing("REQUIRED"), nil }
	g.Shadow, g.ShadowPatience = answers(nil), time.Minute
	res := g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP,
		Principal: decision.Principal{Subject: "local", Method: "none"}, Asker: asker{channel: "elicitation", action: "accept"}})
	if s := closeOf(t, g).Shadow; res.Err != nil || s == nil || s.Kind == nil || *s.Kind != "approval-changed" {
		t.Errorf("%v, %+v", res.Err, s)
	}
}

// TestShadowOfACallInTwoRequests: the request that only asks gives its question
// to the shadow up; the one that ends the call has the answer.
func TestShadowOfACallInTwoRequests(t *testing.T) {
	g := newRig(t, plainTool)
	g.decide = func() (*decision.Decision, error) { return allowing("REQUIRED"), nil }
	given := make(chan error, 1)
	g.Shadow = other{decide: func(ctx context.Context) (*decision.Decision, error) {
		<-ctx.Done()
		given <- ctx.Err()
		return nil, ctx.Err()
	}}
	call := Call{Name: "t", Origin: decision.OriginMCPHTTP, Principal: decision.Principal{Subject: "local", Method: "none"},
		Asker: asker{channel: "input_required", action: approval.ActionDeferred}}
	first := g.Call(t.Context(), call)
	if first.InputRequired == nil {
		t.Fatalf("%+v", first)
	}
	if err := <-given; !errors.Is(err, context.Canceled) {
		t.Errorf("the first question ended with %v", err)
	}
	g.Shadow, g.ShadowPatience = answers(denying("no-words")), time.Minute
	call.State, call.Answer = first.InputRequired.State, approval.ActionAccept
	res := g.Call(t.Context(), call)
	if s := closeOf(t, g).Shadow; res.Err != nil || res.CallID != first.CallID || s == nil || s.Kind == nil || *s.Kind != "newly-denied" {
		t.Errorf("%v, %+v", res.Err, s)
	}
}

// TestShadowIsBounded: a shadow that never answers holds so many calls and no
// more, and none of them up.
func TestShadowIsBounded(t *testing.T) {
	g := newRig(t, plainTool)
	g.Shadow, g.ShadowPatience = forever, 0
	for range maxShadowing + 1 {
		if res := g.Call(t.Context(), Call{Name: "t"}); res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	if s := g.log[len(g.log)-1].Shadow; s.Error == nil || *s.Error.Reason != "shadow-busy" {
		t.Errorf("the last record says %+v", s)
	}
}

// TestShadowRunsBesideTheTool: the shadow is asked while the code runs.
func TestShadowRunsBesideTheTool(t *testing.T) {
	g := newRig(t, plainTool)
	asked := make(chan bool)
	g.Shadow, g.ShadowPatience = other{decide: func(context.Context) (*decision.Decision, error) {
		close(asked)
		return allowing("DISABLED"), nil
	}}, time.Minute
	g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
		<-asked
		return worker.Reply{Result: json.RawMessage("1")}, nil
	}
	if res := g.Call(t.Context(), Call{Name: "t"}); res.Err != nil {
		t.Error(res.Err)
	}
}

// TestDecisionsAreCounted by what came of them.
func TestDecisionsAreCounted(t *testing.T) {
	for want, prepare := range map[string]func(*rig){
		"allowed": func(*rig) {},
		"denied":  func(g *rig) { g.decide = answersOf(denying("words")) },
		"hidden":  func(g *rig) { g.visible = false },
		"failed": func(g *rig) {
			g.decide = func() (*decision.Decision, error) { return nil, fault.New(fault.PolicyUnavailable, "undefined", "no") }
		},
		"rejected": func(g *rig) {
			g.decide = func() (*decision.Decision, error) { return nil, fault.New(fault.ResolverReject, "network-mode", "no") }
		},
	} {
		g := newRig(t, plainTool)
		counts := &tallied{}
		g.Observer = counts
		prepare(g)
		g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP})
		if d := cmp.Diff([]string{"decided " + want}, counts.seen); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

// TestNoShadowOfAnOwnRun: an author's own test is nobody's call.
func TestNoShadowOfAnOwnRun(t *testing.T) {
	g := newRig(t, plainTool)
	g.Shadow = panics
	g.Call(t.Context(), Call{Origin: decision.OriginCLITest, Own: Own{Unpublished: &catalog.Tool{Spec: g.tool.Spec}}})
	if s := closeOf(t, g).Shadow; s != nil {
		t.Errorf("%+v", s)
	}
}

// TestRecordOfWhoAsked: a record says which rule asked, and whether it had to
// be somebody else; one of a call that was denied before does not.
func TestRecordOfWhoAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		policy   func(*decision.Decision)
		rule     string
		fourEyes bool
		none     bool
	}{
		"asked":     {policy: asking("hitl-default", false), rule: "hitl-default"},
		"four eyes": {policy: asking("site-two", true), rule: "site-two", fourEyes: true},
		"passed":    {policy: func(d *decision.Decision) { d.HumanInTheLoop.RuleID = "hitl-disabled" }, rule: "hitl-disabled"},
		"denied":    {policy: denying("no"), none: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, plainTool)
			g.decide = answersOf(tc.policy)
			g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP, Principal: decision.Principal{Subject: "local", Method: "none"}})
			h := closeOf(t, g).HITL
			if tc.none {
				if h.RuleID != nil || h.FourEyes != nil {
					t.Errorf("%+v", h)
				}
				return
			}
			if h.RuleID == nil || *h.RuleID != tc.rule || h.FourEyes == nil || *h.FourEyes != tc.fourEyes {
				t.Errorf("%+v", h)
			}
		})
	}
}
