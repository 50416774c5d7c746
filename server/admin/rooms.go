package admin

import (
	"sync"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Bounds of what goes on at one time. One caller has a quarter of each: who
// may only look can keep nobody out who has something to do.
const (
	readAtOnce = 64 // bodies that arrive, which their senders may let take long
	workAtOnce = 64 // requests that are worked on, streams aside
	maxStreams = 100
)

// rooms are places for requests, in total and for each caller. Safe for
// concurrent use.
type rooms struct {
	what        string // there are too many of
	total, each int

	mu    sync.Mutex
	taken int
	by    map[caller]int
}

type caller struct{ method, subject string }

// newRooms makes places; alone = nobody is asked who it is, and whoever comes
// has them all.
func newRooms(what string, total int, alone bool) *rooms {
	r := &rooms{what: what, total: total, each: total / 4, by: map[caller]int{}}
	if alone {
		r.each = total
	}
	return r
}

// enter takes a place until leave is called.
func (r *rooms) enter(who decision.Principal) (leave func(), err error) {
	key := caller{who.Method, who.Subject}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.by[key] >= r.each:
		return nil, fault.New(fault.RateLimited, "busy", "you have %d %s, as many as one may have; let one of them end", r.each, r.what)
	case r.taken >= r.total:
		return nil, fault.New(fault.RateLimited, "busy", "there are %d %s, as many as there may be; try again", r.total, r.what)
	}
	r.taken++
	r.by[key]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.taken--
		if r.by[key]--; r.by[key] == 0 {
			delete(r.by, key)
		}
	}, nil
}
