package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestKilledWhileOthersWrite kills a server in the middle of a call while
// twenty other processes write into the same log. Nothing of it may be lost
// but the answer.
func TestKilledWhileOthersWrite(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	tool(t, dir, "sleeper", "await new Promise((done) => setTimeout(done, 25000));", nil)
	p := serve(t, home, nil, "--catalog", dir)
	go callAndForget(p.url)
	var callID string
	waitFor(t, "the call to run", func() bool {
		if _, err := os.Stat(auditFile(home)); err != nil {
			return false
		}
		for _, r := range readable(home) {
			if r.str("phase") == "open" && r.str("tool", "name") == "sleeper" {
				callID = r.str("callId")
			}
		}
		return callID != ""
	})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if i == 10 {
				p.kill()
			}
			out, errs, status := toolwarrant(t, home, "run", "base64", "--args", `{"text":"hello world"}`)
			if status != 0 || out != "aGVsbG8gd29ybGQ=\n" {
				t.Errorf("run: status %d %s%s", status, out, errs)
			}
		}()
	}
	wg.Wait()
	again := serve(t, home, nil)
	again.stop()
	verifyWhole(t, home)
	all := records(t, home)
	got := closes(all, callID)
	if len(got) != 1 || got[0].str("error", "code") != "INTERRUPTED" || got[0].str("outcome") != "ERROR" {
		t.Errorf("the killed call was closed %v", got)
	}
	ok := 0
	for _, r := range all {
		if r.str("phase") == "close" && r.str("outcome") == "OK" && r.str("tool", "name") == "base64" {
			ok++
		}
	}
	if ok != 20 {
		t.Errorf("%d records of 20 calls that were answered", ok)
	}
}

// callAndForget calls a tool whose answer never comes.
func callAndForget(url string) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleeper","arguments":{},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"wire","version":"1"}}}}`
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return
	}
	(&wire{version: "2026-07-28"}).headers(req, "tools/call", "sleeper")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
	}
}

// readable gives the whole lines of a log that is being written.
func readable(home string) []record {
	data, err := os.ReadFile(auditFile(home))
	if err != nil {
		return nil
	}
	var all []record
	for line := range bytes.Lines(data) {
		var r record
		if json.Unmarshal(line, &r) == nil {
			all = append(all, r)
		}
	}
	return all
}
