package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/schemas"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden fixes the bytes of every phase: what is on disk is a contract.
func TestGolden(t *testing.T) {
	got := sampleLog(t)
	const path = "testdata/sample.ndjson"
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, got, 0o644))
	}
	if diff := cmp.Diff(string(readFile(t, path)), string(got)); diff != "" {
		t.Errorf("the lines changed (-golden +got):\n%s", diff)
	}
}

// TestLineBytes checks sum and prev with nothing but the documented rule.
func TestLineBytes(t *testing.T) {
	lines := bytes.Split(bytes.TrimSuffix(sampleLog(t), []byte("\n")), []byte("\n"))
	prev := "null"
	for i, line := range lines {
		cut := bytes.LastIndex(line, []byte(`,"sum":`))
		sum := sha256.Sum256(line[:cut])
		if want := `,"sum":"sha256:` + hex.EncodeToString(sum[:]) + `"}`; string(line[cut:]) != want {
			t.Errorf("line %d ends with %s, want %s", i+1, line[cut:], want)
		}
		var m struct {
			Seq  int
			Prev json.RawMessage
		}
		must(t, json.Unmarshal(line, &m))
		if string(m.Prev) != prev || m.Seq != i+1 {
			t.Errorf("line %d: seq %d, prev %s, want %s", i+1, m.Seq, m.Prev, prev)
		}
		leaf := sha256.Sum256(append([]byte{0}, line...))
		prev = `"sha256:` + hex.EncodeToString(leaf[:]) + `"`
	}
}

// TestEncodingIsComplete compares the line with the struct tags of Call: a
// field that is added to a type and not to its encoder shows up here.
func TestEncodingIsComplete(t *testing.T) {
	full := prepare(sampleCall("call-1"), nil)
	for name, c := range map[string]Call{"full": full, "empty": {Phase: PhaseClose, CallID: "x", Origin: "admin"}} {
		t.Run(name, func(t *testing.T) {
			b, err := encodeCall("w1", &c)
			must(t, err)
			c.Duration = roundDuration(c.Duration)
			want, err := jsonv2.Marshal(c)
			must(t, err)
			got := bytes.Replace(append(append([]byte{'{'}, b...), '}'), []byte(`"writer":"w1",`), nil, 1)
			var g, w any
			must(t, json.Unmarshal(got, &g))
			must(t, json.Unmarshal(want, &w))
			if name == "empty" { // an unknown list is null, which jsonv2 does not say
				m := w.(map[string]any)
				m["riskSignals"], m["reasons"], m["sandbox"] = nil, nil, nil
			}
			if diff := cmp.Diff(w, g); diff != "" {
				t.Errorf("-tags +line:\n%s", diff)
			}
		})
	}
}

func roundDuration(d *Duration) *Duration {
	if d == nil {
		return nil
	}
	return &Duration{millis(d.Decide), millis(d.Approve), millis(d.Execute), millis(d.Total)}
}

// TestOrder fixes the order of the members.
func TestOrder(t *testing.T) {
	line, _, _ := bytes.Cut(sampleLog(t), []byte("\n"))
	dec := json.NewDecoder(bytes.NewReader(line))
	var got []string
	depth, key := 0, true
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		switch d := tok.(type) {
		case json.Delim:
			if d == '{' || d == '[' {
				depth++
			} else {
				depth--
			}
			key = depth == 1
			continue
		}
		if depth == 1 {
			if key {
				got = append(got, tok.(string))
			}
			key = !key
		}
	}
	want := []string{"time", "schema", "seq", "prev", "phase", "writer", "callId", "relatedCallId", "traceId", "origin", "principal",
		"tool", "policy", "decision", "toolSafety", "effectivePolicy", "riskLevel", "riskSignals", "reasons", "humanInTheLoop",
		"params", "paramsDigest", "outcome", "error", "durationMs", "usage", "result", "isolation", "testMode", "shadow", "sandbox", "sum"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestHostileStrings: nothing that a caller sends can end a line, or stand
// outside a string.
func TestHostileStrings(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{})
	bad := "a\n{\"time\":\"x\"}\r\x00\x1b[31m\u2028\u202e\",\"sum\":\"sha256:\xff\xfe"
	c := sampleCall("call-1")
	c.Principal.ClientID = bad
	c.Tool.ToolID, c.Tool.Name = "", bad
	c.TraceID, c.Error.Message, c.Error.Reason, c.HITL.Approver = &bad, bad, &bad, &bad
	c.Usage.Egress[0].Host, c.Usage.FS[0].Path = bad, bad
	c.Params = json.RawMessage("{\"a\":\n \"\\n\",\r\n\"b\": [1 , 2]}")
	must(t, w.Close(context.Background(), c, nil))
	c = sampleCall("call-2")
	c.Params = json.RawMessage("{\"a\":1}\n{\"time\":\"forged\"}")
	c.Decision.Input = json.RawMessage("{\"a\":\"\xff\"}")
	must(t, w.Close(context.Background(), c, nil))
	must(t, w.Event(context.Background(), Event{Kind: "reload", Detail: map[string]any{"x\n": bad}}, nil))
	if r := wantOK(t, w.Path()); r.Records != 3 {
		t.Fatalf("%d lines, want 3", r.Records)
	}
	rs := records(t, w.Path())
	if got := string(rs[0].Params); got != `{"a":"\n","b":[1,2]}` {
		t.Errorf("params %s", got)
	}
	if got := string(rs[1].Params); got != `{"invalid":true,"bytes":25}` {
		t.Errorf("params %s", got)
	}
	if got := string(rs[1].Decision.Input); got != `{"invalid":true,"bytes":9}` {
		t.Errorf("input %s", got)
	}
}

// TestZerologSwitchedOff: a program that embeds us may silence zerolog; the
// log must then fail, not lose records.
func TestZerologSwitchedOff(t *testing.T) {
	w := mustOpen(t, t.TempDir(), Options{})
	zerolog.SetGlobalLevel(zerolog.Disabled)
	err := w.Close(context.Background(), bareCall("call-1"), nil)
	zerolog.SetGlobalLevel(zerolog.TraceLevel)
	wantReason(t, err, ReasonInvalid)
	must(t, w.Close(context.Background(), bareCall("call-1"), nil))
}

func TestInvalidRecords(t *testing.T) {
	w := mustOpen(t, t.TempDir(), Options{})
	ctx := context.Background()
	noID, badID, noOutcome, badOutcome := bareCall(""), bareCall("a\"b"), bareCall("a"), bareCall("a")
	noOutcome.Outcome = nil
	badOutcome.Outcome = ptr(fault.Outcome("x"))
	for _, c := range []Call{noID, badID, noOutcome, badOutcome} {
		wantReason(t, w.Close(ctx, c, nil), ReasonInvalid)
	}
	for _, kind := range []string{"", "a b", "A", "a1", ".a", "a.", "a..b", "a\n"} {
		wantReason(t, w.Event(ctx, Event{Kind: kind}, nil), ReasonInvalid)
	}
	ask := askCall("a", clock()())
	ask.HITL.ExpiresAt = ptr("tomorrow")
	wantReason(t, w.Ask(ctx, ask, nil), ReasonInvalid)
	if n := len(readFile(t, w.Path())); n != 0 {
		t.Errorf("%d bytes written", n)
	}
}

// TestSchema holds every line against the published schema.
func TestSchema(t *testing.T) {
	schema := compileSchema(t)
	lines := bytes.Split(bytes.TrimSpace(sampleLog(t)), []byte("\n"))
	full := prepare(sampleCall("call-9"), broken{"error"})
	for _, c := range []Call{full, {Phase: PhaseClose, CallID: "x", Origin: "admin"}} {
		b, err := encodeCall("w1", &c)
		must(t, err)
		line := appendHead(nil, clock()(), link{})
		lines = append(lines, appendSum(append(append(line, ','), b...), 0))
	}
	for i, line := range lines {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		must(t, err)
		if err := schema.Validate(v); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	const name = "audit.schema.json"
	b, err := schemas.FS.ReadFile(name)
	must(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	must(t, err)
	c := jsonschema.NewCompiler()
	must(t, c.AddResource(name, doc))
	s, err := c.Compile(name)
	must(t, err)
	return s
}
