package executor

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// maxCounted bounds the callers that are counted; idle ones go first.
	maxCounted = 10_000
	// forgetAfter is how long a caller is remembered that does nothing. A rate
	// is per minute, so that by then it has its full allowance again.
	forgetAfter = 2 * time.Minute
)

// limiter counts calls per caller and tool within this process, under the
// rates that the policy decided. Safe for concurrent use.
type limiter struct {
	mu      sync.Mutex
	callers map[callerKey]*counted
}

type callerKey struct{ subject, clientID, toolID string }

type counted struct {
	rate    *rate.Limiter
	running int64
	used    time.Time
}

// limit refuses a call beyond the caller's rate. A call that comes back with
// a human's answer was counted when it came first.
func (e *Engine) limit(_ context.Context, r *run) error {
	perMinute := r.decision.Limits.RatePerMinute
	if perMinute <= 0 || r.in.State != "" || r.ownRun() {
		return nil
	}
	now := e.Now()
	e.limits.mu.Lock()
	defer e.limits.mu.Unlock()
	c := e.limits.caller(r.callerKey(), now)
	if c == nil {
		return fault.New(fault.RateLimited, "callers", "too many callers are active at once; try again in a minute")
	}
	want := rate.Limit(float64(perMinute) / 60)
	if c.rate == nil {
		c.rate = rate.NewLimiter(want, int(perMinute))
	} else if c.rate.Limit() != want { // the policy changed
		c.rate.SetLimitAt(now, want)
		c.rate.SetBurstAt(now, int(perMinute))
	}
	if !c.rate.AllowN(now, 1) {
		return fault.New(fault.RateLimited, "rate", "the policy allows %d calls of this tool a minute; wait before the next one", perMinute)
	}
	return nil
}

// enter takes one of the places that the policy gives to calls of this tool
// that run at one time. leave has to be called when ok.
func (e *Engine) enter(r *run) (leave func(), err error) {
	most := r.decision.Limits.Concurrency
	if most <= 0 || r.ownRun() {
		return func() {}, nil
	}
	e.limits.mu.Lock()
	defer e.limits.mu.Unlock()
	c := e.limits.caller(r.callerKey(), e.Now())
	if c == nil || c.running >= most {
		return nil, fault.New(fault.RateLimited, "concurrency", "the policy allows %d calls of this tool at one time; try again when one has ended", most)
	}
	c.running++
	return func() {
		e.limits.mu.Lock()
		defer e.limits.mu.Unlock()
		c.running--
	}, nil
}

// caller gives the count of one caller; nil when there are too many that are
// all active. l.mu is held.
func (l *limiter) caller(k callerKey, now time.Time) *counted {
	c := l.callers[k]
	if c == nil {
		if l.callers == nil {
			l.callers = map[callerKey]*counted{}
		}
		if len(l.callers) >= maxCounted {
			for k, old := range l.callers {
				if old.running == 0 && now.Sub(old.used) > forgetAfter {
					delete(l.callers, k)
				}
			}
			if len(l.callers) >= maxCounted {
				return nil
			}
		}
		c = &counted{}
		l.callers[k] = c
	}
	c.used = now
	return c
}

func (r *run) callerKey() callerKey {
	p := r.in.Principal
	return callerKey{p.Subject, p.ClientID, r.tool.Spec.ToolID}
}
