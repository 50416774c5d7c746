package js

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

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
		if strings.HasPrefix(text, "\ufeff") {
			want[1] = text[len("\ufeff"):] // a response is decoded first, which takes the mark away
		}
		for i, how := range []string{"JSON.parse", "json()"} {
			if got[i] != want[i] {
				t.Errorf("%s: %s(%.60q) gives %.80q, want %.80q", tc.Name, how, text, got[i], want[i])
			}
		}
	}
}
