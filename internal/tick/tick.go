// Package tick repeats work of the background: look after a file, flush,
// count, until a context ends.
//
// It is a leaf: any package may import it and it imports nothing of ours.
package tick

import (
	"context"
	"iter"
	"time"
)

// Every yields the time once in every period, which is above zero, and ends
// with ctx. Ticks that come while the body of the loop is at work are not made
// up for. One sequence may be ranged over by many goroutines, each with a
// ticker of its own.
func Every(ctx context.Context, period time.Duration) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		t := time.NewTicker(period)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-t.C:
				if !yield(now) {
					return
				}
			}
		}
	}
}
