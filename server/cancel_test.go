package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/fault"
)

// ending is what a test reads of a close record.
type ending struct {
	Phase, CallID, Outcome, Origin string
	Tool                           struct{ Name string }
	Error                          *struct{ Code, Reason string }
}

// endings gives the close records of an installation.
func (i *installation) endings() (all []ending) {
	i.t.Helper()
	raw, err := os.ReadFile(filepath.Join(i.home, "audit", "audit.ndjson"))
	if err != nil {
		i.t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var e ending
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			i.t.Fatal(err)
		}
		if e.Phase == "close" {
			all = append(all, e)
		}
	}
	return all
}

// count counts the records of a tool with a code.
func (i *installation) count(tool string, code fault.Code) (n int) {
	for _, e := range i.endings() {
		if e.Tool.Name == tool && e.Error != nil && e.Error.Code == string(code) {
			n++
		}
	}
	return n
}

// slowCode runs for long in few statements.
const slowCode = "let s = ''; for (let i = 0; i < 100000; i++) { s = 'x'.repeat(200000).split('').sort().join('').slice(0, 1); } return s"

// A client that gives up ends the code of its call, which is recorded as
// interrupted, and the next call works: over each version and stdio, by the
// notification or by the connection, as the client of the library does it.
func TestCancelEndsTheCode(t *testing.T) {
	i := install(t, map[string]map[string]any{"t_slow": {"code": slowCode}})
	want := 0
	clients(t, Governed(i.Service), nil, func(t *testing.T, _ *Server, h *heard, cs *mcp.ClientSession) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "t_slow", Meta: mcp.Meta{"progressToken": 7}})
			ended <- err
		}()
		settles(t, "the code does not start", func() bool {
			select {
			case err := <-ended:
				t.Fatalf("it ended: %v, records %+v", err, i.endings())
			default:
			}
			s := h.stages()
			return len(s) > 0 && s[len(s)-1] == stageRunning
		})
		cancel()
		if err := <-ended; err == nil {
			t.Error("the client got an answer")
		}
		want++
		settles(t, "the code goes on", func() bool { return i.count("t_slow", fault.Interrupted) == want })
		if res := callTool(t, cs, "base64", map[string]any{"text": "a"}); res.IsError || text(res) != "YQ==" {
			t.Errorf("the next call: %+v %s", res, text(res))
		}
	})
}

// A connection that is cut without a word ends the code too, and so does the
// end of the input of stdio once the time to drain is over.
func TestCutConnectionEndsTheCode(t *testing.T) {
	i := install(t, map[string]map[string]any{"t_slow": {"code": slowCode}})
	_, url := start(t, Governed(i.Service))
	for n, v := range versions {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t_slow","_meta":{"progressToken":1}}}`
		var hdr map[string]string
		if v == modernVersion {
			body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t_slow","_meta":{"progressToken":1,"` + metaProtocolVersion + `":"` + v +
				`","io.modelcontextprotocol/clientCapabilities":{}}}}`
			hdr = map[string]string{headerVersion: v, "Mcp-Method": methodCall, "Mcp-Name": "t_slow"}
		} else {
			hdr = legacySession(t, url, `{}`).hdr
		}
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range hdr {
			req.Header.Set(k, v)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req) // the headers come with the first news
		if err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		seen := bufio.NewScanner(res.Body)
		for seen.Scan() && !strings.Contains(seen.Text(), stageRunning) {
		}
		cancel()
		res.Body.Close()
		settles(t, v+": the code goes on", func() bool { return i.count("t_slow", fault.Interrupted) == n+1 })
	}

	s := New(Options{Caller: Governed(i.Service), DrainTimeout: 20 * time.Millisecond})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(context.Background(), inR, outW); outW.Close() }()
	lines := bufio.NewScanner(outR)
	say := func(line string) {
		if _, err := io.WriteString(inW, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	go func() {
		say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t_slow","_meta":{"progressToken":1}}}`)
	}()
	for lines.Scan() && !strings.Contains(lines.Text(), stageRunning) {
	}
	inW.Close()
	for lines.Scan() {
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := i.count("t_slow", fault.Interrupted); n != len(versions)+1 {
		t.Errorf("%d calls are interrupted", n)
	}
}
