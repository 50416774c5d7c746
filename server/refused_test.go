package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

const listenBody = `{"jsonrpc":"2.0","id":"l1","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + askingMeta + `}}`

// A call that the protocol refuses never reaches a tool, and is on record.
func TestRefusedCallsAreRecorded(t *testing.T) {
	i := install(t, nil)
	s, url := start(t, Governed(i.Service))
	modern := func(more ...string) []string {
		return append([]string{headerVersion, modernVersion, "Mcp-Method", methodCall, "Mcp-Name", "base64"}, more...)
	}
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + params + `}`
	}
	want := 0
	for _, tc := range []struct {
		name, body string
		headers    []string
		code       float64 // of the protocol error; 0 where HTTP alone says it
		tool       string
	}{
		{"name header", call(`{"name":"base64",` + askingMeta + `}`), modern("Mcp-Name", "other"), codeHeaderMismatch, "base64"},
		{"method header", call(`{"name":"base64",` + askingMeta + `}`), modern("Mcp-Method", "tools/list"), codeHeaderMismatch, "base64"},
		{"version header", call(`{"name":"base64",` + askingMeta + `}`), modern(headerVersion, "2025-11-25"), codeHeaderMismatch, "base64"},
		{"no version header", call(`{"name":"base64",` + askingMeta + `}`), modern(headerVersion, ""), codeHeaderMismatch, "base64"},
		{"unknown version", call(`{"name":"base64"}`), modern(headerVersion, "2099-01-01"), codeVersion, "base64"},
		{"old unknown version", call(`{"name":"base64"}`), []string{headerVersion, "2023-01-01"}, codeVersion, "base64"},
		{"no meta", call(`{"name":"base64"}`), modern(), codeInvalidParams, "base64"},
		{"no capabilities", call(`{"name":"base64","_meta":{"` + metaProtocolVersion + `":"` + modernVersion + `"}}`), modern(), codeInvalidParams, "base64"},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, nil, codeInvalidParams, ""},
		{"a list of params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, nil, codeInvalidRequest, ""},
		{"an argument twice", call(`{"name":"base64","arguments":{"text":"a","text":"b"}}`), nil, codeParse, "base64"},
		{"bad UTF-8", call("{\"name\":\"base64\",\"arguments\":{\"text\":\"\xff\"}}"), nil, codeParse, "base64"},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"tools/list"},` + call(`{"name":"base64"}`) + `]`, nil, codeInvalidRequest, "base64"},
		{"a method twice", `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"base64"}}`, nil, codeParse, "base64"},
		{"a method twice by its header", `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/x"}`, modern(), codeParse, "base64"},
		{"too large", call(`{"name":"base64","arguments":{"text":"` + strings.Repeat("a", 12<<20) + `"}}`), modern(), codeInvalidRequest, "base64"},
		{"no id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"base64"}}`, modern(), codeInvalidRequest, "base64"},
		{"no id, before", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"base64"}}`, nil, codeInvalidRequest, "base64"},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"base6`, modern(), codeParse, "base64"},
		{"misspelt", `{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"base64"}}`, modern(), codeInvalidRequest, "base64"},
		{"an unknown session", call(`{"name":"base64"}`), []string{headerSession, "nobody"}, 0, "base64"},
		{"no session", call(`{"name":"base64"}`), nil, codeInvalidRequest, "base64"},
		{"a long name", call(`{"name":"` + strings.Repeat("x", 5000) + `"}`), modern(), codeInvalidParams, strings.Repeat("x", maxToolName)},
	} {
		status, answer, text := raw{t: t, url: url}.post(tc.body, tc.headers...)
		e, _ := answer["error"].(map[string]any)
		if tc.code != 0 && e["code"] != tc.code || answer["result"] != nil {
			t.Errorf("%s: %d %.300s", tc.name, status, text)
		}
		want++
		all := i.endings()
		if len(all) != want {
			t.Fatalf("%s: %d records, want %d", tc.name, len(all), want)
		}
		if r := all[want-1]; r.Outcome != "DENIED" || r.Error == nil || r.Error.Code != string(fault.InvalidArguments) || r.Error.Reason != "protocol" || r.Tool.Name != tc.tool || r.Origin != "mcp-http" {
			t.Errorf("%s: %+v", tc.name, r)
		}
		if tc.code == codeVersion {
			data, _ := json.Marshal(e["data"])
			if !strings.Contains(string(data), `"supported":["2026-07-28","2025-11-25"`) {
				t.Errorf("%s: %s", tc.name, data)
			}
		}
	}
	// What is no call leaves none, and neither does one that was answered.
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}`, `[]`, `{`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`} {
		raw{t: t, url: url}.post(body)
	}
	if n := len(i.endings()); n != want {
		t.Errorf("%d records, want %d", n, want)
	}
	s.draining.Store(true)
	if status, _, text := (raw{t: t, url: url}).post(call(`{"name":"base64"}`)); status != http.StatusServiceUnavailable || len(i.endings()) != want+1 {
		t.Errorf("while stopping: %d %s, %d records, want %d", status, text, len(i.endings()), want+1)
	}
}

// So it is over stdio.
func TestRefusedStdioCallsAreRecorded(t *testing.T) {
	i := install(t, nil)
	var out strings.Builder
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":"early","method":"tools/call","params":{"name":"uuid"}}`, // before there is a session
		stdioInit,
		`{"jsonrpc":"2.0","id":"shape","method":"tools/call","params":{"name":"hash","_meta":7}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"base64","name":"x"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"base64","_meta":{"` + metaProtocolVersion + `":"2099-01-01"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"base64","arguments":{"text":"a"}}}`,
	}, "\n")
	if err := New(Options{Caller: Governed(i.Service)}).ServeStdio(context.Background(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range i.endings() {
		code := ""
		if e.Error != nil {
			code = e.Error.Code + "/" + e.Error.Reason
		}
		got = append(got, fmt.Sprint(e.Origin, " ", e.Tool.Name, " ", code))
	}
	slices.Sort(got)
	if want := []string{"mcp-stdio  INVALID_ARGUMENTS/protocol", "mcp-stdio base64 ", "mcp-stdio base64 INVALID_ARGUMENTS/protocol",
		"mcp-stdio hash INVALID_ARGUMENTS/protocol", "mcp-stdio uuid INVALID_ARGUMENTS/protocol", "mcp-stdio x INVALID_ARGUMENTS/protocol"}; !slices.Equal(got, want) {
		t.Errorf("%q\n%s", got, out.String())
	}
}

// A stream that has nothing to say shows that it lives, with its headers, before
// there is an answer, and the answer still comes whole.
func TestHeartbeat(t *testing.T) {
	f := newFake()
	s, url := start(t, f)
	s.setPace(time.Hour, 2*time.Millisecond)
	open := func(method, body string, hdr map[string]string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range hdr {
			req.Header.Set(k, v)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	session := legacySession(t, url, `{}`)
	listen := map[string]string{headerVersion: modernVersion, "Mcp-Method": methodListen}
	for name, res := range map[string]*http.Response{
		"call":   open(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`, session.hdr),
		"stream": open(http.MethodGet, "", session.hdr),
		"listen": open(http.MethodPost, listenBody, listen),
	} {
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s: %d %v", name, res.StatusCode, res.Header)
		}
		beats := 0
		for lines := bufio.NewScanner(res.Body); beats < 3 && lines.Scan(); {
			if lines.Text() == ":" {
				beats++
			}
		}
		if beats < 3 {
			t.Errorf("%s: no sign of life", name)
		}
	}
	// An answer that is one JSON document stays one.
	if status, answer, text := (raw{t: t, url: url}).post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+askingMeta+`}}`, headerVersion, modernVersion, "Mcp-Method", methodList); status != 200 || answer["result"] == nil {
		t.Error(text)
	}
}

// Who listens for changes does so longer than other requests may take, keeps no
// drain waiting, and is let go at its end.
func TestListen(t *testing.T) {
	s := New(Options{Caller: newFake(), DrainTimeout: time.Hour, HandlerDeadline: func(string) time.Duration { return time.Millisecond }})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	req, err := http.NewRequest(http.MethodPost, "http://"+ln.Addr().String()+"/mcp", strings.NewReader(listenBody))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{headerVersion: modernVersion, "Mcp-Method": methodListen, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "subscriptions/acknowledged") {
	}
	if !strings.Contains(lines.Text(), `"toolsListChanged":true`) {
		t.Errorf("%s", lines.Text())
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for lines.Scan() {
	}
}

// The server follows the revision of its lists by itself.
func TestFollow(t *testing.T) {
	revisions := make(chan string, 1)
	last := "a"
	s := New(Options{Caller: newFake(), ListRevision: func() string {
		select {
		case last = <-revisions:
		default:
		}
		return last
	}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { s.follow(ctx); close(ended) }()
	revisions <- "b"
	settles(t, "nobody looks", func() bool { return len(revisions) == 0 })
	stop()
	<-ended
	New(Options{Caller: newFake()}).follow(t.Context()) // nothing to follow
}
