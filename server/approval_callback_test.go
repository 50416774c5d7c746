package server

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/approval/webhook"
	"github.com/toolwarrant/toolwarrant/internal/standardhook"
)

var (
	hookKey  = bytes.Repeat([]byte{7}, 32)
	otherKey = bytes.Repeat([]byte{9}, 32)
)

func secretLine(key []byte) string {
	return standardhook.Prefix + base64.StdEncoding.EncodeToString(key) + "\n"
}

// hooked is an installation with a webhook, whose receiver it plays, and a
// callback.
type hooked struct {
	*installation
	door          *Server
	url, callback string

	mu   sync.Mutex
	down bool
	seen map[string]webhook.Notice // by type
	n    int
}

func (h *hooked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	if _, err := standardhook.Verify([][]byte{otherKey}, r.Header, body, time.Now()); err != nil {
		h.t.Errorf("the notice is not genuine: %v", err)
	}
	var n webhook.Notice
	if err := json.Unmarshal(body, &n); err != nil {
		h.t.Error(err)
	}
	h.seen[n.Type] = n
	h.n++
}

func (h *hooked) notice(kind, id string) (n webhook.Notice) {
	h.t.Helper()
	settles(h.t, "no notice "+kind, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		n = h.seen[kind]
		return n.Data.ApprovalID == id
	})
	return n
}

func hook(t *testing.T, down bool) *hooked {
	t.Helper()
	i := install(t, map[string]map[string]any{"t_ask": askingTool(gives)})
	h := &hooked{installation: i, seen: map[string]webhook.Notice{}, down: down}
	receiver := httptest.NewServer(h)
	t.Cleanup(receiver.Close)
	out, in := filepath.Join(i.home, "out.secret"), filepath.Join(i.home, "in.secret")
	writeFile(t, out, secretLine(otherKey))
	writeFile(t, in, secretLine(hookKey))
	i.Config.Approvals.Webhook.URL, i.Config.Approvals.Webhook.SecretFile = receiver.URL+"/hook", out
	i.Config.Approvals.Callback.SecretFile, i.Config.Approvals.Callback.Groups = in, []string{"sre"}
	h.serve()
	return h
}

// serve begins to serve the installation as it is open now.
func (h *hooked) serve() {
	h.t.Helper()
	callback, err := h.ApprovalWebhooks("test")
	if err != nil {
		h.t.Fatal(err)
	}
	h.door, h.url = start(h.t, Governed(h.Service), withUsers, func(o *Options) { o.Callback = callback })
	h.callback = strings.TrimSuffix(h.url, "/mcp") + "/approvals/callback"
}

// post sends an answer; change may spoil it after it was signed.
func (h *hooked) post(id, body string, key []byte, at time.Time, change func(*http.Request)) (int, string) {
	h.t.Helper()
	req, err := http.NewRequest(http.MethodPost, h.callback, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header = standardhook.Header([][]byte{key}, id, at, []byte(body))
	req.Header.Set("Content-Type", "application/json")
	if change != nil {
		change(req)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func accepting(id, subject string, more string) string {
	return `{"approvalId":"` + id + `","action":"accept","approver":{"subject":"` + subject + `"` + more + `}}`
}

func TestWebhookAndCallback(t *testing.T) {
	h := hook(t, false)
	alice := agent{t: t, url: h.url, user: "alice", mute: true}
	id := alice.call("t_ask", `{"a":"1"}`, "").id
	n := h.notice(webhook.TypeAsked, id)
	if n.Data.Tool != "t_ask" || n.Data.Args != `{"a":"1"}` || n.Data.Principal.Subject != "alice" || n.Data.PromptDigest == "" {
		t.Errorf("%+v", n.Data)
	}
	if status, text := h.post("m1", accepting(id, "carol", ""), hookKey, time.Now(), nil); status != 200 || !strings.Contains(text, `"state":"accepted"`) {
		t.Fatalf("%d %s", status, text)
	}
	if n := h.notice(webhook.TypeSettled, id); n.Data.State != "accepted" || n.Data.Approver.Subject != "carol" || n.Data.Approver.Method != "webhook" {
		t.Errorf("%+v", n.Data)
	}
	got := alice.call("t_ask", `{"a":"1"}`, "")
	h.expect("accepted", got, "ran", "ACCEPTED", "t_ask", 1)
	if r := h.closeOf(got.callID); r.at("humanInTheLoop", "approver") != "carol" {
		t.Errorf("%v", r["humanInTheLoop"])
	}
	// An approver there may change the arguments, or refuse.
	id = alice.call("t_ask", `{"a":"2"}`, "").id
	if status, text := h.post("m2", strings.TrimSuffix(accepting(id, "carol", ""), "}")+`,"args":{"a":"3"}}`, hookKey, time.Now(), nil); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	h.expect("modified", alice.call("t_ask", `{"a":"2"}`, ""), "ran", "MODIFIED", "t_ask", 2)
	id = alice.call("t_ask", `{"a":"4"}`, "").id
	if status, text := h.post("m3", strings.Replace(accepting(id, "carol", ""), "accept", "decline", 1), hookKey, time.Now(), nil); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	h.expect("declined", alice.call("t_ask", `{"a":"4"}`, ""), "APPROVAL_DENIED/declined", "DECLINED", "t_ask", 2)
}

// Nothing but a genuine, fresh and new message of somebody who may answer
// answers.
func TestCallbackAttacks(t *testing.T) {
	h := hook(t, true)
	alice := agent{t: t, url: h.url, user: "alice", mute: true}
	id := alice.call("t_ask", `{"a":"1"}`, "").id
	good := accepting(id, "carol", "")
	for name, tc := range map[string]struct {
		body   string
		key    []byte
		at     time.Time
		change func(*http.Request)
		status int
	}{
		"another key":          {good, otherKey, time.Now(), nil, 401},
		"old":                  {good, hookKey, time.Now().Add(-6 * time.Minute), nil, 401},
		"of the future":        {good, hookKey, time.Now().Add(6 * time.Minute), nil, 401},
		"unsigned":             {good, hookKey, time.Now(), func(r *http.Request) { r.Header.Del("Webhook-Signature") }, 401},
		"another body":         {good, hookKey, time.Now(), func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(good + " ")); r.ContentLength++ }, 401},
		"another id":           {good, hookKey, time.Now(), func(r *http.Request) { r.Header.Set("Webhook-Id", "x") }, 401},
		"GET":                  {good, hookKey, time.Now(), func(r *http.Request) { r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0 }, 405},
		"a form":               {good, hookKey, time.Now(), func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"from a web page":      {good, hookKey, time.Now(), func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"nobody":               {accepting(id, "", ""), hookKey, time.Now(), nil, 400},
		"unknown member":       {`{"approvalId":"` + id + `","action":"accept","approver":{"subject":"c"},"force":true}`, hookKey, time.Now(), nil, 400},
		"a member twice":       {`{"approvalId":"` + id + `","action":"decline","action":"accept","approver":{"subject":"c"}}`, hookKey, time.Now(), nil, 400},
		"unknown action":       {strings.Replace(good, "accept", "ACCEPT", 1), hookKey, time.Now(), nil, 400},
		"not JSON":             {`{`, hookKey, time.Now(), nil, 400},
		"two documents":        {good + good, hookKey, time.Now(), nil, 400},
		"an id that is a path": {accepting("../../x", "carol", ""), hookKey, time.Now(), nil, 404},
		"huge":                 {`{"approvalId":"` + strings.Repeat("x", 2<<20) + `"}`, hookKey, time.Now(), nil, 413},
	} {
		status, text := h.post("atk-"+strings.ReplaceAll(name, " ", "-"), tc.body, tc.key, tc.at, tc.change)
		if status != tc.status {
			t.Errorf("%s: %d %s, want %d", name, status, text, tc.status)
		}
		if strings.Contains(text, base64.StdEncoding.EncodeToString(hookKey)) {
			t.Errorf("%s: the answer shows the secret", name)
		}
	}
	refused := map[any]int{}
	for _, r := range h.records() {
		if r["kind"] == "approval.callback-refuse" {
			refused[r.at("detail", "reason")]++
		}
	}
	if refused["signature"] != 3 || refused["stale"] != 2 || refused["unsigned"] != 1 {
		t.Errorf("on record: %v", refused)
	}
	if got := alice.call("t_ask", `{"a":"1"}`, ""); got.verdict != "APPROVAL_PENDING/pending" || got.id != id {
		t.Fatalf("an attack answered the question: %+v", got)
	}
	// A genuine one is taken once, after a restart either.
	at := time.Now()
	if status, text := h.post("once", good, hookKey, at, nil); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	if status, _ := h.post("once", good, hookKey, at, nil); status != 401 {
		t.Errorf("replayed: %d", status)
	}
	if status, _ := h.post("twice", good, hookKey, at, nil); status != 409 {
		t.Errorf("answered twice: %d", status)
	}
	h.restart()
	h.serve()
	if status, _ := h.post("once", good, hookKey, at, nil); status != 401 {
		t.Errorf("replayed after a restart: %d", status)
	}
	alice.url = h.url
	h.expect("rightful", alice.call("t_ask", `{"a":"1"}`, ""), "ran", "ACCEPTED", "t_ask", 1)
}

// The sender vouches for its people, and only for groups that it was given;
// four eyes hold for it as for anybody.
func TestCallbackApprovers(t *testing.T) {
	h := hook(t, true)
	h.setting(map[string]any{"groups": []string{"sre", "board"}, "fourEyes": true}, "hitl", "approvers")
	h.tell()
	alice := agent{t: t, url: h.url, user: "alice", mute: true}
	id := alice.call("t_ask", `{"a":"1"}`, "").id
	for n, tc := range []struct {
		subject, groups string
		status          int
	}{
		{"carol", ``, 403},
		{"carol", `,"groups":["board"]`, 403}, // not its to give
		{"alice", `,"groups":["sre"]`, 403},   // the caller
		{"ALICE", `,"groups":["sre"]`, 403},
		{"local", `,"groups":["sre"]`, 403},
		{"carol", `,"groups":["board","sre"]`, 200},
	} {
		if status, text := h.post("who-"+string(rune('a'+n)), accepting(id, tc.subject, tc.groups), hookKey, time.Now(), nil); status != tc.status {
			t.Errorf("%s %s: %d %s", tc.subject, tc.groups, status, text)
		}
	}
	h.expect("rightful", alice.call("t_ask", `{"a":"1"}`, ""), "ran", "ACCEPTED", "t_ask", 1)
}

// A receiver that is down delays no call and loses no notice, through a
// restart either.
func TestWebhookOutlastsRestart(t *testing.T) {
	h := hook(t, true)
	alice := agent{t: t, url: h.url, user: "alice", mute: true}
	id := alice.call("t_ask", `{"a":"1"}`, "").id
	settles(t, "the question waits for no receiver", func() bool {
		_, err := os.Stat(filepath.Join(h.home, "approvals-webhook", id+".asked.json"))
		return err == nil
	})
	h.restart()
	h.accepts(id) // while nobody tells of it
	h.mu.Lock()
	h.down = false
	h.mu.Unlock()
	h.serve()
	if n := h.notice(webhook.TypeSettled, id); n.Data.State != "accepted" {
		t.Errorf("%+v", n.Data)
	}
	alice.url = h.url
	h.expect("rightful", alice.call("t_ask", `{"a":"1"}`, ""), "ran", "ACCEPTED", "t_ask", 1)
}

// What is configured by half is a mistake, found at the start.
func TestHookMistakes(t *testing.T) {
	i := install(t, nil)
	secret := filepath.Join(i.home, "s")
	writeFile(t, secret, secretLine(hookKey))
	short := filepath.Join(i.home, "short")
	writeFile(t, short, "whsec_AAAA")
	for name, change := range map[string]func(){
		"no secret": func() { i.Config.Approvals.Webhook.URL = "https://hooks.example/x" },
		"no url":    func() { i.Config.Approvals.Webhook.SecretFile = secret },
		"plain http": func() {
			i.Config.Approvals.Webhook.URL, i.Config.Approvals.Webhook.SecretFile = "http://hooks.example/x", secret
		},
		"password in it": func() {
			i.Config.Approvals.Webhook.URL, i.Config.Approvals.Webhook.SecretFile = "https://a:b@hooks.example/x", secret
		},
		"short secret":       func() { i.Config.Approvals.Callback.SecretFile = short },
		"secret that is not": func() { i.Config.Approvals.Callback.SecretFile = secret + "x" },
		"groups alone":       func() { i.Config.Approvals.Callback.Groups = []string{"sre"} },
	} {
		before := i.Config.Approvals
		change()
		if h, err := i.ApprovalWebhooks("test"); err == nil || h != nil {
			t.Errorf("%s is no mistake", name)
		}
		i.Config.Approvals = before
	}
	if h, err := i.ApprovalWebhooks("test"); err != nil || h != nil {
		t.Errorf("nothing configured: %v %v", h, err)
	}
}

// Who sends half an answer, or many, keeps nobody from sending a genuine one;
// what is not signed at all is not even read.
func TestCallbackUnderLoad(t *testing.T) {
	h := hook(t, true)
	alice := agent{t: t, url: h.url, user: "alice", mute: true}
	id := alice.call("t_ask", `{"a":"1"}`, "").id
	address := strings.TrimSuffix(strings.TrimPrefix(h.callback, "http://"), "/approvals/callback")
	half := func(more string) net.Conn {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_, _ = io.WriteString(conn, "POST /approvals/callback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+more+"Content-Length: 1000000\r\n\r\n{"+strings.Repeat(" ", 4096))
		return conn
	}
	answered := func(conn net.Conn) int {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		return res.StatusCode
	}
	if status := answered(half("")); status != http.StatusUnauthorized {
		t.Errorf("unsigned: %d", status)
	}
	signed := func(at time.Time) (head string) {
		for name, values := range standardhook.Header([][]byte{otherKey}, "x", at, nil) {
			head += name + ": " + values[0] + "\r\n"
		}
		return head
	}
	if status := answered(half(signed(time.Now().Add(-time.Hour)))); status != http.StatusUnauthorized {
		t.Errorf("old: %d", status)
	}
	var conns []net.Conn
	for range 100 {
		conns = append(conns, half(signed(time.Now())))
	}
	for _, conn := range conns[:40] {
		if status := answered(conn); status != http.StatusBadRequest {
			t.Errorf("one that is too slow: %d", status)
		}
	}
	if n := h.door.Load().BodyBytes; n > 1<<20 {
		t.Errorf("%d bytes are taken", n)
	}
	if status, text := h.post("m1", accepting(id, "carol", ""), hookKey, time.Now(), nil); status != 200 {
		t.Errorf("a genuine one: %d %s", status, text)
	}
}
