// Package attack is a table of hostile programs and servers. Each entry runs
// against the runtime that ships, through the same interface that the
// executor uses, and has the exact code and reason it has to end with.
// Afterwards the server is alive, the next call is answered right, and no
// goroutine and no file descriptor is left.
package attack

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/process"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// newRuntime makes the runtime under attack, the only place that does.
func newRuntime(t testing.TB) executor.Runtime {
	t.Helper()
	r := process.New(process.Options{})
	if err := r.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

// inProcess reports whether code shares the process of the test. Attacks that
// need a process of their own are then left out: they would end the test.
func inProcess(rt executor.Runtime) bool { return rt.Isolation().Mode == "in-process" }

// attack is one entry of the table.
type attack struct {
	name  string
	class string
	code  string
	want  string // "CODE/reason", or "= " and the result
	// process says that only a process that can be killed stops it.
	process bool
	limits  func(*worker.Limits)
}

// The limits that make an attack end by the one thing it is about.
var (
	// hangs ends by the clock.
	hangs = func(l *worker.Limits) { l.TimeoutMillis, l.MaxStatements = 500, 0 }
	// grows ends by memory, long before the clock.
	grows = func(l *worker.Limits) { l.TimeoutMillis, l.MaxStatements, l.MaxMemoryBytes = 60_000, 0, 64<<20 }
	// few ends before promises that wait for each other need much memory.
	few = func(l *worker.Limits) { l.MaxStatements = 20_000 }
	// patient ends by what is counted, however slow the machine.
	patient = func(l *worker.Limits) { l.TimeoutMillis = 60_000 }
)

// rig is a runtime with the world that its calls may reach.
type rig struct {
	executor.Runtime
	policy decision.EffectivePolicy
	opts   broker.Options
	base   string // of fetch: http://a.test:port
}

func newRig(t testing.TB) *rig {
	t.Helper()
	g := &rig{Runtime: newRuntime(t)}
	port := hostileServer(t)
	g.base = "http://a.test:" + port
	dir := t.TempDir()
	for name, content := range map[string]string{"a.txt": "one\ntwo\n", "aaaa.txt": strings.Repeat("a", 100_000) + "!\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"passwd": "/etc/passwd", "up": "..", "self": "self"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Logf("without links: %v", err)
		}
	}
	g.policy = decision.EffectivePolicy{
		AllowClasses: []string{"java.lang.*", "java.math.*", "java.util.*"},
		DenyClasses:  []string{"java.lang.System", "java.lang.Runtime", "java.lang.ProcessBuilder", "java.lang.Class", "java.lang.reflect.*"},
		Network: decision.Network{Mode: "allowlist", Hosts: []string{"*.test", "127.0.0.1", "169.254.169.254", "::1", "::", "10.0.0.1", "0.0.0.0"},
			PrivateHosts: []string{"a.test:" + port}},
		FS: decision.FS{Read: true, Write: true, BasePath: dir},
	}
	g.opts = broker.Options{Egress: &egress.Options{Resolver: table{
		"a.test": "127.0.0.1", "b.test": "127.0.0.1", "meta.test": "169.254.169.254", "six.test": "::1", "mapped.test": "::ffff:127.0.0.1",
		"nat64.test": "64:ff9b::7f00:1",
	}}}
	return g
}

// table is a resolver of fixed names.
type table map[string]string

func (n table) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := n[host]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (g *rig) call(code string, limits func(*worker.Limits)) worker.Call {
	c := worker.Call{
		CallID:  "attack",
		Program: worker.Program{ID: code, Name: "tool.js", Source: code},
		Args:    json.RawMessage(`{}`),
		Statics: []worker.Static{{Name: "BASE", Value: g.base}},
		Globals: worker.Globals{Fetch: true, FSRead: true, FSWrite: true},
		Limits: worker.Limits{MaxStatements: 500_000, TimeoutMillis: 30_000, MaxMemoryBytes: 1 << 30, MaxOutputBytes: 1 << 20,
			MaxLogLines: 1000, MaxLogBytes: 8 << 10},
	}
	if limits != nil {
		limits(&c.Limits)
	}
	return c
}

// run makes one call with a broker of its own, as the executor does.
func (g *rig) run(t testing.TB, c worker.Call) (worker.Reply, broker.Ledger) {
	t.Helper()
	b, err := broker.New(g.policy, g.opts)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	rep, err := g.Run(context.Background(), c, b)
	if err != nil {
		t.Errorf("the runtime itself failed: %v", err)
	}
	return rep, b.Ledger()
}

// outcome is how a call ended, in the form of attack.want.
func outcome(rep worker.Reply) string {
	if f := rep.Failure; f != nil {
		return f.Code + "/" + f.Reason
	}
	return "= " + string(rep.Result)
}

// held counts what this process holds open. ok is false where that cannot be
// counted.
func held() (goroutines, files int, ok bool) {
	list, err := os.ReadDir("/proc/self/fd")
	return runtime.NumGoroutine(), len(list), err == nil
}

// steady is what is held while the rig has all its workers and makes no call.
func (g *rig) steady(t testing.TB) (goroutines, files int) {
	t.Helper()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			g.run(t, g.call(`const end = Date.now() + 200; while (Date.now() < end) { } return fetch(BASE + "/ok").text()`, func(l *worker.Limits) { l.MaxStatements = 1 << 40 }))
		})
	}
	wait.Wait()
	for range 20 {
		time.Sleep(25 * time.Millisecond)
		n, f, _ := held()
		goroutines, files = max(goroutines, n), max(files, f)
	}
	return goroutines, files
}

// settled waits until no more is held than before. What is still there after
// all turns is reported.
func settled(t testing.TB, goroutines, files int) {
	t.Helper()
	var g, f int
	for range 400 {
		var ok bool
		if g, f, ok = held(); g <= goroutines && (f <= files || !ok) {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines and %d files were there, %d and %d are left:\n%s", goroutines, files, g, f, stacks[:runtime.Stack(stacks, true)])
}
