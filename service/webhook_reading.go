package service

import (
	"container/list"
	"net/http"
	"sync"
	"time"
)

// readings are the bodies that are being read, at most maxReading. Where there
// is no more room, the one ends that has been sent for the longest time: a
// genuine message is there at once, so that who sends slowly, or nothing, keeps
// nobody else out. The zero value is ready.
type readings struct {
	mu  sync.Mutex
	all list.List // of *http.ResponseController, the oldest first
}

// begin counts a body that is about to be read, until done is called.
func (r *readings) begin(w http.ResponseWriter) (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all.Len() >= maxReading {
		oldest := r.all.Remove(r.all.Front()).(*http.ResponseController)
		// Under the lock: after its done there may be no such request any more.
		_ = oldest.SetReadDeadline(time.Unix(1, 0)) // a writer without deadlines, in tests, has no slow clients
	}
	e := r.all.PushBack(http.NewResponseController(w))
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all.Remove(e) // nothing, where it had to make room
	}
}
