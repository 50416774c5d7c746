package server

import (
	"net/http"
	"sync"
	"time"
)

// beatEvery is how often a stream without news is written to: proxies and
// clients give up on a connection that is silent, and a server learns that a
// client is gone when it writes.
const beatEvery = 15 * time.Second

// heartbeat is a comment, which readers of a stream pass over (HTML, section
// 9.2.5, "Parsing an event stream").
var heartbeat = []byte(":\n\n")

// outlet is the way out of the answer to one HTTP request. It writes a list in
// the place of its word, and keeps a stream alive. Safe for concurrent use.
type outlet struct {
	http.ResponseWriter

	mu      sync.Mutex
	waiting *stand
	begun   bool // the headers are those of the answer
	status  int  // 0 until there is one
}

// expect makes a later Write replace a word; false when one is expected.
func (o *outlet) expect(s stand) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting != nil {
		return false
	}
	o.waiting = &s
	return true
}

// WriteHeader implements http.ResponseWriter.
func (o *outlet) WriteHeader(status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = true
	if o.status == 0 {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. The library writes one message at a
// time, and each with one Write.
func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = true
	if o.status == 0 {
		o.status = http.StatusOK
	}
	if o.waiting == nil {
		return o.ResponseWriter.Write(p)
	}
	n, done, err := o.waiting.writeTo(o.ResponseWriter, p)
	if done {
		o.waiting = nil
	}
	return n, err
}

// FlushError is how http.ResponseController flushes. A writer of net/http takes
// a Flush and a Write from two sides no better than two of either.
func (o *outlet) FlushError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return http.NewResponseController(o.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the deadlines of the connection.
func (o *outlet) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// live says that the library has made up the headers of the answer.
func (o *outlet) live() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = true
}

// answered is the status of the answer, 0 when there is none.
func (o *outlet) answered() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.status
}

// beating writes to a stream that has nothing else to say, until the returned
// function is called, which waits for it.
func (o *outlet) beating(every time.Duration) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			if !o.beat() {
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

// beat is false when nothing can be written any more, or the answer is none
// that can be kept alive.
func (o *outlet) beat() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.begun {
		return true
	}
	if o.status >= http.StatusBadRequest || o.Header().Get("Content-Type") != "text/event-stream" {
		return false
	}
	if o.status == 0 {
		o.status = http.StatusOK
	}
	if _, err := o.ResponseWriter.Write(heartbeat); err != nil {
		return false
	}
	_ = http.NewResponseController(o.ResponseWriter).Flush() // a writer in a test may have none
	return true
}
