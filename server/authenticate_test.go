package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

// named authenticates by a header that says who it is.
type named struct{}

func (named) Authenticate(r *http.Request) (decision.Principal, error) {
	who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch who {
	case "":
		return decision.Principal{}, &auth.Refusal{Reason: "missing", Status: 401, Challenge: `Bearer realm="x"`}
	case "expired":
		return decision.Principal{}, &auth.Refusal{Reason: "expired", Method: "oidc", Status: 401, Challenge: `Bearer error="invalid_token"`}
	case "scopeless":
		return decision.Principal{}, &auth.Refusal{Reason: "scope", Method: "oidc", Status: 403, Challenge: `Bearer error="insufficient_scope"`}
	case "down":
		return decision.Principal{}, errors.New("the keys cannot be had: secret cause")
	case "nobody":
		return decision.Principal{}, nil
	}
	who, group, _ := strings.Cut(who, "/")
	r.Header.Del("Authorization")
	return decision.Principal{Subject: who, Method: "oidc", ClientID: "agent", Groups: []string{group}, Scopes: []string{}}, nil
}

func (named) Public() map[string]http.Handler {
	return map[string]http.Handler{"/.well-known/oauth-protected-resource": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })}
}

func asks(o *Options) { o.Auth = named{} }

// do sends a request as somebody.
func do(t *testing.T, method, url, who, body string, hdr map[string]string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if who != "" {
		req.Header.Set("Authorization", "Bearer "+who)
	}
	for k, v := range hdr {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

const (
	echoCall   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"SENT"}}}`
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"raw","version":"1"}}}`
)

// TestUnauthenticated: nothing of a request without credentials reaches what
// is behind the door, on any method and era, and each is on record.
func TestUnauthenticated(t *testing.T) {
	modern := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}
	for name, tc := range map[string]struct {
		method, who, body string
		hdr               map[string]string
		status            int
		challenge         string
		want              executor.Refusal
	}{
		"legacy call":  {"POST", "", echoCall, nil, 401, `Bearer realm="x"`, executor.Refusal{Reason: "missing", Tool: "echo"}},
		"modern call":  {"POST", "expired", echoCall, modern, 401, `Bearer error="invalid_token"`, executor.Refusal{Reason: "expired", Method: "oidc", Tool: "echo"}},
		"scope":        {"POST", "scopeless", echoCall, nil, 403, `Bearer error="insufficient_scope"`, executor.Refusal{Reason: "scope", Method: "oidc", Tool: "echo"}},
		"down":         {"POST", "down", echoCall, nil, 503, "", executor.Refusal{Reason: "unavailable", Tool: "echo"}},
		"nobody":       {"POST", "nobody", echoCall, nil, 503, "", executor.Refusal{Reason: "unavailable", Tool: "echo"}},
		"initialize":   {"POST", "", initialize, nil, 401, `Bearer realm="x"`, executor.Refusal{Reason: "missing"}},
		"no JSON":      {"POST", "", "{", nil, 401, `Bearer realm="x"`, executor.Refusal{Reason: "missing"}},
		"batch":        {"POST", "", "[" + echoCall + "]", nil, 401, `Bearer realm="x"`, executor.Refusal{Reason: "missing"}},
		"odd name":     {"POST", "", strings.Replace(echoCall, `"echo"`, "7", 1), nil, 401, `Bearer realm="x"`, executor.Refusal{Reason: "missing"}},
		"long":         {"POST", "", strings.Replace(echoCall, "SENT", strings.Repeat("a", maxPeek), 1), nil, 401, `Bearer realm="x"`, executor.Refusal{Reason: "missing"}},
		"listen":       {"GET", "", "", nil, 401, `Bearer realm="x"`, executor.Refusal{Reason: "missing"}},
		"end":          {"DELETE", "", "", map[string]string{"Mcp-Session-Id": "x"}, 401, `Bearer realm="x"`, executor.Refusal{Reason: "missing"}},
		"other method": {"PUT", "", echoCall, nil, 401, `Bearer realm="x"`, executor.Refusal{Reason: "missing"}},
	} {
		f := newFake()
		_, url := start(t, f, asks)
		if tc.hdr == nil {
			tc.hdr = map[string]string{}
		}
		tc.hdr["Traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		res, body := do(t, tc.method, url, tc.who, tc.body, tc.hdr)
		if res.StatusCode != tc.status || res.Header.Get("WWW-Authenticate") != tc.challenge || strings.Contains(body, "secret") {
			t.Errorf("%s: %d, %q, %s", name, res.StatusCode, res.Header.Get("WWW-Authenticate"), body)
		}
		if len(f.calls()) != 0 || len(f.refused) != 1 {
			t.Fatalf("%s: %d calls, refused %+v", name, len(f.calls()), f.refused)
		}
		got := f.refused[0]
		if !got.Source.IsLoopback() || got.Origin != decision.OriginMCPHTTP || got.TraceID != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Reason != tc.want.Reason || got.Method != tc.want.Method || got.Tool != tc.want.Tool || got.Principal != nil {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// TestRefusalWithoutRecord: an answer that says more than "not now" needs its
// record.
func TestRefusalWithoutRecord(t *testing.T) {
	f := newFake()
	f.noRecord = fault.New(fault.AuditUnavailable, "full", "the disk is full")
	_, url := start(t, f, asks)
	res, body := do(t, "POST", url, "", echoCall, nil)
	if res.StatusCode != 503 || res.Header.Get("WWW-Authenticate") != "" || strings.Contains(body, "disk") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// TestAuthenticated: a call has the principal of its credentials, in both
// eras, and no header of them.
func TestAuthenticated(t *testing.T) {
	f := newFake()
	_, url := start(t, f, asks)
	res, body := do(t, "POST", url, "alice/finance", strings.Replace(echoCall, `"name"`, strings.Replace(askingMeta, "NAME", "root", 1)+`,"name"`, 1),
		map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"})
	if res.StatusCode != 200 || !strings.Contains(body, "SENT") {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	session := open(t, url, "alice/finance")
	if res, body := do(t, "POST", url, "alice/finance", echoCall, session); res.StatusCode != 200 || !strings.Contains(body, "SENT") {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	calls := f.calls()
	if len(calls) != 2 {
		t.Fatalf("%d calls", len(calls))
	}
	for _, c := range calls {
		if p := c.Principal; p.Subject != "alice" || p.Method != "oidc" || p.ClientID != "agent" || p.Untrusted || p.Groups[0] != "finance" {
			t.Errorf("%+v", p)
		}
	}
}

// open begins a session by hand and gives the headers of its requests.
func open(t *testing.T, url, who string) map[string]string {
	t.Helper()
	res, body := do(t, "POST", url, who, initialize, nil)
	id := res.Header.Get("Mcp-Session-Id")
	if res.StatusCode != 200 || id == "" {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	hdr := map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": id}
	if res, body := do(t, "POST", url, who, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, hdr); res.StatusCode != 202 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	return hdr
}

// TestSessionsAreBound: a session is there for who began it and for nobody
// else, and an attempt is on record.
func TestSessionsAreBound(t *testing.T) {
	f := newFake()
	s, url := start(t, f, asks)
	session := open(t, url, "alice/finance")
	id := session["Mcp-Session-Id"]
	with := func(id string) map[string]string {
		return map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": id}
	}
	bare, _, _ := strings.Cut(id, ".")
	eves := open(t, url, "eve")["Mcp-Session-Id"]
	_, evesSeal, _ := strings.Cut(eves, ".")
	for name, tc := range map[string]struct {
		method, who, id string
		recorded        bool
	}{
		"another's call":     {"POST", "eve", id, true},
		"another's stream":   {"GET", "eve", id, true},
		"another's end":      {"DELETE", "eve", id, true},
		"alice of elsewhere": {"POST", "alice2", id, true},
		"another's seal":     {"POST", "eve", bare + "." + evesSeal, true},
		"without a seal":     {"POST", "alice/finance", bare, false},
		"of an old process":  {"POST", "alice/finance", bare + ".00000000.0123", false},
		"a word":             {"POST", "alice/finance", "x", false},
	} {
		f.refused = nil
		body := ""
		if tc.method == "POST" {
			body = echoCall
		}
		res, _ := do(t, tc.method, url, tc.who, body, with(tc.id))
		if res.StatusCode != 404 {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
		if len(f.calls()) != 0 {
			t.Fatalf("%s: called", name)
		}
		if (len(f.refused) == 1) != tc.recorded {
			t.Errorf("%s: refused %+v", name, f.refused)
		} else if tc.recorded && (f.refused[0].Reason != "session" || f.refused[0].Principal.Subject != tc.who) {
			t.Errorf("%s: %+v", name, f.refused[0])
		}
	}
	// Another token of the same caller may have other groups.
	if res, body := do(t, "POST", url, "alice/ops", echoCall, session); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if n := s.sessions(); n != 2 {
		t.Errorf("%d sessions", n)
	}
	if res, _ := do(t, "DELETE", url, "alice/ops", "", session); res.StatusCode != 204 {
		t.Errorf("its own end: %d", res.StatusCode)
	}
}

// TestElicitationIsBound: the question of a call is answered by its caller and
// by nobody else.
func TestElicitationIsBound(t *testing.T) {
	f := newFake()
	_, url := start(t, f, asks)
	session := open(t, url, "alice")
	req, _ := http.NewRequest("POST", url, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"danger","arguments":{}}}`))
	for k, v := range session {
		req.Header.Set(k, v)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer alice")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	events := bufio.NewScanner(res.Body)
	next := func() (m map[string]any) {
		for events.Scan() {
			if data, ok := bytes.CutPrefix(events.Bytes(), []byte("data: ")); ok && json.Unmarshal(data, &m) == nil && m != nil {
				return m
			}
		}
		t.Fatalf("the stream ended: %v", events.Err())
		return nil
	}
	asked := next()
	if asked["method"] != "elicitation/create" {
		t.Fatalf("%v", asked)
	}
	id, _ := json.Marshal(asked["id"])
	yes := `{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"action":"accept","content":{}}}`
	own := open(t, url, "eve")
	for name, hdr := range map[string]map[string]string{"in the session": session, "in her own": own} {
		if res, body := do(t, "POST", url, "eve", yes, hdr); name == "in the session" && res.StatusCode != 404 {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
	if f.executed.Load() != 0 {
		t.Fatal("another's answer counted")
	}
	if res, body := do(t, "POST", url, "alice", yes, session); res.StatusCode != 202 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if answer, _ := json.Marshal(next()); !strings.Contains(string(answer), `ran`) || f.executed.Load() != 1 {
		t.Errorf("%s", answer)
	}
}

// TestNobodyIsNotLocal: where everybody is asked, a request whose caller is
// not known is not taken for the local one.
func TestNobodyIsNotLocal(t *testing.T) {
	s := New(Options{Caller: newFake(), Auth: named{}, Logger: zerolog.Nop()})
	d := s.door(decision.OriginMCPHTTP)
	d.who, d.mustKnow = s.httpPrincipal, true
	if p := d.principal(nil, &mcp.Implementation{Name: "x"}); p.Subject != "" || p.Method != "" {
		t.Errorf("%+v", p)
	}
	reached := false
	h := d.identified(func(context.Context, string, mcp.Request) (mcp.Result, error) { reached = true; return nil, nil })
	for _, method := range []string{methodCall, methodList} {
		if _, err := h(context.Background(), method, &mcp.ListToolsRequest{}); err == nil || reached {
			t.Errorf("%s passes", method)
		}
	}
	if _, err := h(context.Background(), "ping", &mcp.ListToolsRequest{}); err != nil || !reached {
		t.Error("a method that needs no principal")
	}
}

// TestPathsWithAuthentication: what needs credentials beside /mcp, and that a
// foreign Host or Origin is not even asked for them.
func TestPathsWithAuthentication(t *testing.T) {
	for name, tc := range map[string]struct {
		path, host, origin, who string
		open                    bool
		status, refused         int
	}{
		"health":                {path: "/healthz", status: 200},
		"metadata":              {path: "/.well-known/oauth-protected-resource", status: 200},
		"metrics":               {path: "/metrics", status: 401, refused: 1},
		"metrics for somebody":  {path: "/metrics", who: "alice", status: 200},
		"open metrics":          {path: "/metrics", open: true, status: 200},
		"foreign host":          {path: "/mcp", host: "evil.example", status: 403},
		"foreign origin":        {path: "/mcp", origin: "https://evil.example", who: "alice", status: 403},
		"foreign host metadata": {path: "/.well-known/oauth-protected-resource", host: "evil.example", status: 403},
	} {
		f := newFake()
		s := New(Options{Caller: f, Auth: named{}, OpenMetrics: tc.open, Metrics: prometheus.NewRegistry(), Logger: zerolog.Nop()})
		host := tc.host
		if host == "" {
			host = "localhost"
		}
		r := httptest.NewRequest("GET", "http://"+host+tc.path, nil)
		if tc.origin != "" {
			r.Header.Set("Origin", tc.origin)
		}
		if tc.who != "" {
			r.Header.Set("Authorization", "Bearer "+tc.who)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != tc.status || len(f.refused) != tc.refused {
			t.Errorf("%s: %d, %d refused", name, w.Code, len(f.refused))
		}
	}
}

// FuzzSessionID: no text is the id of a session but one that was given out.
func FuzzSessionID(f *testing.F) {
	b := newBinder()
	p := decision.Principal{Subject: "alice", Method: "oidc"}
	good := b.seal("SESSION", p)
	f.Add(good)
	f.Add("")
	f.Add("SESSION." + b.id + ".")
	f.Fuzz(func(t *testing.T, id string) {
		if _, _, ok := b.open(id, p); ok && id != good {
			t.Errorf("%q opens a session", id)
		}
		if _, _, ok := b.open(id, decision.Principal{Subject: "eve", Method: "oidc"}); ok {
			t.Errorf("%q opens a session for another", id)
		}
	})
}
