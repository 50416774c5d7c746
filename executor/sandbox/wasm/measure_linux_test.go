package wasm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

var ratios = flag.Bool("ratios", false, "measure QuickJS, and hold the times to what is promised")

// What the two parts of a new sandbox take by themselves on the machine that
// the limits were set for: the runner with the same script as a plain process,
// and a process sandbox with a shell. Where one takes longer, all limits grow
// with it.
const (
	quietRunner  = 14 * time.Millisecond
	quietProcess = 7 * time.Millisecond
)

// maxLive bounds the memory of a sandbox that has run a script and waits for
// the next, all its processes together, in MiB.
const maxLive = 24

// program builds a command of this module as it is released.
func program(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "github.com/toolwarrant/toolwarrant/cmd/"+name)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestCosts measures a script in a new sandbox and in one that is there, and
// the memory of the latter.
func TestCosts(t *testing.T) {
	if !*ratios {
		t.Skip("measures; -ratios asks for it")
	}
	image, dir := quickJS(t), t.TempDir()
	agent := process.New(process.Options{Agent: program(t, dir, "toolwarrant-agent")})
	path, cache := program(t, dir, "toolwarrant-wasm"), filepath.Join(dir, "cache")
	f := wasm.New(agent, wasm.Options{Cache: cache, Runner: path})
	defer f.Close()
	spec := sandbox.Spec{Image: image, Limits: sandbox.Standard(), AllowPartial: os.Getuid() != 0}
	script := sandbox.Command{Argv: []string{"js", "-e", "1 + 1"}}
	fresh := func() sandbox.Sandbox {
		sb, err := f.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return sb
	}
	run := func(sb sandbox.Sandbox) {
		if r, err := sb.Exec(t.Context(), script); err != nil || string(r.Stdout) != "2\n" {
			t.Fatalf("%v %+v %s", err, r, r.Stderr)
		}
	}
	warm := fresh()
	defer warm.Close()
	run(warm)
	entries, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("the cache holds %v (%v)", entries, err)
	}
	alone, err := json.Marshal(runner.Config{
		Version: runner.Version, Module: image, Cache: entries[0], MemoryBytes: 64 << 20, Run: runner.Request{Argv: script.Argv},
	})
	if err != nil {
		t.Fatal(err)
	}
	var parts [4]time.Duration
	costs := []*cost{
		{name: "plain process, sh", once: func() { _ = exec.Command("/bin/sh", "-c", "true").Run() }},
		{name: "the runner as a plain process", once: func() {
			if out, err := exec.Command(path, runner.Attached, string(alone)).Output(); err != nil || string(out) != "2\n" {
				t.Fatalf("%v %s", err, out)
			}
		}},
		{name: "new process sandbox, sh", once: func() {
			sb, err := agent.Create(t.Context(), sandbox.Spec{Limits: spec.Limits, AllowPartial: spec.AllowPartial})
			if err != nil {
				t.Fatal(err)
			}
			defer sb.Close()
			if r, err := sb.Exec(t.Context(), sandbox.Shell("true")); err != nil || r.ExitCode != 0 {
				t.Fatalf("%v %+v", err, r)
			}
		}},
		{name: "new sandbox, code from the cache", limit: 30 * time.Millisecond, once: func() {
			at := [5]time.Time{time.Now()}
			sb := fresh()
			at[1] = time.Now()
			if err := sb.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			at[2] = time.Now()
			run(sb)
			at[3] = time.Now()
			_ = sb.Close()
			at[4] = time.Now()
			for i := range parts {
				parts[i] += at[i+1].Sub(at[i])
			}
		}},
		{name: "new instance in a sandbox", limit: 4 * time.Millisecond, once: func() { run(warm) }},
	}
	const rounds = 41
	for range rounds {
		for _, c := range costs {
			began := time.Now()
			c.once()
			c.took = append(c.took, time.Since(began))
		}
	}
	slow := max(1, float64(costs[1].p50())/float64(quietRunner), float64(costs[2].p50())/float64(quietProcess))
	t.Logf("the machine is %.2f times as slow as the limits were set for, by the parts of a sandbox", slow)
	for _, c := range costs {
		t.Logf("%-34s p50 %7.2f ms, least %7.2f ms, limit %.0f ms", c.name, ms(c.p50()), ms(c.took[0]), ms(c.limit))
		if limit := time.Duration(float64(c.limit) * slow); limit > 0 && c.p50() > limit {
			t.Errorf("%s: p50 %v, over %v", c.name, c.p50(), limit)
		}
	}
	t.Logf("of a new sandbox, on average: create %.2f ms, start %.2f ms, script %.2f ms, close %.2f ms",
		ms(parts[0]/rounds), ms(parts[1]/rounds), ms(parts[2]/rounds), ms(parts[3]/rounds))

	before, n := memoryOfChildren(t), 20
	for range n {
		sb := fresh()
		defer sb.Close()
		run(sb)
	}
	each := float64(memoryOfChildren(t)-before) / float64(n) / (1 << 20)
	t.Logf("%d sandboxes that wait: %.1f MiB each", n, each)
	if each > maxLive || each <= 0 {
		t.Errorf("a sandbox that waits has %.1f MiB, over %d", each, maxLive)
	}
}

type cost struct {
	name  string
	limit time.Duration // 0: only shown
	once  func()
	took  []time.Duration
}

func (c *cost) p50() time.Duration {
	slices.Sort(c.took)
	return c.took[len(c.took)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// memoryOfChildren is the memory of all descendants of this process, shared
// pages by their share.
func memoryOfChildren(t *testing.T) (bytes int64) {
	t.Helper()
	for _, pid := range descendants() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if errors.Is(err, os.ErrNotExist) {
			continue // it has ended meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "\nPss:")
		if fields := strings.Fields(rest); len(fields) > 0 {
			kb, _ := strconv.ParseInt(fields[0], 10, 64)
			bytes += kb << 10
		}
	}
	return bytes
}

// descendants are the processes below this one.
func descendants() []int {
	entries, _ := os.ReadDir("/proc")
	children := map[int][]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// What is before the last parenthesis is the name, which can be anything.
		if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) > 1 {
			parent, _ := strconv.Atoi(string(fields[1]))
			children[parent] = append(children[parent], pid)
		}
	}
	var all []int
	for next := []int{os.Getpid()}; len(next) > 0; next = next[1:] {
		all = append(all, children[next[0]]...)
		next = append(next, children[next[0]]...)
	}
	return all
}
