package resolver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
)

// What a list remembers of other tools and callers never changes an answer:
// each is the one of a policy that was asked about nothing else.
func TestListsShareOnlyWhatIsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	dir := policyFolder(t, map[string]string{"rego/data.json": strictSettings(t)})
	o := Options{Policy: dir, Operator: Operator{BasePath: "/base", AllowOpenMode: true}}
	warm, rnd := newResolver(t, o), rand.New(rand.NewPCG(9, 10))
	seen, outlooks := 0, 0
	for range 150 {
		req := anyRequest(t, rnd)
		tools := []Tool{req.Tool, {Spec: doc(t, nil), Source: "user"}}
		got, err := warm.Visible(context.Background(), req.Principal, tools)
		if err != nil {
			t.Fatal(err)
		}
		cold := &Resolver{options: o}
		cold.active.Store(forgetful(t, warm))
		want, err := cold.Visible(context.Background(), req.Principal, tools)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%s: %v %s", req.Tool.Spec.Canonical(), err, diff)
		}
		if got[0] {
			seen++
		}
		req.Origin, req.Args = decision.OriginList, nil
		d, refused := warm.Resolve(context.Background(), req)
		look, err := warm.Outlook(context.Background(), req.Principal, req.Tool)
		if (refused == nil) != (err == nil) {
			t.Fatalf("decision: %v, outlook: %v", refused, err)
		}
		if err != nil {
			continue
		}
		outlooks++
		if diff := cmp.Diff(Outlook{d.RiskLevel, d.EffectivePolicy}, look); diff != "" {
			t.Fatalf("%s: %s", req.Tool.Spec.Canonical(), diff)
		}
	}
	if seen < 10 || seen > 140 || outlooks < 30 {
		t.Errorf("%d of 150 were seen, %d had an outlook", seen, outlooks)
	}
}

// forgetful is the engine of r that remembers no list.
func forgetful(t *testing.T, r *Resolver) *engine {
	t.Helper()
	old := r.active.Load()
	e := &engine{
		revision: old.revision, program: old.program, layers: old.layers, operator: old.operator, opTerm: old.opTerm,
		evaluators: old.evaluators, chains: old.chains, plans: old.plans,
	}
	var err error
	if e.standings, err = newShared[standing](readsContent, readsCategory); err != nil {
		t.Fatal(err)
	}
	if e.seen, err = newShared[bool](readsContent|readsPrincipal, 0); err != nil {
		t.Fatal(err)
	}
	if e.outlooks, err = newShared[Outlook](readsAll, 0); err != nil {
		t.Fatal(err)
	}
	e.lists.Store(&[]*toolList{})
	return e
}

// A list that is asked for again follows the catalog, the caller and the
// policy.
func TestListFollowsWhatChanges(t *testing.T) {
	dir := policyFolder(t, nil)
	r := newResolver(t, Options{Policy: dir})
	var tools []Tool
	for i := range 3 {
		tools = append(tools, Tool{Spec: doc(t, map[string]any{"name": fmt.Sprintf("tool%d", i)}), Source: "user"})
	}
	expect := func(what, group string, tools []Tool, want ...bool) {
		t.Helper()
		got, err := r.Visible(context.Background(), decision.Principal{Subject: "s", Groups: []string{group}}, tools)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", what, err, diff)
		}
		for i := range got {
			got[i] = false // an answer is the caller's own
		}
	}
	expect("at first", "staff", tools, true, true, true)
	expect("again", "staff", tools, true, true, true)
	changed := append([]Tool{{Spec: doc(t, overrides(map[string]any{"networkMode": "open"})), Source: "user"}}, tools[1:]...)
	expect("another tool", "staff", changed, false, true, true)
	file := filepath.Join(dir, "rego", "data.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rule := `"rules": [{"id": "x", "effect": "hide", "tools": ["tool1"], "groups": ["guests"]}]`
	change(t, dir, map[string]string{"rego/data.json": strings.Replace(string(text), `"rules": []`, rule, 1)})
	if changed, err := r.Reload(context.Background()); err != nil || !changed {
		t.Fatal(changed, err)
	}
	expect("another policy, staff", "staff", tools, true, true, true)
	expect("another policy, guests", "guests", tools, true, false, true)
	expect("guests, again", "guests", tools, true, false, true)
}

// After Warm a list of the same tools has nothing left to ask, whoever asks.
func TestWarm(t *testing.T) {
	r := newResolver(t, Options{})
	tools := make([]Tool, 20)
	for i := range tools {
		fields := overrides(map[string]any{"networkMode": "allowlist", "hostsAllow": []string{fmt.Sprintf("h%d.example", i)}})
		fields["name"] = fmt.Sprintf("tool%d", i)
		tools[i] = Tool{Spec: doc(t, fields), Source: "user"}
	}
	tools = append(tools, Tool{}, Tool{Spec: doc(t, overrides(map[string]any{"networkMode": "open"})), Source: "user"})
	r.Warm(context.Background(), decision.Principal{Subject: "system"}, tools)
	e := r.active.Load()
	asked := func() [3]int64 {
		return [3]int64{e.standings.tries.Load(), e.seen.tries.Load(), e.outlooks.tries.Load()}
	}
	before := asked()
	if before[0] == 0 || before[1] == 0 || before[2] == 0 {
		t.Fatalf("nothing was asked ahead: %v", before)
	}
	for _, who := range []string{"ann", "bob"} {
		p := decision.Principal{Subject: who, Groups: []string{"staff"}}
		seen, err := r.Visible(context.Background(), p, tools)
		if err != nil {
			t.Fatal(err)
		}
		for i, tool := range tools[:20] {
			if !seen[i] {
				t.Errorf("tool%d is not visible", i)
			}
			if _, err := r.Outlook(context.Background(), p, tool); err != nil {
				t.Error(err)
			}
		}
	}
	if after := asked(); after != before {
		t.Errorf("evaluations before the lists %v, after them %v", before, after)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	fresh := newResolver(t, Options{})
	fresh.Warm(ended, decision.Principal{}, tools)
	if n := fresh.active.Load().standings.tries.Load(); n != 0 {
		t.Errorf("%d evaluations for nobody", n)
	}
}

// Tools that ask for the same are evaluated once: no rule reads of a tool what
// it has no use for.
func TestToolsThatAskForTheSame(t *testing.T) {
	const n = 40
	r := newResolver(t, Options{})
	var tools []Tool
	for i := range n {
		tools = append(tools, Tool{Spec: doc(t, map[string]any{"name": fmt.Sprintf("tool%d", i)}), Source: "user"})
	}
	p := decision.Principal{Subject: "s", Groups: []string{"staff"}}
	if _, err := r.Visible(context.Background(), p, tools); err != nil {
		t.Fatal(err)
	}
	e := r.active.Load()
	known := map[string]int64{"standings": e.standings.hits.Load(), "seen": e.seen.hits.Load()}
	for _, tool := range tools {
		if _, err := r.Outlook(context.Background(), p, tool); err != nil {
			t.Fatal(err)
		}
	}
	known["outlooks"] = e.outlooks.hits.Load()
	for name, hits := range known {
		if hits != n-1 {
			t.Errorf("%s: %d of %d are known from another tool", name, hits, n-1)
		}
	}
	if e.program.listReads&readsContent != 0 {
		t.Error("a list reads the code of each tool")
	}
}

// What a document asks of the sandbox of its commands is one of the things that
// tell tools apart.
func TestSandboxTellsToolsApart(t *testing.T) {
	r := newResolver(t, Options{})
	asks := func(sandbox map[string]any) Tool {
		fields := overrides(map[string]any{"addAllowClasses": []string{"java.lang.ProcessBuilder"}, "removeDenyClasses": []string{"java.lang.ProcessBuilder"}})
		fields["x-toolwarrant-sandbox"] = sandbox
		return Tool{Spec: doc(t, fields), Source: "user"}
	}
	tools := []Tool{asks(map[string]any{"backends": []string{"process"}}), asks(map[string]any{"backends": []string{"nowhere"}}), asks(map[string]any{"backends": []string{"process"}})}
	e := forgetful(t, r)
	for i, tool := range tools {
		p := decision.Principal{Subject: "s"}
		st, err := e.standing(context.Background(), &subject{tool: tool, principal: p, chain: e.keyFor(tool.Spec, p)})
		if want := i == 1; err != nil || st.rejected != want {
			t.Errorf("%d: rejected is %v, want %v; %v", i, st.rejected, want, err)
		}
	}
}
