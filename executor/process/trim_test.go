package process

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestBursts: workers that a burst of calls needed serve the next one, and are
// ended once nobody needed them for a while.
func TestBursts(t *testing.T) {
	r := New(Options{Workers: 6, Idle: 1})
	t.Cleanup(func() { _ = r.Close() })
	if err := r.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.linger = time.Hour // it is trimmed by hand
	r.mu.Unlock()
	burst := func() []*proc {
		var all []*proc
		for range 6 {
			p, err := r.take(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		for _, p := range all {
			r.give(p, true)
		}
		return all
	}
	first := burst()
	for _, p := range burst() {
		if !slices.Contains(first, p) {
			t.Error("a second burst started a worker")
		}
	}
	for _, want := range []int{6, 1, 1} { // used since it was looked at, not used, and those that are kept
		if r.trimming != nil {
			r.trimming.Stop()
		}
		r.trim()
		if len(r.idle) != want || r.live != want || (r.trimming != nil) != (want > 1) {
			t.Errorf("%d idle, %d live, want %d", len(r.idle), r.live, want)
		}
	}
	if p := burst()[0]; p.cmd.Process == nil {
		t.Error("no worker after the others were ended")
	}
}

// TestTrimMeanwhile: workers are trimmed again and again while calls take them,
// give them back, leave, and kill them. Those that are kept are there in the
// end, and none after Close, also one in the midst of it.
func TestTrimMeanwhile(t *testing.T) {
	for round := range 2 {
		r := New(Options{Workers: 6, Idle: 1, Calls: 5})
		r.mu.Lock()
		r.linger = time.Millisecond
		r.mu.Unlock()
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				for i := range 25 {
					c := tinyCall()
					if (g+i)%13 == 0 {
						c.Program.Source, c.Program.ID, c.Limits.TimeoutMillis = "for(;;);", "loop", 20
					}
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+(g*i)%40)*10*time.Millisecond)
					_, _ = r.Run(ctx, c, noBroker{})
					cancel()
					if i%7 == 0 {
						time.Sleep(3 * time.Millisecond)
					}
				}
			})
		}
		if round == 0 {
			wg.Wait()
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
				r.mu.Lock()
				idle, live, starting, waiting := len(r.idle), r.live, r.starting, len(r.waiting)
				r.mu.Unlock()
				if idle == 1 && live == 1 && starting == 0 && waiting == 0 {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("idle %d live %d starting %d waiting %d", idle, live, starting, waiting)
				}
			}
			if rep, err := r.Run(context.Background(), tinyCall(), noBroker{}); err != nil || rep.Failure != nil {
				t.Fatal(err, rep.Failure)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if r.live != 0 || len(r.idle) != 0 || len(r.busy) != 0 {
			t.Fatalf("after Close: live %d idle %d busy %d", r.live, len(r.idle), len(r.busy))
		}
	}
}
