package escape

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
)

// TestManyLive has 200 sandboxes at once, started one after another.
func TestManyLive(t *testing.T) {
	if !*ratios {
		t.Skip("measures; -ratios asks for it")
	}
	for _, a := range []struct {
		name, agent string
		within      time.Duration
		each        float64 // MiB
	}{{"small agent", agentProgram(t), 3 * time.Second, 1.5}, {"the one binary", "", 8 * time.Second, 8}} {
		t.Run(a.name, func(t *testing.T) {
			f := process.New(process.Options{Agent: a.agent, Stash: -1})
			defer closeFactory(f)
			const n = 200
			slow := bubblewrapNow(t)
			before := children()
			began := time.Now()
			for range n {
				started(t, f, costSpec())
			}
			took := time.Since(began)
			slow = max(slow, bubblewrapNow(t))
			per := 0.0
			for pid := range children() {
				if !before[pid] {
					per += pss(pid) / n
				}
			}
			t.Logf("%d live sandboxes, %s: %v, %.2f MiB each; limits %v and %.1f MiB, the machine %.2f times as slow", n, a.name, took.Round(time.Millisecond), per, a.within, a.each, slow)
			if took > time.Duration(float64(a.within)*slow) {
				t.Errorf("they take %v", took)
			}
			if per == 0 || per > a.each {
				t.Errorf("%.2f MiB each", per)
			}
		})
	}
}

// bubblewrapNow is how slow the machine is at present.
func bubblewrapNow(t *testing.T) float64 {
	t.Helper()
	c := bubblewrapCost("/bin/sh", "-c", "true")
	if c == nil {
		return 1
	}
	for range 15 {
		began := time.Now()
		must(t, c.once())
		c.took = append(c.took, time.Since(began))
	}
	return max(1, float64(c.p50())/float64(quietBubblewrap))
}

// children are the processes that this one has started, and theirs.
func children() map[string]bool {
	parent := map[string]string{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 1 {
			parent[e.Name()] = f[1]
		}
	}
	own, list := strconv.Itoa(os.Getpid()), map[string]bool{}
	for pid := range parent {
		for up := pid; up != ""; up = parent[up] {
			if parent[up] == own {
				list[pid] = true
				break
			}
		}
	}
	return list
}

// pss is the memory of a process in MiB; what several share is divided.
func pss(pid string) float64 {
	text, err := os.ReadFile("/proc/" + pid + "/smaps_rollup")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nPss:")
	kib, _ := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
	return kib / 1024
}
