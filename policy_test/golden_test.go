package policytest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

var update = flag.Bool("update", false, "write what is decided into testdata/decisions.ndjson")

// fact is what is known of a tool apart from this policy: what it asks for,
// and the level that it is at.
type fact struct {
	Name      string          `json:"name"`
	Category  string          `json:"category"`
	Overrides json.RawMessage `json:"sandboxOverrides"`
	Human     json.RawMessage `json:"humanInTheLoop"`
	Level     string          `json:"derivedRiskLevel"`
}

// decided is one line of the golden file: what a reviewer of a change of
// policy wants to see change, and nothing else.
type decided struct {
	Name     string                   `json:"name"`
	Allow    bool                     `json:"allow"`
	Level    string                   `json:"riskLevel"`
	Signals  []string                 `json:"riskSignals"`
	Approval string                   `json:"approval"`
	By       string                   `json:"approvalRule"`
	Reasons  []string                 `json:"reasons"`
	Policy   decision.EffectivePolicy `json:"effectivePolicy"`
}

// TestDecisions decides about every tool of testdata/facts.ndjson. The level
// has to be the one that the facts give; everything else has to be what
// testdata/decisions.ndjson says. Change a rule, run with -update, and the diff
// of that file is the review.
func TestDecisions(t *testing.T) {
	raw, err := os.ReadFile("testdata/facts.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	var facts []fact
	for line := range bytes.Lines(raw) { // lines, since OPA would load a JSON file as data
		var f fact
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		facts = append(facts, f)
	}
	if len(facts) != 88 {
		t.Errorf("%d tools, want 88", len(facts))
	}
	policy, err := resolver.New(context.Background(), resolver.Options{Operator: resolver.Operator{BasePath: "/base"}})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for _, f := range facts {
		d := decide(t, policy, f)
		if d.Level != f.Level {
			t.Errorf("%s is %s, the facts say %s", f.Name, d.Level, f.Level)
		}
		line, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(append(line, '\n'))
	}
	const golden = "testdata/decisions.ndjson"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the decisions differ; run with -update and review (-want +got):\n%s", diff)
	}
}

func decide(t *testing.T, policy *resolver.Resolver, f fact) decided {
	t.Helper()
	document, err := json.Marshal(map[string]any{
		"name": f.Name, "category": f.Category, "code": "return 1", "codeType": "Javascript",
		"sandboxOverrides": f.Overrides, "humanInTheLoop": f.Human,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, faults := spec.Parse(f.Name, document)
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	d, err := policy.Resolve(context.Background(), resolver.Request{
		Tool:      resolver.Tool{Spec: s, Source: "builtin"},
		Principal: decision.Principal{Subject: "local", Method: "none", Groups: []string{}, Scopes: []string{}},
		Origin:    decision.OriginMCPHTTP, Now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC),
	})
	var rejected *resolver.Rejection
	if errors.As(err, &rejected) {
		out := decided{Name: f.Name, Signals: []string{}, Reasons: []string{}}
		for _, r := range rejected.All {
			out.Reasons = append(out.Reasons, r.Reason)
		}
		return out
	}
	if err != nil {
		t.Fatal(err)
	}
	out := decided{
		Name: f.Name, Allow: d.Allow, Level: d.RiskLevel, Approval: d.HumanInTheLoop.Mode, By: d.HumanInTheLoop.RuleID,
		Signals: []string{}, Reasons: []string{}, Policy: d.EffectivePolicy,
	}
	for _, signal := range d.RiskSignals {
		out.Signals = append(out.Signals, signal.ID)
	}
	for _, r := range d.Reasons {
		out.Reasons = append(out.Reasons, r.ID)
	}
	return out
}
