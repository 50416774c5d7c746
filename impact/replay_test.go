package impact

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

var operator = resolver.Operator{BasePath: "/base"}

func builtin(t testing.TB) *resolver.Resolver {
	t.Helper()
	r, err := resolver.New(context.Background(), resolver.Options{Operator: operator})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// recorder writes calls that were decided by a policy into a log.
type recorder struct {
	t      testing.TB
	dir    string
	log    *audit.Writer
	policy *resolver.Resolver
	spec   *spec.Spec
}

func newRecorder(t testing.TB, document string) *recorder {
	t.Helper()
	s, faults := spec.Parse("probe.json", []byte(document))
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	dir := t.TempDir()
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &recorder{t, dir, log, builtin(t), s}
}

const probe = `{"name":"probe","code":"return 1","codeType":"Javascript","sandboxOverrides":{"networkMode":"strict"}}`

// objects enters what decided and what ran.
func (r *recorder) objects() {
	r.t.Helper()
	a, _ := r.policy.Artefact(r.policy.Revision())
	for _, o := range []audit.Object{
		{Kind: "spec", Digest: r.spec.Digest(), Content: r.spec.Canonical()},
		{Kind: "policy", Digest: a.Digest, Content: a.Content},
	} {
		if err := r.log.Object(context.Background(), o); err != nil {
			r.t.Fatal(err)
		}
	}
}

// call records one call; change may make the record say something else.
func (r *recorder) call(id string, change func(*audit.Call)) {
	r.t.Helper()
	who := decision.Principal{Subject: "ann", Method: "bearer", ClientID: "c", Groups: []string{}, Scopes: []string{}}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d, err := r.policy.Resolve(context.Background(), resolver.Request{
		Tool: resolver.Tool{Spec: r.spec, Source: "user"}, Principal: who, Origin: decision.OriginMCPHTTP, Args: []byte(`{}`), Now: now,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	in, err := json.Marshal(map[string]any{
		"principal": who, "call": map[string]any{"origin": decision.OriginMCPHTTP, "args": map[string]any{}}, "now": now, "approvals": []any{},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	ok := fault.OK
	c := audit.Call{
		Phase: audit.PhaseClose, CallID: id, Origin: decision.OriginMCPHTTP, Tool: &d.Tool, ToolSafety: &d.ToolSafety,
		Policy: &audit.Policy{Revision: d.PolicyRevision, ProfileChain: d.ProfileChain}, Effective: &d.EffectivePolicy,
		Decision:  &audit.Decision{ID: d.DecisionID, DecidedAt: d.DecidedAt, Input: in, MaskedPointers: []string{}},
		RiskLevel: &d.RiskLevel, RiskSignals: d.RiskSignals, Reasons: d.Reasons, Outcome: &ok,
		HITL: &audit.HITL{Mode: d.HumanInTheLoop.Mode, Outcome: audit.HITLAccepted, RuleID: &d.HumanInTheLoop.RuleID, FourEyes: &d.HumanInTheLoop.Approvers.FourEyes},
	}
	if change != nil {
		change(&c)
	}
	if err := r.log.Close(context.Background(), c, nil); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recorder) replay(policy *resolver.Resolver) *ReplayReport {
	r.t.Helper()
	report, err := Replay(context.Background(), []string{filepath.Join(r.dir, audit.FileName)},
		ReplayOptions{Policy: policy, Operator: operator, Objects: []string{r.dir}})
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

// TestReplayKinds tampers with what a record says was decided; the answer
// given anew is the built-in policy's: allowed, a person is asked, L3.
func TestReplayKinds(t *testing.T) {
	denied := fault.Denied
	for name, c := range map[string]struct {
		change func(*audit.Call)
		want   ReplaySummary
		rules  []string
		gap    string
	}{
		"as it was":        {nil, ReplaySummary{Counts: Counts{Same: 1}}, nil, ""},
		"it was denied":    {func(c *audit.Call) { c.Reasons = []decision.Reason{{ID: "closed"}} }, ReplaySummary{Counts: Counts{NewlyAllowed: 1}, Widened: 1}, []string{"closed"}, ""},
		"nobody was asked": {func(c *audit.Call) { c.HITL.Mode = "DISABLED" }, ReplaySummary{Counts: Counts{ApprovalChanged: 1}}, []string{"hitl-default"}, ""},
		"it ended too early": {func(c *audit.Call) {
			older(c) // the rule is kept from where somebody could be asked
			c.HITL.Mode, c.HITL.Outcome, c.Outcome = "DISABLED", audit.HITLNotRequired, &denied
		}, ReplaySummary{Counts: Counts{Same: 1}}, nil, ""},
		"a lower level": {func(c *audit.Call) {
			level := "L2"
			c.RiskLevel, c.RiskSignals = &level, []decision.Signal{{ID: "network-strict", Level: "L2"}}
		}, ReplaySummary{Counts: Counts{Changed: 1}}, []string{"network-strict"}, ""},
		"fewer grants": {func(c *audit.Call) {
			p := *c.Effective
			p.TimeoutSeconds = 1
			c.Effective = &p
		}, ReplaySummary{Counts: Counts{Changed: 1}, Widened: 1}, []string{"effectivePolicy.timeoutSeconds"}, ""},
		"another workspace": {func(c *audit.Call) {
			p := *c.Effective
			p.FS.BasePath = "/elsewhere"
			c.Effective = &p
		}, ReplaySummary{Counts: Counts{Same: 1}}, nil, ""},
		"never decided":   {func(c *audit.Call) { c.Decision = nil }, ReplaySummary{Undecided: 1}, nil, ""},
		"no input":        {func(c *audit.Call) { c.Decision.Input = nil }, ReplaySummary{Unrepeatable: 1}, nil, "/decision/input"},
		"an input cut":    {func(c *audit.Call) { c.Decision.Input = []byte(`{"truncated":true,"bytes":9}`) }, ReplaySummary{Unrepeatable: 1}, nil, "/decision/input"},
		"an unknown tool": {func(c *audit.Call) { c.Tool.SpecDigest = "sha256:" + strings.Repeat("0", 64) }, ReplaySummary{Unrepeatable: 1}, nil, "/tool/specDigest"},
		"masked, not read": {func(c *audit.Call) {
			c.Decision.MaskedPointers = []string{"/params/x", "/decision/input/call/args/x", "/decision/input/principal/clientId"}
		}, ReplaySummary{Counts: Counts{Same: 1}}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(t, probe)
			r.objects()
			r.call("call-1", c.change)
			got := r.replay(r.policy)
			c.want.Calls = 1
			if diff := cmp.Diff(c.want, got.Summary); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, got.Differences)
			}
			var rules []string
			for _, row := range got.Rules {
				rules = append(rules, row.ID)
			}
			if diff := cmp.Diff(c.rules, rules); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
			wantGap(t, got, c.gap)
		})
	}
}

// wantGap checks what the first call that cannot be repeated lacks, "" = there
// is none.
func wantGap(t *testing.T, r *ReplayReport, want string) {
	t.Helper()
	gap := ""
	if len(r.Gaps) > 0 {
		gap = r.Gaps[0].Pointer
	}
	if gap != want {
		t.Errorf("gap %q, want %q", gap, want)
	}
}

// TestReplayOfItself: by the policies that the log holds, nothing differs.
func TestReplayOfItself(t *testing.T) {
	r := newRecorder(t, probe)
	r.objects()
	for i := range 50 {
		r.call("call-"+strconv.Itoa(i), nil)
	}
	if s := r.replay(nil).Summary; s.Same != 50 || s.Calls != 50 {
		t.Errorf("%+v", s)
	}
}

func TestReplayRefusesAnAlteredLog(t *testing.T) {
	r := newRecorder(t, probe)
	r.objects()
	r.call("call-1", nil)
	file := filepath.Join(r.dir, audit.FileName)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(raw), `"L3"`, `"L4"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Replay(context.Background(), []string{file}, ReplayOptions{Policy: r.policy, Objects: []string{r.dir}})
	f := fault.From(err)
	if f == nil || f.Code != fault.InvalidInput || f.Reason != "log-invalid" || f.Line != 3 {
		t.Errorf("%v", err)
	}
	if _, err = Replay(context.Background(), []string{file}, ReplayOptions{Policy: r.policy, Objects: []string{r.dir}, Unverified: true}); err != nil {
		t.Error(err)
	}
}

func TestHiddenInput(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	for name, c := range map[string]struct {
		args    string
		masked  []string
		hidden  []string
		missing bool
	}{
		"nothing":          {`{"a":1}`, nil, nil, false},
		"a value":          {`{"a":"***"}`, []string{"/params/a", "/decision/input/call/args/a"}, []string{"/call/args/a"}, false},
		"a name":           {`{"a":{"***":1}}`, []string{"/decision/input/call/args/a/***"}, []string{"/call/args/a"}, false},
		"a name in a name": {`{"a":{"x***y":{"b":1}}}`, []string{"/decision/input/call/args/a/x***y/b"}, []string{"/call/args/a"}, false},
		"too many to name": {`{}`, []string{"(3 more)"}, []string{"/call/args", "/principal/clientId"}, false},
		"a text cut":       {`{"a/b":["` + long[:10] + `…[60000 more bytes]"]}`, nil, []string{"/call/args/a~1b/0"}, false},
		"everything":       {`{}`, []string{"/decision/input"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			raw := fmt.Sprintf(`{"principal":{"subject":"ann"},"call":{"origin":"mcp-http","args":%s},"now":"2026-01-02T03:04:05Z","approvals":[]}`, c.args)
			in, gap := inputOf(audit.Record{Call: audit.Call{Decision: &audit.Decision{Input: []byte(raw), MaskedPointers: c.masked}}})
			if (gap != nil) != c.missing {
				t.Fatalf("gap %v", gap)
			}
			if in != nil {
				if diff := cmp.Diff(c.hidden, in.hidden); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestReplayRowsAreBounded: a log of ever new tools does not make the report
// grow without end.
func TestReplayRowsAreBounded(t *testing.T) {
	r := newReplayReport()
	for i := range 3 * maxRows {
		id := strconv.Itoa(i)
		rec := audit.Record{Call: audit.Call{CallID: id, Tool: &decision.Tool{ToolID: id, Name: "t" + id}}}
		r.compare(rec, Answer{Decision: usual(), Visible: true}, Answer{Rejected: []decision.Reason{{ID: "r" + id}}, Visible: true}, "")
		r.unrepeatable(rec, gapOf("masked", "/"+id, ""))
	}
	r.finish()
	if len(r.Tools) > maxRows+1 || len(r.Rules) > maxRows+1 || len(r.Gaps) > maxRows+1 || len(r.Differences) > maxListed {
		t.Errorf("%d tools, %d rules, %d gaps, %d differences", len(r.Tools), len(r.Rules), len(r.Gaps), len(r.Differences))
	}
	if r.Summary.NewlyDenied != 3*maxRows || r.Summary.Unrepeatable != 3*maxRows {
		t.Errorf("%+v", r.Summary)
	}
}

// BenchmarkReplay reports what is left on the heap after a log of b.N calls.
func BenchmarkReplay(b *testing.B) {
	r := newRecorder(b, probe)
	r.objects()
	for i := range b.N {
		r.call("call-"+strconv.Itoa(i), nil)
	}
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	b.ResetTimer()
	report := r.replay(r.policy)
	b.StopTimer()
	b.ReportMetric(float64(int64(live())-int64(before)), "live-B")
	if report.Summary.Same != b.N {
		b.Errorf("%+v", report.Summary)
	}
}
