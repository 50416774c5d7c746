package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// living is an installation of which a test can end parts while calls run.
type living struct {
	t    *testing.T
	home string
	// call makes one call; the answer is empty where none came. It can be
	// given up over ctx, as a client that leaves does.
	call func(ctx context.Context, tool, args string) said
	// pid is the process that runs the calls; of a command, of the last one.
	pid func() int
	// hangUp makes a server read its tools anew; nil for a command, which does.
	hangUp func()
}

// sleeping begins a call of y_sleeps and waits until its code runs. It gives
// how the call ends.
func (l *living) sleeping(ctx context.Context, mark string) <-chan said {
	l.t.Helper()
	end := make(chan said, 1)
	go func() { end <- l.call(ctx, "y_sleeps", `{"text":"`+mark+`"}`) }()
	waitFor(l.t, mark+" to run", func() bool { return len(l.phase("open", mark)) == 1 })
	return end
}

// phase gives the records of a phase of calls with that argument.
func (l *living) phase(phase, mark string) (out []record) {
	for _, r := range readable(l.home) {
		if r.str("phase") == phase && r.str("params", "text") == mark {
			out = append(out, r)
		}
	}
	return out
}

// closed checks the one close record of a call with that argument.
func (l *living) closed(mark, code, reason string) {
	l.t.Helper()
	waitFor(l.t, "the record of "+mark, func() bool { return len(l.phase("close", mark)) > 0 })
	got := l.phase("close", mark)
	if len(got) != 1 || got[0].str("error", "code") != code || reason != "" && got[0].str("error", "reason") != reason {
		l.t.Errorf("%s: recorded %d times, want one close with %s (%s)", mark, len(got), code, reason)
		for _, r := range got {
			l.t.Log(r["outcome"], r["error"])
		}
	}
}

// killWorkers kills what runs code for a process.
func killWorkers(t *testing.T, pid int) {
	t.Helper()
	killed := []string{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := bytes.Cut(stat, []byte(") "))
		name, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if f := strings.Fields(string(after)); err != nil || len(f) < 2 || f[1] != strconv.Itoa(pid) || !bytes.HasPrefix(name, []byte("toolwarrant-worker\x00")) {
			continue
		}
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.FindProcess(child)
		if err == nil {
			err = p.Kill()
		}
		if err == nil {
			killed = append(killed, filepath.Dir(file))
		}
	}
	if len(killed) == 0 {
		t.Errorf("process %d has no workers to kill", pid)
	}
	for _, dir := range killed {
		waitFor(t, "a worker to be gone", func() bool { _, err := os.Stat(dir); return err != nil })
	}
}

// TestEveryExitOfALivingProcess ends what a call depends on while it runs: its
// worker, its client, the log, its document, the process.
func TestEveryExitOfALivingProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("workers are found in /proc")
	}
	transports := map[string]func(*testing.T, string, []string) *living{
		"http 2026-07-28":  func(t *testing.T, home string, flags []string) *living { return liveHTTP(t, "2026-07-28", home, flags) },
		"http 2025-11-25":  func(t *testing.T, home string, flags []string) *living { return liveHTTP(t, "2025-11-25", home, flags) },
		"stdio 2026-07-28": liveStdio, "command": liveCommand,
	}
	for name, begin := range transports {
		if testing.Short() && name != "http 2026-07-28" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			home, tools, policy := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "policy")
			text := map[string]any{"params": []any{map[string]any{"name": "text", "type": "STRING", "required": true, "testValue": "1"}}}
			tool(t, tools, "y_sleeps", "await new Promise((done) => setTimeout(done, 25000));", text)
			tool(t, tools, "y_plain", "return text;", text)
			if _, errs, status := toolwarrant(t, home, "policy", "init", policy); status != 0 {
				t.Fatal(errs)
			}
			edit(t, filepath.Join(policy, "rego", "data.json"), `"rates": []`, `"rates": [{"tools": ["y_sleeps"], "concurrency": 1}]`)
			t.Setenv("TOOLWARRANT_CATALOG_DIRS", tools)
			t.Setenv("TOOLWARRANT_SERVER_DRAIN_SECONDS", "1")
			l := begin(t, home, []string{"--policy", policy})
			ctx := t.Context()

			end := l.sleeping(ctx, "worker")
			killWorkers(t, l.pid())
			if got := <-end; got.code != "RUNTIME_ERROR" || got.reason != "worker-died" {
				t.Errorf("a worker died, answered %+v", got)
			}
			l.closed("worker", "RUNTIME_ERROR", "worker-died")

			n := 0 // the next call may still get an idle worker that was killed too
			waitFor(t, "a call that runs", func() bool { n++; return l.call(ctx, "y_plain", `{"text":"again`+strconv.Itoa(n)+`"}`).code == "" })

			leaving, leave := context.WithCancel(ctx)
			end = l.sleeping(leaving, "client")
			if l.hangUp != nil { // one process, that counts
				if got := l.call(ctx, "y_sleeps", `{"text":"second"}`); got.code != "RATE_LIMITED" || got.reason != "concurrency" {
					t.Errorf("a second call at one time was answered %+v", got)
				}
				l.closed("second", "RATE_LIMITED", "concurrency")
			}
			leave()
			<-end
			l.closed("client", "INTERRUPTED", "cancelled")

			if l.hangUp != nil {
				l.unwritable(ctx)
				l.changed(ctx, tools)
			}

			end = l.sleeping(ctx, "shutdown")
			p, err := os.FindProcess(l.pid())
			if err == nil {
				err = p.Signal(os.Interrupt)
			}
			if err != nil {
				t.Fatal(err)
			}
			<-end
			l.closed("shutdown", "INTERRUPTED", "")
			verifyWhole(t, home)
		})
	}
}

// unwritable takes the log away: calls are refused and their code does not run.
func (l *living) unwritable(ctx context.Context) {
	l.t.Helper()
	aside := auditFile(l.home) + ".aside"
	if err := os.Rename(auditFile(l.home), aside); err != nil {
		l.t.Fatal(err)
	}
	got := l.call(ctx, "y_plain", `{"text":"unwritten"}`)
	if err := os.Rename(aside, auditFile(l.home)); err != nil {
		l.t.Fatal(err)
	}
	if got.code != "AUDIT_UNAVAILABLE" || got.callID == "" {
		l.t.Errorf("without a log, answered %+v", got)
	}
	if got := l.call(ctx, "y_plain", `{"text":"written"}`); got.code != "" {
		l.t.Errorf("with the log again, answered %+v", got)
	}
	l.closed("written", "", "")
	if n := len(l.phase("close", "unwritten")) + len(l.phase("open", "unwritten")); n > 0 {
		l.t.Errorf("%d records of a call that could not be recorded", n)
	}
}

// changed alters and breaks the document of a tool.
func (l *living) changed(ctx context.Context, tools string) {
	l.t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(tools, "y_plain", name), []byte(text), 0o600); err != nil {
			l.t.Fatal(err)
		}
		l.hangUp()
	}
	digest := l.phase("close", "written")[0].str("tool", "specDigest")
	write("action.js", "return text + '!';")
	n := 0
	waitFor(l.t, "the new document", func() bool {
		n++
		mark := "changed" + strconv.Itoa(n)
		l.call(ctx, "y_plain", `{"text":"`+mark+`"}`)
		l.closed(mark, "", "")
		return l.phase("close", mark)[0].str("tool", "specDigest") != digest
	})
	write("spec.json", "{")
	waitFor(l.t, "the broken document", func() bool {
		n++
		mark := "broken" + strconv.Itoa(n)
		got := l.call(ctx, "y_plain", `{"text":"`+mark+`"}`)
		l.closed(mark, got.code, got.reason)
		return got.code == "NOT_FOUND" || got.code == "NOT_ACTIVE"
	})
}

func liveHTTP(t *testing.T, version, home string, flags []string) *living {
	p := serve(t, home, nil, flags...)
	s := sdkClient(t, p.url, version, nil)
	return &living{t: t, home: home, pid: func() int { return p.cmd.Process.Pid }, call: inSession(s), hangUp: func() { hangUp(t, p.cmd) }}
}

func liveStdio(t *testing.T, home string, flags []string) *living {
	server := exec.Command("toolwarrant", append([]string{"serve", "--stdio", "--home", home}, flags...)...)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: server}, &mcp.ClientSessionOptions{ProtocolVersion: "2026-07-28"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &living{t: t, home: home, pid: func() int { return server.Process.Pid }, call: inSession(s), hangUp: func() { hangUp(t, server) }}
}

func hangUp(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// inSession makes calls over one session.
func inSession(s *mcp.ClientSession) func(context.Context, string, string) said {
	return func(ctx context.Context, name, args string) said {
		res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
		if err != nil {
			return said{}
		}
		return saidBy(res)
	}
}

// liveCommand makes each call with a process of its own; who leaves interrupts it.
func liveCommand(t *testing.T, home string, flags []string) *living {
	var mu sync.Mutex
	var last *exec.Cmd
	return &living{t: t, home: home,
		pid: func() int { mu.Lock(); defer mu.Unlock(); return last.Process.Pid },
		call: func(ctx context.Context, name, args string) said {
			cmd := exec.CommandContext(ctx, "toolwarrant", append([]string{"run", name, "--format", "json", "--args", args}, flags...)...)
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			cmd.Env = append(os.Environ(), "TOOLWARRANT_HOME="+home)
			var out bytes.Buffer
			cmd.Stdout = &out
			mu.Lock()
			err := cmd.Start()
			last = cmd
			mu.Unlock()
			if err != nil {
				return said{}
			}
			_ = cmd.Wait() // the status follows from what it says
			var v struct {
				CallID string
				Error  struct{ Code, Reason string }
			}
			if err := json.Unmarshal(out.Bytes(), &v); err != nil {
				return said{}
			}
			return said{v.CallID, v.Error.Code, v.Error.Reason}
		}}
}
