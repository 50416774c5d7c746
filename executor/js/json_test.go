package js

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// TestJSONVerdicts reads each case of the JSON test suite with JSON.parse and
// with the json method of a response: what has to be accepted is, what must
// not be is a SyntaxError, and the rest is as in node.
func TestJSONVerdicts(t *testing.T) {
	data, err := os.ReadFile("testdata/json/parsing.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Cases []struct {
			Name, Unit, Rest, Text string
			Times                  int
			Node                   *string
		}
	}
	if err := json.Unmarshal(data, &suite); err != nil || len(suite.Cases) != 318 {
		t.Fatal(len(suite.Cases), err)
	}
	for _, tc := range suite.Cases {
		text := strings.Repeat(tc.Unit, tc.Times) + tc.Rest + tc.Text
		body, _ := json.Marshal(map[string]any{"status": 200, "statusText": "OK", "url": "https://a.test/", "headers": [][2]string{}, "contentType": nil,
			"body": map[string]string{"$bytes": base64.StdEncoding.EncodeToString([]byte(text))}, "truncated": false, "nextStartIndex": nil})
		b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpFetch: answer(string(body))}}
		args, _ := json.Marshal(map[string]string{"text": text})
		rep := runWith(t, b, `const told = (f) => { try { return JSON.stringify(f()) } catch (e) { return e.reason ?? e.name } };
			return [told(() => JSON.parse(text)), told(() => fetch("https://a.test/").json())]`, string(args),
			func(c *worker.Call) { c.Globals.Fetch = true; c.Limits.MaxOutputBytes = 8 << 20 })
		var got []string
		if rep.Failure != nil || json.Unmarshal(rep.Result, &got) != nil {
			t.Errorf("%s: %s", tc.Name, outcome(rep))
			continue
		}
		want := []string{"SyntaxError", "invalid-json"}
		if tc.Node != nil {
			want = []string{*tc.Node, *tc.Node}
		}
		if tc.Name[0] == 'y' && tc.Node == nil || tc.Name[0] == 'n' && tc.Node != nil {
			t.Fatalf("%s: node is wrong", tc.Name)
		}
		if text == "\ufeff{}" {
			want[1] = "{}" // a response is decoded first, which takes the mark away
		}
		for i, how := range []string{"JSON.parse", "json()"} {
			if got[i] != want[i] {
				t.Errorf("%s: %s(%.60q) gives %.80q, want %.80q", tc.Name, how, text, got[i], want[i])
			}
		}
	}
}

// TestJSONReviver runs a reviver over text that takes our own reading.
func TestJSONReviver(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`return JSON.parse('{"a":[1e999,2],"b":"\\ud800x","__proto__":{"c":1}}', (k, v) => k === "1" ? undefined : v === Infinity ? "inf" : v)`, `{"a":["inf",null],"b":"�x","__proto__":{"c":1}}`},
		{`const o = JSON.parse('{"x":1,"\\udfff":2,"y":3,"x":4}'); return [Object.keys(o).length, o["\udfff"], o.x]`, `[3,2,4]`},
		{`return [Object.is(JSON.parse("[-0,1e400]")[0], -0), JSON.parse(" -1e400 ") === -Infinity, JSON.parse('"\\ud83d\\ude00"')]`, `[true,true,"😀"]`},
		{`return [JSON.parse.length, JSON.parse.name, JSON.parse('[1e400]', 5)[0] === Infinity]`, `[2,"parse",true]`},
		{`JSON.parse("[1e400")`, `JS_ERROR/SyntaxError`},
	} {
		got := outcome(run(t, tc.body, `{}`))
		if got != tc.want && !(strings.HasPrefix(tc.want, "JS_ERROR") && strings.HasPrefix(got, tc.want)) {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

func FuzzJSONParse(f *testing.F) {
	for _, s := range []string{`{"a":[1e999,"\ud800"],"\udc00":null}`, `["\ud83d\ude00",1E+400,-0]`, `"\uD`, `{"__proto__":1e400}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rep := run(t, `try { const v = JSON.parse(text); return JSON.stringify(v) } catch (e) { return e.name }`, mustJSON(map[string]string{"text": text}))
		var got string
		if rep.Failure != nil || json.Unmarshal(rep.Result, &got) != nil {
			t.Fatalf("%q: %s", text, outcome(rep))
		}
		if utf8.ValidString(text) && json.Valid([]byte(text)) == (got == "SyntaxError") {
			t.Fatalf("%q: %s", text, got)
		}
	})
}
