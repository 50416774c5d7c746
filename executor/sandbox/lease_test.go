package sandbox_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func TestLeaseEnds(t *testing.T) {
	for name, end := range map[string]func(l *sandbox.Lease, p *sandbox.Pool){
		"closed":     func(l *sandbox.Lease, _ *sandbox.Pool) { l.Close() },
		"terminated": func(l *sandbox.Lease, _ *sandbox.Pool) { l.Terminate() },
		"with the pool": func(_ *sandbox.Lease, p *sandbox.Pool) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				panic(err)
			}
		},
	} {
		for _, what := range []string{"hang", "stuck"} {
			t.Run(name+"/"+what, func(t *testing.T) {
				f := &fakes{}
				pooled(t, f, sandbox.PoolOptions{Max: 1}, func(t *testing.T, p *sandbox.Pool) {
					l := borrow(t, p)
					done := make(chan error, 1)
					go func() {
						_, err := l.Exec(t.Context(), cmd(what))
						done <- err
					}()
					synctest.Wait()
					process, err := l.Attach(t.Context(), cmd("server"))
					if err != nil {
						t.Fatal(err)
					}
					end(l, p)
					if err := <-done; !errors.Is(err, sandbox.ErrClosed) {
						t.Errorf("the command ended with %v", err)
					}
					process.Wait()
					if _, err := l.Exec(t.Context(), cmd("ok")); !errors.Is(err, sandbox.ErrClosed) {
						t.Errorf("a command after the end: %v", err)
					}
					if _, err := l.Attach(t.Context(), cmd("ok")); !errors.Is(err, sandbox.ErrClosed) {
						t.Errorf("a process after the end: %v", err)
					}
					if l.Close() != nil || l.Terminate() != nil || l.SandboxID() == "" || l.Enforcement() == nil {
						t.Error("ended again")
					}
					if name == "with the pool" {
						return
					}
					next := borrow(t, p)
					if again := next.SandboxID() == l.SandboxID(); again != (name == "closed" && what == "hang") {
						t.Errorf("the same sandbox again: %v", again)
					}
					next.Close()
				})
			})
		}
	}
}

// TestTerminateAfterClose ends nobody else's sandbox.
func TestTerminateAfterClose(t *testing.T) {
	pooled(t, &fakes{}, sandbox.PoolOptions{Max: 1}, func(t *testing.T, p *sandbox.Pool) {
		a := borrow(t, p)
		a.Close()
		b := borrow(t, p)
		a.Terminate()
		if _, err := b.Exec(t.Context(), cmd("ok")); err != nil || a.SandboxID() != b.SandboxID() {
			t.Errorf("%v", err)
		}
		b.Close()
	})
}

func TestPoolWaitsForLeases(t *testing.T) {
	pooled(t, &fakes{}, sandbox.PoolOptions{Max: 1}, func(t *testing.T, p *sandbox.Pool) {
		l := borrow(t, p)
		waits := make(chan error, 1)
		go func() { _, err := p.Borrow(t.Context()); waits <- err }()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- p.Close(t.Context()) }()
		if err := <-waits; !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("a call that waited: %v", err)
		}
		if _, err := l.Exec(t.Context(), cmd("ok")); err != nil {
			t.Errorf("a lease of a pool that is being closed: %v", err)
		}
		l.Close()
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

func TestLeaseEvents(t *testing.T) {
	var all, mine []string
	note := func(to *[]string) sandbox.Listener {
		return func(e sandbox.Event) { *to = append(*to, e.CorrelationID) }
	}
	opts := sandbox.PoolOptions{Max: 1, Listeners: []sandbox.Listener{note(&all)}}
	pooled(t, &fakes{}, opts, func(t *testing.T, p *sandbox.Pool) {
		for i, ls := range [][]sandbox.Listener{{note(&mine)}, nil} {
			l, err := p.Borrow(t.Context(), ls...)
			if err != nil {
				t.Fatal(err)
			}
			c := cmd("ok")
			c.CorrelationID = strconv.Itoa(i)
			l.Exec(t.Context(), c)
			c.CorrelationID += "a"
			l.Attach(t.Context(), c)
			l.Close()
			synctest.Wait()
		}
		if len(all) != 4 || len(mine) != 2 || mine[1] != "0a" {
			t.Errorf("%q, %q", all, mine)
		}
	})
}

// TestPoolUnderLoad lets many users do all that one can, with every fault of a
// back end, and holds what must hold at each moment.
func TestPoolUnderLoad(t *testing.T) {
	const maximum, users, rounds = 5, 40, 60
	before := runtime.NumGoroutine()
	often := func(percent int) func(int) error {
		return func(int) error {
			if rand.IntN(100) < percent {
				return errors.New("by chance")
			}
			return nil
		}
	}
	f := &fakes{create: often(10), start: often(10), reset: often(10), close: often(10), takes: 50 * time.Microsecond}
	p, err := sandbox.NewPool(f, warmable(), sandbox.PoolOptions{Max: maximum, Warm: 2, RecycleAfter: 7, MaxIdleAge: 2 * time.Millisecond, Wait: 20 * time.Millisecond, ResetTimeout: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var inUse sync.Map
	var served atomic.Int32
	var wg sync.WaitGroup
	for u := range users {
		wg.Go(func() {
			for i := range rounds {
				l, err := p.Borrow(t.Context())
				if err != nil {
					if !errors.Is(err, sandbox.ErrPoolFull) && !errors.Is(err, sandbox.ErrFailed) {
						t.Error(err)
					}
					continue
				}
				if who, twice := inUse.LoadOrStore(l.SandboxID(), u); twice {
					t.Errorf("%s was lent to %d and to %v", l.SandboxID(), u, who)
				}
				mark := strconv.Itoa(u) + "." + strconv.Itoa(i)
				r, err := l.Exec(t.Context(), cmd("leave", mark))
				if err != nil || len(r.Stdout) > 0 {
					t.Errorf("found %q, %v", r.Stdout, err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				l.Exec(ctx, cmd([]string{"ok", "sleep", "hang", "fail", "panic"}[rand.IntN(5)]))
				cancel()
				switch rand.IntN(4) {
				case 0:
					go l.Exec(t.Context(), cmd("stuck"))
				case 1:
					l.Attach(t.Context(), cmd("server"))
				}
				served.Add(1)
				inUse.Delete(l.SandboxID())
				if rand.IntN(4) == 0 {
					l.Terminate()
				} else {
					l.Close()
				}
			}
		})
	}
	wg.Wait()
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	open, most := f.left()
	s := p.Stats()
	if open != 0 || most > maximum || s.Live != 0 || served.Load() == 0 || s.Borrowed != int64(served.Load()) {
		t.Errorf("%d are left, there were %d at once, %d served: %+v", open, most, served.Load(), s)
	}
	t.Logf("%d leases served, %+v", served.Load(), s)
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
}
