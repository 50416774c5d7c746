package executor

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/fault"
)

// AdmissionLimits say how much work a process takes. Nothing of it depends on
// who calls: what callers may do is policy.
type AdmissionLimits struct {
	Running int           // calls that are worked on at one time; 0 = any number
	Waiting int           // further calls that wait for their turn; 0 = none
	Wait    time.Duration // how long one of them waits at most
}

// Admission lets calls into the pipeline, in the order in which they came: so
// many at one time, so many that wait, and the rest is refused at once, which
// keeps those inside as fast as the machine allows. It is safe for concurrent
// use.
type Admission struct {
	mu      sync.Mutex
	limits  AdmissionLimits
	running int
	waiting list.List // of chan struct{}, closed with the place
	shed    int64
}

// NewAdmission makes an Admission with these limits.
func NewAdmission(l AdmissionLimits) *Admission { return &Admission{limits: l} }

// Set puts other limits into force. Calls that are inside stay; more room is
// given to those that wait at once.
func (a *Admission) Set(l AdmissionLimits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limits = l
	a.next()
}

// AdmissionStats are the numbers of an Admission at one moment.
type AdmissionStats struct {
	Running, Waiting int
	Shed             int64 // calls that were refused since the start
}

// Stats gives the numbers as they are now.
func (a *Admission) Stats() AdmissionStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	return AdmissionStats{a.running, a.waiting.Len(), a.shed}
}

// enter takes a place, or says with RATE_LIMITED that there is none. leave has
// to be called where there is no error.
func (a *Admission) enter(ctx context.Context) error {
	a.mu.Lock()
	if a.room() && a.waiting.Len() == 0 {
		a.running++
		a.mu.Unlock()
		return nil
	}
	if a.waiting.Len() >= a.limits.Waiting {
		a.shed++
		a.mu.Unlock()
		return overloaded()
	}
	turn := make(chan struct{})
	at := a.waiting.PushBack(turn)
	patience := time.NewTimer(a.limits.Wait)
	a.mu.Unlock()
	defer patience.Stop()
	var why error
	select {
	case <-turn:
		return nil
	case <-patience.C:
		why = overloaded()
	case <-ctx.Done():
		why = left(ctx.Err())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-turn: // it came in this moment
		return nil
	default:
	}
	a.waiting.Remove(at)
	if ctx.Err() == nil {
		a.shed++
	}
	return why
}

// reenter takes a place whether there is one or not: the call was inside
// before, and its human has answered.
func (a *Admission) reenter() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running++
}

func (a *Admission) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running--
	a.next()
}

// next gives places to those that wait longest. a.mu is held.
func (a *Admission) next() {
	for a.room() && a.waiting.Len() > 0 {
		a.running++
		close(a.waiting.Remove(a.waiting.Front()).(chan struct{}))
	}
}

func (a *Admission) room() bool { return a.limits.Running <= 0 || a.running < a.limits.Running }

// retryOverload is what a call is told to wait that was not let in.
const retryOverload = time.Second

func overloaded() error {
	return fault.New(fault.RateLimited, "overload", "the server has as much to do as it takes; try again in a moment")
}

// admit lets a call in. Nothing was looked up for one that stays out, not even
// which of its arguments are secret: its record has none of them.
func (e *Engine) admit(ctx context.Context, r *run) (leave func(), err error) {
	a := e.Admission
	if a == nil || r.ownRun() {
		return func() {}, nil
	}
	if err := a.enter(ctx); err != nil {
		r.in.Args, r.retryAfter = nil, retryOverload
		return nil, err
	}
	if r.in.Asker != nil {
		r.in.Asker = outside{r.in.Asker, a}
	}
	return a.leave, nil
}

// outside is an Asker for whose answer a call waits without taking a place:
// what a human takes must not keep others out.
type outside struct {
	approval.Asker
	admission *Admission
}

// Ask implements approval.Asker.
func (o outside) Ask(ctx context.Context, q approval.Question) (approval.Answer, error) {
	o.admission.leave()
	defer o.admission.reenter()
	return o.Asker.Ask(ctx, q)
}
