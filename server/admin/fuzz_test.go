package admin

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

// FuzzDecode: a body is taken, or refused with USAGE; what is taken is JSON,
// and has no member that is not known.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{``, `{}`, `null`, `[]`, `{"name":"x","groups":["a"],"expirySeconds":3}`, `{"nam":"x"}`, `{"name":"x","name":"y"}`,
		`{"expirySeconds":1e99}`, `{"groups":{"a":1}}`, "{\"name\":\"\xff\"}", `{"NAME":"x"}`, `{"name":"\ud800"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var k NewKey
		err := decode([]byte(body), &k)
		if err != nil {
			if e := fault.From(err); e.Code != fault.Usage || strings.Contains(e.Message, "Go ") || e.Message == "" {
				t.Errorf("%q is refused with %v", body, err)
			}
			return
		}
		if strings.TrimSpace(body) == "" {
			return
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatalf("%q is taken and is no object: %v", body, err)
		}
		for name := range m {
			switch name {
			case "name", "subject", "groups", "scopes", "expirySeconds":
			default:
				t.Errorf("%q is taken with the member %q", body, name)
			}
		}
	})
}

// FuzzCursor: a cursor that was made is read as it was, and any other text is
// refused or is one.
func FuzzCursor(f *testing.F) {
	f.Add("calls", "123")
	f.Add("catalog", "a\x00b")
	f.Add("x", "é")
	f.Fuzz(func(t *testing.T, kind, text string) {
		if _, err := after(url.Values{"cursor": {text}}, kind); err != nil && fault.From(err).Code != fault.Usage {
			t.Errorf("%q is refused with %v", text, err)
		}
		made := cursor{kind, text}.String()
		got, err := after(url.Values{"cursor": {made}}, kind)
		if want := strings.ToValidUTF8(text, "\uFFFD"); text != "" && kind == strings.ToValidUTF8(kind, "\uFFFD") && text == want && (err != nil || got != text) {
			t.Errorf("the cursor of %q is read as %q, %v", text, got, err)
		}
		if _, err := after(url.Values{"cursor": {made}}, kind+"x"); text != "" && err == nil {
			t.Error("a cursor of another list is taken")
		}
	})
}
