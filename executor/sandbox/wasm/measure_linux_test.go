package wasm_test

import (
	"bytes"
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
)

var ratios = flag.Bool("ratios", false, "measure QuickJS, and hold the times to what is promised")

// quietFork is what "sh -c true" takes on the machine that the limits were set
// for. Where it takes longer all limits grow with it.
const quietFork = 900 * time.Microsecond

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
	f := wasm.New(agent, wasm.Options{Cache: filepath.Join(shared.dir, "cache"), Runner: program(t, dir, "toolwarrant-wasm")})
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
	var parts [4]time.Duration
	costs := []*cost{
		{name: "plain process, sh", once: func() { _ = exec.Command("/bin/sh", "-c", "true").Run() }},
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
	slow := max(1, float64(costs[0].p50())/float64(quietFork))
	t.Logf("the machine is %.2f times as slow as the limits were set for, by plain processes", slow)
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
