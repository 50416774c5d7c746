package executor

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// maxCounted bounds the callers and tools that are counted; idle ones go
	// first.
	maxCounted = 10_000
	// forgetAfter is how long one is remembered that does nothing. A rate is
	// per minute, so that by then it has its full allowance again.
	forgetAfter = 2 * time.Minute
	// forgetEvery is how often idle ones are looked for at most, so that a flood
	// of names does not make each call look through all of them.
	forgetEvery = time.Second
	// retryConcurrency is what a call is told to wait that found every place
	// taken: when one comes free nobody knows.
	retryConcurrency = time.Second
)

// limiter counts calls within this process, under the rates that the policy
// decided: per caller and tool, per caller, per tool. Safe for concurrent use.
type limiter struct {
	mu      sync.Mutex
	counts  map[countKey]*counted
	forgot  time.Time // when idle ones were looked for
	maximum int       // 0 = maxCounted; a smaller one is for tests
}

// countKey names what is counted together.
type countKey struct {
	share                             share
	method, subject, clientID, toolID string
}

// share is who has an allowance.
type share uint8

const (
	ofPair      share = iota // one caller with one tool
	ofPrincipal              // one caller, whatever the tool
	ofTool                   // one tool, whoever calls
)

type counted struct {
	rate    *rate.Limiter
	running int64
	used    time.Time
}

// allowance is one of the limits that a call is under.
type allowance struct {
	decision.Rates
	key  countKey
	what string // of the message: "calls of this tool", ...
	// Reasons of the refusals; contracts, as every reason.
	rateReason, concurrencyReason string
}

// allowances are the limits of a call, the narrowest first. The client's own
// name tells callers of one tool apart; it is no part of the whole of a caller,
// which a client could else leave by taking another name.
func (r *run) allowances() [3]allowance {
	p, l, tool := r.in.Principal, r.decision.Limits, r.tool.Spec.ToolID
	return [3]allowance{
		{decision.Rates{RatePerMinute: l.RatePerMinute, Concurrency: l.Concurrency},
			countKey{share: ofPair, subject: p.Subject, clientID: p.ClientID, toolID: tool}, "calls of this tool", "rate", "concurrency"},
		{l.Principal, countKey{share: ofPrincipal, method: p.Method, subject: p.Subject},
			"calls of one caller, of all tools together,", "principal-rate", "principal-concurrency"},
		{l.Tool, countKey{share: ofTool, toolID: tool}, "calls of this tool, of all callers together,", "tool-rate", "tool-concurrency"},
	}
}

// limit refuses a call beyond a rate. It takes from every allowance or from
// none. A call that comes back with a human's answer was counted when it came
// first.
func (e *Engine) limit(_ context.Context, r *run) error {
	if r.in.State != "" || r.ownRun() {
		return nil
	}
	now := e.Now()
	e.limits.mu.Lock()
	defer e.limits.mu.Unlock()
	var taken []*rate.Reservation
	for _, a := range r.allowances() {
		if a.RatePerMinute <= 0 {
			continue
		}
		refused := fault.New(fault.RateLimited, a.rateReason, "the policy allows %d %s a minute; wait before the next one", a.RatePerMinute, a.what)
		r.retryAfter = time.Minute
		if c := e.limits.count(a.key, now); c == nil {
			refused = tooMany()
		} else {
			res := c.bucket(a.RatePerMinute, now).ReserveN(now, 1)
			if r.retryAfter = res.DelayFrom(now); r.retryAfter == 0 {
				taken = append(taken, res)
				continue
			}
			res.CancelAt(now)
		}
		for _, t := range taken {
			t.CancelAt(now)
		}
		return refused
	}
	return nil
}

// bucket is the token bucket of that rate, which holds a minute of it.
func (c *counted) bucket(perMinute int64, now time.Time) *rate.Limiter {
	want := rate.Limit(float64(perMinute) / 60)
	if c.rate == nil {
		c.rate = rate.NewLimiter(want, int(perMinute))
	} else if c.rate.Limit() != want { // the policy changed
		c.rate.SetLimitAt(now, want)
		c.rate.SetBurstAt(now, int(perMinute))
	}
	return c.rate
}

// enter takes a place among the calls that the policy lets run at one time: of
// every allowance, or of none. leave has to be called when there is no error.
func (e *Engine) enter(r *run) (leave func(), err error) {
	if r.ownRun() {
		return func() {}, nil
	}
	e.limits.mu.Lock()
	defer e.limits.mu.Unlock()
	var taken []*counted
	for _, a := range r.allowances() {
		if a.Concurrency <= 0 {
			continue
		}
		c := e.limits.count(a.key, e.Now())
		if c != nil && c.running < a.Concurrency {
			taken = append(taken, c)
			continue
		}
		r.retryAfter = retryConcurrency
		if c == nil {
			return nil, tooMany()
		}
		return nil, fault.New(fault.RateLimited, a.concurrencyReason, "the policy allows %d %s at one time; try again when one has ended", a.Concurrency, a.what)
	}
	if len(taken) == 0 {
		return func() {}, nil
	}
	for _, c := range taken {
		c.running++
	}
	return func() {
		e.limits.mu.Lock()
		defer e.limits.mu.Unlock()
		for _, c := range taken {
			c.running--
		}
	}, nil
}

func tooMany() *fault.Error {
	return fault.New(fault.RateLimited, "callers", "too many callers are active at once; try again in a minute")
}

// count gives what is counted under a key; nil when there are too many that
// are all active. l.mu is held.
func (l *limiter) count(k countKey, now time.Time) *counted {
	c := l.counts[k]
	if c == nil {
		if l.counts == nil {
			l.counts = map[countKey]*counted{}
		}
		if l.full() {
			l.forget(now)
			if l.full() {
				return nil
			}
		}
		c = &counted{}
		l.counts[k] = c
	}
	c.used = now
	return c
}

func (l *limiter) full() bool {
	most := l.maximum
	if most == 0 {
		most = maxCounted
	}
	return len(l.counts) >= most
}

func (l *limiter) forget(now time.Time) {
	if now.Sub(l.forgot) < forgetEvery {
		return
	}
	l.forgot = now
	for k, old := range l.counts {
		if old.running == 0 && now.Sub(old.used) > forgetAfter {
			delete(l.counts, k)
		}
	}
}
