package resolver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// short writes a way on one line.
func (w Way) short() string {
	var steps []string
	for _, c := range w.Changes {
		step := "-" + strings.TrimPrefix(c.Pointer, "/sandboxOverrides/")
		if c.Set != "" {
			step = c.Set
		}
		steps = append(steps, step)
	}
	return fmt.Sprintf("%s %t %s %s: %s", w.Level, w.Allow, w.Approval, w.RuleID, strings.Join(steps, " "))
}

// TestWays: what the policy would say to a changed document, found by asking
// it, so that it holds for settings and rules of an installation as well.
func TestWays(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	settings := func(old, changed string) map[string]string {
		return map[string]string{"rego/data.json": strings.Replace(read(t, policyFolder(t, nil), "rego/data.json"), old, changed, 1)}
	}
	hosts := func(h ...string) map[string]any { return map[string]any{"networkMode": "allowlist", "hostsAllow": h} }
	for _, tt := range []struct {
		name   string
		policy map[string]string
		fields map[string]any
		args   string
		says   string // of the approval
		ways   []string
	}{
		{"nothing to ask", nil, nil, "", "DISABLED, the document does not say, and a human is asked from L1 on (hitl.defaultFrom); the level is L0", []string{}},
		{"one signal", nil, overrides(map[string]any{"fileRead": true}), "", "REQUIRED, the document does not say, and from L1 on (hitl.defaultFrom) a human is asked; the level is L3", []string{
			"L3 true DISABLED hitl-disabled: DISABLED",
			"L0 true DISABLED hitl-default: -fileRead",
		}},
		{"one host of two", nil, overrides(hosts("a.example", "*")), "", "REQUIRED", []string{
			"L4 true DISABLED hitl-disabled: DISABLED",
			"L3 true REQUIRED hitl-default: -hostsAllow/1",
			"L3 true DISABLED hitl-disabled: -hostsAllow/1 DISABLED",
			"L0 true DISABLED hitl-default: -hostsAllow/1 -networkMode",
		}},
		{"a signal behind another", nil, overrides(map[string]any{"fileRead": true, "fileWrite": true}), "", "REQUIRED", []string{
			"L4 true DISABLED hitl-disabled: DISABLED",
			"L3 true REQUIRED hitl-default: -fileWrite",
			"L3 true DISABLED hitl-disabled: -fileWrite DISABLED",
			"L0 true DISABLED hitl-default: -fileRead -fileWrite",
		}},
		{"a list as a whole", nil, overrides(map[string]any{"addAllowClasses": []string{"com.a.A", "com.a.B"}}), "", "REQUIRED", []string{
			"L3 true DISABLED hitl-disabled: DISABLED",
			"L0 true DISABLED hitl-default: -addAllowClasses",
		}},
		{"below the threshold", nil, map[string]any{"humanInTheLoop": map[string]any{"mode": "AUTO_APPROVE"}, "sandboxOverrides": map[string]any{"fileRead": true}}, "",
			"REQUIRED, the document says AUTO_APPROVE, which from L3 on (hitl.threshold) asks, and the level is L3", []string{
				"L3 true DISABLED hitl-disabled: DISABLED",
				"L0 true DISABLED hitl-auto-approve: -fileRead",
			}},
		{"under the floor", nil, map[string]any{"humanInTheLoop": map[string]any{"mode": "DISABLED"}, "sandboxOverrides": map[string]any{"destructive": true}}, "",
			"REQUIRED, the level is L5, and from L5 on (hitl.floor) a human is asked whatever the document says", []string{
				"L0 true DISABLED hitl-disabled: -destructive",
			}},
		{"the operator's rule", settings(`"requiredTools": []`, `"requiredTools": ["probe"]`), overrides(map[string]any{"fileRead": true}), "",
			"REQUIRED, the rule hitl-operator-rule demands a human, whatever the document says", []string{
				"L0 true REQUIRED hitl-operator-rule: -fileRead",
			}},
		{"a denial", settings(`"maxRiskLevel": "L5"`, `"maxRiskLevel": "L2"`), overrides(map[string]any{"fileRead": true}), "", "REQUIRED", []string{
			"L3 false DISABLED hitl-disabled: DISABLED",
			"L0 true DISABLED hitl-default: -fileRead",
		}},
		{"raised by the call", map[string]string{"rego/risk/amount.rego": raising}, overrides(map[string]any{"fileRead": true}), `{"amount": 2000}`, "REQUIRED", []string{
			"L4 true DISABLED hitl-disabled: DISABLED",
		}},
		{"from a layer", map[string]string{"cue/bindings.cue": "package toolwarrant\n\nprofiles: own: fileRead: true\nbindings: [{profile: \"own\"}]\n"}, nil, "", "REQUIRED", []string{
			"L3 true DISABLED hitl-disabled: DISABLED",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{}
			if tt.policy != nil {
				o.Policy = policyFolder(t, tt.policy)
			}
			req := request(doc(t, tt.fields))
			if tt.args != "" {
				req.Args = []byte(tt.args)
			}
			x, err := newResolver(t, o).Explain(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, w := range x.Ways {
				got = append(got, w.short())
			}
			if diff := cmp.Diff(tt.ways, got); diff != "" {
				t.Error(diff)
			}
			if !strings.HasPrefix(x.Approval.Message, tt.says) || x.Approval.Rule.Line == 0 {
				t.Errorf("approval: %+v", x.Approval)
			}
		})
	}
}

// TestExplainARejection: what the layers would take instead.
func TestExplainARejection(t *testing.T) {
	r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"cue/bindings.cue": ceilings})})
	for _, tt := range []struct {
		name   string
		fields map[string]any
		bounds []string
		ways   []string
	}{
		{"both overrides", map[string]any{"x-toolwarrant-profile": "offline", "sandboxOverrides": map[string]any{"networkMode": "strict", "fileRead": true, "addDenyClasses": []string{"com.a.A"}}},
			[]string{`network.mode: "blocked" takes blocked`, "fileRead: false takes false", "fileWrite: false takes false", `riskLevel: <="L2" takes L0 L1 L2`},
			[]string{"L0 true DISABLED hitl-default: -fileRead -networkMode"}},
		{"one entry", map[string]any{"tags": []string{"low"}, "sandboxOverrides": map[string]any{"networkMode": "allowlist", "hostsAllow": []string{"*", "a.example"}}},
			[]string{`riskLevel: <="L3" takes L0 L1 L2 L3`}, []string{"L3 true REQUIRED hitl-default: -hostsAllow/0"}},
		{"a category", map[string]any{"tags": []string{"words"}, "category": "WEB"}, []string{`category: "TEXT" | "MATH" takes `}, []string{}},
		{"a profile that widens", map[string]any{"x-toolwarrant-profile": "denied", "tags": []string{"denied"}, "sandboxOverrides": map[string]any{"fileRead": true}},
			[]string{`denyClasses: [...!~"^com"] takes `}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := r.Explain(context.Background(), request(doc(t, tt.fields)))
			var rejected *Rejection
			if !errors.As(err, &rejected) || x == nil || x.Decision != nil {
				t.Fatalf("%+v, %v", x, err)
			}
			if len(x.Rejected) != len(rejected.All) || x.Rejected[0].Line == 0 {
				t.Errorf("rejected: %+v", x.Rejected)
			}
			bounds, got := []string{}, []string{}
			for _, b := range x.Bounds {
				bounds = append(bounds, b.Path+": "+b.Demands+" takes "+strings.Join(b.Accepts, " "))
				if !strings.HasPrefix(b.Layer, "profile:") || !strings.HasPrefix(b.At, "cue/") {
					t.Errorf("the bound has no place: %+v", b)
				}
			}
			for _, w := range x.Ways {
				got = append(got, w.short())
			}
			if diff := cmp.Diff(tt.bounds, bounds); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.ways, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestExplainNamesTheRule of an id that has no METADATA of its own.
func TestExplainNamesTheRule(t *testing.T) {
	access := strings.Replace(read(t, policyFolder(t, nil), "rego/data.json"), `"rules": []`,
		`"rules": [{"id": "not-today", "effect": "deny", "message": "no"}]`, 1)
	r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"rego/data.json": access})})
	x, err := r.Explain(context.Background(), request(doc(t, map[string]any{"humanInTheLoop": map[string]any{"mode": "REQUIRED"}})))
	if err != nil {
		t.Fatal(err)
	}
	line := 1 + strings.Count(access[:strings.Index(access, "not-today")], "\n")
	if len(x.Reasons) != 1 || x.Reasons[0].Rule.File != "rego/data.json" || x.Reasons[0].Rule.Line != line {
		t.Errorf("reasons: %+v, want line %d", x.Reasons, line)
	}
	rule := strings.Split(read(t, policyFolder(t, nil), "rego/hitl/verdict.rego"), "\n")[x.Approval.Rule.Line-1]
	if x.Approval.ID != "hitl-required" || !strings.Contains(rule, "hitl-required") {
		t.Errorf("approval: %+v at %q", x.Approval, rule)
	}
}

// A policy without the words for it is explained all the same.
func TestExplainAnOlderPolicy(t *testing.T) {
	folder := policyFolder(t, map[string]string{"rego/hitl/because.rego": "package toolwarrant.hitl\n\nimport rego.v2\n"})
	x, err := newResolver(t, Options{Policy: folder}).Explain(context.Background(), request(doc(t, nil)))
	if err != nil || x.Approval.Message != "DISABLED, from default" || len(x.Demands) != 0 {
		t.Errorf("%+v, %v", x, err)
	}
}
