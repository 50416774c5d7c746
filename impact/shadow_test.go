package impact

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

func text(s string) *string { return &s }

// said makes a record say something of a shadow.
func said(revision string, kind Kind, rules []string, changes ...audit.Difference) func(*audit.Call) {
	return func(c *audit.Call) {
		c.Shadow = &audit.Shadow{Revision: revision, Kind: text(string(kind)), Rules: rules, Differences: changes}
	}
}

func shadowLog(t *testing.T) *recorder {
	r := newRecorder(t, probe)
	r.objects()
	r.call("call-1", said("sha256:aa", Same, []string{}))
	r.call("call-2", said("sha256:aa", NewlyDenied, []string{"no-words", "site"}, audit.Difference{
		Path: "allow", Direction: "tightened", Old: json.RawMessage("true"), New: json.RawMessage("false")}))
	r.call("call-3", said("sha256:ab", OtherChange, []string{"limits.ratePerMinute"}, audit.Difference{
		Path: "limits.ratePerMinute", Direction: "widened", Old: json.RawMessage("5"), New: json.RawMessage("10")}))
	for i, reason := range []string{"shadow-late", "eval-error", "shadow-late"} {
		r.call("call-"+strconv.Itoa(4+i), func(c *audit.Call) {
			c.Shadow = &audit.Shadow{Revision: "sha256:ab", Error: &audit.Error{Code: fault.PolicyUnavailable, Reason: text(reason), Message: "no"}}
		})
	}
	r.call("call-7", nil)
	r.call("call-8", func(c *audit.Call) { c.Tool, c.Decision = &decision.Tool{Name: "nosuch"}, nil })
	return r
}

func TestShadow(t *testing.T) {
	r := shadowLog(t)
	files := []string{filepath.Join(r.dir, audit.FileName)}
	got, err := Shadow(context.Background(), files, ShadowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	counts := Counts{Same: 1, NewlyDenied: 1, Changed: 1}
	want := &ShadowReport{
		Revisions: []ShadowRevision{{"sha256:aa", 2}, {"sha256:ab", 4}},
		Summary:   ShadowSummary{Calls: 8, Unasked: 2, Failed: 3, Counts: counts, Widened: 1},
		Tools:     []ShadowTool{{Name: "probe", ToolID: r.spec.ToolID, Counts: counts, Failed: 3}},
		Rules: []RuleCounts{{"limits.ratePerMinute", Counts{Changed: 1}}, {"no-words", Counts{NewlyDenied: 1}},
			{"site", Counts{NewlyDenied: 1}}},
		Differences: []Difference{
			{CallID: "call-2", Tool: "probe", Kind: NewlyDenied, Rules: []string{"no-words", "site"}, Changes: []Change{{Path: "allow", Old: true, New: false, Direction: Tightened, Added: []string{}, Removed: []string{}}}},
			{CallID: "call-3", Tool: "probe", Kind: OtherChange, Rules: []string{"limits.ratePerMinute"}, Changes: []Change{{Path: "limits.ratePerMinute", Old: 5.0, New: 10.0, Direction: Widened, Added: []string{}, Removed: []string{}}}},
		},
		Failures: []ShadowFailure{{"POLICY_UNAVAILABLE", "eval-error", "no", 1}, {"POLICY_UNAVAILABLE", "shadow-late", "no", 2}},
	}
	for i := range got.Differences {
		got.Differences[i].Time = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for gate, refused := range map[Gate]bool{GateNone: false, GateWidening: true, GateAny: true} {
		if got.Refused(gate) != refused {
			t.Errorf("--fail-on %s: refused %t", gate, got.Refused(gate))
		}
	}

	// One policy alone; calls without any are in it all the same.
	one, err := Shadow(context.Background(), files, ShadowOptions{Revision: "sha256:aa"})
	if err != nil {
		t.Fatal(err)
	}
	if s := one.Summary; s.Calls != 4 || s.Unasked != 2 || s.Failed != 0 || s.NewlyDenied != 1 || len(one.Revisions) != 1 || one.Refused(GateWidening) || !one.Refused(GateAny) {
		t.Errorf("of one revision: %+v %v", s, one.Revisions)
	}
}

func TestShadowText(t *testing.T) {
	r := shadowLog(t)
	got, err := Shadow(context.Background(), []string{filepath.Join(r.dir, audit.FileName)}, ShadowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := `calls                  8
same                   1
would be denied        1
would be allowed       0
approval would change  0
otherwise changed      1
no answer              3
shadow not asked       2

SHADOW POLICY  CALLS
sha256:aa      2
sha256:ab      4

TOOL   SAME  DENIED  ALLOWED  APPROVAL  CHANGED  NO ANSWER
probe  1     1       0        0         1        3

RULE                  DENIED  ALLOWED  APPROVAL  CHANGED
limits.ratePerMinute  0       0        0         1
no-words              1       0        0         0
site                  1       0        0         0

NO ANSWER    CALLS  BECAUSE
eval-error   1      no
shadow-late  2      no

CALL    TOOL   BECOMES       RULES
call-2  probe  newly-denied  no-words, site
call-3  probe  changed       limits.ratePerMinute
`
	if diff := cmp.Diff(want, got.Text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReplayWithShadows: what a shadow said is nothing to a replay.
func TestReplayWithShadows(t *testing.T) {
	r := shadowLog(t)
	for name, s := range map[string]ReplaySummary{"recorded": r.replay(nil).Summary, "builtin": r.replay(r.policy).Summary} {
		if s.Calls != 8 || s.Same != 7 || s.Undecided != 1 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestJudge says what is behind a difference.
func TestJudge(t *testing.T) {
	asked := usual()
	asked.HumanInTheLoop.RuleID = "hitl-floor"
	free := usual()
	free.HumanInTheLoop.Mode = "DISABLED"
	denied := usual()
	denied.Allow, denied.Reasons = false, []decision.Reason{{ID: "no-words"}}
	one := func(d *decision.Decision) Answer { return Answer{Decision: d, Visible: true} }
	for name, c := range map[string]struct {
		before, after Answer
		kind          Kind
		rules         []string
	}{
		"nothing":  {one(usual()), one(usual()), Same, nil},
		"denied":   {one(usual()), one(denied), NewlyDenied, []string{"no-words"}},
		"allowed":  {one(denied), one(usual()), NewlyAllowed, []string{"no-words"}},
		"asked":    {one(free), one(asked), ApprovalChanged, []string{"hitl-floor"}},
		"rejected": {one(usual()), Answer{Rejected: []decision.Reason{{ID: "network-mode"}}}, NewlyDenied, []string{"network-mode"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := Judge(c.before, c.after)
			if diff := cmp.Diff(c.rules, v.Rules); diff != "" || v.Kind != c.kind || (len(v.Changes) == 0) != (c.kind == Same) {
				t.Errorf("%s, %v, %d changes", v.Kind, v.Rules, len(v.Changes))
			}
		})
	}
}
