package process_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/process"
	"github.com/toolwarrant/toolwarrant/internal/figures"
)

var (
	soak   = flag.Int("soak", 0, "calls of TestSoak, 0 = skip it")
	ratios = flag.Bool("ratios", false, "measure in TestWorkerRatios, which needs a machine that does nothing else")
)

// cpuBound is a program that computes for some 20 ms.
const cpuBound = `let s = 0; for (let i = 0; i < 100000; i++) s += i % 7; return s`

func BenchmarkTiny(b *testing.B) {
	r := open(b, process.Options{})
	c := call("return 1 + 1")
	b.ReportAllocs()
	for b.Loop() {
		if got := outcome(b, r, c); got != "2" {
			b.Fatal(got)
		}
	}
}

// TestWorkerRatios holds what a worker costs and gives to its limits.
func TestWorkerRatios(t *testing.T) {
	if !*ratios {
		t.Skip("run with -ratios")
	}
	inProcess := js400(t)
	workers := open(t, process.Options{})
	tiny := call("return 1 + 1")
	var a, b []time.Duration
	for range 20 { // in turns, and each for long enough to run warm, as a server's calls do
		for range 200 {
			a = append(a, took(func() { outcomeOf(t, inProcess, tiny) }))
		}
		for range 200 {
			b = append(b, took(func() { outcome(t, workers, tiny) }))
		}
	}
	if d := quantile(b, 0.5) - quantile(a, 0.5); d > 100*time.Microsecond {
		t.Errorf("a tiny call takes %v longer through a worker", d)
	}
	t.Logf("tiny call: in-process p50 %v p99 %v, worker p50 %v p99 %v, difference of p50 %v",
		quantile(a, 0.5), quantile(a, 0.99), quantile(b, 0.5), quantile(b, 0.99), quantile(b, 0.5)-quantile(a, 0.5))

	figures.Say(t, "worker", "tiny call, median: inside the process of the caller", figures.Millis(quantile(a, 0.5)))
	figures.Say(t, "worker", "the same through a worker", figures.Millis(quantile(b, 0.5)))

	heavy := call(cpuBound)
	run := func(n int) time.Duration {
		r := open(t, process.Options{Workers: n, Patience: time.Minute})
		return took(func() {
			var wait sync.WaitGroup
			for range 4 {
				wait.Go(func() {
					for range 25 {
						outcome(t, r, heavy)
					}
				})
			}
			wait.Wait()
		})
	}
	// Of rounds after one another the least times: what else the machine did in
	// one of them is no cost of ours. Two of its processors can be threads of one
	// core, so that two loops in registers say what there is to gain.
	one, two, machine := time.Hour, time.Hour, 0.0
	for range 3 {
		one, two, machine = min(one, run(1)), min(two, run(2)), max(machine, gain())
	}
	gained, limit := float64(one)/float64(two), min(1.6, 0.8*machine)
	t.Logf("100 CPU-bound calls of 4 callers: one worker %v, two workers %v, x%.2f, of x%.2f that two loops do of one; limit x%.2f", one, two, gained, machine, limit)
	if runtime.NumCPU() > 1 && gained < limit {
		t.Errorf("two workers do x%.2f of one", gained)
	}

	figures.Say(t, "worker", "100 calls that compute: two workers over one", figures.Times(one, two))

	stuck := call(`return /^(?=a)(?:(a+)+)+$/.test("a".repeat(40) + "b")`)
	stuck.Limits.TimeoutMillis = 200
	var over, next, ready []time.Duration
	for range 10 {
		ended := make(chan time.Duration)
		go func() { ended <- took(func() { outcome(t, workers, stuck) }) - 200*time.Millisecond }()
		for workers.Stats().Busy != 1 || workers.Stats().Idle != 1 {
			runtime.Gosched()
		}
		outcome(t, workers, tiny) // takes the spare at once
		over = append(over, <-ended)
		next = append(next, took(func() { outcome(t, workers, tiny) }))
	}
	for range 10 {
		pair := open(t, process.Options{Idle: 1})
		done := make(chan struct{})
		go func() { defer close(done); outcome(t, pair, stuck) }() // takes the spare
		began := time.Now()
		for pair.Stats().Busy != 1 {
			began = time.Now()
			runtime.Gosched()
		}
		for pair.Stats().Idle == 0 {
			time.Sleep(100 * time.Microsecond)
		}
		ready = append(ready, time.Since(began))
		<-done
	}
	t.Logf("the replacement of a spare is ready %v after the spare is taken (median), %v at most", quantile(ready, 0.5), slices.Max(ready))
	t.Logf("runaway: ended %v after its deadline at most; the next call took %v at most", slices.Max(over), slices.Max(next))
	figures.Say(t, "worker", "a call that hangs in the engine: answered after its deadline, at most", figures.Millis(slices.Max(over)))
	figures.Say(t, "worker", "the next call after a killed worker, at most", figures.Millis(slices.Max(next)))
	figures.Say(t, "worker", "start of a worker, locked, median", figures.Millis(quantile(ready, 0.5)))
	if m := quantile(ready, 0.5); m > 50*time.Millisecond {
		t.Errorf("the replacement of a spare is ready after %v", m)
	}
	if m := slices.Max(next); m > 100*time.Millisecond {
		t.Errorf("the call after a runaway was served after %v", m)
	}
	if m := slices.Max(over); m > 300*time.Millisecond {
		t.Errorf("a runaway went on for %v", m)
	}
}

func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

func quantile(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return d[int(float64(len(d)-1)*q)]
}

// TestSoak makes many calls and watches that neither the parent nor its
// workers grow.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("run with -soak 200000")
	}
	r := open(t, process.Options{})
	programs := []string{"return 1 + 1", "const a = []; for (let i = 0; i < 200; i++) a.push({i}); return a.length", "throw new Error('x')", "return safety.fs.list()"}
	var first, last [2]int64 // the parent, its largest worker
	for i := range *soak {
		// So many different ones that no cache holds them all.
		c := call(programs[i%len(programs)] + " //" + strconv.Itoa(i%3001))
		c.Args = json.RawMessage(`{"n":` + strconv.Itoa(i) + `}`)
		if _, err := r.Run(context.Background(), c, nil); err != nil {
			t.Fatal(err)
		}
		if (i+1)%(*soak/10) == 0 {
			runtime.GC()
			last = [2]int64{resident(t, os.Getpid()), largestChild(t)}
			if i+1 == *soak/5 {
				first = last
			}
			t.Logf("%d calls: parent %d MiB, largest worker %d MiB, goroutines %d", i+1, last[0]>>20, last[1]>>20, runtime.NumGoroutine())
		}
	}
	for i, who := range []string{"the parent", "a worker"} {
		if grown := last[i] - first[i]; grown > 16<<20 {
			t.Errorf("%s grew by %d MiB after the first fifth", who, grown>>20)
		}
	}
}

// largestChild is what the largest process that this one started holds.
func largestChild(t *testing.T) (most int64) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) {
			if n, err := held(filepath.Dir(file)); err == nil {
				most = max(most, n)
			}
		}
	}
	if most == 0 {
		t.Fatal("no worker is seen")
	}
	return most
}

func resident(t *testing.T, pid int) int64 {
	t.Helper()
	n, err := held("/proc/" + strconv.Itoa(pid))
	if err != nil {
		t.Skip("no /proc")
	}
	return n
}

// held is the resident memory of a process by its folder in /proc, in bytes.
func held(proc string) (int64, error) {
	b, err := os.ReadFile(filepath.Join(proc, "statm"))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// gain is how much of one loop's work two loops do at once on this machine.
func gain() float64 {
	loop := func() (x uint32) {
		x = 1
		for range 300_000_000 {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
		}
		return x
	}
	sum := make(chan uint32, 4) // whose results are used
	one := took(func() { sum <- loop(); sum <- loop() })
	two := took(func() {
		var wait sync.WaitGroup
		for range 2 {
			wait.Go(func() { sum <- loop() })
		}
		wait.Wait()
	})
	return float64(one) / float64(two)
}
