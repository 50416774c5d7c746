package server

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// What the frame says of a message is what any other reader of JSON says of it.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `[]`, `{"id":1,"id":2}`, "{\"\xff\":1}", `{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":null}}}`, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"\u005fmeta":{}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fr, bad := parseFrame(body)
		if bad != nil {
			if !json.Valid(bad.answer(fr)) {
				t.Errorf("not JSON: %s", bad.answer(fr))
			}
			if fr.toolName() != "" && len(fr.toolName()) > maxToolName {
				t.Error("a name without end")
			}
			return
		}
		if !json.Valid(body) || !utf8.Valid(body) {
			t.Fatalf("taken: %q", body)
		}
		var other struct {
			Method string                     `json:"method"`
			ID     json.RawMessage            `json:"id"`
			Params map[string]json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(body, &other); err != nil {
			return // members whose case differs, which encoding/json takes for ours
		}
		if fr.silent != (fr.method != "" && fr.id == nil) || fr.isCall() && fr.isResponse() {
			t.Errorf("%+v", fr)
		}
		if v := badVersion(fr, ""); v != nil && !json.Valid(v.answer(fr)) {
			t.Errorf("not JSON: %s", v.answer(fr))
		}
		if fr.meta.stream && !fr.isCall() {
			t.Error("a stream for what has no answer")
		}
	})
}

// FuzzStdio feeds a whole session: it ends, every line that comes out is one
// JSON document, and nothing runs that nobody accepted.
func FuzzStdio(f *testing.F) {
	for _, lines := range [][]string{
		{stdioInit, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
		{stdioInit, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":"x"}}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",` + askingMeta + `}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + askingMeta + `}}`},
		{"\xff", "[]", "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		{stdioInit, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger","requestState":"x","inputResponses":{"approval":{"action":"accept"}}}}`},
	} {
		f.Add([]byte(strings.Join(lines, "\n")))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(in, []byte("slow")) {
			return // a call that ends with its server alone
		}
		fk := newFake()
		s := New(Options{Caller: fk, MaxBodyBytes: 64 << 10, DrainTimeout: 10 * time.Second})
		var out bytes.Buffer
		if err := s.ServeStdio(context.Background(), bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Fatalf("%q", line)
			}
		}
		if n := fk.executed.Load(); n != 0 {
			t.Errorf("danger ran %d times", n)
		}
	})
}
