package server

import (
	"net/http"
	"testing"
)

// TestOutOfOrder: what comes before initialize, and a second initialize, are
// refused with a code that says so, and begin no session.
func TestOutOfOrder(t *testing.T) {
	s, url := start(t, newFake())
	is := func(what string, r raw, body string) {
		t.Helper()
		status, answer, text := r.post(body)
		e, _ := answer["error"].(map[string]any)
		if status != http.StatusBadRequest || e["code"] != float64(codeInvalidRequest) {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	none := raw{t: t, url: url}
	for what, body := range map[string]string{
		"call":         `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
		"list":         `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		"ping":         `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"notification": `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"answer":       `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		is(what, none, body)
	}
	if n := s.sessions(); n != 0 {
		t.Errorf("%d sessions", n)
	}
	session := legacySession(t, url, `{}`)
	is("second initialize", session, initialize)
	if status, _, text := session.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != http.StatusOK {
		t.Errorf("afterwards: %d %s", status, text)
	}
}
