package process

import (
	"slices"
	"time"
)

// linger is how long more workers than Options.Idle may do nothing. Calls come
// in bursts, since many wait for the same write of the log: a worker that was
// ended between two of them would cost each burst the start of another, which
// takes longer than a hundred small calls.
const linger = 3 * time.Second

// trimLater looks after a while at what is idle, if that is too much. The lock
// is held.
func (r *Runtime) trimLater() {
	if len(r.idle) <= r.opts.Idle || r.trimming != nil || r.closed {
		return
	}
	r.leastIdle = len(r.idle)
	r.trimming = time.AfterFunc(r.linger, r.trim)
}

// trim ends the workers that nobody took since trimming was set. Since the one
// that was used last is taken first, they are the first of the list.
func (r *Runtime) trim() {
	r.mu.Lock()
	r.trimming = nil
	if r.closed {
		r.mu.Unlock()
		return
	}
	surplus := max(0, min(r.leastIdle, len(r.idle))-r.opts.Idle)
	gone := slices.Clone(r.idle[:surplus])
	r.idle = slices.Delete(r.idle, 0, surplus)
	r.live -= surplus
	r.trimLater()
	r.mu.Unlock()
	for _, p := range gone {
		r.retire(p)
	}
}
