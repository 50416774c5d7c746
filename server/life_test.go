package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

// settles waits until ok holds. The limit only ends a test that has failed.
func settles(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%s\n%s", what, buf[:runtime.Stack(buf, true)])
		}
	}
}

// Clients that vanish while their human is asked leave nothing behind: the
// handlers end at once because the connection is gone, the sessions by their
// timeout.
func TestAbandonedElicitation(t *testing.T) {
	f := newFake()
	s, url := start(t, f, func(o *Options) { o.SessionTimeout = 200 * time.Millisecond })
	callTool(t, connect(t, url, "2025-11-25", "warm", nil), "echo", nil)
	before := runtime.NumGoroutine()

	const clients = 20
	client := &http.Client{Transport: &http.Transport{}}
	for range clients {
		r := legacySession(t, url, `{"elicitation":{}}`)
		ctx, cancel := context.WithCancel(context.Background())
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger","arguments":{}}}`))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range r.hdr {
			req.Header.Set(k, v)
		}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if res, err := client.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		}()
		<-f.started // the question is out
		cancel()
		<-gone
	}
	client.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	settles(t, "sessions are left", func() bool { return s.sessions() <= 1 })
	settles(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
	settles(t, "questions are left", func() bool {
		all, err := f.gate.List(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.State == approval.StatePending {
				return false
			}
		}
		return len(all) == clients
	})
	if f.executed.Load() != 0 {
		t.Error("danger ran")
	}
}

// The deadline ends a question even while the client keeps its connection.
func TestDeadline(t *testing.T) {
	f := newFake()
	_, url := start(t, f, func(o *Options) {
		o.HandlerDeadline = func(tool string) time.Duration { return 100 * time.Millisecond }
	})
	for _, v := range versions[:2] {
		e := errorOf(t, callTool(t, connect(t, url, v, "a", nil), "slow", nil))
		if cause := <-f.cancelled; e["code"] != "INTERRUPTED" || !errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("%s: %v, cause %v", v, e, cause)
		}
	}
}

// Dropping the connection cancels the call, in both eras.
func TestDroppedConnection(t *testing.T) {
	f := newFake()
	_, url := start(t, f)
	for _, v := range versions[:2] {
		ctx, cancel := context.WithCancel(context.Background())
		var req *http.Request
		if v == "2026-07-28" {
			req, _ = http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow",`+askingMeta+`}}`))
			req.Header.Set("Mcp-Protocol-Version", v)
			req.Header.Set("Mcp-Method", "tools/call")
			req.Header.Set("Mcp-Name", "slow")
		} else {
			r := legacySession(t, url, `{}`)
			req, _ = http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`))
			for k, v := range r.hdr {
				req.Header.Set(k, v)
			}
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set(requestHeader, "1") // has no influence
		go func() {
			if res, err := http.DefaultClient.Do(req); err == nil {
				res.Body.Close()
			}
		}()
		<-f.started
		cancel()
		select {
		case <-f.cancelled:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the call goes on", v)
		}
	}
}

func TestDrain(t *testing.T) {
	f := newFake()
	s := New(Options{Caller: f, DrainTimeout: 20 * time.Second})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	base := "http://" + ln.Addr().String()

	// A call that waits for its human when the server is told to stop.
	asked, mayAnswer := make(chan struct{}), make(chan struct{})
	cs := connect(t, base+"/mcp", "2025-11-25", "a", func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		close(asked)
		<-mayAnswer
		return &mcp.ElicitResult{Action: "accept"}, nil
	})
	result := make(chan *mcp.CallToolResult, 1)
	go func() {
		res, err := cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "danger"})
		if err != nil {
			t.Error(err)
		}
		result <- res
	}()
	<-asked
	if status := get(t, base+"/healthz"); status != http.StatusOK {
		t.Errorf("healthz %d", status)
	}
	stop()
	settles(t, "readiness does not flip", func() bool { return s.draining.Load() })
	if status := get(t, base+"/healthz"); status != http.StatusServiceUnavailable {
		t.Errorf("healthz while draining: %d", status)
	}
	if status, _, text := (raw{t: t, url: base + "/mcp"}).post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`); status != http.StatusServiceUnavailable {
		t.Errorf("a new call while draining: %d %s", status, text)
	}
	close(mayAnswer)
	if res := <-result; res == nil || res.IsError || f.executed.Load() != 1 {
		t.Errorf("the call in flight: %+v", res)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestDrainCutsOff(t *testing.T) {
	f := newFake()
	s := New(Options{Caller: f, DrainTimeout: time.Millisecond})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	cs := connect(t, "http://"+ln.Addr().String()+"/mcp", "2025-11-25", "a", nil)
	result := make(chan *mcp.CallToolResult, 1)
	go func() {
		res, _ := cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "slow"})
		result <- res
	}()
	<-f.started
	stop()
	if cause := <-f.cancelled; !errors.Is(cause, errStopping) {
		t.Errorf("cause %v", cause)
	}
	if res := <-result; res == nil || !res.IsError {
		t.Errorf("its client got %+v", res)
	}
	if err := <-ended; err == nil {
		t.Error("Serve says that nothing was cut off")
	}
}

func get(t *testing.T, url string) int {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

func TestVisitors(t *testing.T) {
	s := New(Options{Caller: newFake(), AllowedHosts: []string{"Tools.example.com", "other.example.com:8443"},
		AllowedOrigins: []string{"https://App.example.com/"}, Health: func() error { return nil }})
	h := s.Handler()
	for _, tc := range []struct {
		host, origin, site string
		want               int
	}{
		{"127.0.0.1:8282", "", "", 200}, {"localhost", "", "", 200}, {"LOCALHOST:1", "", "", 200}, {"[::1]:8282", "", "", 200},
		{"127.9.9.9", "", "", 200}, {"tools.example.com", "", "", 200}, {"tools.example.com:443", "", "", 200},
		{"other.example.com:8443", "", "", 200}, {"other.example.com", "", "", 403}, {"other.example.com:1", "", "", 403},
		{"", "", "", 403}, {"evil.example", "", "", 403}, {"localhost.evil.example", "", "", 403}, {"127.0.0.1.nip.io", "", "", 403},
		{"0.0.0.0:8282", "", "", 403}, {"10.0.0.1", "", "", 403}, {"localhost.", "", "", 403}, {"evil.example:8282@localhost", "", "", 403},
		{"localhost:8282", "http://localhost:8282", "", 200}, {"127.0.0.1:8282", "http://127.0.0.1:8282", "same-origin", 200},
		{"localhost:8282", "http://localhost:3000", "same-site", 403}, {"localhost:8282", "http://127.0.0.1:8282", "", 403},
		{"localhost:8282", "null", "", 403}, {"localhost:8282", "https://evil.example", "cross-site", 403},
		{"localhost:8282", "file://localhost:8282", "", 403}, {"localhost:8282", "http://localhost:8282@evil.example", "", 403},
		{"localhost:8282", "https://app.example.com", "cross-site", 200}, {"tools.example.com", "https://tools.example.com", "", 403},
		{"localhost:8282", "https://app.example.com.evil.example", "", 403},
		{"localhost:8282", "", "cross-site", 403}, {"localhost:8282", "", "same-site", 403}, {"localhost:8282", "", "none", 200},
	} {
		for _, path := range []string{"/healthz", "/", "/mcp", "/sse"} {
			r := httptest.NewRequest(http.MethodGet, "http://x"+path, nil)
			r.Host = tc.host
			if tc.origin != "" {
				r.Header.Set("Origin", tc.origin)
			}
			if tc.site != "" {
				r.Header.Set("Sec-Fetch-Site", tc.site)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if (w.Code == 403) != (tc.want == 403) {
				t.Errorf("host %q origin %q site %q %s: %d, want %d", tc.host, tc.origin, tc.site, path, w.Code, tc.want)
			}
		}
	}
	r := httptest.NewRequest(http.MethodOptions, "http://localhost/mcp", nil)
	r.Header.Set("Origin", "https://app.example.com")
	r.Header.Set("Access-Control-Request-Method", "POST")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
}

func TestOtherPaths(t *testing.T) {
	sick := errors.New("the audit log at /var/secret is full")
	s := New(Options{Caller: newFake(), Health: func() error { return sick }})
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/": {200, "Streamable HTTP"}, "/sse": {410, "/mcp"}, "/messages/x": {410, "/mcp"},
		"/healthz": {503, "unavailable"}, "/nothing": {404, ""}, "/mcp": {400, ""},
	} {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.text) || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// The health check names the policy by revisions and codes, without the text
// of an error.
func TestHealthNamesThePolicy(t *testing.T) {
	st := service.PolicyStatus{Policy: "/var/secret/p.tar.gz", Revision: "sha256:ab", Bundle: "42"}
	s := New(Options{Caller: newFake(), Health: func() error { return nil }, Policy: func() service.PolicyStatus { return st }})
	get := func() string {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		return w.Body.String()
	}
	if got := get(); !strings.Contains(got, `"revision":"sha256:ab","bundle":"42"`) || !strings.Contains(got, `"lastError":null`) {
		t.Error(got)
	}
	st.LastError = fault.New(fault.PolicyUnavailable, "bundle-signature", "the policy bundle /var/secret/p.tar.gz is refused")
	if got := get(); !strings.Contains(got, `"lastError":{"code":"POLICY_UNAVAILABLE","reason":"bundle-signature"`) {
		t.Error(got)
	}
}

// So does it name the shadow policy, whose error makes nothing unhealthy.
func TestHealthNamesTheShadow(t *testing.T) {
	var shadow *service.PolicyStatus
	s := New(Options{Caller: newFake(), Health: func() error { return nil }, Policy: func() service.PolicyStatus { return service.PolicyStatus{} },
		Shadow: func() *service.PolicyStatus { return shadow }})
	for _, want := range []string{`"shadow":null`, `"shadow":{"revision":"sha256:ac","bundle":"43",`} {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
		if got := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(got, want) {
			t.Errorf("%d %s", w.Code, got)
		}
		shadow = &service.PolicyStatus{Policy: "/var/secret/p.tar.gz", Revision: "sha256:ac", Bundle: "43",
			LastError: fault.New(fault.PolicyUnavailable, "bundle-signature", "the policy bundle /var/secret/p.tar.gz is refused")}
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
	if got := w.Body.String(); !strings.Contains(got, `"reason":"bundle-signature"`) || strings.Contains(got, "secret") {
		t.Error(got)
	}
}

// Metrics are in the text format of Prometheus, for the hosts that everything
// else is for; without any there is no such path.
func TestMetricsPath(t *testing.T) {
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "calls_total", Help: "Calls."})
	registry.MustRegister(counter)
	counter.Inc()
	for _, c := range []struct {
		metrics prometheus.Gatherer
		method  string
		host    string
		status  int
		body    string
	}{
		{registry, http.MethodGet, "localhost", 200, "# TYPE calls_total counter\ncalls_total 1\n"},
		{registry, http.MethodPost, "localhost", 405, ""},
		{registry, http.MethodGet, "evil.example", 403, ""},
		{nil, http.MethodGet, "localhost", 404, ""},
	} {
		w := httptest.NewRecorder()
		New(Options{Caller: newFake(), Metrics: c.metrics}).Handler().ServeHTTP(w, httptest.NewRequest(c.method, "http://"+c.host+"/metrics", nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
			t.Errorf("%s %s: %d %s", c.method, c.host, w.Code, w.Body)
		}
		if c.status == 200 && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("content type %s", w.Header().Get("Content-Type"))
		}
	}
}

func TestCheckAddr(t *testing.T) {
	for addr, reason := range map[string]string{
		"127.0.0.1:8282": "", "localhost:0": "", "[::1]:8282": "", "127.1.2.3:80": "", "LocalHost:80": "", "[::ffff:127.0.0.1]:80": "",
		":8282": "authentication-required", "0.0.0.0:8282": "authentication-required", "[::]:8282": "authentication-required",
		"192.168.1.5:80": "authentication-required", "example.com:80": "authentication-required", "localhost.example.com:80": "authentication-required",
		"[fe80::1%lo]:80": "authentication-required", "2130706433:80": "authentication-required",
		"8282": "invalid-address", "127.0.0.1": "invalid-address", "": "invalid-address", "127.0.0.1:": "invalid-address",
	} {
		err := CheckAddr(addr, Protection{Encrypted: true})
		if reason == "" {
			if err != nil {
				t.Errorf("%q: %v", addr, err)
			}
			continue
		}
		if !errors.Is(err, fault.New(fault.Usage, reason, "")) {
			t.Errorf("%q: %v, want %s", addr, err, reason)
		}
	}
}

// TestCheckAddrProtected: an address that others reach needs both.
func TestCheckAddrProtected(t *testing.T) {
	for name, tc := range map[string]struct {
		p      Protection
		reason string
	}{
		"nothing":         {Protection{}, "authentication-required"},
		"encrypted alone": {Protection{Encrypted: true}, "authentication-required"},
		"in the clear":    {Protection{Authenticated: true}, "tls-required"},
		"both":            {Protection{Authenticated: true, Encrypted: true}, ""},
	} {
		for _, addr := range []string{"0.0.0.0:8282", ":8282", "192.168.1.5:80"} {
			err := CheckAddr(addr, tc.p)
			if tc.reason == "" && err != nil || tc.reason != "" && !errors.Is(err, fault.New(fault.Usage, tc.reason, "")) {
				t.Errorf("%s: %s: %v, want %q", name, addr, err, tc.reason)
			}
		}
		if err := CheckAddr("127.0.0.1:80", tc.p); err != nil {
			t.Errorf("%s: loopback: %v", name, err)
		}
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"claude": "claude", " a\u202eb\x00c\n ": "abc", "\xff": "", strings.Repeat("é", 100): strings.Repeat("é", 64),
	} {
		if got := cleanName(in); got != want {
			t.Errorf("cleanName(%q) = %q", in, got)
		}
	}
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for in, want := range map[string]string{
		"00-" + id + "-" + span + "-01": id, "cc-" + id + "-" + span + "-01-more": id,
		"": "", "00-" + id + "-" + span: "", "ff-" + id + "-" + span + "-01": "", "00-" + id + "-" + span + "-01-x": "",
		"00-" + strings.ToUpper(id) + "-" + span + "-01": "", "00-" + strings.Repeat("0", 32) + "-" + span + "-01": "",
		"00-" + id + "-" + strings.Repeat("0", 16) + "-01": "", "00-" + id + "\n-" + span + "-01": "",
	} {
		if got := traceID(in); got != want {
			t.Errorf("traceID(%q) = %q", in, got)
		}
	}
}

// speak runs one whole stdio session: the lines go in, in ends, everything
// that came out is given by id.
func speak(t *testing.T, f *fake, lines ...string) map[string]map[string]any {
	t.Helper()
	var out bytes.Buffer
	s := New(Options{Caller: f, MaxBodyBytes: 4 << 10})
	if err := s.ServeStdio(context.Background(), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	answers := map[string]map[string]any{}
	for l := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		if m["method"] != nil { // a question to the client
			continue
		}
		id, _ := json.Marshal(m["id"])
		answers[string(id)] = m
	}
	return answers
}

const stdioInit = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}`

// What arrived before the end of input is answered.
func TestStdioAnswersAll(t *testing.T) {
	f := newFake()
	got := speak(t, f, stdioInit, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"echo","arguments":{"x":1}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"danger"}}`) // nobody is left to be asked
	for _, id := range []string{"0", "1", `"b"`, "3"} {
		if got[id]["result"] == nil {
			t.Errorf("%s: %v", id, got[id])
		}
	}
	res, _ := got["3"]["result"].(map[string]any)
	if codeOf(res) != "APPROVAL_DENIED/cancelled" || f.executed.Load() != 0 {
		t.Errorf("danger: %v", res)
	}
}

func TestStdioHostile(t *testing.T) {
	f := newFake()
	got := speak(t, f, stdioInit,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"danger"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"a":"`+strings.Repeat("x", 5<<10)+`"}}}`,
		"\xff\xfe", `[]`, `{"jsonrpc":"2.0","method":7}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/destroy"}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	for id, want := range map[string]float64{"1": codeParse, "3": codeMethodNotFound, "4": codeInvalidParams, "null": codeInvalidRequest} {
		if e, _ := got[id]["error"].(map[string]any); e["code"] != want {
			t.Errorf("%s: %v", id, got[id])
		}
	}
	if got["5"]["result"] == nil {
		t.Errorf("the session did not survive: %v", got)
	}
	if len(f.calls()) != 0 {
		t.Errorf("%+v", f.calls())
	}
}

func TestStdioStops(t *testing.T) {
	in, feed := io.Pipe()
	defer feed.Close()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s := New(Options{Caller: newFake()})
	go func() { ended <- s.ServeStdio(ctx, in, io.Discard) }()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// And the places that get the audit log, by their names.
func TestHealthNamesTheSinks(t *testing.T) {
	s := New(Options{Caller: newFake(), Health: func() error { return nil }, Sinks: func() []audit.SinkStatus {
		return []audit.SinkStatus{
			{Name: "siem", Required: true, Err: errors.New("secret.example: refused"), SpoolStatus: audit.SpoolStatus{Waiting: 7, Lost: 2, Oldest: time.Now().Add(-time.Hour)}},
			{Name: "copy"},
		}
	}})
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
	got := w.Body.String()
	if strings.Contains(got, "secret") || !strings.Contains(got, `"sinks":[{"name":"siem","required":true,"up":false,"waiting":7,"behindSeconds":36`) ||
		!strings.Contains(got, `{"name":"copy","required":false,"up":true,"waiting":0,"behindSeconds":0,"lost":0}]`) {
		t.Error(got)
	}
	w = httptest.NewRecorder()
	New(Options{Caller: newFake()}).Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
	if !strings.Contains(w.Body.String(), `"sinks":[]`) {
		t.Error(w.Body)
	}
}

func TestHealthOfCheckpoints(t *testing.T) {
	at := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		status *service.CheckpointStatus
		want   []string
	}{
		"none asked for": {nil, []string{`"checkpoints":null`}},
		"none yet":       {&service.CheckpointStatus{}, []string{`"checkpoints":{"up":true,"records":0,"at":null,"ageSeconds":0}`}},
		"made":           {&service.CheckpointStatus{Size: 7, At: at}, []string{`"up":true,"records":7,"at":"` + at.UTC().Format(time.RFC3339) + `","ageSeconds":36`}},
		"ended": {&service.CheckpointStatus{Size: 7, At: at, Err: fault.New(fault.AuditUnavailable, audit.ReasonReplaced, "in /secret/place")},
			[]string{`"up":false,"records":7,`, `"code":"AUDIT_UNAVAILABLE","reason":"log-replaced"`}},
	} {
		s := New(Options{Caller: newFake(), Health: func() error { return nil }, Checkpoints: func() *service.CheckpointStatus { return c.status }})
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
		body := w.Body.String()
		for _, want := range c.want {
			if w.Code != http.StatusOK || !strings.Contains(body, want) || strings.Contains(body, "/secret") {
				t.Errorf("%s: %d %s", name, w.Code, body)
			}
		}
	}
}
