package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	nsproc "github.com/toolwarrant/toolwarrant/executor/sandbox/process"
)

// TestMain lets the tests start this very binary as the command toolwarrant,
// with every bundled tool served where a test does not say which preset, and
// with what a test puts into a folder, since most tests are about other things
// than how a tool is published.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"TOOLWARRANT_CATALOG_PRESET": "everything", "TOOLWARRANT_CATALOG_TRUST_FOLDERS": "true"} {
		if _, said := os.LookupEnv(name); !said {
			_ = os.Setenv(name, value)
		}
	}
	testscript.Main(m, map[string]func(){"toolwarrant": main})
}

// TestScripts runs testdata/script/*.txtar: the command line as its users
// meet it. Set UPDATE=1 to rewrite expected output.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of commands, one after the other")
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"pick": pick},
		Condition:     condition,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TOOLWARRANT_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("HOME", e.WorkDir)
			for _, name := range []string{"release", "other"} {
				if err := writeKeyPair(filepath.Join(e.WorkDir, name)); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// condition knows [sandbox]: commands can be run in a sandbox here, with all that
// the policy demands by itself.
func condition(name string) (bool, error) {
	if name != "sandbox" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return sandboxWorks(), nil
}

var sandboxWorks = sync.OnceValue(func() bool {
	p := nsproc.New(nsproc.Options{}).Probe(context.Background())
	if !p.OK || p.Enforcement[sandbox.Memory].Level < sandbox.Full {
		fmt.Fprintln(os.Stderr, "the scripts about sandboxes are left out:", p.Reason, p.Enforcement[sandbox.Memory])
		return false
	}
	return true
})

// writeKeyPair makes what the two openssl lines of "policy bundle --help" do:
// base.pem and base.pub.pem.
func writeKeyPair(base string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(base+".pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
		os.WriteFile(base+".pub.pem", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o644))
}

// process is a toolwarrant that serves.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	home string
	url  string // .../mcp
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.WriteString(line + "\n")
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var servingAt = regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`)

// serve starts "toolwarrant serve" on a free port and waits until it says
// that it serves.
func serve(t *testing.T, home string, env []string, args ...string) *process {
	t.Helper()
	addr := freeAddr(t)
	p := &process{t: t, home: home, log: &lockedBuffer{}, url: "http://" + addr + "/mcp"}
	p.cmd = exec.Command("toolwarrant", append([]string{"serve", "--home", home, "--addr", addr}, args...)...)
	p.cmd.Env = append(os.Environ(), env...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	ready := make(chan struct{})
	go func() {
		announced := false
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.log.add(lines.Text())
			if !announced && servingAt.MatchString(lines.Text()) {
				announced = true
				close(ready)
			}
		}
		if !announced {
			close(ready)
		}
	}()
	select {
	case <-ready:
	case <-time.After(60 * time.Second):
	}
	if !servingAt.MatchString(p.log.String()) {
		t.Fatalf("serve did not start:\n%s", p.log)
	}
	return p
}

func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}

// stop ends the server the polite way and expects exit status 0.
func (p *process) stop() {
	p.t.Helper()
	p.cmd.Process.Signal(os.Interrupt)
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("serve ended with %v:\n%s", err, p.log)
	}
}

// toolwarrant runs one command and gives its output and exit status.
func toolwarrant(t *testing.T, home string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command("toolwarrant", args...)
	cmd.Env = append(os.Environ(), "TOOLWARRANT_HOME="+home)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// record is one line of the audit log.
type record map[string]any

func (r record) str(path ...string) string {
	var v any = map[string]any(r)
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	s, _ := v.(string)
	return s
}

func auditFile(home string) string { return filepath.Join(home, "audit", "audit.ndjson") }

// records reads the log of a home.
func records(t *testing.T, home string) []record {
	t.Helper()
	data, err := os.ReadFile(auditFile(home))
	if err != nil {
		t.Fatal(err)
	}
	var all []record
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		all = append(all, r)
	}
	return all
}

// closes gives the close records of one call.
func closes(all []record, callID string) []record {
	var out []record
	for _, r := range all {
		if r.str("phase") == "close" && r.str("callId") == callID {
			out = append(out, r)
		}
	}
	return out
}

func phases(all []record, callID string) string {
	var out []string
	for _, r := range all {
		if r.str("callId") == callID {
			out = append(out, r.str("phase"))
		}
	}
	return strings.Join(out, " ")
}

func verifyWhole(t *testing.T, home string) {
	t.Helper()
	if out, errs, status := toolwarrant(t, home, "audit", "verify", auditFile(home)); status != 0 {
		t.Errorf("audit verify: status %d\n%s%s", status, out, errs)
	}
}

// wire speaks MCP without a client library, so that a test can say what no
// honest client says.
type wire struct {
	t       *testing.T
	url     string
	version string
	session string // of the stateful era
	next    int
}

func (w *wire) headers(req *http.Request, method, name string) {
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", w.version)
	if w.session != "" {
		req.Header.Set("Mcp-Session-Id", w.session)
	}
	if w.version >= "2026" {
		req.Header.Set("Mcp-Method", method)
		if name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	}
}

// post sends one message and gives the answer's stream, or nothing.
func (w *wire) post(method, name string, message map[string]any) *http.Response {
	w.t.Helper()
	body, err := json.Marshal(message)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	w.headers(req, method, name)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

// events calls each for every JSON-RPC message of an answer until it gives
// false or the stream ends.
func events(resp *http.Response, each func(map[string]any) bool) error {
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			return fmt.Errorf("status %d, body %q: %w", resp.StatusCode, data, err)
		}
		each(m)
		return nil
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok || strings.TrimSpace(data) == "" {
			continue
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			return err
		}
		if !each(m) {
			return nil
		}
	}
	return lines.Err()
}

// callTool makes one tools/call. extra are further members of params; answer
// is asked when the server elicits in the stream (stateful era).
func (w *wire) callTool(tool string, args map[string]any, extra map[string]any, capabilities map[string]any, answer func(map[string]any) map[string]any) map[string]any {
	w.t.Helper()
	w.next++
	id := float64(w.next)
	params := map[string]any{"name": tool, "arguments": args}
	if w.version >= "2026" {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    w.version,
			"io.modelcontextprotocol/clientCapabilities": capabilities,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "wire", "version": "1"},
		}
	}
	for k, v := range extra {
		params[k] = v
	}
	resp := w.post("tools/call", tool, map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
	var result map[string]any
	err := events(resp, func(m map[string]any) bool {
		if m["method"] == "elicitation/create" && answer != nil {
			if reply := answer(m); reply != nil {
				w.post("", "", map[string]any{"jsonrpc": "2.0", "id": m["id"], "result": reply}).Body.Close()
			}
			return true
		}
		if got, ok := m["id"].(float64); ok && got == id {
			result = m
			return false
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if result == nil {
		w.t.Fatal("the call got no answer")
	}
	if r, ok := result["result"].(map[string]any); ok {
		return r
	}
	w.t.Fatalf("protocol error: %v", result)
	return nil
}

// stateless is the 2026-07-28 era, stateful an older one.
func stateless(t *testing.T, url string) *wire { return &wire{t: t, url: url, version: "2026-07-28"} }

func stateful(t *testing.T, url string, capabilities map[string]any) *wire {
	t.Helper()
	w := &wire{t: t, url: url, version: "2025-11-25"}
	w.next++
	resp := w.post("initialize", "", map[string]any{"jsonrpc": "2.0", "id": w.next, "method": "initialize", "params": map[string]any{
		"protocolVersion": w.version, "capabilities": capabilities, "clientInfo": map[string]any{"name": "wire", "version": "1"},
	}})
	w.session = resp.Header.Get("Mcp-Session-Id")
	if err := events(resp, func(m map[string]any) bool { return m["id"] == nil }); err != nil || w.session == "" {
		t.Fatalf("initialize: session %q, %v", w.session, err)
	}
	w.post("notifications/initialized", "", map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}).Body.Close()
	return w
}

// failure is structuredContent.error of a result.
func failure(result map[string]any) record {
	sc, _ := result["structuredContent"].(map[string]any)
	e, _ := sc["error"].(map[string]any)
	return record(e)
}
