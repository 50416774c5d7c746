package tick

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestEvery: the clock is that of the bubble, so the numbers are exact.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		began, seen := time.Now(), []time.Duration{}
		for now := range Every(ctx, time.Second) {
			seen = append(seen, now.Sub(began))
			switch len(seen) {
			case 2:
				time.Sleep(3500 * time.Millisecond) // one tick waits, two are passed over
			case 4:
				stop()
			}
		}
		want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 6 * time.Second}
		for i := range want {
			if i >= len(seen) || seen[i] != want[i] {
				t.Fatalf("ticks at %v, want %v", seen, want)
			}
		}
		if len(seen) != len(want) {
			t.Errorf("ticks at %v after the end", seen[len(want):])
		}
		for range Every(t.Context(), time.Second) {
			break // ends the sequence and its ticker
		}
	})
}
