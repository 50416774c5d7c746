package attack

import (
	"flag"
	"slices"
	"testing"
	"time"
)

// attacks is the whole table.
func attacks() []attack {
	return slices.Concat(processAttacks, memoryAttacks, hangAttacks, boundedAttacks, sourceAttacks, budgetAttacks,
		escapeAttacks, resultAttacks, errorAttacks, consoleAttacks, networkAttacks, fileAttacks, parserAttacks, classAttacks)
}

var ratios = flag.Bool("ratios", false, "hold the call after each attack of TestAttacks to 100 ms")

// TestAttacks runs the table.
func TestAttacks(t *testing.T) {
	goroutines, files, _ := held()
	t.Run("table", func(t *testing.T) {
		g := newRig(t)
		t.Cleanup(func() { _ = g.Close() })
		ran := 0
		var longest time.Duration
		before, open := g.steady(t)
		for _, a := range attacks() {
			t.Run(a.class+"/"+a.name, func(t *testing.T) {
				if a.process && inProcess(g) {
					t.Skip("needs a process of its own")
				}
				ran++
				rep, _ := g.run(t, g.call(a.code, a.limits))
				if got := outcome(rep); got != a.want {
					t.Errorf("got  %.300s\nwant %s", got, a.want)
					if rep.Failure != nil {
						t.Logf("%.300s", rep.Failure.Message)
					}
				}
				began := time.Now()
				rep, _ = g.run(t, g.call(`return [1 + 1, typeof evil, [].join(), Object.keys({}).length, fetch(BASE + "/ok").text(), safety.fs.exists("a.txt")]`, nil))
				if got := outcome(rep); got != `= [2,"undefined","",0,"ok",true]` {
					t.Errorf("the next call: %.300s", got)
				}
				took := time.Since(began)
				longest = max(longest, took)
				if *ratios && took > 100*time.Millisecond {
					t.Errorf("the next call was served after %v", took)
				}
				settled(t, before, open)
			})
		}
		t.Logf("%d of %d attacks ran, isolation %s; the next call was served after %v at most", ran, len(attacks()), g.Isolation().Mode, longest)
	})
	settled(t, goroutines, files)
}

// TestTable holds the table to its promise.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range attacks() {
		key := a.class + "/" + a.name
		if seen[key] || a.code == "" || a.want == "" {
			t.Errorf("%s: twice, or without code or outcome", key)
		}
		seen[key] = true
	}
	if len(seen) < 73+30 {
		t.Errorf("%d attacks", len(seen))
	}
}
