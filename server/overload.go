package server

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// codeBusy is the JSON-RPC error of a message that the server does not take at
// the moment, in the range that the protocol leaves to servers.
const codeBusy = -32010

// retryBusy is what such a client is told to wait.
const retryBusy = time.Second

// Reasons why a message is not taken; labels of the metrics.
const (
	busyRequests = "requests"
	busyBodies   = "body-bytes"
	busySessions = "sessions"
)

// load is what the door has in its hands: requests and the bytes of their
// bodies. Both are bounded before a byte of a body is read, so that what comes
// in cannot take the memory away from what is being served.
type load struct {
	mu       sync.Mutex
	limits   loadLimits
	requests int
	bytes    int64
	shed     map[string]int64 // by reason
}

type loadLimits struct {
	requests int   // at one time
	bytes    int64 // of their bodies together
}

// LoadStats are the numbers of the door at one moment.
type LoadStats struct {
	Requests  int   // that are being served, those that wait for a human included
	BodyBytes int64 // that their bodies take, or may take
	Sessions  int   // of the older protocol versions
	// Shed counts messages that were not taken since the start, by reason.
	Shed map[string]int64
	// Evicted counts sessions that were ended to make room.
	Evicted int64
}

// Load gives the numbers as they are now.
func (s *Server) Load() LoadStats {
	l := &s.load
	l.mu.Lock()
	st := LoadStats{Requests: l.requests, BodyBytes: l.bytes, Shed: map[string]int64{busyRequests: 0, busyBodies: 0, busySessions: 0}}
	for reason, n := range l.shed {
		st.Shed[reason] = n
	}
	l.mu.Unlock()
	st.Sessions, st.Evicted = s.guests.numbers()
	return st
}

// take counts a request; the reason why not is "" where it may come in.
func (l *load) take(bytes int64) (reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.requests >= l.limits.requests:
		reason = busyRequests
	case l.bytes+bytes > l.limits.bytes && l.requests > 0: // one alone always fits
		reason = busyBodies
	default:
		l.requests++
		l.bytes += bytes
		return ""
	}
	l.count(reason)
	return reason
}

func (l *load) refused(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(reason)
}

func (l *load) count(reason string) {
	if l.shed == nil {
		l.shed = map[string]int64{}
	}
	l.shed[reason]++
}

func (l *load) give(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests--
	l.bytes -= bytes
}

// bounded guards the way to next: messages beyond the bounds get 429 before
// they are read.
func (s *Server) bounded(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() {
			w.Header().Set("Connection", "close") // the client goes on elsewhere
		}
		if r.Method != http.MethodPost { // streams are bounded by their sessions
			next(w, r)
			return
		}
		bytes := r.ContentLength
		if bytes < 0 || bytes > s.opt.MaxBodyBytes {
			bytes = s.opt.MaxBodyBytes
		}
		if reason := s.load.take(bytes); reason != "" {
			writeBusy(w, frame{}, reason, "the server has as much to do as it takes; try again in a moment")
			return
		}
		defer s.load.give(bytes)
		next(w, r)
	})
}

// writeBusy answers a message that is not taken.
func writeBusy(w http.ResponseWriter, f frame, reason, message string) {
	id := json.RawMessage("null")
	if f.id != nil {
		id = json.RawMessage(f.id)
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{
		"code": codeBusy, "message": message,
		"data": map[string]any{"code": fault.RateLimited, "reason": reason, "retryAfterMs": retryBusy.Milliseconds()},
	}})
	if err != nil { // cannot be: the id was checked
		body = (&rpcError{code: codeInternal, message: "internal error"}).answer(frame{})
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(retryBusy.Seconds())))
	writeRPC(w, http.StatusTooManyRequests, body)
}
