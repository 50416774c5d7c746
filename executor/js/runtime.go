package js

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Grace is how long after its deadline a call may still answer by itself.
// Afterwards it is abandoned and Run returns without it.
const Grace = 250 * time.Millisecond

// Options sizes a Runtime. Zero fields take the default.
type Options struct {
	CachedPrograms int           // compiled programs that are kept, default 256
	MaxSourceBytes int           // of one program, default and ceiling 64 KiB
	MaxTimeout     time.Duration // ceiling of every call, also where its limits name none; default 5 min
	MaxStuck       int           // abandoned calls before new ones are refused, default 4
	MaxLogTotal    int           // bytes of all kept console lines of a call, default 1 MiB
}

// sourceCeiling bounds the stack of the parser: at about 4.4 KiB for each
// nesting level even a source that is nothing but brackets stays below the
// limit at which the Go runtime ends the process.
const sourceCeiling = 64 << 10

func (o Options) withDefaults() Options {
	if o.CachedPrograms <= 0 {
		o.CachedPrograms = 256
	}
	if o.MaxSourceBytes <= 0 || o.MaxSourceBytes > sourceCeiling {
		o.MaxSourceBytes = sourceCeiling
	}
	if o.MaxTimeout <= 0 {
		o.MaxTimeout = 5 * time.Minute
	}
	if o.MaxStuck <= 0 {
		o.MaxStuck = 4
	}
	if o.MaxLogTotal <= 0 {
		o.MaxLogTotal = 1 << 20
	}
	return o
}

// Runtime runs programs in-process. It is safe for concurrent use; each call
// has a virtual machine of its own, only compiled programs are shared.
type Runtime struct {
	opts  Options
	cache *lru.Cache[string, *program]
	bare  bool // tests compare with code that is not instrumented
	stuck atomic.Int64
	ahead atomic.Pointer[ahead]
	zones sync.Map // time zones by name; only existing names enter

	mu     sync.Mutex
	closed bool
	active map[*session]struct{}
}

// New makes a Runtime.
func New(opts Options) *Runtime {
	opts = opts.withDefaults()
	boundRegexps(opts.MaxTimeout)
	cache, _ := lru.New[string, *program](opts.CachedPrograms) // fails for sizes below one only
	return &Runtime{opts: opts, cache: cache, active: map[*session]struct{}{}}
}

// regexpMu orders the writers of the process-wide settings below.
var regexpMu sync.Mutex

// boundRegexps lets a backtracking match end some time after every possible
// deadline. It must not end before: goja reports a match that timed out as no
// match, which is only harmless while the interrupt of the deadline is pending
// and ends the script before it sees the false answer. The setting never
// shrinks, so that a second Runtime does not undercut the first. The same goes
// for a match that needs a deeper stack than the library allows by itself: what
// bounds that is the memory of the call.
func boundRegexps(ceiling time.Duration) {
	regexpMu.Lock()
	defer regexpMu.Unlock()
	want := ceiling + time.Second
	if cur := regexp2.DefaultMatchTimeout; cur > 24*time.Hour || cur < want {
		regexp2.DefaultMatchTimeout = want
	}
	regexp2.DefaultOptimizationOptions.MaxBacktrackingStackSize = -1
}

// Isolation says that nothing but the language confines the code.
func (r *Runtime) Isolation() worker.Isolation { return worker.Isolation{Mode: "in-process"} }

// Close interrupts the calls that still run and refuses new ones.
func (r *Runtime) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for s := range r.active {
		s.stop(interrupted("closed", "the runtime is shutting down; call again later"))
	}
	return nil
}

// Run executes one call and returns at the latest Grace after its deadline or
// after the end of ctx. A failure of the program is in the Reply; an error
// means that this runtime takes no calls.
func (r *Runtime) Run(ctx context.Context, call worker.Call, broker worker.Broker) (worker.Reply, error) {
	if n := r.stuck.Load(); n >= int64(r.opts.MaxStuck) {
		return worker.Reply{Failure: &worker.Failure{Code: string(fault.RuntimeError), Reason: "runtime-stuck",
			Message: "too many earlier calls still hang inside the engine; restart the server or wait for them to end"}}, nil
	}
	limit := r.opts.MaxTimeout
	if t := time.Duration(call.Limits.TimeoutMillis) * time.Millisecond; t > 0 && t < limit {
		limit = t
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := r.session(call)
	s.begin(ctx, cancel, call, broker)
	if err := r.enter(s); err != nil {
		return worker.Reply{}, err
	}

	done := make(chan worker.Reply, 1)
	go func() {
		defer r.leave(s)
		done <- s.run()
	}()

	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	select {
	case rep := <-done:
		return rep, nil
	case <-deadline.C:
		s.stop(&worker.Failure{Code: string(fault.Timeout), Reason: "deadline",
			Message: "the call ran longer than its limit of " + limit.String()})
	case <-ctx.Done():
		s.stop(causeOf(ctx))
	}
	grace := time.NewTimer(Grace)
	defer grace.Stop()
	select {
	case rep := <-done:
		return rep, nil
	case <-grace.C:
		if s.abandon() {
			r.stuck.Add(1)
		}
		return s.reply(nil, s.stopped.Load()), nil
	}
}

// Stuck is the number of abandoned calls that have not ended yet.
func (r *Runtime) Stuck() int { return int(r.stuck.Load()) }

func (r *Runtime) enter(s *session) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fault.New(fault.RuntimeError, "closed", "the JavaScript runtime is closed and takes no calls")
	}
	r.active[s] = struct{}{}
	return nil
}

func (r *Runtime) leave(s *session) {
	r.mu.Lock()
	delete(r.active, s)
	r.mu.Unlock()
	if s.finish() {
		r.stuck.Add(-1)
	}
}

// causeOf says as what a call ends whose context is over: as the failure that
// its context was cancelled with, or as interrupted.
func causeOf(ctx context.Context) *worker.Failure {
	var f *worker.Failure
	if errors.As(context.Cause(ctx), &f) {
		return f
	}
	return interrupted("cancelled", "the call was cancelled")
}

func interrupted(reason, message string) *worker.Failure {
	return &worker.Failure{Code: string(fault.Interrupted), Reason: reason, Message: message}
}
