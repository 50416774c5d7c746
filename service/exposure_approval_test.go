package service

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

func TestApprovalOfABundledTool(t *testing.T) {
	ctx := t.Context()
	s := opened(t, t.TempDir(), settings(t, nil))
	tool := func() *catalog.Tool {
		t.Helper()
		found, err := s.Catalog.Lookup(ctx, "writeTextFile") // REQUIRED, L4
		check(t, err)
		return found
	}
	set := func(mode, reason string, yes bool) (ApprovalChange, error) {
		return s.SetApproval(ctx, operator, tool(), mode, reason, yes)
	}
	call := func() executor.Result {
		return s.Engine.Call(ctx, executor.Call{Principal: operator, Origin: decision.OriginMCPHTTP, Name: "writeTextFile", Args: json.RawMessage(`{"path":"a.txt","content":"x"}`)})
	}
	wants := func(outcome string, err error) {
		t.Helper()
		check(t, err)
		d, err := s.Decide(ctx, tool(), operator, decision.OriginMCPHTTP, nil)
		check(t, err)
		if got := d.HumanInTheLoop.Mode + " " + d.HumanInTheLoop.RuleID; got != outcome {
			t.Errorf("the policy makes %s of it, want %s", got, outcome)
		}
	}
	_, err := set("sometimes", "r", true)
	wantReason(t, err, "approval-mode", "required, auto, disabled or default")
	for mode, reason := range map[string]string{"disabled": " \n", "auto": ""} {
		_, err = set(mode, reason, true)
		wantReason(t, err, "reason-required", "L4", "instead of REQUIRED")
	}
	_, err = set("disabled", "scratch", false)
	wantReason(t, err, "confirmation-required")
	_, err = set("disabled", strings.Repeat("r", 2001), true)
	wantReason(t, err, "reason-too-long")
	wants("REQUIRED hitl-required", nil)
	if f := call().Err; f == nil || f.Code != fault.ApprovalPending {
		t.Fatalf("a call before: %v", f)
	}
	wantEvents(t, s, "approval.")

	change, err := set("disabled", " scratch ", true)
	wants("DISABLED hitl-installation", err)
	if !change.Lowering || change.Draft || change.Old != "REQUIRED" || change.New != "DISABLED" || change.Approval != "DISABLED" {
		t.Errorf("%+v", change)
	}
	if r := call(); r.Err != nil {
		t.Errorf("a call after: %v", r.Err)
	}
	data, err := os.ReadFile(s.Audit.Path())
	check(t, err)
	if !strings.Contains(string(data), `"approvals":[{"kind":"standing","mode":"DISABLED"}]`) {
		t.Error("the record does not say what the decision read")
	}
	_, err = set("DISABLED", "", false) // is so
	wants("DISABLED hitl-installation", err)
	_, err = set("auto", "", false) // more than before
	wants("REQUIRED hitl-threshold", err)
	_, err = set("default", "", false)
	wants("REQUIRED hitl-required", err)
	if len(s.Catalog.Kept().Approvals) != 0 {
		t.Error("what the document says was kept")
	}
	wantEvents(t, s, "approval.", `approval.lower old="REQUIRED" new="DISABLED" riskLevel="L4" reason="scratch"`,
		`approval.raise old="DISABLED" new="AUTO_APPROVE" riskLevel="L4" reason=""`,
		`approval.raise old="AUTO_APPROVE" new="REQUIRED" riskLevel="L4" reason=""`)

	// Two who choose at once: the later one is told.
	stale := tool()
	_, err = set("disabled", "mine", true)
	check(t, err)
	_, err = s.SetApproval(ctx, operator, stale, "auto", "theirs", true)
	wantReason(t, err, "changed-meanwhile")
}

// A rule that demands a human, and the floor, hold whatever is kept.
func TestApprovalBelowFloorsAndDemands(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "policy")
	builtinWith(t, dir, map[string]string{`"floor": "L5"`: `"floor": "L4"`, `"requiredCategories": []`: `"requiredCategories": ["WEB"]`})
	s := opened(t, t.TempDir(), settings(t, map[string]any{"policy.path": dir}))
	for name, rule := range map[string]string{"writeTextFile": "hitl-floor", "getWeather": "hitl-operator-rule"} {
		tool, err := s.Catalog.Lookup(ctx, name)
		check(t, err)
		change, err := s.SetApproval(ctx, operator, tool, "required", "", false)
		check(t, err)
		tool, err = s.Catalog.Lookup(ctx, name)
		check(t, err)
		change, err = s.SetApproval(ctx, operator, tool, "disabled", "r", true)
		check(t, err)
		if !change.Lowering || change.Approval != "REQUIRED" {
			t.Errorf("%s: %+v", name, change)
		}
		tool, err = s.Catalog.Lookup(ctx, name)
		check(t, err)
		d, err := s.Decide(ctx, tool, operator, decision.OriginMCPHTTP, nil)
		check(t, err)
		if d.HumanInTheLoop.RuleID != rule || !d.HumanInTheLoop.Required() {
			t.Errorf("%s: %+v", name, d.HumanInTheLoop)
		}
	}
}

// builtinWith writes the built-in policy with other settings, and one test in
// the place of its own.
func builtinWith(t *testing.T, dir string, other map[string]string) {
	t.Helper()
	check(t, resolver.WriteBuiltin(dir))
	check(t, os.RemoveAll(filepath.Join(dir, "policy_test")))
	check(t, os.Mkdir(filepath.Join(dir, "policy_test"), 0o700))
	check(t, os.WriteFile(filepath.Join(dir, "policy_test", "one_test.rego"), []byte("package one_test\n\nimport rego.v2\n\ntest_one if true\n"), 0o600))
	file := filepath.Join(dir, "rego", "data.json")
	data, err := os.ReadFile(file)
	check(t, err)
	text := string(data)
	for old, new := range other {
		if !strings.Contains(text, old) {
			t.Fatalf("the settings do not have %s", old)
		}
		text = strings.ReplaceAll(text, old, new)
	}
	check(t, os.WriteFile(file, []byte(text), 0o600))
}

// The document of a user tool is edited, and it is a draft until it passes.
func TestApprovalOfAUserTool(t *testing.T) {
	ctx := t.Context()
	home, trusted := t.TempDir(), t.TempDir()
	doc := func(name, block string) string {
		return `{"name":"` + name + `","toolId":"id-` + name + `","description":"Returns one.",` + block + `"draft":false,"code":"return 1","codeType":"Javascript","x-mine": [1,  2]}`
	}
	files := map[string]string{
		"absent":   filepath.Join(home, "catalog", "absent.json"),
		"prompted": filepath.Join(home, "catalog", "prompted.json"),
		"reader":   filepath.Join(home, "catalog", "reader.json"),
		"trusted":  filepath.Join(trusted, "trusted.json"),
	}
	blocks := map[string]string{
		"prompted": `"humanInTheLoop": {"promptTemplate":"Sure?", "mode" : "REQUIRED"},`, "trusted": `"humanInTheLoop":{"mode":"REQUIRED"},`,
		"reader": `"sandboxOverrides":{"fileRead":true},`,
	}
	check(t, os.MkdirAll(filepath.Join(home, "catalog"), 0o700))
	for name, file := range files {
		check(t, os.WriteFile(file, []byte(doc(name, blocks[name])), 0o600))
	}
	s := opened(t, home, settings(t, map[string]any{"catalog.trust-folders": true, "catalog.dirs": []string{trusted}}))
	find := func(name string) *catalog.Tool {
		t.Helper()
		tool, err := s.Catalog.Lookup(ctx, name)
		check(t, err)
		return tool
	}
	for _, tc := range []struct {
		name, mode string
		lowering   bool
		old, holds string // what the document has then
	}{
		{"prompted", "auto", true, "REQUIRED", `{"promptTemplate":"Sure?", "mode" : "AUTO_APPROVE"}`},
		{"prompted", "disabled", true, "AUTO_APPROVE", `{"promptTemplate":"Sure?", "mode" : "DISABLED"}`},
		{"prompted", "required", false, "DISABLED", `{"promptTemplate":"Sure?", "mode" : "REQUIRED"}`},
		{"prompted", "default", true, "REQUIRED", `{"promptTemplate":"Sure?", "mode" : null}`}, // L0, not asked
		{"absent", "disabled", false, "DEFAULT", `{"mode": "DISABLED"}`},                       // L0 is not asked anyway
		{"absent", "required", false, "DISABLED", `{"mode": "REQUIRED"}`},
		{"reader", "disabled", true, "DEFAULT", `{"mode": "DISABLED"}`}, // L3 is asked
		{"reader", "default", false, "DISABLED", `{"mode": null}`},
		{"trusted", "disabled", true, "REQUIRED", `{"mode":"DISABLED"}`},
	} {
		t.Run(tc.name+" "+tc.mode, func(t *testing.T) {
			if tc.name != "trusted" {
				_, err := s.Publish(ctx, operator, find(tc.name), "", TestOptions{})
				check(t, err)
			}
			tool := find(tc.name)
			if tool.State != catalog.StateActive {
				t.Fatal(tool.State, tool.Why)
			}
			if tc.lowering {
				_, err := s.SetApproval(ctx, operator, tool, tc.mode, "", true)
				wantReason(t, err, "reason-required")
				_, err = s.SetApproval(ctx, operator, tool, tc.mode, "r", false)
				wantReason(t, err, "confirmation-required")
			}
			change, err := s.SetApproval(ctx, operator, tool, tc.mode, map[bool]string{true: "r"}[tc.lowering], tc.lowering)
			check(t, err)
			if change.Lowering != tc.lowering || change.Old != tc.old || !change.Draft {
				t.Errorf("%+v", change)
			}
			data, err := os.ReadFile(files[tc.name])
			check(t, err)
			if !strings.Contains(string(data), tc.holds) || !strings.Contains(string(data), `"x-mine": [1,  2]`) {
				t.Errorf("the document is %s", data)
			}
			if now := find(tc.name); now.State != catalog.StateDraft {
				t.Errorf("it is %s without having passed", now.State)
			}
			kind := map[bool]string{true: "approval.lower", false: "approval.raise"}[tc.lowering]
			all := events(t, s, "approval.")
			if last := all[len(all)-1]; last.Kind != kind || string(last.Detail["name"]) != `"`+tc.name+`"` {
				t.Errorf("the event is %s of %s", last.Kind, last.Detail["name"])
			}
		})
	}
	// A document that somebody edits meanwhile is left alone, and the log says so.
	tool := find("absent")
	check(t, os.WriteFile(files["absent"], []byte(doc("absent", `"humanInTheLoop":{"mode":"REQUIRED"},"tags":["util"],`)), 0o600))
	_, err := s.SetApproval(ctx, operator, tool, "disabled", "r", true)
	wantReason(t, err, "changed-on-disk")
	if all := events(t, s, "approval."); all[len(all)-1].Kind != "approval.lower.failed" {
		t.Errorf("the last event is %s", all[len(all)-1].Kind)
	}
}
