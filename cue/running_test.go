package cue_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"cuelang.org/go/cue"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/digest"
)

// plain masks nothing.
type plain struct{}

func (plain) String(s string) string { return s }

func (plain) JSON(raw json.RawMessage) (json.RawMessage, []string, error) { return raw, nil, nil }

// TestAuditLines: what the log writes is of the format, with the members in
// the order of the format.
func TestAuditLines(t *testing.T) {
	ctx := context.Background()
	w, err := audit.Open(t.TempDir(), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ask, open, empty := filledCall(), filledCall(), filledCall()
	ask.Phase, open.Phase = audit.PhaseAsk, audit.PhaseOpen
	ask.Outcome, open.Outcome, ask.HITL.Outcome = nil, nil, ""
	empty = audit.Call{Phase: audit.PhaseClose, CallID: "c2", Origin: empty.Origin, Outcome: empty.Outcome}
	spec := json.RawMessage(`{"name":"x"}`)
	for _, err := range []error{
		w.Ask(ctx, ask, plain{}),
		w.Open(ctx, open, false, plain{}),
		w.Close(ctx, filledCall(), plain{}),
		w.Close(ctx, empty, plain{}),
		w.Object(ctx, audit.Object{Kind: "spec", Digest: digest.Bytes(spec), Content: spec}),
		w.Event(ctx, audit.Event{Kind: "policy.activate", Detail: map[string]any{"revision": sha}}, plain{}),
		w.Event(ctx, audit.Event{Kind: "key"}, plain{}),
		w.Shutdown(ctx),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range bytes.Lines(log) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if err := verdict(t, "#AuditRecord", line); err != nil {
			t.Errorf("%v\n%s", err, line)
		}
		var head struct{ Phase string }
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatal(err)
		}
		def := map[string]string{"object": "#AuditObject", "event": "#AuditEvent"}[head.Phase]
		if def == "" {
			def = "#AuditCall"
		}
		if d := cmp.Diff(declared(t, def), members(t, line)); d != "" {
			t.Errorf("members of %s (-format +line):\n%s", def, d)
		}
		seen[head.Phase]++
	}
	if want := map[string]int{"ask": 1, "open": 1, "close": 2, "object": 1, "event": 2}; !cmp.Equal(want, seen) {
		t.Errorf("phases %v, want %v", seen, want)
	}
}

// declared are the members of a definition in their order.
func declared(t *testing.T, def string) []string {
	t.Helper()
	it, err := definition(t, def).Fields(cue.Optional(true))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for it.Next() {
		names = append(names, it.Selector().Unquoted())
	}
	return names
}

// members are the names of an object in their order.
func members(t *testing.T, object []byte) []string {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := dec.ReadToken(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tok.String())
		if err := dec.SkipValue(); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// TestPolicyFixture: the input that the policy tests start from is one that
// the policy can get.
func TestPolicyFixture(t *testing.T) {
	rs, err := rego.New(rego.Load([]string{"../policy_test/fixture.rego"}, nil), rego.Query("data.toolwarrant_test.fixture.plain")).
		Eval(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(rs) != 1 {
		t.Fatalf("results %v", rs)
	}
	doc, err := json.Marshal(rs[0].Expressions[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	if err := verdict(t, "#Input", doc); err != nil {
		t.Errorf("%v\n%s", err, doc)
	}
}

// TestDigestRules: the members of the specDigest are members of a spec.
func TestDigestRules(t *testing.T) {
	var names []string
	if err := definition(t, "#Digests").LookupPath(cue.ParsePath("specDigest.members")).Decode(&names); err != nil {
		t.Fatal(err)
	}
	fields := declared(t, "#Spec")
	for _, name := range names {
		if name != "x-toolwarrant-*" && !slices.Contains(fields, name) {
			t.Errorf("specDigest covers %q, which a spec does not have", name)
		}
	}
	for _, name := range []string{"toolId", "draft", "toolSafety", "createTimestamp", "updateTimestamp"} {
		if slices.Contains(names, name) {
			t.Errorf("specDigest covers %q", name)
		}
	}
}
