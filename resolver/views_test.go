package resolver

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

func TestVisible(t *testing.T) {
	data := readFile(t, "../rego/data.json")
	rules := `"rules": [
		{"id": "no-web", "effect": "hide", "categories": ["WEB"], "groups": ["guests"]},
		{"id": "no-math", "effect": "deny", "categories": ["MATH"], "message": "no sums today"}
	]`
	dir := policyFolder(t, map[string]string{
		"rego/data.json": strings.Replace(data, `"rules": []`, rules, 1),
	})
	r := newResolver(t, Options{Policy: dir})
	web := Tool{Spec: doc(t, map[string]any{"name": "web", "category": "WEB"}), Source: "user"}
	math := Tool{Spec: doc(t, map[string]any{"name": "math", "category": "MATH"}), Source: "user"}
	bad := Tool{Spec: doc(t, overrides(map[string]any{"networkMode": "open"})), Source: "user"}
	tools := []Tool{web, math, bad, {}}
	for group, want := range map[string][]bool{"guests": {false, true, false, false}, "staff": {true, true, false, false}} {
		for range 2 { // the second time from memory
			got, err := r.Visible(context.Background(), decision.Principal{Subject: "p", Groups: []string{group}}, tools)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", group, diff)
			}
		}
	}
	req := request(math.Spec)
	d, err := r.Resolve(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	if want := []decision.Reason{{ID: "no-math", Message: "no sums today"}}; d.Allow || !cmp.Equal(want, d.Reasons) {
		t.Errorf("allow %v, reasons %v", d.Allow, d.Reasons)
	}
}

func TestFindings(t *testing.T) {
	r := newResolver(t, Options{})
	fields := overrides(map[string]any{"hostsAllow": []string{"a.example"}, "removeDenyClasses": []string{"java.lang.Thread", "x.Y"}})
	fields["description"] = "Adds two numbers. Returns a number."
	got, err := r.Findings(context.Background(), Tool{Spec: doc(t, fields), Source: "user"}, decision.Principal{})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, f := range got {
		seen = append(seen, f.ID+" "+f.Severity+" "+f.Pointer)
		if f.Line == 0 || f.Message == "" {
			t.Errorf("finding without place or message: %+v", f)
		}
	}
	want := []string{"hosts-ignored warning /sandboxOverrides/hostsAllow", "remove-deny-noop warning /sandboxOverrides/removeDenyClasses/1"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
	// What is not written has the place of the document, what stands in the code
	// a place inside it.
	got, err = r.Findings(context.Background(), Tool{Spec: doc(t, map[string]any{"code": "let a = 1\nwhile (true) a++"}), Source: "user"}, decision.Principal{})
	if err != nil || len(got) != 2 || got[0].CodeLine != 2 || got[0].CodeColumn != 1 || got[1].ID != "description-short" || got[1].Line != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = r.Findings(context.Background(), Tool{Spec: doc(t, overrides(map[string]any{"networkMode": "open"})), Source: "user"}, decision.Principal{})
	wantFault(t, err, fault.ResolverReject, "open-mode-not-allowed")
}

func TestExplain(t *testing.T) {
	r := newResolver(t, Options{Operator: Operator{BasePath: "/base"}})
	fields := overrides(map[string]any{"networkMode": "allowlist", "hostsAllow": []string{"a.example"}, "fileRead": true})
	fields["x-toolwarrant-profile"] = "standard"
	x, err := r.Explain(context.Background(), request(doc(t, fields)))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, l := range x.Layers {
		names = append(names, l.Name)
		if l.Position == "" {
			t.Errorf("layer %s has no position", l.Name)
		}
	}
	if diff := cmp.Diff([]string{"baseline", "profile:standard", "tool"}, names); diff != "" {
		t.Error(diff)
	}
	want := map[string]FieldTrail{
		"network.mode":   {"network.mode", "allowlist", "tool", "/sandboxOverrides/networkMode"},
		"network.hosts":  {"network.hosts", "a.example", "tool", "/sandboxOverrides/hostsAllow"},
		"timeoutSeconds": {"timeoutSeconds", "10", "profile:standard", "cue/profiles/standard.cue:6"},
		"fs.write":       {"fs.write", "false", "baseline", "cue/baseline.cue:"},
		"fs.basePath":    {"fs.basePath", "/base", "operator", ""},
	}
	for _, f := range x.Fields {
		w, ok := want[f.Path]
		if !ok {
			continue
		}
		if f.Value != w.Value || f.Layer != w.Layer || !strings.HasPrefix(f.At, w.At) {
			t.Errorf("%s: %+v, want %+v", f.Path, f, w)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 {
		t.Errorf("no trail for %v", want)
	}
	for _, s := range x.Signals {
		if s.Rule.Title == "" || !strings.HasPrefix(s.Rule.File, "rego/risk/") || s.Rule.Line == 0 {
			t.Errorf("signal without rule: %+v", s)
		}
	}
	if x.Approval.ID != "hitl-default" || x.Approval.Rule.File != "rego/hitl/verdict.rego" {
		t.Errorf("approval: %+v", x.Approval)
	}
}

// Every rule that others can name carries METADATA with an id, and every
// signal of the settings is a rule of the same id.
func TestRulesHaveIDs(t *testing.T) {
	e := newResolver(t, Options{}).active.Load()
	for _, m := range e.program.compiler.Modules {
		for _, rule := range m.Rules {
			if name := rule.Head.Ref().String(); strings.HasPrefix(name, "_") {
				continue
			}
			found := false
			for _, chain := range e.program.compiler.GetAnnotationSet().Chain(rule) {
				if a := chain.Annotations; a != nil && (a.Scope == "rule" || a.Scope == "document") {
					_, found = a.Labels["id"].(string)
					break
				}
			}
			if !found && !sameName(e, m, rule) {
				t.Errorf("%s: %s has no METADATA with a label id", rule.Loc(), rule.Head.Ref())
			}
		}
	}
	signals := e.program.settingsKeys(t, "risk", "signals")
	for _, id := range signals {
		if e.program.rules[id].File == "" {
			t.Errorf("the signal %s is no rule", id)
		}
	}
}

// sameName: another rule of the same name in the module carries the METADATA.
func sameName(e *engine, m *ast.Module, rule *ast.Rule) bool {
	for _, other := range m.Rules {
		if other == rule || other.Head.Ref().String() != rule.Head.Ref().String() {
			continue
		}
		for _, c := range e.program.compiler.GetAnnotationSet().Chain(other) {
			if c.Annotations != nil && c.Annotations.Labels["id"] != nil {
				return true
			}
		}
	}
	return false
}

func (p *program) settingsKeys(t *testing.T, path ...string) []string {
	t.Helper()
	ctx := context.Background()
	txn, err := p.store.NewTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer p.store.Abort(ctx, txn)
	v, err := p.store.Read(ctx, txn, append([]string{"toolwarrant", "settings"}, path...))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	v.(ast.Object).Foreach(func(k, _ *ast.Term) { out = append(out, string(k.Value.(ast.String))) })
	return out
}
