package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
)

// swap masks one word, in strings and in JSON alike.
type swap struct{ secret string }

func (s swap) String(in string) string { return strings.ReplaceAll(in, s.secret, "***") }

func (s swap) JSON(raw json.RawMessage) (json.RawMessage, []string, error) {
	out := json.RawMessage(strings.ReplaceAll(string(raw), s.secret, "***"))
	if bytes.Equal(out, raw) {
		return out, nil, nil
	}
	return out, []string{"/text"}, nil
}

type broken struct{ how string }

func (b broken) String(s string) string {
	if b.how == "panic-string" {
		panic("no")
	}
	return s
}

func (b broken) JSON(raw json.RawMessage) (json.RawMessage, []string, error) {
	switch b.how {
	case "panic-json":
		panic("no")
	case "error":
		return raw, nil, errors.New("no")
	case "garbage":
		return json.RawMessage(`{"text":"hunter2"`), nil, nil
	}
	return raw, nil, nil
}

// secretCall has the secret in every field that a caller or a tool controls.
func secretCall(secret string) Call {
	c := sampleCall("call-1")
	c.Principal.ClientID = secret
	c.Tool.ToolID, c.Tool.Name = "", secret
	c.TraceID = ptr("t-" + secret)
	c.Reasons = append(c.Reasons, reason(secret), decision.Reason{ID: "no:" + secret, Message: "m"})
	c.RiskSignals[0].Message, c.RiskSignals[0].ID = secret, "Saw "+secret
	c.HITL.Approver = ptr("x" + secret)
	c.Params = json.RawMessage(`{"text":"a ` + secret + ` b"}`)
	c.Decision.Input = json.RawMessage(`{"principal":{"subject":"alice","clientId":"` + secret + `"},"call":{"args":{"text":"` + secret + `"}}}`)
	c.Decision.MaskedPointers = []string{"/earlier/" + secret}
	c.Error.Message, c.Error.Reason = "failed with "+secret, ptr("Reason "+secret)
	c.Usage.Egress[0].Host, c.Usage.Egress[0].IP = secret+".example.org", secret
	c.Usage.FS[0].Path = "dir/" + secret
	c.Shadow.Rules, c.Shadow.Error = []string{"r", secret}, &Error{Code: "POLICY_UNAVAILABLE", Message: secret}
	c.Shadow.Differences = []Difference{
		{Path: "riskSignals." + secret, Direction: "changed", Old: json.RawMessage("null"), New: json.RawMessage(`{"text":"` + secret + `"}`)},
		{Path: "env", Direction: "widened", Old: json.RawMessage("[]"), New: json.RawMessage("[]"), Added: []string{secret}, Removed: []string{"x", secret}},
	}
	return c
}

func reason(m string) decision.Reason { return decision.Reason{ID: "r", Message: m} }

func TestMasking(t *testing.T) {
	const secret = "hunter2"
	w := mustOpen(t, t.TempDir(), Options{})
	in := secretCall(secret)
	must(t, w.Close(context.Background(), in, swap{secret}))
	must(t, w.Event(context.Background(), Event{Kind: "publish", Principal: in.Principal, Detail: map[string]any{"text": secret}}, swap{secret}))
	if bytes.Contains(readFile(t, w.Path()), []byte(secret)) {
		t.Fatalf("the secret is in the log: %s", readFile(t, w.Path()))
	}
	if in.Principal.ClientID != secret || in.Usage.FS[0].Path != "dir/"+secret || in.Decision.MaskedPointers[0] != "/earlier/"+secret {
		t.Error("the caller's own values were changed")
	}
	got := records(t, w.Path())[0].Decision.MaskedPointers
	want := []string{"/earlier/***", "/principal/clientId", "/tool/name", "/traceId", "/riskSignals/0/id", "/riskSignals/0/message", "/reasons/0/message", "/reasons/1/id",
		"/humanInTheLoop/approver", "/params/text", "/error/reason", "/error/message", "/usage/egress/0/host", "/usage/egress/0/ip",
		"/usage/fs/0/path", "/shadow/rules/1", "/shadow/differences/0/path", "/shadow/differences/0/new/text", "/shadow/differences/1/added/0",
		"/shadow/differences/1/removed/1", "/shadow/error/message", "/decision/input/principal/clientId", "/decision/input/call/args/text"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantOK(t, w.Path())
}

// TestStructuralFieldsStay: a secret that spells a structural value must not
// break a record.
func TestStructuralFieldsStay(t *testing.T) {
	for _, secret := range []string{"true", "close", "sha256", "OK", "mcp-http", "REQUIRED", "fetch_page", "L2"} {
		c := sampleCall("call-1")
		c.Shadow = nil // all of it is text of a policy
		a, b := prepare(c, swap{secret}), prepare(c, nil)
		a.Params, a.Decision, b.Params, b.Decision = nil, nil, nil, nil
		if diff := cmp.Diff(b, a); diff != "" {
			t.Errorf("%s: %s", secret, diff)
		}
	}
}

// TestInputMasking: of decision.input, the arguments and the clientId are
// masked and nothing else is, whatever the secret is spelled like.
func TestInputMasking(t *testing.T) {
	const input = `{"approvals":["appr-2026","os-user"],"call":{"args":{"S":1,"text":["a S"],"yes":true},"origin":"cli-run"},` +
		`"now":"2026-11-28T10:00:00Z","principal":{"clientId":"%s","groups":["os-user"],"method":"os-user","scopes":["true"],"subject":"uid:2026","untrusted":true}}`
	for _, secret := range []string{"2026", "true", "os-user", "cli-run", "args", "input"} {
		fill := func(s string) string {
			return strings.Replace(strings.NewReplacer(`"S"`, `"`+s+`"`, "a S", "a "+s).Replace(input), "%s", "c "+s, 1)
		}
		c := sampleCall("call-1")
		c.Decision.Input = json.RawMessage(fill(secret))
		set := mask.New([]string{secret})
		d := prepare(c, set).Decision
		if diff := cmp.Diff(fill("***"), string(d.Input)); diff != "" {
			t.Errorf("%s: %s", secret, diff)
		}
		want := []string{"/decision/input/call/args/***", "/decision/input/call/args/text/0", "/decision/input/principal/clientId"}
		if diff := cmp.Diff(want, d.MaskedPointers); diff != "" {
			t.Errorf("%s: %s", secret, diff)
		}
	}
}

// TestInputOfAnotherShape is never kept raw, and costs nothing else.
func TestInputOfAnotherShape(t *testing.T) {
	for _, input := range []string{`[]`, `"hunter2"`, `{"text":"x"}`, `{"principal":{"name":"x"}}`, `{"principal":[]}`, `{"principal":{"clientId":1}}`,
		`{"principal":{"clientId":"hunter2","groups":[1]}}`, `{"call":{"arguments":{}}}`, `{"call":{"args":{"a":"hunter2"}},"now":1}`, `{"approvals":"x"}`,
		`{"principal":{"untrusted":"x"}}`} {
		c := sampleCall("call-1")
		c.Decision.Input = json.RawMessage(input)
		got := prepare(c, swap{"hunter2"})
		if got.Decision.Input != nil || !slices.Equal(got.Decision.MaskedPointers, []string{"/decision/input"}) {
			t.Errorf("%s: kept %s, %v", input, got.Decision.Input, got.Decision.MaskedPointers)
		}
		if got.Error.Message != c.Error.Message {
			t.Errorf("%s: message %q", input, got.Error.Message)
		}
	}
	c := sampleCall("call-1")
	c.Decision.Input = json.RawMessage(`{"call":`)
	if got := prepare(c, swap{"hunter2"}); string(got.Decision.Input) != `{"invalid":true,"bytes":8}` {
		t.Errorf("kept %s", got.Decision.Input)
	}
}

// TestMaskingFails: the record is written, without anything raw.
func TestMaskingFails(t *testing.T) {
	const secret = "hunter2"
	for _, how := range []string{"panic-string", "panic-json", "error", "garbage"} {
		t.Run(how, func(t *testing.T) {
			w := mustOpen(t, t.TempDir(), Options{})
			must(t, w.Close(context.Background(), secretCall(secret), broken{how}))
			must(t, w.Event(context.Background(), Event{Kind: "publish", Principal: &Principal{ClientID: secret}, Detail: map[string]any{"text": secret}}, broken{how}))
			if bytes.Contains(readFile(t, w.Path()), []byte(secret)) {
				t.Fatal("raw text in the log")
			}
			wantOK(t, w.Path())
			rs := records(t, w.Path())
			if rs[0].Params != nil && string(rs[0].Params) != "null" {
				t.Errorf("params %s", rs[0].Params)
			}
			if string(rs[0].Decision.Input) != "null" || rs[0].Error.Message != withheld || rs[0].CallID != "call-1" {
				t.Errorf("got %+v", rs[0])
			}
			if string(rs[1].Detail) != "null" {
				t.Errorf("detail %s", rs[1].Detail)
			}
		})
	}
}

// TestLongArgumentsInTheInput: what is too long is cut, and what a decision
// without arguments needs stays.
func TestLongArgumentsInTheInput(t *testing.T) {
	c := sampleCall("call-1")
	c.Decision.Input = json.RawMessage(`{"principal":{"subject":"ann"},"call":{"origin":"cli-run","args":{"a":"` + strings.Repeat("x", maxValue) + `"}},"now":"2026-01-02T03:04:05Z","approvals":[]}`)
	got := prepare(c, swap{"none"}).Decision
	want := `{"principal":{"subject":"ann"},"call":{"origin":"cli-run","args":{"truncated":true,"bytes":262152}},"now":"2026-01-02T03:04:05Z","approvals":[]}`
	if string(got.Input) != want || !slices.Equal(got.MaskedPointers, []string{"/decision/input/call/args"}) {
		t.Errorf("%.300s, %v", got.Input, got.MaskedPointers)
	}

	c.Decision.Input = json.RawMessage(`{"principal":{"groups":["` + strings.Repeat("g", 2*maxValue) + `"]}}`)
	got = prepare(c, swap{"none"}).Decision
	if string(got.Input) != `{"truncated":true,"bytes":524317}` || !slices.Equal(got.MaskedPointers, []string{"/decision/input"}) {
		t.Errorf("%.300s, %v", got.Input, got.MaskedPointers)
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("ä", maxString) // twice the limit in bytes
	huge := strings.Repeat("x", maxValue)
	w := mustOpen(t, t.TempDir(), Options{})
	c := sampleCall("call-1")
	c.Error.Message = long
	c.Params = json.RawMessage(`{"a":"` + long + `","n":1.50}`)
	c.Decision.Input = json.RawMessage(`{"a":"` + huge + `"}`)
	c.Principal.ClientID = long
	for range 5000 {
		c.Usage.Egress = append(c.Usage.Egress, Egress{Host: "h", Bytes: 1})
		c.Usage.FS = append(c.Usage.FS, FSUse{Op: "stat", Path: huge, Bytes: 1})
	}
	must(t, w.Close(context.Background(), c, nil))
	wantOK(t, w.Path())
	r := records(t, w.Path())[0]
	if string(r.Decision.Input) != `{"truncated":true,"bytes":262152}` || r.ParamsDigest == nil {
		t.Errorf("input %s", r.Decision.Input)
	}
	var p struct {
		A string
		N json.Number
	}
	must(t, json.Unmarshal(r.Params, &p))
	if len(p.A) > maxString+40 || !utf8.ValidString(p.A) || p.N != "1.50" || !strings.HasSuffix(p.A, "…[65536 more bytes]") {
		t.Errorf("params: %d bytes, ends %q, n %s", len(p.A), p.A[len(p.A)-30:], p.N)
	}
	if len(r.Usage.Egress) != maxEntries || len(r.Usage.FS) != maxEntries {
		t.Fatalf("%d, %d entries", len(r.Usage.Egress), len(r.Usage.FS))
	}
	last := r.Usage.Egress[maxEntries-1]
	if last.Host != "(4002 more)" || last.Bytes != 4002 {
		t.Errorf("last entry %+v", last)
	}
	if n := len(readFile(t, w.Path())); n > maxLine {
		t.Errorf("a line of %d bytes", n)
	}
}

// TestResultContent: it is masked and bounded like the arguments, and where
// there is none the line is as it was.
func TestResultContent(t *testing.T) {
	const secret = "hunter2"
	for name, tc := range map[string]struct {
		content string
		m       Masker
		want    string
	}{
		"none":          {``, nil, ``},
		"as it is":      {`{"a": [1, "x"]}`, nil, `,"content":{"a":[1,"x"]}`},
		"masked":        {`{"text":"a hunter2 b"}`, swap{secret}, `,"content":{"text":"a *** b"}`},
		"too long":      {`"` + strings.Repeat("x", maxValue) + `"`, nil, `,"content":{"truncated":true,"bytes":262146}`},
		"no JSON":       {`{"a"`, nil, `,"content":{"invalid":true,"bytes":4}`},
		"null":          {`null`, nil, `,"content":null`},
		"masking fails": {`{"text":"hunter2"}`, broken{"error"}, ``},
	} {
		c := sampleCall("call-1")
		c.Result = &Result{Bytes: 7, Digest: "sha256:0", Content: json.RawMessage(tc.content)}
		got := prepare(c, tc.m)
		line, err := encodeCall("w", &got)
		if err != nil {
			t.Fatal(err)
		}
		want := `"result":{"bytes":7,"digest":"sha256:0"` + tc.want + `},`
		if !bytes.Contains(line, []byte(want)) || bytes.Contains(line, []byte(secret)) {
			t.Errorf("%s: no %s in %s", name, want, line)
		}
		if string(c.Result.Content) != tc.content {
			t.Errorf("%s: the caller's own value was changed", name)
		}
	}
}

func FuzzPrepare(f *testing.F) {
	f.Add([]byte(`{"a":"b"}`), "x", "y")
	f.Add([]byte("\n"), "\x00\n\"", "\xff")
	f.Fuzz(func(t *testing.T, params []byte, text, secret string) {
		c := secretCall(text)
		c.CallID, c.Params = "call-1", params
		var m Masker
		if secret != "" {
			m = swap{secret}
		}
		c = prepare(c, m)
		b, err := encodeCall("w", &c)
		if err != nil {
			t.Fatal(err)
		}
		line := append(append([]byte{'{'}, b...), '}')
		if bytes.IndexByte(line, '\n') >= 0 || !json.Valid(line) || !utf8.Valid(line) {
			t.Fatalf("not a line: %q", line)
		}
	})
}
