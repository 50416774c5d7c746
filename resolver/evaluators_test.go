package resolver

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestEvaluators(t *testing.T) {
	p := newEvaluators()
	var now, most, ran atomic.Int64
	var wg sync.WaitGroup
	for range 200 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := p.do(context.Background(), func() {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				runtime.Gosched()
				now.Add(-1)
				ran.Add(1)
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if ran.Load() != 200 || most.Load() > int64(cap(p.slots)) {
		t.Errorf("%d ran, %d at once of %d", ran.Load(), most.Load(), cap(p.slots))
	}
}

func TestEvaluatorPanicIsTheCallers(t *testing.T) {
	p := newEvaluators()
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic was lost")
			}
		}()
		_ = p.do(context.Background(), func() { panic("boom") })
	}()
	if err := p.do(context.Background(), func() {}); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

func TestEvaluatorsWaitWithTheCaller(t *testing.T) {
	p := newEvaluators()
	release, busy := make(chan struct{}), sync.WaitGroup{}
	for range cap(p.slots) {
		busy.Add(1)
		started := make(chan struct{})
		go func() {
			defer busy.Done()
			_ = p.do(context.Background(), func() { close(started); <-release })
		}()
		<-started
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.do(ctx, func() { t.Error("ran") }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that is gone got %v", err)
	}
	close(release)
	busy.Wait()
}
