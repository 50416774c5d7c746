package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
)

var kills = flag.Int("kills", 2, "how often TestKilledUnderLoad kills the server")

// writers is how many clients call at one time.
const writers = 64

// load is a home that many clients write to, and what they saw of it.
type load struct {
	t    *testing.T
	home string
	log  string   // the audit log
	args []string // of serve
	next atomic.Int64

	mu      sync.Mutex
	answers map[string]string // callId -> code, "" is fine
	ran     map[string]bool   // n of the calls whose code reached the outside
	refused int               // answers without a record: AUDIT_UNAVAILABLE
}

// newLoad prepares a tool whose code can be seen to have run: it fetches from a
// server of the test.
func newLoad(t *testing.T, args ...string) *load {
	t.Helper()
	if testing.Short() {
		t.Skip("presses a server with many clients")
	}
	l := &load{t: t, home: t.TempDir(), answers: map[string]string{}, ran: map[string]bool{}}
	l.log = auditFile(l.home)
	seen := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ran[r.URL.Query().Get("n")] = true
	}))
	t.Cleanup(seen.Close)
	dir := t.TempDir()
	o := overrides("networkMode", "allowlist", "hostsAllow", []string{"127.0.0.1"})
	o["params"] = []any{map[string]any{"name": "n", "type": "STRING", "required": true, "testValue": "0"}}
	tool(t, dir, "probe", fmt.Sprintf("const r = await fetch(%q + n); return r.status;", seen.URL+"/?n="), o)
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "egress:\n  private-hosts: [\"" + strings.TrimPrefix(seen.URL, "http://") + "\"]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l.args = append([]string{"--config", config, "--catalog", dir}, args...)
	return l
}

func (l *load) serve() *process { l.t.Helper(); return serve(l.t, l.home, nil, l.args...) }

// press calls from all writers until the server is gone or stop is closed.
func (l *load) press(url string, stop <-chan struct{}) (done func()) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}}
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				n := l.next.Add(1)
				name, args := "probe", `{"n":"`+strconv.FormatInt(n, 10)+`"}`
				if n%4 == 0 {
					name, args = "base64", `{"text":"hello"}`
				}
				if err := l.one(client, url, name, args); err != nil {
					return // the answer did not arrive
				}
			}
		})
	}
	return func() { wg.Wait(); client.CloseIdleConnections() }
}

// one makes a call and keeps its answer.
func (l *load) one(client *http.Client, url, name, args string) error {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"wire","version":"1"}}}}`
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	(&wire{version: "2026-07-28"}).headers(req, "tools/call", name)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Result struct {
			IsError bool
			Meta    map[string]any `json:"_meta"`
			Content struct {
				Error struct{ Code string }
			} `json:"structuredContent"`
		}
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return err
	}
	id, _ := answer.Result.Meta["dev.toolwarrant/callId"].(string)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch code := answer.Result.Content.Error.Code; {
	case id == "":
		l.t.Errorf("an answer without a call: %s", data)
	case code == "AUDIT_UNAVAILABLE":
		l.refused++
	default:
		l.answers[id] = code
	}
	return nil
}

// count gives how many answers there are, and how many were refused for the
// want of a record.
func (l *load) count() (answers, refused int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answers), l.refused
}

// verify holds that the chain is whole, without the command, which costs a
// process.
func (l *load) verify(when string) {
	l.t.Helper()
	r, err := audit.Verify(context.Background(), []string{l.log}, audit.VerifyOptions{})
	if err != nil || !r.OK {
		l.t.Fatalf("%s: the chain does not verify: %v %v", when, err, r.Findings)
	}
}

// check looks for the close record of every answer, and for the open record of
// every call whose code ran.
func (l *load) check() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	data, err := os.ReadFile(l.log)
	if err != nil {
		l.t.Fatal(err)
	}
	closed, opened, openedN, interrupted := map[string][]string{}, map[string]int{}, map[string]bool{}, 0
	for line := range bytes.Lines(data) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			l.t.Fatal(err)
		}
		id := r.str("callId")
		switch r.str("phase") {
		case "open":
			opened[id]++
			if n := r.str("params", "n"); n != "" {
				openedN[n] = true
			}
		case "close":
			code := r.str("error", "code")
			closed[id] = append(closed[id], code)
			if code == "INTERRUPTED" {
				interrupted++
			}
		}
	}
	for id, code := range l.answers {
		if c := closed[id]; len(c) != 1 || c[0] != code {
			l.t.Errorf("call %s was answered %q, and has the close records %q", id, code, c)
		}
	}
	for id, n := range opened {
		if n != 1 || len(closed[id]) != 1 {
			l.t.Errorf("call %s has %d open and %d close records", id, n, len(closed[id]))
		}
	}
	for id, c := range closed {
		if len(c) != 1 {
			l.t.Errorf("call %s has %d close records", id, len(c))
		}
	}
	for n := range l.ran {
		if !openedN[n] {
			l.t.Errorf("the code of call %s ran without an open record", n)
		}
	}
	l.t.Logf("%d answers, %d refused, %d calls whose code was seen, %d opened, %d closed, %d of them interrupted", len(l.answers), l.refused, len(l.ran), len(opened), len(closed), interrupted)
	if len(l.answers) == 0 || len(l.ran) == 0 {
		l.t.Error("nothing was answered")
	}
}

// TestKilledUnderLoad kills a server at random moments while clients call it.
// After each start the chain verifies, and in the end every answer that was
// seen has its record, and so has every call whose code ran.
func TestKilledUnderLoad(t *testing.T) {
	l := newLoad(t)
	for i := range *kills {
		p := l.serve()
		l.verify(fmt.Sprintf("after %d kills", i))
		before, _ := l.count()
		done := l.press(p.url, nil)
		if i == 0 { // the others may die before their first answer
			waitFor(t, "an answer", func() bool { n, _ := l.count(); return n > before })
		}
		time.Sleep(time.Duration(rand.Int64N(int64(time.Second))))
		p.kill()
		done()
	}
	l.serve().stop()
	l.verify("in the end")
	l.check()
}
