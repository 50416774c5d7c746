package impact

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// site is the built-in policy with rules more and settings replaced.
func site(t testing.TB, rules string, settings ...string) *resolver.Resolver {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	if err := resolver.WriteBuiltin(dir); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "rego", "data.json")
	raw, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(settings...).Replace(string(raw))
	if len(settings) > 0 && changed == string(raw) {
		t.Fatalf("no setting is %q", settings[0])
	}
	if err := os.WriteFile(data, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if rules != "" {
		if err := os.WriteFile(filepath.Join(dir, "rego", "site.rego"), []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := resolver.New(context.Background(), resolver.Options{Policy: dir, Operator: operator, Untested: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	twoPeople = `package toolwarrant.hitl

import rego.v2

demands contains {"id": "site-write-outside", "fourEyes": true} if input.tool.name == "probe"
`
	onePerson = `package toolwarrant.hitl

import rego.v2

demands contains {"id": "site-asks", "fourEyes": false} if input.tool.name == "probe"
`
	hides = `package toolwarrant.access

import rego.v2

hidden contains {"id": "site-hides", "message": "not for them", "path": ""} if input.tool.name == "probe"
`
	byClient = `package toolwarrant.access

import rego.v2

hidden contains {"id": "site-client", "message": "not for it", "path": ""} if input.principal.clientId == "d"
`
)

const withSecret = `{"name":"probe","code":"return 1","codeType":"Javascript","sandboxOverrides":{"networkMode":"strict"},
	"params":[{"name":"secret","description":"a text","type":"STRING","required":false}]}`

// older makes a record one of before four eyes and the rule were kept.
func older(c *audit.Call) { c.HITL.RuleID, c.HITL.FourEyes = nil, nil }

// TestReplayMissesNothing: whatever differs between the policy that decided
// and another one is found, in both directions, whether the record holds it or
// the policy of then has to be asked again.
func TestReplayMissesNothing(t *testing.T) {
	old := site(t, "")
	rules := func(text string) func() *resolver.Resolver {
		return func() *resolver.Resolver { return site(t, text) }
	}
	set := func(pairs ...string) func() *resolver.Resolver {
		return func() *resolver.Resolver { return site(t, "", pairs...) }
	}
	for name, c := range map[string]struct {
		policy  func() *resolver.Resolver
		kind    Kind // from the built-in policy to this one, and back
		rules   []string
		back    []string  // nil: as rules
		toward  Direction // of the way there
		records bool      // it is seen by what a record holds alone
	}{
		"four eyes":            {rules(twoPeople), ApprovalChanged, []string{"site-write-outside"}, nil, Tightened, true},
		"four eyes of all":     {set(`"fourEyes": false`, `"fourEyes": true`), ApprovalChanged, []string{"humanInTheLoop.approvers.fourEyes"}, nil, Tightened, true},
		"who may approve":      {set(`"approvers": {"groups": []`, `"approvers": {"groups": ["leads"]`), ApprovalChanged, []string{"humanInTheLoop.approvers.groups"}, nil, Tightened, false},
		"another rule asks":    {rules(onePerson), OtherChange, []string{"humanInTheLoop.ruleId", "humanInTheLoop.source"}, nil, Changed, true},
		"how long it is asked": {set(`"expirySeconds": 120`, `"expirySeconds": 121`), OtherChange, []string{"humanInTheLoop.expirySeconds"}, nil, Widened, false},
		"nobody is asked":      {set(`"defaultFrom": "L1"`, `"defaultFrom": "L5"`), ApprovalChanged, []string{"hitl-default"}, nil, Widened, true},
		"a rate":               {set(`"ratePerMinute": 0`, `"ratePerMinute": 7`), OtherChange, []string{"limits.ratePerMinute"}, nil, Tightened, false},
		"isolation":            {set(`"L3": "in-process"`, `"L3": "process"`), OtherChange, []string{"isolation.minimum"}, nil, Tightened, false},
		"a mask":               {set(`"maskParams": []`, `"maskParams": ["secret"]`), OtherChange, []string{"mask"}, nil, Tightened, false},
		"it is hidden":         {rules(hides), NewlyDenied, []string{Hidden}, []string{}, Tightened, true},
	} {
		t.Run(name, func(t *testing.T) {
			new := c.policy()
			back := c.back
			if back == nil {
				back = c.rules
			}
			for _, way := range []struct {
				from, to *resolver.Resolver
				rules    []string
				toward   Direction
			}{{old, new, c.rules, c.toward}, {new, old, back, c.toward.Opposite()}} {
				if way.from == new && c.kind == NewlyDenied {
					continue // what is hidden is not decided
				}
				r := newRecorder(t, withSecret)
				r.policy = way.from
				r.objects()
				r.call("call-1", nil)
				r.call("call-2", older)
				got := r.replay(way.to)
				if got.Summary.Partial != 0 || len(got.Differences) != 2 {
					t.Fatalf("%+v", got)
				}
				for _, d := range got.Differences {
					toward := slices.ContainsFunc(d.Changes, func(x Change) bool { return x.Direction == way.toward })
					if d.Kind != c.kind || !slices.Equal(d.Rules, way.rules) || !toward {
						t.Errorf("%s to %s: %+v, want %s %v, %s", way.from.Policy(), way.to.Policy(), d, c.kind, way.rules, way.toward)
					}
				}
				if got.Refused(GateWidening) != (way.toward == Widened) || !got.Refused(GateAny) {
					t.Errorf("the gates say %t %t of %+v", got.Refused(GateWidening), got.Refused(GateAny), got.Summary)
				}
				if s := r.replay(way.from).Summary; s.Same != 2 || s.Partial != 0 {
					t.Errorf("by the policy of then: %+v", s)
				}

				// Without the policy of then the record is all there is, and
				// the report says so.
				r = newRecorder(t, withSecret)
				r.policy = way.from
				spec := audit.Object{Kind: "spec", Digest: r.spec.Digest(), Content: r.spec.Canonical()}
				if err := r.log.Object(context.Background(), spec); err != nil {
					t.Fatal(err)
				}
				r.call("call-1", nil)
				got = r.replay(way.to)
				if found := len(got.Differences) == 1 && got.Differences[0].Kind == c.kind && slices.Equal(got.Differences[0].Rules, way.rules); found != c.records {
					if !(c.kind == OtherChange && c.records && len(got.Differences) == 1) {
						t.Errorf("by the record alone: %+v", got.Differences)
					}
				}
				if got.Summary.Partial != 1 || len(got.Partial) != 1 || got.Partial[0].Reason != "policy-missing" || !slices.Contains(got.Partial[0].NotCompared, "limits") {
					t.Errorf("the report says %+v", got.Partial)
				}
				if !strings.Contains(got.Text(), "Not compared for 1 call: limits, isolation.minimum, mask, humanInTheLoop.approvers.groups") {
					t.Errorf("the text says\n%s", got.Text())
				}
			}
		})
	}
}

// TestReplayVisibility: who sees the tool is asked as before a call, and a
// rule that reads what the log masked makes the call unrepeatable.
func TestReplayVisibility(t *testing.T) {
	for name, c := range map[string]struct {
		rules  string
		change func(*audit.Call)
		want   ReplaySummary
		paths  []string
		gap    string
	}{
		"hidden": {hides, nil, ReplaySummary{Counts: Counts{NewlyDenied: 1}}, []string{"allow", "rejected", "visible", "reasons.hidden"}, ""},
		"hidden, and it was denied": {hides, func(c *audit.Call) { c.Reasons = []decision.Reason{{ID: "closed"}} }, ReplaySummary{Counts: Counts{Changed: 1}},
			[]string{"rejected", "visible", "reasons.closed", "reasons.hidden"}, ""},
		"an author's own test": {hides, func(c *audit.Call) { c.Origin = decision.OriginCLITest }, ReplaySummary{Counts: Counts{Same: 1}}, nil, ""},
		"an author's own run":  {hides, func(c *audit.Call) { c.HITL.Outcome = audit.HITLOwnTest }, ReplaySummary{Counts: Counts{Same: 1}}, nil, ""},
		"another client":       {byClient, nil, ReplaySummary{Counts: Counts{Same: 1}}, nil, ""},
		"a masked client": {byClient, func(c *audit.Call) {
			c.Decision.MaskedPointers = []string{"/principal/clientId", "/decision/input/principal/clientId"}
		}, ReplaySummary{Unrepeatable: 1}, nil, "/decision/input/principal/clientId"},
		"a masked argument": {hides, func(c *audit.Call) {
			c.Decision.MaskedPointers = []string{"/params/x", "/decision/input/call/args/x"}
		}, ReplaySummary{Counts: Counts{NewlyDenied: 1}}, []string{"allow", "rejected", "visible", "reasons.hidden"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(t, probe)
			r.objects()
			r.call("call-1", c.change)
			got := r.replay(site(t, c.rules))
			c.want.Calls = 1
			if diff := cmp.Diff(c.want, got.Summary); diff != "" {
				t.Errorf("(-want +got):\n%s%+v", diff, got.Differences)
			}
			var paths []string
			for _, d := range got.Differences {
				for _, x := range d.Changes {
					paths = append(paths, x.Path)
				}
			}
			if diff := cmp.Diff(c.paths, paths); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			wantGap(t, got, c.gap)
		})
	}
}

// TestReplayOfAMaskedThen: where the policy of then reads what is masked now
// and the other one does not, the record is compared, in part.
func TestReplayOfAMaskedThen(t *testing.T) {
	r := newRecorder(t, probe)
	r.policy = site(t, "package toolwarrant.access\n\nimport rego.v2\n\nreasons contains {\"id\": \"x\", \"message\": \"x\", \"path\": \"\"} if input.call.args.x == \"y\"\n")
	r.objects()
	ok := fault.OK
	r.call("call-1", func(c *audit.Call) {
		c.Decision.MaskedPointers, c.Outcome = []string{"/params/x", "/decision/input/call/args/x"}, &ok
	})
	got := r.replay(builtin(t))
	want := []Partial{{Gap: Gap{Reason: "masked", Pointer: "/decision/input/call/args/x", Message: "a rule of the policy of then reads a value that the log does not have", Calls: 1},
		NotCompared: []string{"limits", "isolation.minimum", "mask", "humanInTheLoop.approvers.groups", "humanInTheLoop.channels", "humanInTheLoop.expirySeconds",
			"humanInTheLoop.outOfBandExpirySeconds", "humanInTheLoop.prompt"}}}
	if diff := cmp.Diff(want, got.Partial); diff != "" || got.Summary.Same != 1 {
		t.Errorf("%+v (-want +got):\n%s", got.Summary, diff)
	}
}
