package resolver

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// Bounds of one evaluation.
const (
	// deadline is the time that an evaluation may take of a processor. On a
	// machine that has more to do than it can, an evaluation of milliseconds
	// can need a second by the clock, and is no worse for it.
	deadline = time.Second
	// patience is the time by the clock, for an evaluation that gets none.
	patience = 10 * time.Second
)

// timely runs f on this goroutine under both bounds; late reports that one of
// them ended it. f has to end when its context does.
func timely(ctx context.Context, f func(context.Context)) (late bool) {
	runtime.LockOSThread() // the clock is that of a thread
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	used, began := processorTime(), time.Now()
	var over atomic.Bool
	var timer *time.Timer
	ready := make(chan struct{})
	timer = time.AfterFunc(deadline, func() {
		<-ready
		left := min(deadline-used(), patience-time.Since(began))
		if left > 0 {
			timer.Reset(max(left, 10*time.Millisecond))
			return
		}
		over.Store(true)
		cancel()
	})
	close(ready)
	defer timer.Stop()
	f(ctx)
	return over.Load()
}
