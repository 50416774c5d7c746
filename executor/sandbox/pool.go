package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// What a Pool does unless PoolOptions say otherwise.
const (
	DefaultPoolWait     = 10 * time.Second
	DefaultRecycleAfter = 1000
	DefaultMaxIdleAge   = 10 * time.Minute
	DefaultStartTimeout = 30 * time.Second
	DefaultResetTimeout = 10 * time.Second
)

// PoolOptions are the choices of a Pool. Zero fields but Max and Warm are the
// defaults.
type PoolOptions struct {
	Max          int           // sandboxes that exist at one time, whatever their state; above 0
	Warm         int           // that are kept ready, made ahead; 0 = made when asked for
	Wait         time.Duration // how long Borrow waits, the making of a sandbox included
	RecycleAfter int           // leases after which a sandbox is replaced; negative = never
	MaxIdleAge   time.Duration // after which an unused sandbox is closed; negative = never
	StartTimeout time.Duration // for Create and Start of one sandbox
	ResetTimeout time.Duration // for Reset, and for a command to end when its lease does
	Listeners    []Listener    // of all leases; see Observe
}

// PoolStats are figures of a Pool: those of now, and counts since it was made.
type PoolStats struct {
	Live    int `json:"live"` // that exist: idle, lent, being made, reset or closed
	Idle    int `json:"idle"`
	Lent    int `json:"lent"`
	Waiting int `json:"waiting"` // calls of Borrow

	Made     int64 `json:"made"`
	Borrowed int64 `json:"borrowed"`
	Waited   int64 `json:"waited"`   // calls of Borrow that found nothing idle
	Refused  int64 `json:"refused"`  // and those that ended with ErrPoolFull
	Recycled int64 `json:"recycled"` // replaced after RecycleAfter leases or MaxIdleAge
	Evicted  int64 `json:"evicted"`  // terminated by who had borrowed it
	Failed   int64 `json:"failed"`   // did not start, died, did not reset, did not close
}

// A Pool keeps sandboxes of one specification ready and lends them, one lease
// at a time each. What a lease left is removed by Reset before the next one; a
// sandbox that does not reset, died, or broke is closed and never lent again.
// There are never more than PoolOptions.Max, those that are being closed
// included. It is safe for concurrent use.
type Pool struct {
	factory Factory
	spec    Spec
	opts    PoolOptions

	ctx    context.Context // of making sandboxes; ends with Close
	cancel context.CancelFunc
	wake   chan struct{} // for the janitor
	all    sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	empty    chan struct{} // closed when the pool is and nothing of it is left
	idle     []*instance   // the one used last at the end
	waiting  []*waiter     // in the order in which they came
	lent     map[*Lease]struct{}
	live     int // idle, lent, and those in the hand of a goroutine
	coming   int // being made or reset
	failures int // makings that failed, since the last that did not
	retryAt  time.Time
	stats    PoolStats
}

// An instance is a sandbox of a pool.
type instance struct {
	sb    Sandbox
	uses  int
	since time.Time // idle since
}

// A waiter is a call of Borrow. Its channel has room for the one answer.
type waiter struct{ answer chan answer }

type answer struct {
	in  *instance
	err error
}

// NewPool makes a pool of sandboxes that f makes of spec, which must be
// Warmable and without writable mounts: files in those would go from one user
// to the next. The caller closes it. Errors: ErrSpec.
func NewPool(f Factory, spec Spec, opts PoolOptions) (*Pool, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	if !spec.Warmable {
		return nil, specError("/warmable", "a specification that is not marked as warmable makes sandboxes for one use; a pool uses them again")
	}
	for i, m := range spec.Mounts {
		if m.Writable {
			return nil, specError("/mounts/"+itoa(i)+"/writable", "a writable mount would carry files from one user of a pooled sandbox to the next: %q", m.Target)
		}
	}
	if opts.Max < 1 || opts.Warm < 0 || opts.Warm > opts.Max {
		return nil, Errorf(ErrSpec, "a pool has at least one sandbox, and keeps ready from none to all of them: max %d, warm %d", opts.Max, opts.Warm)
	}
	opts.Wait = cmp.Or(opts.Wait, DefaultPoolWait)
	opts.RecycleAfter = cmp.Or(opts.RecycleAfter, DefaultRecycleAfter)
	opts.MaxIdleAge = cmp.Or(opts.MaxIdleAge, DefaultMaxIdleAge)
	opts.StartTimeout = cmp.Or(opts.StartTimeout, DefaultStartTimeout)
	opts.ResetTimeout = cmp.Or(opts.ResetTimeout, DefaultResetTimeout)
	spec.Env, spec.Mounts, spec.Require = slices.Clone(spec.Env), slices.Clone(spec.Mounts), spec.Require.Clone()

	p := &Pool{factory: f, spec: spec, opts: opts, wake: make(chan struct{}, 1), empty: make(chan struct{}), lent: map[*Lease]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.all.Go(p.janitor)
	p.mu.Lock()
	p.fill()
	p.mu.Unlock()
	return p, nil
}

// Borrow lends a sandbox: one that is ready, a new one while there are fewer
// than Max, or the next that comes back, in the order of the calls. listeners
// are told of the commands of this lease, beside those of the options.
//
// Errors: ErrPoolFull after PoolOptions.Wait; ErrClosed; that of ctx; when no
// sandbox exists, that of making one.
func (p *Pool) Borrow(ctx context.Context, listeners ...Listener) (*Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, poolClosed()
		}
		n := len(p.idle)
		if n == 0 {
			break
		}
		in := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		if alive(in.sb) {
			return p.lend(in, listeners)
		}
		p.retire(in, &p.stats.Failed)
	}
	w := &waiter{make(chan answer, 1)}
	p.waiting = append(p.waiting, w)
	p.stats.Waited++
	p.fill()
	p.mu.Unlock()

	patience := time.NewTimer(p.opts.Wait)
	defer patience.Stop()
	var err error
	select {
	case a := <-w.answer:
		return p.answered(a, listeners)
	case <-ctx.Done():
		err = ctx.Err()
	case <-patience.C:
		err = Errorf(ErrPoolFull, "all %d sandboxes of the pool were in use for %v; try again later, or let the pool have more", p.opts.Max, p.opts.Wait)
	}
	p.mu.Lock()
	if i := slices.Index(p.waiting, w); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		if ctx.Err() == nil {
			p.stats.Refused++
		}
		p.mu.Unlock()
		return nil, err
	}
	p.mu.Unlock()
	a := <-w.answer // it was given in this moment
	if ctx.Err() == nil {
		return p.answered(a, listeners)
	}
	if a.in != nil {
		p.ready(a.in)
	}
	return nil, err
}

func (p *Pool) answered(a answer, listeners []Listener) (*Lease, error) {
	if a.err != nil {
		return nil, a.err
	}
	return p.lend(a.in, listeners)
}

// lend makes the lease of in, which is in nobody else's hand.
func (p *Pool) lend(in *instance, listeners []Listener) (*Lease, error) {
	l := newLease(p, in, slices.Concat(p.opts.Listeners, listeners))
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.retire(in, nil)
		return nil, poolClosed()
	}
	p.lent[l] = struct{}{}
	p.stats.Borrowed++
	p.fill()
	p.mu.Unlock()
	return l, nil
}

func poolClosed() error { return Errorf(ErrClosed, "the pool of sandboxes is closed") }

// Stats gives the figures of now.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Live, s.Idle, s.Lent, s.Waiting = p.live, len(p.idle), len(p.lent), len(p.waiting)
	return s
}

// Close lends no more, ends calls of Borrow with ErrClosed, waits for leases
// until ctx ends and then terminates them. When it returns no sandbox and no
// goroutine of the pool is left. It gives the error of ctx when leases had to
// be ended. It may be called more than once.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		p.cancel()
		for _, w := range p.waiting {
			w.answer <- answer{err: poolClosed()}
		}
		p.waiting = nil
		idle := p.idle
		p.idle = nil
		if p.live == 0 {
			close(p.empty)
		}
		p.mu.Unlock()
		for _, in := range idle {
			p.retire(in, nil)
		}
	} else {
		p.mu.Unlock()
	}
	select {
	case <-p.empty:
		p.all.Wait()
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	leases := slices.Collect(maps.Keys(p.lent))
	p.mu.Unlock()
	for _, l := range leases {
		_ = l.Terminate()
	}
	<-p.empty
	p.all.Wait()
	if len(leases) == 0 {
		return nil
	}
	return fmt.Errorf("%d sandboxes of the pool were in use and were ended: %w", len(leases), ctx.Err())
}
