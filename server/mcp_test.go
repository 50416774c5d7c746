package server

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
)

var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// elicit is what the human behind a test client does; nil: the client cannot
// ask.
type elicit func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)

func newClient(name string, human elicit) *mcp.Client {
	opt := &mcp.ClientOptions{}
	if human != nil {
		opt.ElicitationHandler = human
	}
	return mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, opt)
}

func connect(t *testing.T, url, version, name string, human elicit) *mcp.ClientSession {
	t.Helper()
	cs, err := newClient(name, human).Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close() })
	return cs
}

// overStdio runs ServeStdio in memory.
func overStdio(t *testing.T, caller Caller, version string, human elicit, change ...func(*Options)) *mcp.ClientSession {
	t.Helper()
	opt := Options{Caller: caller, Name: "test"}
	for _, c := range change {
		c(&opt)
	}
	s := New(opt)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- s.ServeStdio(context.Background(), inR, outW)
		outW.Close()
	}()
	cs, err := newClient("stdio-client", human).Connect(context.Background(), &mcp.IOTransport{Reader: outR, Writer: inW, MaxLineLength: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cs.Close()
		inW.Close()
		if err := <-ended; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
	})
	return cs
}

// everywhere runs a test over each version on HTTP, and over stdio for one
// version of each era.
func everywhere(t *testing.T, human elicit, test func(t *testing.T, f *fake, cs *mcp.ClientSession)) {
	for _, v := range versions {
		t.Run("http "+v, func(t *testing.T) {
			f := newFake()
			_, url := start(t, f)
			test(t, f, connect(t, url, v, "agent", human))
		})
	}
	for _, v := range versions[:2] {
		t.Run("stdio "+v, func(t *testing.T) {
			f := newFake()
			test(t, f, overStdio(t, f, v, human))
		})
	}
}

func callTool(t *testing.T, cs *mcp.ClientSession, tool string, args any) *mcp.CallToolResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func text(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if tc, ok := c.(*mcp.TextContent); ok {
			b.WriteString(tc.Text)
		}
	}
	return b.String()
}

// errorOf is structuredContent.error of a failed result.
func errorOf(t *testing.T, res *mcp.CallToolResult) map[string]any {
	t.Helper()
	if !res.IsError {
		t.Fatalf("not an error: %s", text(res))
	}
	m, _ := res.StructuredContent.(map[string]any)
	e, ok := m["error"].(map[string]any)
	if !ok {
		t.Fatalf("structuredContent %v", res.StructuredContent)
	}
	return e
}

func TestListAndCall(t *testing.T) {
	everywhere(t, nil, func(t *testing.T, f *fake, cs *mcp.ClientSession) {
		list, err := cs.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) != 2 || list.Tools[1].Name != "zeta" || !list.Tools[1].Annotations.ReadOnlyHint || list.Tools[0].Annotations != nil {
			t.Errorf("tools %+v", list.Tools)
		}
		if res := callTool(t, cs, "echo", map[string]any{"b": 1, "a": "x"}); res.IsError ||
			!cmp.Equal(res.StructuredContent, map[string]any{"b": 1.0, "a": "x"}) || text(res) != `{"a":"x","b":1}` {
			t.Errorf("echo: %+v %s", res, text(res))
		}
		c := f.last()
		want := decision.Principal{Subject: "local", Method: "none", ClientID: c.Principal.ClientID, Untrusted: true, Groups: []string{}, Scopes: []string{}}
		if d := cmp.Diff(want, c.Principal); d != "" || (c.Principal.ClientID != "agent" && c.Principal.ClientID != "stdio-client") {
			t.Error(c.Principal, d)
		}
		if c.Asker != nil || c.State != "" || c.Answer != "" {
			t.Errorf("%+v", c)
		}
		if wantOrigin := map[string]decision.Origin{"agent": decision.OriginMCPHTTP, "stdio-client": decision.OriginMCPStdio}[c.Principal.ClientID]; c.Origin != wantOrigin {
			t.Errorf("origin %s", c.Origin)
		}
	})
}

func TestResults(t *testing.T) {
	everywhere(t, nil, func(t *testing.T, f *fake, cs *mcp.ClientSession) {
		if res := callTool(t, cs, "text", nil); res.IsError || text(res) != "line <one>\né" || res.StructuredContent != nil {
			t.Errorf("text: %q %v", text(res), res.StructuredContent)
		}
		if res := callTool(t, cs, "list", nil); res.IsError || text(res) != "[1,2]" || res.StructuredContent != nil {
			t.Errorf("list: %q %v", text(res), res.StructuredContent)
		}
		if res := callTool(t, cs, "void", nil); res.IsError || len(res.Content) != 0 {
			t.Errorf("void: %+v", res)
		}
		for tool, want := range map[string]string{
			"no-such": "NOT_FOUND", dispatchTool: "NOT_FOUND", "panic": "INTERNAL", "broken-json": "INTERNAL",
			"rate": "RATE_LIMITED", "pending": "APPROVAL_PENDING", "danger": "APPROVAL_DENIED", "input-anyway": "APPROVAL_DENIED",
		} {
			res := callTool(t, cs, tool, nil)
			e := errorOf(t, res)
			if e["code"] != want {
				t.Errorf("%s: %v", tool, e)
			}
			for _, k := range []string{"code", "reason", "message", "decisionId", "callId"} {
				if _, ok := e[k]; !ok {
					t.Errorf("%s: no %s", tool, k)
				}
			}
			switch tool {
			case "danger", "input-anyway":
				if e["reason"] != "unsupported" || !strings.Contains(text(res), "was not run") || !strings.Contains(text(res), "Do not call it again") {
					t.Errorf("%s: %v %s", tool, e, text(res))
				}
			case "rate":
				if e["retryAfterMs"] != 100.0 || !strings.HasSuffix(text(res), "The tool was not run.") {
					t.Errorf("%s: %v %s", tool, e, text(res))
				}
			case "pending":
				if e["approvalId"] != "x" || !strings.Contains(text(res), "2000 ms") {
					t.Errorf("%s: %v %s", tool, e, text(res))
				}
			case "panic":
				if strings.Contains(text(res), "boom") || e["callId"] != nil {
					t.Errorf("%s: %v %s", tool, e, text(res))
				}
			}
		}
		if f.executed.Load() != 0 {
			t.Error("danger ran")
		}
	})
}

func TestApproval(t *testing.T) {
	for action, want := range map[string]string{"accept": "", "decline": "declined", "cancel": "cancelled"} {
		t.Run(action, func(t *testing.T) {
			var prompt string
			human := func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				prompt = r.Params.Message
				return &mcp.ElicitResult{Action: action}, nil
			}
			everywhere(t, human, func(t *testing.T, f *fake, cs *mcp.ClientSession) {
				prompt = ""
				res := callTool(t, cs, "danger", map[string]any{"p": "/etc"})
				if prompt != `[risk L4] Approve running tool 'danger' with arguments {"p":"/etc"}?` {
					t.Errorf("prompt %q", prompt)
				}
				if want == "" {
					if res.IsError || f.executed.Load() != 1 {
						t.Errorf("accepted, but %s, ran %d times", text(res), f.executed.Load())
					}
					return
				}
				if e := errorOf(t, res); e["code"] != "APPROVAL_DENIED" || e["reason"] != want || f.executed.Load() != 0 {
					t.Errorf("%v, ran %d times", e, f.executed.Load())
				}
				if !strings.Contains(text(res), "was not run") {
					t.Error(text(res))
				}
			})
		})
	}
}

// A human who does not answer in time is a refusal, and so is a client whose
// own handler fails.
func TestApprovalWithoutAnswer(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	never := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		<-release
		return nil, io.ErrUnexpectedEOF
	}
	f := newFake()
	f.expiry = 50 * time.Millisecond
	_, url := start(t, f)
	if e := errorOf(t, callTool(t, connect(t, url, "2025-11-25", "a", never), "danger", nil)); e["reason"] != "timeout" {
		t.Errorf("no answer: %v", e)
	}
	f.expiry = time.Minute
	failing := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return nil, io.ErrUnexpectedEOF
	}
	if e := errorOf(t, callTool(t, connect(t, url, "2025-11-25", "a", failing), "danger", nil)); e["reason"] != "cancelled" {
		t.Errorf("failing client: %v", e)
	}
	if f.executed.Load() != 0 {
		t.Error("it ran")
	}
}

func TestListDependsOnTheCaller(t *testing.T) {
	_, url := start(t, newFake())
	for name, want := range map[string]int{"agent": 2, "restricted": 1} {
		list, err := connect(t, url, "2026-07-28", name, nil).ListTools(context.Background(), nil)
		if err != nil || len(list.Tools) != want {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	_, err := connect(t, url, "2025-11-25", "broken", nil).ListTools(context.Background(), nil)
	if err == nil || !strings.Contains(err.Error(), "no policy is active") || strings.Contains(err.Error(), "secret") {
		t.Errorf("broken: %v", err)
	}
}

func TestCapabilities(t *testing.T) {
	everywhere(t, nil, func(t *testing.T, _ *fake, cs *mcp.ClientSession) {
		b, err := json.Marshal(cs.InitializeResult().Capabilities)
		var caps map[string]json.RawMessage
		if err != nil || json.Unmarshal(b, &caps) != nil || string(caps["tools"]) != `{"listChanged":true}` || len(caps) != 1 {
			t.Errorf("capabilities %s, want tools with their notification and nothing else", b)
		}
	})
}

// TestTypeScriptClients runs the independent clients when their packages are
// installed (npm ci in testdata/clients).
func TestTypeScriptClients(t *testing.T) {
	if exec.Command("node", "-e", "require.resolve('@modelcontextprotocol/sdk/package.json',{paths:['testdata/clients']})").Run() != nil {
		t.Skip("run npm ci in server/testdata/clients to include this test")
	}
	for _, script := range []string{"legacy.mjs", "modern.mjs"} {
		t.Run(script, func(t *testing.T) {
			f := newFake()
			_, url := start(t, f)
			out, err := exec.Command("node", "testdata/clients/"+script, url, "--call", "echo", "--args", `{"text":"hi"}`, "--expect", `{"text":"hi"}`, "--ask", "danger").CombinedOutput()
			if err != nil || f.executed.Load() != 1 {
				t.Errorf("%v, ran %d times\n%s", err, f.executed.Load(), out)
			}
		})
	}
}
