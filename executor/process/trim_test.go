package process

import (
	"context"
	"slices"
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
