package resolver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/toolwarrant/toolwarrant/decision"
)

// TestRoundTrip: what the rules say and what Go makes of it are one document.
// The rules are asked directly, and the decision is written and read back.
func TestRoundTrip(t *testing.T) {
	r, rnd := generousResolver(t), rand.New(rand.NewPCG(9, 10))
	e := r.active.Load()
	compared, hidden := 0, 0
	for i := range shortened(*inputs) {
		req := request(doc(t, map[string]any{"name": fmt.Sprintf("tool%d", i), "sandboxOverrides": generated(rnd), "tags": []string{"util"},
			"params":             []any{map[string]any{"name": "a", "type": "NUMBER", "required": true, "testValue": "1"}},
			"x-toolwarrant-mask": []any{nil, []string{"a"}, map[string]any{"a": "hmac"}, map[string]any{"a": "drop"}}[rnd.IntN(4)],
			"humanInTheLoop":     []any{nil, map[string]any{"mode": "DISABLED"}, map[string]any{"mode": "AUTO_APPROVE"}}[rnd.IntN(3)]}))
		req.Principal.Groups = [][]string{{}, {"staff"}, {"staff", "ops"}}[rnd.IntN(3)]
		req.Args = json.RawMessage(fmt.Sprintf(`{"a": %d}`, i))
		d, err := r.Resolve(context.Background(), req)
		if err != nil {
			continue // rejected by the layers
		}
		results, err := e.program.decision.Eval(context.Background(), rego.EvalParsedInput(question(t, e, req)), rego.EvalGenerateJSON(asTerm))
		if err != nil || len(results) != 1 {
			t.Fatalf("%v, %d results", err, len(results))
		}
		said, err := ast.JSON(results[0].Expressions[0].Value.(*ast.Term).Value)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back decision.Decision
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		back.Mask, back.Record = d.Mask, d.Record // are for the log alone, and not written
		if diff := gocmp.Diff(*d, back); diff != "" {
			t.Fatalf("written and read back:\n%s", diff)
		}
		var written any
		if err := json.Unmarshal(raw, &written); err != nil {
			t.Fatal(err)
		}
		mask := []any{}
		for _, pointer := range d.Mask {
			mask = append(mask, pointer)
		}
		how, drop := map[string]any{}, []any{}
		for pointer, form := range d.Record.How {
			how[pointer] = string(form)
		}
		for _, pointer := range d.Record.Drop {
			drop = append(drop, pointer)
		}
		hidden += len(mask) + len(how)
		written.(map[string]any)["mask"] = mask
		written.(map[string]any)["record"] = map[string]any{"how": how, "drop": drop, "result": cmp.Or(d.Record.Result, "digest")}
		text, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		var asked any
		if err := json.Unmarshal(text, &asked); err != nil {
			t.Fatal(err)
		}
		if v := asked.(map[string]any)["violations"]; len(v.([]any)) > 0 {
			t.Fatalf("decided in spite of %v", v)
		}
		delete(asked.(map[string]any), "violations") // rejects, and decides nothing
		if diff := gocmp.Diff(sorted(asked), sorted(under(asked, written))); diff != "" {
			t.Fatalf("%s (-rules +decision):\n%s", raw, diff)
		}
		compared++
	}
	if compared < shortened(*inputs)/10 || hidden < compared/10 {
		t.Errorf("only %d decisions were compared, %d of them with hidden arguments", compared, hidden)
	}
}

// under is what of b stands under the members of a.
func under(a, b any) any {
	x, ok := a.(map[string]any)
	y, both := b.(map[string]any)
	if !ok || !both {
		return b
	}
	out := map[string]any{}
	for name, v := range x {
		if other, is := y[name]; is {
			out[name] = under(v, other)
		}
	}
	return out
}

// sorted orders lists, which are sets in the rules.
func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = sorted(v[name])
		}
	case []any:
		for i := range v {
			v[i] = sorted(v[i])
		}
		slices.SortFunc(v, func(a, b any) int {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return slices.Compare(x, y)
		})
	}
	return v
}
