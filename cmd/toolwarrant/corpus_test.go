package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/server"
	"github.com/toolwarrant/toolwarrant/server/admin"
	"github.com/toolwarrant/toolwarrant/service"
)

// denial is a call that must be refused, whatever door it comes through.
type denial struct {
	name, tool, args string
	code, reason     string // a reason of "" is any
	hitl             string // outcome of humanInTheLoop in the record; "" is NOT_REQUIRED
	before           func(c *corpus)
	after            func(c *corpus)
	// onlyServed leaves the command out: the person at the terminal is told
	// more, and an installation whose secrets are open is not even opened.
	onlyServed bool
	// unserved tools do not exist over the network.
	unserved   bool
	unrecorded bool // the log itself is what fails
}

// denials are the ways in which a call is refused before its code runs.
func denials() []denial {
	long := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	return []denial{
		{name: "unknown tool", tool: "x_nobody", code: "NOT_FOUND", reason: "unknown-tool"},
		{name: "unknown id", tool: "00000000-0000-4000-8000-000000000000", code: "NOT_FOUND", reason: "unknown-tool"},
		{name: "hidden", tool: "x_hidden", code: "NOT_FOUND", reason: "unknown-tool"},
		{name: "hidden and rejected", tool: "x_hiddenrejected", code: "NOT_FOUND", reason: "unknown-tool", onlyServed: true},
		{name: "not exposed", tool: "sqlInspect", code: "NOT_FOUND", reason: "unknown-tool"},
		{name: "rejected by the layers", tool: "x_rejected", code: "RESOLVER_REJECT"},
		{name: "a draft", tool: "x_draft", code: "NOT_ACTIVE", reason: "state-draft", unserved: true},
		{name: "a secret is missing", tool: "x_secret", code: "NOT_ACTIVE", reason: "state-missing-requirements", unserved: true},
		{name: "hidden, and the secrets are open to others", tool: "x_hiddensecret", code: "NOT_FOUND", reason: "unknown-tool", onlyServed: true,
			before: func(c *corpus) { c.home.openSecrets() }, after: func(c *corpus) { c.home.closeSecrets() }},
		{name: "the secrets are open to others", tool: "x_secret", code: "NOT_ACTIVE", onlyServed: true, unserved: true,
			before: func(c *corpus) { c.home.openSecrets() }, after: func(c *corpus) { c.home.closeSecrets() }},
		{name: "no arguments", tool: "x_fine", code: "INVALID_ARGUMENTS", reason: "missing-argument"},
		{name: "arguments are a list", tool: "x_fine", args: `[1]`, code: "INVALID_ARGUMENTS", reason: "not-an-object"},
		{name: "arguments are a text", tool: "x_fine", args: `"a"`, code: "INVALID_ARGUMENTS", reason: "not-an-object"},
		{name: "unknown argument", tool: "x_fine", args: `{"text":"a","texd":"a"}`, code: "INVALID_ARGUMENTS", reason: "unknown-argument"},
		{name: "argument of another type", tool: "x_fine", args: `{"text":"a","n":"many"}`, code: "INVALID_ARGUMENTS", reason: "wrong-type"},
		{name: "arguments are too large", tool: "x_fine", args: long, code: "INVALID_ARGUMENTS", reason: "too-large"},
		{name: "denied", tool: "x_denied", code: "POLICY_DENIED", reason: "test-deny"},
		{name: "denied for its arguments", tool: "x_fine", args: `{"text":"forbidden"}`, code: "POLICY_DENIED", reason: "test-argument"},
		{name: "the policy cannot decide", tool: "x_fine", args: `{"text":"conflict"}`, code: "POLICY_UNAVAILABLE"},
		{name: "the isolation is too weak", tool: "x_weak", code: "POLICY_DENIED", reason: "isolation"},
		{name: "beyond its rate", tool: "x_rated", code: "RATE_LIMITED", reason: "rate"},
		{name: "waits for a human", tool: "x_asks", args: `{"text":"1"}`, code: "APPROVAL_PENDING", reason: "pending", hitl: "PENDING"},
		{name: "waits still", tool: "x_asks", args: `{"text":"1"}`, code: "APPROVAL_PENDING", reason: "pending", hitl: "PENDING"},
		{name: "declined", tool: "x_asks", args: `{"text":"1"}`, code: "APPROVAL_DENIED", reason: "declined", hitl: "DECLINED", before: (*corpus).decline},
		{name: "declined, asked again", tool: "x_asks", args: `{"text":"1"}`, code: "APPROVAL_DENIED", reason: "declined", hitl: "DECLINED"},
		{name: "too large for a human", tool: "x_asks", args: `{"text":"` + strings.Repeat("x", 300<<10) + `"}`, code: "APPROVAL_DENIED", reason: "too-large", hitl: "UNSUPPORTED"},
		{name: "the log takes nothing", tool: "x_fine", args: `{"text":"a"}`, code: "AUDIT_UNAVAILABLE", unrecorded: true,
			before: func(c *corpus) { c.deaf.Store(true) }, after: func(c *corpus) { c.deaf.Store(false) }},
	}
}

// corpus is an installation of which it is counted how often code was run.
type corpus struct {
	t        *testing.T
	home     *exitHome
	executed atomic.Int64
	deaf     atomic.Bool
	primed   int             // calls that were made to use up a rate
	from     decision.Origin // of the door that is tried
}

type counting struct {
	executor.Runtime
	c *corpus
}

func (r counting) Run(ctx context.Context, call worker.Call, b worker.Broker) (worker.Reply, error) {
	r.c.executed.Add(1)
	return r.Runtime.Run(ctx, call, b)
}

// deafLog takes no record of a call while it is told so.
type deafLog struct {
	audit.Log
	c *corpus
}

func (l deafLog) refuse() error {
	if l.c.deaf.Load() {
		return fault.New(fault.AuditUnavailable, "test", "the log takes nothing")
	}
	return nil
}

func (l deafLog) Ask(ctx context.Context, c audit.Call, m audit.Masker) error {
	if err := l.refuse(); err != nil {
		return err
	}
	return l.Log.Ask(ctx, c, m)
}

func (l deafLog) Open(ctx context.Context, c audit.Call, sync bool, m audit.Masker) error {
	if err := l.refuse(); err != nil {
		return err
	}
	return l.Log.Open(ctx, c, sync, m)
}

func (l deafLog) Close(ctx context.Context, c audit.Call, m audit.Masker) error {
	if err := l.refuse(); err != nil {
		return err
	}
	return l.Log.Close(ctx, c, m)
}

// opened counts what an installation runs, and uses up the rate of x_rated for
// whoever will call it.
func (c *corpus) opened(s *service.Service, p decision.Principal) {
	s.Engine.Runtime, s.Engine.Audit = counting{s.Engine.Runtime, c}, deafLog{s.Engine.Audit, c}
	if c.deaf.Load() {
		return
	}
	before := c.executed.Load()
	for range 10 {
		r := s.Engine.Call(context.Background(), executor.Call{Principal: p, Origin: c.from, Name: "x_rated"})
		if c.primed++; r.Err != nil && r.Err.Code == fault.RateLimited {
			c.executed.Store(before)
			return
		}
	}
	c.t.Fatal("x_rated has no rate")
}

// decline answers every question that waits, with no.
func (c *corpus) decline() {
	c.t.Helper()
	s := c.open(decision.Principal{})
	defer s.Close(context.Background())
	waiting, err := s.PendingApprovals(context.Background())
	if err != nil || len(waiting) != 1 {
		c.t.Fatalf("%d questions wait, %v", len(waiting), err)
	}
	if _, err := s.Answer(context.Background(), principal(), waiting[0].ID, approval.ActionDecline); err != nil {
		c.t.Fatal(err)
	}
}

// open opens the installation in this process; p is who will call, "" = nobody.
func (c *corpus) open(p decision.Principal) *service.Service {
	c.t.Helper()
	cfg, err := config.Load("", os.Environ(), map[string]any{"policy.path": c.home.flags[1], "runtime.isolation": "in-process"})
	if err != nil {
		c.t.Fatal(err)
	}
	s, err := service.Open(context.Background(), service.Options{Home: c.home.dir, Config: cfg, Logger: zerolog.Nop()})
	if err != nil {
		c.t.Fatal(err)
	}
	if p.Subject != "" {
		c.opened(s, p)
	}
	return s
}

// serving opens the installation for a server.
func (c *corpus) serving(p decision.Principal) *service.Service {
	s := c.open(p)
	c.t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// local is who calls over MCP where nobody is authenticated.
var local = decision.Principal{Subject: "local", Method: "none", ClientID: "mute", Untrusted: true, Groups: []string{}, Scopes: []string{}}

// overHTTP calls over Streamable HTTP with a client of one protocol version.
func (c *corpus) overHTTP(version string) func(denial) said {
	s := c.serving(local)
	srv := server.New(server.Options{Caller: server.Governed(s), Logger: zerolog.Nop()})
	hs := httptest.NewServer(srv.Handler())
	c.t.Cleanup(func() { hs.CloseClientConnections(); hs.Close() })
	return c.session(version, &mcp.StreamableClientTransport{Endpoint: hs.URL + "/mcp"})
}

func (c *corpus) overStdio() func(denial) said {
	s := c.serving(local)
	srv := server.New(server.Options{Caller: server.Governed(s), Logger: zerolog.Nop()})
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.ServeStdio(ctx, toServer, fromServer)
	}()
	c.t.Cleanup(func() { cancel(); fromClient.Close(); toClient.Close(); <-ended })
	return c.session("2025-11-25", &mcp.IOTransport{Reader: toClient, Writer: fromClient})
}

func (c *corpus) session(version string, over mcp.Transport) func(denial) said {
	s, err := mcp.NewClient(&mcp.Implementation{Name: "mute", Version: "1"}, nil).Connect(c.t.Context(), over, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { s.Close() })
	if got := s.InitializeResult().ProtocolVersion; got != version {
		c.t.Fatalf("negotiated %s, want %s", got, version)
	}
	return func(d denial) said { return overMCP(c.t, s, exit{name: d.name, tool: d.tool, args: d.args}) }
}

// byAdmin calls through the admin interface.
func (c *corpus) byAdmin() func(denial) said {
	s := c.serving(service.LocalAdmin())
	s.Config.Admin.Roles.Author.Subjects = []string{service.LocalSubject}
	srv := admin.New(admin.Options{Service: s, Logger: zerolog.Nop()})
	c.t.Cleanup(srv.Close)
	hs := httptest.NewServer(srv.Handler())
	c.t.Cleanup(hs.Close)
	return func(d denial) said {
		body := "{}"
		if d.args != "" {
			body = `{"args":` + d.args + `}`
		}
		res, err := http.Post(hs.URL+"/api/v1/catalog/"+d.tool+"/run", "application/json", strings.NewReader(body))
		if err != nil {
			c.t.Fatal(err)
		}
		defer res.Body.Close()
		return ofJSON(c.t, d, res.Body)
	}
}

// byCommand calls with "toolwarrant run", each time with an installation of
// its own.
func (c *corpus) byCommand() func(denial) said {
	return func(d denial) said {
		args := []string{"run", d.tool, "--format", "json", "--home", c.home.dir}
		if d.args != "" {
			args = append(args, "--args", d.args)
		}
		var out, errs bytes.Buffer
		a := &app{std: stdio{strings.NewReader(""), &out, &errs}, env: append(os.Environ(), "TOOLWARRANT_RUNTIME_ISOLATION=in-process"),
			opened: func(s *service.Service) { c.opened(s, principal()) }}
		if status := a.run(c.t.Context(), append(args, c.home.flags...)); status == 0 {
			c.t.Errorf("%s: exit status 0", d.name)
		}
		return ofJSON(c.t, d, &out)
	}
}

// ofJSON reads how a call ended, in the shape of run and of the admin
// interface.
func ofJSON(t *testing.T, d denial, r io.Reader) said {
	t.Helper()
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		CallID string
		Error  struct{ Code, Reason string }
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v\n%s", d.name, err, raw)
	}
	return said{v.CallID, v.Error.Code, v.Error.Reason}
}

// doors are the ways into an installation.
var doors = []struct {
	name   string
	origin decision.Origin
	open   func(*corpus) func(denial) said
}{
	{"http new", decision.OriginMCPHTTP, func(c *corpus) func(denial) said { return c.overHTTP("2026-07-28") }},
	{"http old", decision.OriginMCPHTTP, func(c *corpus) func(denial) said { return c.overHTTP("2025-06-18") }},
	{"stdio", decision.OriginMCPStdio, (*corpus).overStdio},
	{"command", decision.OriginCLIRun, (*corpus).byCommand},
	{"admin", decision.OriginAdmin, (*corpus).byAdmin},
}

// TestDeniedThroughEveryDoor makes the same calls, which must be refused,
// through every door: no code is reached, the answer is the same, and each
// leaves its one record.
func TestDeniedThroughEveryDoor(t *testing.T) {
	t.Run("policy of a site", func(t *testing.T) { denied(t, denials(), nil) })
	t.Run("nobody can be asked", func(t *testing.T) {
		unsupported := denial{name: "unsupported", tool: "x_asks", args: `{"text":"1"}`, code: "APPROVAL_DENIED", reason: "unsupported", hitl: "UNSUPPORTED"}
		denied(t, []denial{unsupported}, func(data string) {
			edit(t, data, `"channels": ["input_required", "elicitation", "terminal", "out_of_band"]`, `"channels": ["terminal"]`)
		})
	})
}

func denied(t *testing.T, table []denial, change func(data string)) {
	answers := map[string]map[said][]string{} // of each call: which doors say what
	for _, door := range doors {
		t.Run(door.name, func(t *testing.T) {
			c := &corpus{t: t, home: newExitHome(t), from: door.origin}
			tool(t, os.Getenv("TOOLWARRANT_CATALOG_DIRS"), "x_weak", "return 1;", overrides("destructive", true))
			data := filepath.Join(c.home.flags[1], "rego", "data.json")
			edit(t, data, `"L5": "in-process"`, `"L5": "locked"`)
			if change != nil {
				change(data)
			}
			call := door.open(c)
			made := 0
			for _, d := range table {
				if d.onlyServed && door.origin == decision.OriginCLIRun {
					continue
				}
				remote := d.unserved && door.origin == decision.OriginMCPHTTP
				if remote {
					d.code, d.reason = "NOT_FOUND", "unknown-tool"
				}
				if d.before != nil {
					d.before(c)
				}
				got := call(d)
				if d.after != nil {
					d.after(c)
				}
				if got.code != d.code || d.reason != "" && got.reason != d.reason {
					t.Errorf("%s: answered %s (%s), want %s (%s)", d.name, got.code, got.reason, d.code, d.reason)
				}
				if n := c.executed.Load(); n != 0 {
					t.Fatalf("%s: code was run", d.name)
				}
				if answers[d.name] == nil {
					answers[d.name] = map[said][]string{}
				}
				same := said{"", got.code, got.reason}
				if !remote {
					answers[d.name][same] = append(answers[d.name][same], door.name)
				}
				if d.unrecorded {
					if n := len(closes(records(t, c.home.dir), got.callID)); n != 0 {
						t.Errorf("%s: %d records", d.name, n)
					}
					continue
				}
				made++
				c.recorded(d, got)
			}
			if all := countCloses(t, c.home.dir); all != made+c.primed {
				t.Errorf("%d close records of %d calls", all, made+c.primed)
			}
			verifyWhole(t, c.home.dir)
		})
	}
	for name, by := range answers {
		if len(by) != 1 {
			t.Errorf("%s: doors differ: %v", name, fmt.Sprint(by))
		}
	}
}

// recorded checks the one close record of a call that was refused.
func (c *corpus) recorded(d denial, got said) {
	c.t.Helper()
	all := records(c.t, c.home.dir)
	list := closes(all, got.callID)
	if len(list) != 1 {
		c.t.Errorf("%s: %d close records of the call %q", d.name, len(list), got.callID)
		return
	}
	hitl := d.hitl
	if hitl == "" {
		hitl = "NOT_REQUIRED"
	}
	r := list[0]
	if r.str("outcome") != "DENIED" || r.str("error", "code") != got.code || r.str("error", "reason") != got.reason ||
		r.str("origin") != string(c.from) || r.str("humanInTheLoop", "outcome") != hitl || r.str("principal", "subject") == "" {
		c.t.Errorf("%s: recorded %v %v %v %v %v", d.name, r["outcome"], r["error"], r["origin"], r["humanInTheLoop"], r["principal"])
	}
	if strings.Contains(phases(all, got.callID), "open") {
		c.t.Errorf("%s: phases %s", d.name, phases(all, got.callID))
	}
}

func countCloses(t *testing.T, home string) (n int) {
	for _, r := range records(t, home) {
		if r.str("phase") == "close" {
			n++
		}
	}
	return n
}
