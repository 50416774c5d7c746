package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// pooled runs f with a pool in a bubble of its own time, and sees to it that
// nothing of the pool is left: the bubble itself fails on a goroutine.
func pooled(t *testing.T, f *fakes, opts sandbox.PoolOptions, test func(t *testing.T, p *sandbox.Pool)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, err := sandbox.NewPool(f, warmable(), opts)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			p.Close(ended)
			if err := p.Close(ended); err != nil {
				t.Errorf("closed again: %v", err)
			}
			open, most := f.left()
			if open != 0 || most > opts.Max {
				t.Errorf("%d sandboxes are left; there were %d of %d", open, most, opts.Max)
			}
			if s := p.Stats(); s.Live != 0 || s.Idle != 0 || s.Lent != 0 || s.Waiting != 0 {
				t.Errorf("after the end: %+v", s)
			}
			if _, err := p.Borrow(t.Context()); !errors.Is(err, sandbox.ErrClosed) {
				t.Errorf("borrowed from a closed pool: %v", err)
			}
		}()
		test(t, p)
	})
}

func borrow(t *testing.T, p *sandbox.Pool) *sandbox.Lease {
	t.Helper()
	l, err := p.Borrow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPoolRefusesSpecifications(t *testing.T) {
	cold, writable, wrong := asked(), warmable(), warmable()
	writable.Mounts = []sandbox.Mount{{Source: "/a", Target: "/a"}, {Source: "/b", Target: "/b", Writable: true}}
	wrong.Limits.MemoryMB = 0
	for name, c := range map[string]struct {
		spec sandbox.Spec
		opts sandbox.PoolOptions
		word string
	}{
		"not warmable":       {cold, sandbox.PoolOptions{Max: 1}, "warmable"},
		"a writable mount":   {writable, sandbox.PoolOptions{Max: 1}, "mounts[1]"},
		"wrong in itself":    {wrong, sandbox.PoolOptions{Max: 1}, "memory"},
		"no sandbox":         {warmable(), sandbox.PoolOptions{}, "at least one"},
		"more warm than max": {warmable(), sandbox.PoolOptions{Max: 1, Warm: 2}, "max 1, warm 2"},
	} {
		if _, err := sandbox.NewPool(&fakes{}, c.spec, c.opts); !errors.Is(err, sandbox.ErrSpec) || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPoolMakesAhead(t *testing.T) {
	f := &fakes{takes: time.Second}
	pooled(t, f, sandbox.PoolOptions{Max: 4, Warm: 2}, func(t *testing.T, p *sandbox.Pool) {
		time.Sleep(2 * time.Second)
		if s := p.Stats(); s.Idle != 2 || s.Made != 2 {
			t.Errorf("%+v", s)
		}
		began := time.Now()
		a := borrow(t, p)
		if time.Since(began) != 0 {
			t.Error("a warm sandbox was waited for")
		}
		time.Sleep(2 * time.Second)
		if s := p.Stats(); s.Idle != 2 || s.Live != 3 || s.Waited != 0 {
			t.Errorf("another was not made in its place: %+v", s)
		}
		a.Close()
		time.Sleep(2 * time.Second)
		if s := p.Stats(); s.Idle != 3 || s.Lent != 0 {
			t.Errorf("it did not come back: %+v", s)
		}
	})
}

func TestPoolCapAndOrder(t *testing.T) {
	f := &fakes{}
	pooled(t, f, sandbox.PoolOptions{Max: 2, Wait: time.Minute}, func(t *testing.T, p *sandbox.Pool) {
		a, b := borrow(t, p), borrow(t, p)
		var order []int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				l, err := p.Borrow(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				l.Close()
			})
			synctest.Wait()
		}
		if s := p.Stats(); s.Waiting != 5 || s.Live != 2 || s.Lent != 2 {
			t.Errorf("%+v", s)
		}
		a.Close()
		wg.Wait()
		b.Close()
		for i, n := range order {
			if i != n {
				t.Errorf("served in the order %v", order)
				break
			}
		}
	})
}

func TestPoolIsFull(t *testing.T) {
	pooled(t, &fakes{}, sandbox.PoolOptions{Max: 1, Wait: 3 * time.Second}, func(t *testing.T, p *sandbox.Pool) {
		l := borrow(t, p)
		began := time.Now()
		if _, err := p.Borrow(t.Context()); !errors.Is(err, sandbox.ErrPoolFull) || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Borrow(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if _, err := p.Borrow(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a context that has ended: %v", err)
		}
		if s := p.Stats(); s.Refused != 1 || s.Waited != 3 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
		l.Close()
		borrow(t, p).Close()
	})
}

func TestNothingOfTheLastLease(t *testing.T) {
	f := &fakes{}
	f.reset = func(n int) error {
		if n%2 == 0 {
			return errors.New("did not reset")
		}
		return nil
	}
	pooled(t, f, sandbox.PoolOptions{Max: 1}, func(t *testing.T, p *sandbox.Pool) {
		seen := map[string]int{}
		for range 10 {
			l := borrow(t, p)
			seen[l.SandboxID()]++
			for i, want := range []string{"", "mine"} {
				if r, err := l.Exec(t.Context(), cmd("leave", "mine")); err != nil || string(r.Stdout) != want {
					t.Errorf("command %d found %q, %v", i, r.Stdout, err)
				}
			}
			l.Close()
		}
		synctest.Wait()
		if s := p.Stats(); s.Failed != 5 || len(seen) != 5 {
			t.Errorf("a sandbox that did not reset was lent again: %v %+v", seen, s)
		}
	})
}

func TestRecycled(t *testing.T) {
	pooled(t, &fakes{}, sandbox.PoolOptions{Max: 1, RecycleAfter: 3, MaxIdleAge: time.Minute}, func(t *testing.T, p *sandbox.Pool) {
		seen := map[string]int{}
		for range 7 {
			l := borrow(t, p)
			seen[l.SandboxID()]++
			l.Close()
		}
		synctest.Wait()
		if s := p.Stats(); s.Recycled != 2 || seen["fake-1"] != 3 || seen["fake-2"] != 3 || s.Idle != 1 {
			t.Errorf("%v %+v", seen, s)
		}
		time.Sleep(59 * time.Second)
		if s := p.Stats(); s.Idle != 1 {
			t.Errorf("closed before its time: %+v", s)
		}
		time.Sleep(2 * time.Second)
		if s := p.Stats(); s.Live != 0 || s.Recycled != 3 {
			t.Errorf("not closed after its time: %+v", s)
		}
	})
}

func TestInstanceThatDied(t *testing.T) {
	f := &fakes{}
	pooled(t, f, sandbox.PoolOptions{Max: 2, Warm: 1}, func(t *testing.T, p *sandbox.Pool) {
		synctest.Wait()
		f.last().Terminate() // nobody told the pool
		l := borrow(t, p)
		if r, err := l.Exec(t.Context(), cmd("ok")); err != nil || r.ExitCode != 3 {
			t.Errorf("a dead sandbox was lent: %v", err)
		}
		f.last().Terminate()
		l.Close()
		l = borrow(t, p)
		if _, err := l.Exec(t.Context(), cmd("ok")); err != nil {
			t.Errorf("a dead sandbox was lent: %v", err)
		}
		l.Close()
	})
}

func TestBrokenIsNotLentAgain(t *testing.T) {
	for _, how := range []string{"fail", "panic"} {
		t.Run(how, func(t *testing.T) {
			pooled(t, &fakes{}, sandbox.PoolOptions{Max: 1}, func(t *testing.T, p *sandbox.Pool) {
				l := borrow(t, p)
				first := l.SandboxID()
				if _, err := l.Exec(t.Context(), cmd(how)); !errors.Is(err, sandbox.ErrFailed) {
					t.Errorf("%v", err)
				}
				l.Close()
				l = borrow(t, p)
				if l.SandboxID() == first {
					t.Error("lent again")
				}
				l.Close()
			})
		})
	}
}

func TestMakingFails(t *testing.T) {
	f := &fakes{}
	var bad atomic.Bool
	bad.Store(true)
	f.create = func(int) error {
		if bad.Load() {
			return errors.New("no memory")
		}
		return nil
	}
	pooled(t, f, sandbox.PoolOptions{Max: 2, Warm: 1}, func(t *testing.T, p *sandbox.Pool) {
		time.Sleep(time.Minute)
		tries := p.Stats().Failed
		if tries < 3 || tries > 15 {
			t.Errorf("%d tries in a minute", tries)
		}
		if _, err := p.Borrow(t.Context()); !errors.Is(err, sandbox.ErrFailed) || errors.Unwrap(err).Error() != "no memory" {
			t.Errorf("%v", err)
		}
		bad.Store(false)
		l := borrow(t, p)
		time.Sleep(time.Minute)
		if s := p.Stats(); s.Idle != 1 {
			t.Errorf("not made ahead when that works again: %+v", s)
		}
		l.Close()
	})
}

func TestStartFails(t *testing.T) {
	f := &fakes{start: func(n int) error {
		switch n {
		case 1:
			return sandbox.Errorf(sandbox.ErrUnavailable, "no namespaces")
		case 2:
			panic("a defect")
		}
		return nil
	}, close: func(n int) error { return errors.New("does not close") }}
	pooled(t, f, sandbox.PoolOptions{Max: 1}, func(t *testing.T, p *sandbox.Pool) {
		for _, want := range []error{sandbox.ErrUnavailable, sandbox.ErrFailed, nil} {
			if _, err := p.Borrow(t.Context()); !errors.Is(err, want) {
				t.Errorf("%v; want %v", err, want)
			}
		}
	})
}
