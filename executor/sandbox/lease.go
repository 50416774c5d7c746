package sandbox

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/toolwarrant/toolwarrant/fault"
)

// A Lease is a sandbox of a Pool in the hands of one user, until Close. Files
// of the scratch space stay from one command to the next within it. Its methods
// are safe for concurrent use, and after Close or Terminate give ErrClosed.
type Lease struct {
	pool   *Pool
	in     *instance
	o      observer
	ctx    context.Context // of its commands
	cancel context.CancelFunc

	mu     sync.Mutex
	ended  bool
	active int           // commands that run
	over   chan struct{} // closed when it has ended and none runs
	evict  atomic.Bool
	broken atomic.Bool
}

func newLease(p *Pool, in *instance, listeners []Listener) *Lease {
	l := &Lease{pool: p, in: in, o: observer{in.sb, p.spec, listeners}, over: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// SandboxID is that of the sandbox, which other leases had before and will
// have after this one.
func (l *Lease) SandboxID() string { return l.in.sb.ID() }

// Enforcement is what holds for the sandbox.
func (l *Lease) Enforcement() Enforcement { return l.in.sb.Enforcement().Clone() }

// Exec is Sandbox.Exec.
func (l *Lease) Exec(ctx context.Context, c Command) (Result, error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer end()
	var r Result
	err = guarded(func() (err error) { r, err = l.o.exec(ctx, c); return err })
	return r, l.judge(err)
}

// Attach is Sandbox.Attach. The process ends with the lease at the latest.
func (l *Lease) Attach(ctx context.Context, c Command) (Process, error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	var p Process
	err = guarded(func() (err error) { p, err = l.o.attach(ctx, c); return err })
	if err != nil {
		end()
		return nil, l.judge(err)
	}
	lives, ended := context.WithCancel(l.ctx)
	l.pool.all.Go(func() {
		<-lives.Done()
		_ = guarded(p.Kill) // does nothing where it has ended
	})
	l.pool.all.Go(func() {
		defer end()
		defer ended()
		_ = guarded(func() error { _, err := p.Wait(); return err })
	})
	return p, nil
}

// begin enters a command, with a context that ends with the lease too.
func (l *Lease) begin(ctx context.Context) (context.Context, func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, nil, leaseClosed()
	}
	l.active++
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.active--
		l.settle()
	}, nil
}

// settle notes that all is over, when it is. The lock is held.
func (l *Lease) settle() {
	if l.ended && l.active == 0 {
		close(l.over)
	}
}

func (l *Lease) judge(err error) error {
	if err == nil {
		return nil
	}
	if l.ctx.Err() != nil {
		return leaseClosed().Because(err)
	}
	if breaks(err) {
		l.broken.Store(true)
	}
	return err
}

// Close gives the sandbox back. What still runs in it is ended, and what was
// left in it is removed, in the background. It never fails, and may be called
// more than once.
func (l *Lease) Close() error {
	l.end()
	return nil
}

// Terminate ends what runs and the sandbox itself, now; it is never lent
// again. It does nothing after Close.
func (l *Lease) Terminate() error {
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return nil
	}
	l.evict.Store(true)
	l.mu.Unlock()
	err := guarded(l.in.sb.Terminate)
	l.end()
	return err
}

func (l *Lease) end() {
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return
	}
	l.ended = true
	l.cancel()
	l.settle()
	l.mu.Unlock()
	l.pool.takeBack(l)
}

func leaseClosed() *fault.Error {
	return Errorf(ErrClosed, "the lease of this sandbox has ended; borrow another one from the pool")
}
