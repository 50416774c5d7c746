package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// raw posts one message as a 2026-07-28 client would, or a hostile one.
type raw struct {
	t   *testing.T
	url string
	hdr map[string]string
}

func (r raw) post(body string, extra ...string) (status int, answer map[string]any, text string) {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range r.hdr {
		req.Header.Set(k, v)
	}
	for i := 0; i+1 < len(extra); i += 2 {
		req.Header.Set(extra[i], extra[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		sc := bufio.NewScanner(bytes.NewReader(b))
		for sc.Scan() {
			if data, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
				b = []byte(data)
			}
		}
	}
	_ = json.Unmarshal(b, &answer)
	return res.StatusCode, answer, string(b)
}

const askingMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"NAME","version":"1"},"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}`

// modernCall sends a tools/call of 2026-07-28. members go into the params.
func modernCall(t *testing.T, url, client, tool, members string) map[string]any {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `",` +
		strings.Replace(askingMeta, "NAME", client, 1) + members + `}}`
	_, answer, text := raw{t: t, url: url}.post(body,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
	res, ok := answer["result"].(map[string]any)
	if !ok {
		t.Fatalf("no result: %s", text)
	}
	return res
}

func codeOf(res map[string]any) string {
	sc, _ := res["structuredContent"].(map[string]any)
	e, _ := sc["error"].(map[string]any)
	code, _ := e["code"].(string)
	reason, _ := e["reason"].(string)
	return code + "/" + reason
}

func accept(state string) string {
	s, _ := json.Marshal(state)
	return `,"requestState":` + string(s) + `,"inputResponses":{"approval":{"action":"accept","content":{}}}`
}

func TestModernApprovalAttacks(t *testing.T) {
	f := newFake()
	_, url := start(t, f)
	args := `,"arguments":{"p":1}`
	ask := func() string {
		res := modernCall(t, url, "a", "danger", args)
		if res["resultType"] != "input_required" {
			t.Fatalf("%v", res)
		}
		in, _ := json.Marshal(res["inputRequests"])
		if want := `{"approval":{"method":"elicitation/create","params":{"message":"[risk L4] Approve running tool 'danger' with arguments {\"p\":1}?","mode":"form","requestedSchema":{"properties":{},"type":"object"}}}}`; string(in) != want {
			t.Errorf("inputRequests %s", in)
		}
		return res["requestState"].(string)
	}
	state := ask()
	if c := f.last(); c.TraceID != "0af7651916cd43dd8448eb211c80319c" || c.Principal.ClientID != "a" {
		t.Errorf("%+v", c)
	}
	other := ask()
	flipped := []byte(state)
	flipped[len(flipped)/2] ^= 1

	for _, tc := range []struct{ name, client, members, want string }{
		{"answer without state", "a", args + `,"inputResponses":{"approval":{"action":"accept"}}`, "input_required"},
		{"altered state", "a", args + accept(string(flipped)), "APPROVAL_DENIED/mismatch"},
		{"made-up state", "a", args + accept("AAAA"), "APPROVAL_DENIED/mismatch"},
		{"huge state", "a", args + accept(strings.Repeat("A", 100_000)), "APPROVAL_DENIED/mismatch"},
		{"altered arguments", "a", `,"arguments":{"p":2}` + accept(state), "APPROVAL_DENIED/mismatch"},
		{"other client", "b", args + accept(state), "APPROVAL_DENIED/mismatch"},
		{"answer to another key", "a", args + `,"requestState":"` + state + `","inputResponses":{"other":{"action":"accept"}}`, "input_required"},
		{"no answer", "a", args + `,"requestState":"` + state + `"`, "input_required"},
		{"rightful", "a", args + accept(state), "ran"},
		{"replay", "a", args + accept(state), "APPROVAL_DENIED/expired"},
		{"answer of another kind", "a", args + `,"requestState":"` + other + `","inputResponses":{"approval":{"roots":[]}}`, "APPROVAL_DENIED/declined"},
		{"accepted after it was declined", "a", args + accept(other), "APPROVAL_DENIED/declined"},
		{"unknown word", "a", args + `,"requestState":"` + ask() + `","inputResponses":{"approval":{"action":"Accept"}}`, "APPROVAL_DENIED/declined"},
	} {
		before := f.executed.Load()
		res := modernCall(t, url, tc.client, "danger", tc.members)
		got := codeOf(res)
		switch {
		case res["resultType"] == "input_required":
			got = "input_required"
		case res["isError"] != true:
			got = "ran"
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s (%v)", tc.name, got, tc.want, res)
		}
		if ran := f.executed.Load() - before; (ran == 1) != (tc.want == "ran") {
			t.Errorf("%s: ran %d times", tc.name, ran)
		}
	}
}

// A client that cannot ask is not asked, whatever it sends.
func TestModernWithoutCapability(t *testing.T) {
	f := newFake()
	_, url := start(t, f)
	for name, caps := range map[string]string{"none": `{}`, "url only": `{"elicitation":{"url":{}}}`} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + caps + `},"inputResponses":{"approval":{"action":"accept"}}}}`
		_, answer, text := raw{t: t, url: url}.post(body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "danger")
		res, _ := answer["result"].(map[string]any)
		if codeOf(res) != "APPROVAL_DENIED/unsupported" || f.executed.Load() != 0 {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// legacySession opens a session by hand and gives a raw client for it.
func legacySession(t *testing.T, url, capabilities string) raw {
	t.Helper()
	req, _ := http.NewRequest(http.MethodPost, url, strings.NewReader(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"raw","version":"1"}}}`))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	r := raw{t, url, map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": res.Header.Get("Mcp-Session-Id")}}
	if r.hdr["Mcp-Session-Id"] == "" {
		t.Fatal("no session")
	}
	if status, _, text := r.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, text)
	}
	return r
}

// An older session answers by elicitation only: what a newer client would
// bring back is not even read.
func TestLegacyForgedAnswers(t *testing.T) {
	f := newFake()
	_, url := start(t, f)
	state := modernCall(t, url, "raw", "danger", `,"arguments":{}`)["requestState"].(string)
	r := legacySession(t, url, `{}`)
	for _, members := range []string{
		`,"inputResponses":{"approval":{"action":"accept"}}`,
		`,"requestState":"x","inputResponses":{"approval":{"action":"accept"}}`,
		accept(state),
	} {
		_, answer, text := r.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"danger","arguments":{}` + members + `}}`)
		res, _ := answer["result"].(map[string]any)
		if codeOf(res) != "APPROVAL_DENIED/unsupported" || f.executed.Load() != 0 {
			t.Errorf("%s: %s", members, text)
		}
		if c := f.last(); c.State != "" || c.Answer != "" {
			t.Errorf("%s: %+v", members, c)
		}
	}
}

// A client that asks for a version it cannot have in a session still gets
// asked the way the session works.
func TestInitializeWithNewerVersion(t *testing.T) {
	for _, v := range []string{"2026-07-28", "2099-01-01"} {
		f := newFake()
		_, url := start(t, f)
		_, answer, text := raw{t: t, url: url}.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + v + `","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
		res, _ := answer["result"].(map[string]any)
		if res["protocolVersion"] != "2025-11-25" {
			t.Errorf("%s: %s", v, text)
		}
	}
}

func TestHostileMessages(t *testing.T) {
	f := newFake()
	_, url := start(t, f, func(o *Options) { o.MaxBodyBytes = 64 << 10 })
	deep := strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000)
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + params + `}`
	}
	for _, tc := range []struct {
		name, body string
		status     int
		code       float64
	}{
		{"empty", ``, 400, codeParse},
		{"not JSON", `hello`, 400, codeParse},
		{"cut", `{"jsonrpc":"2.0"`, 400, codeParse},
		{"number", `1`, 400, codeInvalidRequest},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, 400, codeParse},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`, 400, codeInvalidRequest},
		{"empty batch", `[]`, 400, codeInvalidRequest},
		{"name twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, 400, codeParse},
		{"argument twice", call(`{"name":"echo","arguments":{"a":1,"a":2}}`), 400, codeParse},
		{"tool name twice", call(`{"name":"echo","name":"danger"}`), 400, codeParse},
		{"escaped name twice", call(`{"name":"echo","n\u0061me":"danger"}`), 400, codeParse},
		{"bad UTF-8", call("{\"name\":\"echo\",\"arguments\":{\"a\":\"\xff\"}}"), 400, codeParse},
		{"lone surrogate", call(`{"name":"echo","arguments":{"a":"\ud800"}}`), 400, codeParse},
		{"too deep", call(`{"name":"echo","arguments":{"a":` + deep + `}}`), 400, codeParse},
		{"oversize", call(`{"name":"echo","arguments":{"a":"` + strings.Repeat("x", 70<<10) + `"}}`), 413, codeInvalidRequest},
		{"no version", `{"id":1,"method":"ping"}`, 400, codeInvalidRequest},
		{"version 1", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, codeInvalidRequest},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, codeInvalidRequest},
		{"fraction id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400, codeInvalidRequest},
		{"huge id", `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, 400, codeInvalidRequest},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, codeInvalidRequest},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":5}`, 400, codeInvalidRequest},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, 400, codeInvalidRequest},
		{"params is a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, 400, codeInvalidRequest},
		{"nothing", `{"jsonrpc":"2.0"}`, 400, codeInvalidRequest},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}`, 200, codeMethodNotFound},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 200, codeInvalidParams},
	} {
		status, answer, text := raw{t: t, url: url}.post(tc.body)
		e, _ := answer["error"].(map[string]any)
		if status != tc.status || e["code"] != tc.code {
			t.Errorf("%s: %d %.200s", tc.name, status, text)
		}
	}
	// The newer version: the library's own checks.
	for name, tc := range map[string]struct {
		method, tool, body string
		code               float64
	}{
		"method header":  {"tools/list", "echo", call(`{"name":"echo",` + askingMeta + `}`), -32020},
		"name header":    {"tools/call", "other", call(`{"name":"echo",` + askingMeta + `}`), -32020},
		"unknown method": {"tools/destroy", "", `{"jsonrpc":"2.0","id":1,"method":"tools/destroy","params":{` + askingMeta + `}}`, codeMethodNotFound},
		"no meta":        {"tools/call", "echo", call(`{"name":"echo"}`), codeInvalidParams},
		"cursor":         {"tools/list", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x",` + askingMeta + `}}`, codeInvalidParams},
	} {
		_, answer, text := raw{t: t, url: url}.post(tc.body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", tc.method, "Mcp-Name", tc.tool)
		if e, _ := answer["error"].(map[string]any); e["code"] != tc.code {
			t.Errorf("%s: %s", name, text)
		}
	}
	if status, answer, text := (raw{t: t, url: url}).post(call(`{"name":"echo",`+askingMeta+`}`), "Mcp-Protocol-Version", "2099-01-01", "Mcp-Method", "tools/call", "Mcp-Name", "echo"); status == 200 && answer["result"] != nil {
		t.Errorf("unknown version: %s", text)
	}
	if n := len(f.calls()); n != 0 {
		t.Errorf("%d of them became calls: %+v", n, f.calls())
	}
}

func TestPropertyOrderOnTheWire(t *testing.T) {
	_, url := start(t, newFake())
	_, _, text := raw{t: t, url: url}.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+askingMeta+`}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	if want := `"inputSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"string"}},"required":["z"]}`; !strings.Contains(text, want) {
		t.Error(text)
	}
	for _, want := range []string{`"cacheScope":"private"`, `"ttlMs":5000`, `"resultType":"complete"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

func FuzzMessages(f *testing.F) {
	s := New(Options{Caller: newFake()})
	h := s.Handler()
	for _, b := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"a":[1,null,"x"]},` + askingMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger","requestState":"AQ","inputResponses":{"approval":{"action":"accept"}},` + askingMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + askingMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x",` + askingMeta + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `[]`, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":null}}`,
	} {
		f.Add(b, true)
		f.Add(b, false)
	}
	f.Fuzz(func(t *testing.T, body string, modern bool) {
		if strings.Contains(body, "slow") || strings.Contains(body, "subscriptions") {
			t.Skip("waits by design")
		}
		frame, _ := parseFrame([]byte(body))
		w := &recorder{header: http.Header{}}
		r, _ := http.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if modern {
			r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", frame.method)
			var p struct{ Name, URI string }
			_ = json.Unmarshal(frame.params, &p)
			r.Header.Set("Mcp-Name", p.Name+p.URI)
		}
		h.ServeHTTP(w, r)
		if w.status == http.StatusInternalServerError {
			t.Errorf("500: %s", w.body.String())
		}
	})
}

// recorder is a response writer that can be flushed.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(s int)           { r.status = s }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
func (r *recorder) Flush()                      {}
