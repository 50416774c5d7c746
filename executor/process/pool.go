package process

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/executor/confine"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Options size a Runtime. Zero fields take the default.
type Options struct {
	Workers    int            // at the same time, default 8 for each core
	Idle       int            // that are kept when nothing is to do for seconds, default one for each core and a spare one
	Calls      int            // after which a worker is replaced, default 500
	MaxTimeout time.Duration  // ceiling of every call, default 5 min
	Patience   time.Duration  // how long a call waits for a free worker, default 10 s
	Logger     zerolog.Logger // of deaths that nobody asked for
}

func (o Options) withDefaults() Options {
	cores := runtime.GOMAXPROCS(0)
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.Workers, 8*cores)
	def(&o.Idle, cores+1)
	def(&o.Calls, 500)
	o.Idle = min(o.Idle, o.Workers)
	if o.MaxTimeout <= 0 {
		o.MaxTimeout = 5 * time.Minute
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	return o
}

// Runtime runs programs in worker processes. It is safe for concurrent use.
type Runtime struct {
	opts    Options
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	starter *starter
	ready   chan struct{} // closed when the first worker is there, or none can be
	level   confine.Level
	spaces  []string
	iso     worker.Isolation
	failed  error // why there is none

	mu        sync.Mutex
	linger    time.Duration // see the constant
	closed    bool
	idle      []*proc     // the last one was used last
	trimming  *time.Timer // nil where no more are idle than are kept
	leastIdle int         // how many were idle all the time since trimming was set
	live      int         // idle, busy and starting
	starting  int
	waiting   []chan *proc
	busy      map[*proc]struct{}
	all       sync.WaitGroup // processes that live
}

// New starts the first worker and returns at once; Ready waits for it.
func New(opts Options) *Runtime {
	r := &Runtime{opts: opts.withDefaults(), linger: linger, ready: make(chan struct{}), busy: map[*proc]struct{}{}, spaces: confine.Spaces()}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.starter = newStarter(r.ctx.Done())
	r.live, r.starting = 1, 1
	r.all.Add(1)
	go r.first()
	return r
}

// first finds the strongest level at which a worker really starts. It stays
// for the life of the Runtime: isolation does not change under a record.
func (r *Runtime) first() {
	defer close(r.ready)
	var tried []error
	for _, level := range confine.Levels() {
		p, err := r.starter.start(r.ctx, level, r.spaces)
		if err != nil {
			tried = append(tried, err)
			continue
		}
		r.level, r.iso = level, p.hello.Isolation
		if len(tried) > 0 {
			r.opts.Logger.Warn().Err(errors.Join(tried...)).Str("level", level.Name).Msg("this system does not give workers its strongest isolation")
		}
		r.started(p, nil)
		r.mu.Lock()
		r.fill()
		r.mu.Unlock()
		return
	}
	r.failed = fault.New(fault.RuntimeError, "no-worker", "no worker process can be started: %v", errors.Join(tried...))
	r.started(nil, r.failed)
}

// Ready waits until workers can be started, and says why they cannot.
func (r *Runtime) Ready(ctx context.Context) error {
	select {
	case <-r.ready:
		return r.failed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Isolation is what the first worker found in force, and what every later
// one has to have. It waits for the first worker.
func (r *Runtime) Isolation() worker.Isolation {
	<-r.ready
	return r.iso
}

// Run makes one call in a worker and returns at the latest js.Grace after its
// deadline or after the end of ctx. The wait for a free worker is no part of
// the call's time.
func (r *Runtime) Run(ctx context.Context, call worker.Call, broker worker.Broker) (worker.Reply, error) {
	if err := r.Ready(ctx); err != nil {
		return worker.Reply{}, err
	}
	p, err := r.take(ctx)
	if err != nil {
		return worker.Reply{}, err
	}
	limit := r.opts.MaxTimeout
	if t := time.Duration(call.Limits.TimeoutMillis) * time.Millisecond; t > 0 && t < limit {
		limit = t
	}
	reply, again := p.run(ctx, call, broker, limit)
	if f := reply.Failure; f != nil && !again && fault.Code(f.Code) == fault.RuntimeError {
		r.opts.Logger.Warn().Str("callId", call.CallID).Str("reason", f.Reason).Str("said", p.stderr.String()).Msg("a worker was lost")
	}
	r.give(p, again && p.calls < r.opts.Calls)
	return reply, nil
}

// take gets a worker for one call: an idle one, a new one, or the next that
// comes free.
func (r *Runtime) take(ctx context.Context) (*proc, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errClosed()
	}
	if n := len(r.idle); n > 0 {
		p := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.leastIdle = min(r.leastIdle, n-1)
		r.busy[p] = struct{}{}
		p.spare = 2*len(r.busy) <= runtime.GOMAXPROCS(0)
		r.fill()
		r.mu.Unlock()
		return p, nil
	}
	ch := make(chan *proc, 1)
	r.waiting = append(r.waiting, ch)
	r.fill()
	r.mu.Unlock()

	patience := time.NewTimer(r.opts.Patience)
	defer patience.Stop()
	var why error
	select {
	case p := <-ch:
		if p == nil {
			return nil, r.noWorker()
		}
		return p, nil
	case <-ctx.Done():
		why = ctx.Err()
	case <-patience.C:
		why = fault.New(fault.RateLimited, "workers-busy", "all %d workers are busy; retry later", r.opts.Workers)
	}
	r.mu.Lock()
	for i, w := range r.waiting {
		if w == ch {
			r.waiting = append(r.waiting[:i:i], r.waiting[i+1:]...)
			r.mu.Unlock()
			return nil, why
		}
	}
	r.mu.Unlock()
	if p := <-ch; p != nil { // it was given in this moment
		r.give(p, true)
	}
	return nil, why
}

func errClosed() error {
	return fault.New(fault.RuntimeError, "closed", "the JavaScript runtime is closed and takes no calls")
}

func (r *Runtime) noWorker() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed()
	}
	return fault.New(fault.RuntimeError, "no-worker", "no worker process could be started; see the server's log")
}

// give takes a worker back, for the call that waits longest or as an idle one.
func (r *Runtime) give(p *proc, again bool) {
	r.mu.Lock()
	delete(r.busy, p)
	if again && !r.closed {
		if len(r.waiting) > 0 {
			r.hand(p)
			r.mu.Unlock()
			return
		}
		r.idle = append(r.idle, p)
		r.trimLater()
		r.mu.Unlock()
		return
	}
	r.live--
	r.fill()
	r.mu.Unlock()
	r.retire(p)
}

// hand gives p to the call that waits longest. The lock is held.
func (r *Runtime) hand(p *proc) {
	ch := r.waiting[0]
	r.waiting = r.waiting[1:]
	r.busy[p] = struct{}{}
	p.spare = false
	ch <- p
}

// retire ends a worker without making anybody wait for it.
func (r *Runtime) retire(p *proc) {
	p.kill()
	go func() {
		defer r.all.Done()
		p.end()
	}()
}

// fill starts workers: one for each call that waits, and a spare one. The lock
// is held.
func (r *Runtime) fill() {
	want := max(len(r.waiting), 0)
	if len(r.idle) == 0 {
		want++
	}
	for ; !r.closed && r.starting < want && r.live < r.opts.Workers; r.starting++ {
		select {
		case <-r.ready:
		default:
			if r.starting > 0 {
				return // the first is still looking for its level
			}
		}
		r.live++
		r.all.Add(1)
		go func() {
			p, err := r.starter.start(r.ctx, r.level, r.spaces)
			if err == nil && !sameIsolation(p.hello.Isolation, r.iso) {
				p.end()
				p, err = nil, errors.New("a worker came up with another isolation than the first one")
			}
			if err != nil && r.ctx.Err() == nil {
				r.opts.Logger.Error().Err(err).Msg("a worker process could not be started")
			}
			r.started(p, err)
		}()
	}
}

// started enters a worker that has come up, or did not.
func (r *Runtime) started(p *proc, err error) {
	r.mu.Lock()
	r.starting--
	if err == nil && r.closed {
		r.mu.Unlock()
		r.retire(p)
		return
	}
	defer r.mu.Unlock()
	if err != nil {
		r.live--
		r.all.Done()
		// Whoever waits would wait for ever when this was the last one.
		for len(r.waiting) > r.live {
			close(r.waiting[len(r.waiting)-1])
			r.waiting = r.waiting[:len(r.waiting)-1]
		}
		return
	}
	if len(r.waiting) > 0 {
		r.hand(p)
		r.fill()
		return
	}
	r.idle = append(r.idle, p)
	r.trimLater()
}

func sameIsolation(a, b worker.Isolation) bool {
	eq := func(x, y *bool) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	return a.Mode == b.Mode && len(a.Namespaces) == len(b.Namespaces) && eq(a.Seccomp, b.Seccomp) &&
		(a.Landlock == nil) == (b.Landlock == nil)
}

// Close ends all workers; calls that run end as INTERRUPTED. It returns when
// the processes are gone.
func (r *Runtime) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		r.all.Wait()
		return nil
	}
	r.closed = true
	if r.trimming != nil {
		r.trimming.Stop()
	}
	idle := r.idle
	r.idle = nil
	r.live -= len(idle)
	for p := range r.busy {
		p.killAs(&worker.Failure{Code: string(fault.Interrupted), Reason: "closed", Message: "the runtime is shutting down; call again later"})
	}
	for _, ch := range r.waiting {
		close(ch)
	}
	r.waiting = nil
	r.mu.Unlock()
	for _, p := range idle {
		r.retire(p)
	}
	r.cancel()
	r.all.Wait()
	return nil
}
