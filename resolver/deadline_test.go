package resolver

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// What computes is ended after its share of a processor, however long it waited
// for that, and what only waits after the time by the clock.
func TestTimely(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("threads have a clock of their own on Linux alone")
	}
	busy := func(ctx context.Context) (turns int) {
		for ctx.Err() == nil {
			turns++
		}
		return turns
	}
	var used time.Duration
	if late := timely(t.Context(), func(ctx context.Context) {
		clock := processorTime()
		busy(ctx)
		used = clock()
	}); !late || used < deadline*9/10 {
		t.Errorf("endless work: late %t, after %s on a processor", late, used)
	}
	// It sleeps beyond the deadline, which takes no processor.
	slept := false
	if late := timely(t.Context(), func(ctx context.Context) {
		select {
		case <-time.After(deadline + deadline/2):
			slept = true
		case <-ctx.Done():
		}
	}); late || !slept {
		t.Errorf("a wait within patience: late %t, slept to its end %t", late, slept)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if late := timely(ctx, func(ctx context.Context) { busy(ctx) }); late {
		t.Error("a caller that went away is taken for a deadline")
	}
}

func BenchmarkTimely(b *testing.B) {
	for b.Loop() {
		timely(b.Context(), func(context.Context) {})
	}
}
