package main

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/impact"
)

var everyTransport = flag.Bool("every-transport", false, "end calls in every way over every transport, not over one of each kind")

// exit is one way in which a call can end.
type exit struct {
	name string
	tool string
	args string // "" is {}
	// human is what the person behind the client does: accept, decline, cancel,
	// or nothing, until the question expires. "" is a client that cannot ask.
	human        string
	code, reason string // "" is a call that ends well; a reason of "" is any
	hitl         string // outcome of humanInTheLoop in the record; "" is NOT_REQUIRED
	open         bool   // the code was begun
	before       func() // what happens first, nil = nothing
	// Where it can be: over MCP, or at the command line alone.
	onlyMCP, onlyCLI bool
	unserved         bool // it does not exist over the network
}

// exits are the ways in which a call ends that a caller, a document, an
// operator or a policy can bring about.
func exits(h *exitHome) []exit {
	return []exit{
		{name: "fine", tool: "x_fine", args: `{"text":"a","n":1}`, open: true},
		{name: "arguments null", tool: "x_fine", args: `null`, code: "INVALID_ARGUMENTS", reason: "missing-argument"},
		{name: "no arguments", tool: "x_fine", code: "INVALID_ARGUMENTS", reason: "missing-argument"},
		{name: "arguments are a list", tool: "x_fine", args: `[1]`, code: "INVALID_ARGUMENTS", reason: "not-an-object"},
		{name: "arguments are a text", tool: "x_fine", args: `"a"`, code: "INVALID_ARGUMENTS", reason: "not-an-object"},
		{name: "arguments are a number", tool: "x_fine", args: `7`, code: "INVALID_ARGUMENTS", reason: "not-an-object"},
		{name: "unknown argument", tool: "x_fine", args: `{"text":"a","texd":"a"}`, code: "INVALID_ARGUMENTS", reason: "unknown-argument"},
		{name: "argument of another type", tool: "x_fine", args: `{"text":"a","n":"many"}`, code: "INVALID_ARGUMENTS", reason: "wrong-type"},
		{name: "argument is null", tool: "x_fine", args: `{"text":null}`, code: "INVALID_ARGUMENTS", reason: "missing-argument"},
		{name: "arguments are too large", tool: "x_fine", args: `{"text":"` + strings.Repeat("x", 1<<20) + `"}`, code: "INVALID_ARGUMENTS", reason: "too-large", onlyMCP: true},
		{name: "arguments are no JSON", tool: "x_fine", args: `{"text":`, code: "INVALID_ARGUMENTS", onlyCLI: true},
		{name: "an argument twice", tool: "x_fine", args: `{"text":"a","text":"b"}`, code: "INVALID_ARGUMENTS", onlyCLI: true},

		{name: "unknown tool", tool: "x_nobody", code: "NOT_FOUND", reason: "unknown-tool"},
		{name: "hidden", tool: "x_hidden", code: "NOT_FOUND", reason: "unknown-tool"},
		{name: "hidden and rejected", tool: "x_hiddenrejected", code: "NOT_FOUND", reason: "unknown-tool", onlyMCP: true},
		{name: "hidden and rejected, for its operator", tool: "x_hiddenrejected", code: "RESOLVER_REJECT", onlyCLI: true},
		{name: "not exposed", tool: "sqlInspect", code: "NOT_FOUND", reason: "unknown-tool"},
		{name: "rejected", tool: "x_rejected", code: "RESOLVER_REJECT"},
		{name: "a draft", tool: "x_draft", code: "NOT_ACTIVE", reason: "state-draft", unserved: true},
		{name: "denied", tool: "x_denied", code: "POLICY_DENIED", reason: "test-deny"},
		{name: "denied for its arguments", tool: "x_fine", args: `{"text":"forbidden"}`, code: "POLICY_DENIED", reason: "test-argument"},
		{name: "the policy cannot decide", tool: "x_fine", args: `{"text":"conflict"}`, code: "POLICY_UNAVAILABLE"},
		{name: "a secret is missing", tool: "x_secret", code: "NOT_ACTIVE", reason: "state-missing-requirements", unserved: true},
		{name: "the secrets are open to others", tool: "x_secret", code: "NOT_ACTIVE", before: h.openSecrets, onlyMCP: true, unserved: true},
		{name: "within its rate", tool: "x_rated", open: true},
		{name: "beyond its rate", tool: "x_rated", code: "RATE_LIMITED", reason: "rate", onlyMCP: true},

		{name: "accepted", tool: "x_asks", args: `{"text":"1"}`, human: "accept", hitl: "ACCEPTED", open: true, onlyMCP: true},
		{name: "declined", tool: "x_asks", args: `{"text":"2"}`, human: "decline", code: "APPROVAL_DENIED", reason: "declined", hitl: "DECLINED", onlyMCP: true},
		{name: "cancelled", tool: "x_asks", args: `{"text":"3"}`, human: "cancel", code: "APPROVAL_DENIED", reason: "cancelled", hitl: "CANCELLED", onlyMCP: true},
		{name: "accepted, and the tool fails", tool: "x_asks", args: `{"text":"throw"}`, human: "accept", code: "JS_ERROR", hitl: "ACCEPTED", open: true, onlyMCP: true},
		{name: "asked, and denied for its arguments", tool: "x_asks", args: `{"text":"forbidden"}`, human: "accept", code: "POLICY_DENIED", reason: "test-argument", onlyMCP: true},
		{name: "asked elsewhere", tool: "x_asks", args: `{"text":"out of band"}`, code: "APPROVAL_PENDING", reason: "pending", hitl: "PENDING"},
		{name: "asked elsewhere, again", tool: "x_asks", args: `{"text":"out of band"}`, code: "APPROVAL_PENDING", reason: "pending", hitl: "PENDING"},
		{name: "accepted elsewhere", tool: "x_asks", args: `{"text":"out of band"}`, hitl: "ACCEPTED", open: true, before: func() { h.settle("approve") }},
		{name: "accepted elsewhere, and told again", tool: "x_asks", args: `{"text":"out of band"}`, hitl: "REPLAYED"},
		{name: "asked elsewhere once more", tool: "x_asks", args: `{"text":"out of band once more"}`, code: "APPROVAL_PENDING", hitl: "PENDING"},
		{name: "declined elsewhere", tool: "x_asks", args: `{"text":"out of band once more"}`, code: "APPROVAL_DENIED", reason: "declined", hitl: "DECLINED", before: func() { h.settle("deny") }},
		{name: "too large for a human", tool: "x_asks", args: `{"text":"` + strings.Repeat("x", 300<<10) + `"}`, human: "accept", code: "APPROVAL_DENIED", reason: "too-large", hitl: "UNSUPPORTED", onlyMCP: true},

		{name: "the tool reports a failure", tool: "x_iserror", code: "JS_ERROR", reason: "tool-is-error", open: true},
		{name: "an error is thrown", tool: "x_throws", args: `{"text":"error"}`, code: "JS_ERROR", open: true},
		{name: "a number is thrown", tool: "x_throws", args: `{"text":"number"}`, code: "JS_ERROR", open: true},
		{name: "nothing is thrown", tool: "x_throws", args: `{"text":"undefined"}`, code: "JS_ERROR", open: true},
		{name: "an object with a hostile text is thrown", tool: "x_throws", args: `{"text":"object"}`, code: "JS_ERROR", open: true},
		{name: "a promise is rejected", tool: "x_throws", args: `{"text":"promise"}`, code: "JS_ERROR", open: true},
		{name: "too many statements", tool: "x_statements", code: "RESOURCE_LIMIT", reason: "statements", open: true},
		{name: "too deep", tool: "x_stack", code: "RESOURCE_LIMIT", reason: "stack", open: true},
		{name: "too much output", tool: "x_output", code: "RESOURCE_LIMIT", reason: "output", open: true},
		{name: "too much memory", tool: "x_memory", code: "RESOURCE_LIMIT", reason: "memory", open: true},
		{name: "too many lines", tool: "x_log", open: true},
		{name: "too late", tool: "x_sleeps", code: "TIMEOUT", open: true},
		{name: "a promise for ever", tool: "x_never", code: "JS_ERROR", reason: "never-settles", open: true},
		{name: "a class that is denied", tool: "x_class", code: "SECURITY", reason: "class-denied", open: true},
		{name: "an address that is denied", tool: "x_fetch", args: `{"text":"http://169.254.169.254/"}`, code: "SECURITY", reason: "literal-private-ip", open: true},
		{name: "an address that is none", tool: "x_fetch", args: `{"text":"http://user:pw@example.com/"}`, code: "INVALID_INPUT", reason: "invalid-url", open: true},
		{name: "a file outside", tool: "x_read", args: `{"text":"../../etc/passwd"}`, code: "SECURITY", reason: "path-escapes-base", open: true},
		{name: "no such file", tool: "x_read", args: `{"text":"nosuch"}`, code: "HELPER_RUNTIME", open: true},
		{name: "after all of it", tool: "x_fine", args: `{"text":"a"}`, open: true},
	}
}

const exitRules = `package toolwarrant.access

import rego.v2

# METADATA
# title: Refuses a call for what it says
# labels:
#   id: test-argument
reasons contains {"id": "test-argument", "message": "not that", "path": ""} if input.call.args.text == "forbidden"

# METADATA
# title: Has two values for one argument, which is a failure of the policy
# labels:
#   id: test-conflict
reasons contains {"id": "test-conflict", "message": "no", "path": ""} if undecided == "c"

undecided := "a" if input.call.args.text == "conflict"

undecided := "b" if input.call.args.text == "conflict"
`

// exitHome is an installation with a tool for every exit.
type exitHome struct {
	t       *testing.T
	dir     string
	flags   []string
	secrets string
}

func newExitHome(t *testing.T) *exitHome {
	t.Helper()
	h := &exitHome{t: t, dir: t.TempDir()}
	tools, policy := t.TempDir(), filepath.Join(t.TempDir(), "policy")
	param := func(name, kind string, required bool) map[string]any {
		return map[string]any{"name": name, "type": kind, "required": required, "testValue": "1"}
	}
	text := []any{param("text", "STRING", false)}
	add := func(name, code string, extra map[string]any, o ...any) {
		spec := overrides(o...)
		spec["params"] = text
		for k, v := range extra {
			spec[k] = v
		}
		tool(t, tools, name, code, spec)
	}
	add("x_fine", "return text;", map[string]any{"params": []any{param("text", "STRING", true), param("n", "INTEGER", false)}})
	add("x_asks", "if (text === 'throw') throw new Error('no'); return text;", map[string]any{"humanInTheLoop": map[string]any{"mode": "REQUIRED"}})
	for _, name := range []string{"x_hidden", "x_denied", "x_rated"} {
		add(name, "return 1;", nil)
	}
	for _, name := range []string{"x_rejected", "x_hiddenrejected"} {
		add(name, "return 1;", nil, "networkMode", "open")
	}
	add("x_draft", "return 1;", map[string]any{"draft": true})
	add("x_hiddensecret", "return k;", map[string]any{"staticVariables": []any{map[string]any{"k": "${NOT_SET_ANYWHERE}"}}})
	add("x_secret", "return k;", map[string]any{"staticVariables": []any{map[string]any{"k": "${NOT_SET_ANYWHERE}"}}})
	add("x_iserror", "return {isError: true, content: []};", nil)
	add("x_throws", `switch (text) {
case "number": throw 7;
case "undefined": throw undefined;
case "object": throw {toString() { throw new Error("again"); }, get message() { throw 1; }};
case "promise": await Promise.reject("no");
}
throw new Error("no");`, nil)
	add("x_statements", "while (true) {}", nil)
	add("x_stack", "function f() { return f() + 1; } return f();", nil)
	add("x_output", "return 'x'.repeat(2 << 20);", nil)
	add("x_memory", "const a = []; for (;;) a.push(new Uint8Array(32 << 20));", nil)
	add("x_log", "for (let i = 0; i < 5000; i++) console.log('line ' + i); return 1;", nil)
	add("x_sleeps", "await new Promise((done) => setTimeout(done, 600000));", nil)
	add("x_never", "await new Promise(() => {});", nil)
	add("x_class", `return Java.type("java.lang.Runtime").getRuntime();`, nil)
	add("x_fetch", "return (await fetch(text)).status;", nil, "networkMode", "strict")
	add("x_read", "return safety.fs.readText(text);", nil, "fileRead", true)

	if _, errs, status := toolwarrant(t, h.dir, "policy", "init", policy); status != 0 {
		t.Fatal(errs)
	}
	data := filepath.Join(policy, "rego", "data.json")
	edit(t, data, `"rules": []`, `"rules": [{"id": "test-hide", "effect": "hide", "tools": ["x_hidden", "x_hiddenrejected", "x_hiddensecret"]}, {"id": "test-deny", "effect": "deny", "tools": ["x_denied"]}]`)
	edit(t, filepath.Join(policy, "cue", "baseline.cue"), "timeoutSeconds: 30", "timeoutSeconds: 5")
	edit(t, data, `"rates": []`, `"rates": [{"tools": ["x_rated"], "ratePerMinute": 1}]`)
	for path, content := range map[string]string{
		filepath.Join(policy, "policy_test", "one_test.rego"): "package one_test\n\nimport rego.v2\n\ntest_one if true\n",
		filepath.Join(policy, "rego", "access", "site.rego"):  exitRules,
	} {
		if filepath.Base(path) == "one_test.rego" { // in the place of those of the built-in policy
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.secrets = filepath.Join(h.dir, "secrets.yaml")
	t.Setenv("TOOLWARRANT_CATALOG_DIRS", tools)
	h.flags = []string{"--policy", policy}
	h.closeSecrets()
	return h
}

func (h *exitHome) closeSecrets() {
	h.t.Helper()
	if err := os.WriteFile(h.secrets, []byte("A: b\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Chmod(h.secrets, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *exitHome) openSecrets() {
	h.t.Helper()
	if err := os.Chmod(h.secrets, 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// settle answers the one question that waits.
func (h *exitHome) settle(verb string) {
	h.t.Helper()
	out, errs, status := toolwarrant(h.t, h.dir, "approvals", "list", "--format", "json")
	var list struct{ Approvals []struct{ ID, State string } }
	if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 {
		h.t.Fatalf("approvals list: %v %s%s", err, out, errs)
	}
	for _, q := range list.Approvals {
		if q.State == "pending" {
			if out, errs, status := toolwarrant(h.t, h.dir, "approvals", verb, q.ID); status != 0 {
				h.t.Fatalf("approvals %s: %s%s", verb, out, errs)
			}
			return
		}
	}
	h.t.Errorf("nobody waits: %s", out)
}

// said is how a call ended, as its caller saw it.
type said struct{ callID, code, reason string }

// overMCP makes a call over a session.
func overMCP(t *testing.T, s *mcp.ClientSession, e exit) said {
	t.Helper()
	p := &mcp.CallToolParams{Name: e.tool}
	if e.args != "" {
		p.Arguments = json.RawMessage(e.args)
	}
	res, err := s.CallTool(t.Context(), p)
	if err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	return saidBy(res)
}

func saidBy(res *mcp.CallToolResult) said {
	id, _ := res.Meta["dev.toolwarrant/callId"].(string)
	out := said{callID: id}
	if res.IsError {
		m, _ := res.StructuredContent.(map[string]any)
		f := failure(map[string]any{"structuredContent": m})
		out.code, out.reason = f.str("code"), f.str("reason")
	}
	return out
}

// byCommand makes a call with "toolwarrant run".
func (h *exitHome) byCommand(t *testing.T, e exit) said {
	t.Helper()
	args := []string{"run", e.tool, "--format", "json"}
	if e.args != "" {
		args = append(args, "--args", e.args)
	}
	out, errs, _ := toolwarrant(t, h.dir, append(args, h.flags...)...)
	var v struct {
		CallID string
		Error  struct{ Code, Reason string }
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%s: %v\n%s%s", e.name, err, out, errs)
	}
	return said{v.CallID, v.Error.Code, v.Error.Reason}
}

// TestEveryExitOfAnInstallation ends calls in every way over every transport.
// Each leaves exactly one close record, which says what the caller was told,
// and there is no record of anything else.
func TestEveryExitOfAnInstallation(t *testing.T) {
	type transport struct {
		name, origin string
		begin        func(t *testing.T, h *exitHome) func(exit) said
	}
	var transports []transport
	session := func(t *testing.T, version string, connect func(*mcp.Client) *mcp.ClientSession) func(exit) said {
		var mu sync.Mutex
		does := ""
		elicit := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			mu.Lock()
			defer mu.Unlock()
			return &mcp.ElicitResult{Action: does}, nil
		}
		asks := connect(mcp.NewClient(&mcp.Implementation{Name: "asks", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: elicit}))
		mute := connect(mcp.NewClient(&mcp.Implementation{Name: "mute", Version: "1"}, nil))
		if got := asks.InitializeResult().ProtocolVersion; got != version {
			t.Fatalf("negotiated %s, want %s", got, version)
		}
		return func(e exit) said {
			if e.human == "" {
				return overMCP(t, mute, e)
			}
			mu.Lock()
			does = e.human
			mu.Unlock()
			return overMCP(t, asks, e)
		}
	}
	connect := func(t *testing.T, version string, to func() mcp.Transport) func(*mcp.Client) *mcp.ClientSession {
		return func(c *mcp.Client) *mcp.ClientSession {
			s, err := c.Connect(t.Context(), to(), &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		}
	}
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"} {
		transports = append(transports, transport{"http " + version, "mcp-http", func(t *testing.T, h *exitHome) func(exit) said {
			p := serve(t, h.dir, nil, h.flags...)
			return session(t, version, connect(t, version, func() mcp.Transport { return &mcp.StreamableClientTransport{Endpoint: p.url} }))
		}})
	}
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		transports = append(transports, transport{"stdio " + version, "mcp-stdio", func(t *testing.T, h *exitHome) func(exit) said {
			return session(t, version, connect(t, version, func() mcp.Transport {
				return &mcp.CommandTransport{Command: exec.Command("toolwarrant", append([]string{"serve", "--stdio", "--home", h.dir}, h.flags...)...)}
			}))
		}})
	}
	transports = append(transports, transport{"command", "cli-run", func(t *testing.T, h *exitHome) func(exit) said {
		return func(e exit) said { return h.byCommand(t, e) }
	}})
	if !*everyTransport {
		transports = slices.DeleteFunc(transports, func(tr transport) bool {
			return !slices.Contains([]string{"http 2026-07-28", "http 2025-11-25", "stdio 2026-07-28", "command"}, tr.name)
		})
	}
	if testing.Short() {
		transports = transports[:1]
	}
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			h := newExitHome(t)
			call := tr.begin(t, h)
			type ended struct {
				exit
				said
			}
			var all []ended
			for i, e := range exits(h) {
				if tr.name == "command" && !*everyTransport && (i%5 > 0 || e.before != nil) {
					continue // each costs a process
				}
				if e.onlyMCP && tr.origin == "cli-run" || e.onlyCLI && tr.origin != "cli-run" {
					continue
				}
				if e.unserved && tr.origin == "mcp-http" {
					e.code, e.reason = "NOT_FOUND", "unknown-tool"
				}
				if e.before != nil {
					e.before()
				}
				all = append(all, ended{e, call(e)})
				h.closeSecrets()
			}
			log := records(t, h.dir)
			total := 0
			for _, r := range log {
				if r.str("phase") == "close" {
					total++
				}
			}
			for _, e := range all {
				if e.said.code != e.exit.code || e.exit.reason != "" && e.said.reason != e.exit.reason {
					t.Errorf("%s: answered %s (%s), want %s (%s)", e.name, e.said.code, e.said.reason, e.exit.code, e.exit.reason)
				}
				got := closes(log, e.callID)
				if len(got) != 1 {
					t.Errorf("%s: %d close records of call %q", e.name, len(got), e.callID)
					continue
				}
				hitl := e.hitl
				if hitl == "" {
					hitl = "NOT_REQUIRED"
				}
				r := got[0]
				if r.str("error", "code") != e.said.code || r.str("error", "reason") != e.said.reason || r.str("origin") != tr.origin || r.str("humanInTheLoop", "outcome") != hitl {
					t.Errorf("%s: recorded %v %v %v %v", e.name, r["outcome"], r["error"], r["origin"], r["humanInTheLoop"])
				}
				if want := map[bool]string{true: "OK", false: r.str("outcome")}[e.exit.code == ""]; r.str("outcome") != want || want == "OK" && e.exit.code != "" {
					t.Errorf("%s: recorded as %v", e.name, r["outcome"])
				}
				if open := strings.Contains(phases(log, e.callID), "open"); open != e.open {
					t.Errorf("%s: phases %s", e.name, phases(log, e.callID))
				}
			}
			if total != len(all) {
				t.Errorf("%d close records of %d calls", total, len(all))
			}
			verifyWhole(t, h.dir)
			repeats(t, h.dir, len(slices.DeleteFunc(all, func(e ended) bool { return e.name != "too large for a human" })))
			t.Logf("%d ways to end", len(all))
		})
	}
}

// repeats checks that the log alone gives every decision again. What it
// cannot hold are arguments that are too long for it, and a rule of the
// policy here reads them.
func repeats(t *testing.T, home string, cut int) {
	t.Helper()
	out, errs, status := toolwarrant(t, home, "policy", "replay", auditFile(home), "--policy", "recorded", "--fail-on", "any", "--format", "json")
	var report impact.ReplayReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 0 {
		t.Fatalf("policy replay: status %d, %v\n%s%s", status, err, out, errs)
	}
	s := report.Summary
	if s.Same == 0 || s.Unrepeatable != cut || s.Same+s.Undecided+cut != s.Calls {
		t.Errorf("policy replay: %+v, gaps %+v", s, report.Gaps)
	}
	for _, g := range report.Gaps {
		if g.Reason != "masked" || g.Pointer != "/decision/input/call/args" {
			t.Errorf("policy replay: %+v", g)
		}
	}
}
