package resolver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/toolwarrant/toolwarrant/decision"
)

// naive prepares the plainly written policy of bench/naive over the settings
// of an engine.
func naive(t testing.TB, e *engine) rego.PreparedEvalQuery {
	t.Helper()
	files, err := filepath.Glob("../bench/naive/*.rego")
	if err != nil || len(files) == 0 {
		t.Fatalf("bench/naive holds %d modules, %v", len(files), err)
	}
	options := []func(*rego.Rego){rego.Query("data.toolwarrant.decision"), rego.Store(e.program.store), rego.Strict(true), rego.StrictBuiltinErrors(true)}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		options = append(options, rego.Module(file, string(text)))
	}
	q, err := rego.New(options...).PrepareForEval(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// question is the input of a decision, also about a document that the layers
// reject.
func question(t testing.TB, e *engine, req Request) ast.Value {
	t.Helper()
	pl, err := e.planFor(context.Background(), req.Tool, req.Principal)
	if pl == nil || pl.fold == nil {
		t.Fatal(err)
	}
	input, err := e.input(pl, req)
	if err != nil {
		t.Fatal(err)
	}
	return input
}

// settings gives rego/data.json with fields of toolwarrant.settings replaced,
// by pointer of two steps.
func settings(t testing.TB, fields map[[2]string]any) string {
	t.Helper()
	s, err := readSource(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var data map[string]map[string]map[string]map[string]any
	if err := json.Unmarshal(s.data, &data); err != nil {
		t.Fatal(err)
	}
	for at, value := range fields {
		data["toolwarrant"]["settings"][at[0]][at[1]] = value
	}
	out, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// strictSettings use what the settings that ship leave empty.
func strictSettings(t testing.TB) string {
	rule := func(fields map[string]any) map[string]any {
		all := map[string]any{"id": "r", "effect": "hide", "message": "no"}
		maps.Copy(all, fields)
		return all
	}
	return settings(t, map[[2]string]any{
		{"access", "maxRiskLevel"}: "L3",
		{"access", "rules"}: []any{
			rule(map[string]any{"groups": []string{"guests"}}),
			rule(map[string]any{"id": "r2", "effect": "deny", "tags": []string{"geo", "util"}, "origins": []string{"list"}}),
			rule(map[string]any{"id": "r3", "effect": "deny", "tools": []string{"tool3", "id-4"}}),
			rule(map[string]any{"id": "r4", "categories": []string{"TEXT"}, "subjects": []string{"ann"}, "tags": []string{}}),
		},
		{"hitl", "requiredTools"}:      []string{"tool1", "id-2"},
		{"hitl", "requiredCategories"}: []string{"SECURITY"},
		{"hitl", "threshold"}:          "L2",
		{"hitl", "floor"}:              "L4",
		{"hitl", "approvers"}:          map[string]any{"groups": []string{"leads"}, "fourEyes": false},
		{"log", "maskParams"}:          map[string]string{"p1": "hmac", "a/b~c": "mask"},
		{"log", "dropFields"}:          []string{"/traceId"},
		{"log", "resultContent"}:       []string{"TEXT", "tool1", "id-2"},
		{"limits", "ratePerMinute"}:    60,
		{"risk", "removedMany"}:        2,
	})
}

func oneOf[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// anyRequest is a request that differs in whatever a decision reads.
func anyRequest(t testing.TB, r *rand.Rand) Request {
	set := generated(r)
	set["destructive"] = oneOf[any](r, nil, true, false)
	set["fsBasePath"] = oneOf[any](r, nil, nil, "/base/x", "sub", "/elsewhere", "/base2")
	set["hostsAllow"] = append(set["hostsAllow"].([]string), oneOf(r, []string{}, []string{"*:8080"}, []string{"db.internal:80"})...)
	fields := map[string]any{
		"name": fmt.Sprintf("tool%d", r.IntN(6)), "toolId": fmt.Sprintf("id-%d", r.IntN(6)),
		"category": oneOf(r, "TEXT", "SECURITY", "MATH"), "tags": oneOf(r, nil, []string{"geo"}, []string{"util", "search"}),
		"sandboxOverrides": oneOf[any](r, set, set, set, nil),
		"humanInTheLoop": oneOf[any](r, nil, map[string]any{"mode": oneOf(r, "REQUIRED", "DISABLED", "AUTO_APPROVE", "SOMETIMES", "")},
			map[string]any{"promptTemplate": oneOf(r, "Really?", "  ")}),
		"params": []map[string]any{
			{"name": "p1", "type": "STRING", "required": false}, {"name": "p2", "type": "STRING", "required": false},
		},
		"x-toolwarrant-mask": oneOf[any](r, []string{}, []string{"p2", "gone"}, 7, map[string]any{"p1": "hash", "p2": "drop"}, map[string]any{"p1": "hmac", "p2": 1}),
		"staticVariables":    oneOf(r, nil, []map[string]string{{"KEY": "${API_KEY}"}, {"B": "${B_ONE} ${TOOLWARRANT_X}"}}),
	}
	if profile := oneOf(r, "", "", "", "standard", "offline"); profile != "" {
		fields["x-toolwarrant-profile"] = profile
	}
	req := request(doc(t, fields))
	req.Tool.Source = oneOf(r, "user", "builtin", "draft")
	req.Tool.ManifestEnv = oneOf(r, nil, []string{"API_KEY"})
	req.Principal.Subject = oneOf(r, "ann", "local")
	req.Principal.Groups = oneOf(r, nil, []string{"guests"}, []string{"staff", "leads"})
	req.Origin = oneOf(r, decision.OriginMCPHTTP, decision.OriginList)
	return req
}

// The policy that ships is written to be fast, the one of bench/naive to be
// read: for every input they decide the same.
func TestNaivePolicyDecidesTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	for name, changes := range map[string]map[string]string{
		"as shipped": nil,
		"strict":     {"rego/data.json": strictSettings(t)},
	} {
		t.Run(name, func(t *testing.T) {
			e := newResolver(t, Options{Policy: policyFolder(t, changes), Operator: Operator{
				BasePath: "/base", AllowOpenMode: name == "strict", PrivateHosts: []string{"db.internal:80", "c.example:443"},
				Grants: []Grant{
					{Names: []string{"API_*"}, Categories: []string{"TEXT"}},
					{Names: []string{"B_ONE", "TOOLWARRANT_X"}, Tools: []string{"tool2", "id-3"}, Sources: []string{"user"}},
				},
			}}).active.Load()
			plain, rnd := naive(t, e), rand.New(rand.NewPCG(7, 8))
			for range shortened(*inputs) {
				sameDecision(t, e, plain, anyRequest(t, rnd), rnd)
			}
			for _, req := range knownTools(t) {
				sameDecision(t, e, plain, req, rnd)
			}
		})
	}
}

// sameDecision asks about a call, and about another one of the same tool, which
// may rest on what was found for the first.
func sameDecision(t *testing.T, e *engine, plain rego.PreparedEvalQuery, req Request, rnd *rand.Rand) {
	t.Helper()
	m := &memo{of: e.program.steady}
	sameAnswer(t, e, plain, req, m)
	sameAnswer(t, e, plain, callOf(rnd, req), m)
}

func sameAnswer(t *testing.T, e *engine, plain rego.PreparedEvalQuery, req Request, m *memo) {
	t.Helper()
	input := question(t, e, req)
	want, err := e.eval(context.Background(), plain, input)
	if err != nil {
		t.Fatalf("%s: naive: %v", req.Tool.Spec.Canonical(), err)
	}
	got, err := e.evalPlanned(context.Background(), e.program.decision, input, m)
	if err != nil {
		t.Fatalf("%s: %v", req.Tool.Spec.Canonical(), err)
	}
	if want.Value.Compare(got.Value) != 0 {
		t.Fatalf("%s\nnaive:   %s\nshipped: %s", input, want, got)
	}
}

// knownTools are the tools of the golden file, with what each asks for.
func knownTools(t testing.TB) []Request {
	t.Helper()
	raw, err := os.ReadFile("../policy_test/testdata/facts.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	var out []Request
	for line := range bytes.Lines(raw) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "derivedRiskLevel")
		req := request(doc(t, fields))
		req.Tool.Source = "builtin"
		out = append(out, req)
	}
	if len(out) != 88 {
		t.Errorf("%d tools, want 88", len(out))
	}
	return out
}
