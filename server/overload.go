package server

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// codeBusy is the JSON-RPC error of a message that the server does not take at
// the moment, in the range that the protocol leaves to servers.
const codeBusy = -32010

// retryBusy is what such a client is told to wait.
const retryBusy = time.Second

// Reasons why a message is not taken; labels of the metrics.
const (
	busyRequests      = "requests"
	busyRequestsShare = "requests-share"
	busyBodies        = "body-bytes"
	busyBodiesShare   = "body-bytes-share"
	busyListens       = "listens"
	busySessions      = "sessions"
)

// load is what the door has in its hands: requests, the bytes of their bodies,
// and those who listen. They are bounded together and for each principal, so
// that what comes in cannot take the memory away from what is being served,
// and nobody the room of all others.
type load struct {
	mu     sync.Mutex
	limits loadLimits
	all    holding
	by     map[sender]holding // of those who have anything
	shed   map[string]int64   // by reason
}

type loadLimits struct {
	requests int   // at one time
	bytes    int64 // of their bodies together
	share    int   // what of both one principal may take, in percent
	// listens are requests without an end: among the others they would keep
	// calls out for as long as they like.
	listens, listensEach int
}

type holding struct {
	requests, listens int
	bytes             int64
}

// sender tells principals apart. The zero value is everybody where nobody is
// asked who it is; the others are no text made of two, which each call would
// have to make.
type sender struct{ method, subject string }

func senderOf(p *decision.Principal) sender {
	if p == nil {
		return sender{}
	}
	return sender{p.Method, p.Subject}
}

// place is what one request has in its hands.
type place struct {
	who     sender
	bytes   int64
	listens bool
}

// LoadStats are the numbers of the door at one moment.
type LoadStats struct {
	Requests  int   // that are being served, those that wait for a human included
	BodyBytes int64 // that their bodies take
	Listens   int   // requests that wait for news
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
	st := LoadStats{Requests: l.all.requests, BodyBytes: l.all.bytes, Listens: l.all.listens, Shed: map[string]int64{
		busyRequests: 0, busyRequestsShare: 0, busyBodies: 0, busyBodiesShare: 0, busyListens: 0, busySessions: 0,
	}}
	for reason, n := range l.shed {
		st.Shed[reason] = n
	}
	l.mu.Unlock()
	st.Sessions, st.Evicted = s.guests.numbers()
	return st
}

// share is what one principal may have of so much. Where nobody is asked who
// it is, all of it.
func (l *load) share(who sender, of int64) int64 {
	if who == (sender{}) {
		return of
	}
	return max(1, of*int64(l.limits.share)/100)
}

// take counts a request of who; the reason why not is "" where it may come in.
func (l *load) take(who sender) (p place, reason string) {
	p.who = who
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.by[who]
	switch {
	case l.all.requests >= l.limits.requests:
		reason = busyRequests
	case int64(h.requests) >= l.share(who, int64(l.limits.requests)):
		reason = busyRequestsShare
	default:
		h.requests++
		l.all.requests++
		l.keep(who, h)
		return p, ""
	}
	l.count(reason)
	return p, reason
}

// grow counts bytes that the body of p takes beyond those it has. A body that
// is the only one always fits: that of all, or of its principal. One that is
// refused is given up and has nothing from then on, so that of two which do not
// fit together one does.
func (l *load) grow(p *place, bytes int64) (reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.by[p.who]
	switch {
	case l.all.bytes+bytes > l.limits.bytes && l.all.bytes > p.bytes:
		reason = busyBodies
	case h.bytes+bytes > l.share(p.who, l.limits.bytes) && h.bytes > p.bytes:
		reason = busyBodiesShare
	default:
		p.bytes += bytes
		h.bytes += bytes
		l.all.bytes += bytes
		l.keep(p.who, h)
		return ""
	}
	h.bytes -= p.bytes
	l.all.bytes -= p.bytes
	p.bytes = 0
	l.keep(p.who, h)
	l.count(reason)
	return reason
}

// listen makes a request one that listens.
func (l *load) listen(p *place) (reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.by[p.who]
	if l.all.listens >= l.limits.listens || h.listens >= l.limits.listensEach {
		l.count(busyListens)
		return busyListens
	}
	p.listens = true
	h.requests--
	h.listens++
	l.all.requests--
	l.all.listens++
	l.keep(p.who, h)
	return ""
}

// leave gives back what p has.
func (l *load) leave(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.by[p.who]
	if p.listens {
		h.listens--
		l.all.listens--
	} else {
		h.requests--
		l.all.requests--
	}
	h.bytes -= p.bytes
	l.all.bytes -= p.bytes
	l.keep(p.who, h)
}

// keep forgets who has nothing: there may be any number of principals.
func (l *load) keep(who sender, h holding) {
	switch {
	case h == holding{}:
		delete(l.by, who)
	case l.by == nil:
		l.by = map[sender]holding{who: h}
	default:
		l.by[who] = h
	}
}

// counted counts the bodies that next reads among those of messages, as those of
// one principal: who sends them is not known before they are read.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, busy := s.load.take(sender{method: "callback"})
		if busy != "" {
			writeBusy(w, frame{}, busy)
			return
		}
		defer s.load.leave(&p)
		if r.Body != nil {
			r.Body = &countedBody{r.Body, &s.load, &p, nil}
		}
		next.ServeHTTP(w, r)
	})
}

type countedBody struct {
	io.ReadCloser
	load *load
	p    *place
	over error // it was refused
}

// Read implements io.Reader.
func (c *countedBody) Read(b []byte) (int, error) {
	if c.over != nil {
		return 0, c.over
	}
	n, err := c.ReadCloser.Read(b)
	if n > 0 {
		if busy := c.load.grow(c.p, int64(n)); busy != "" {
			c.over = errors.New(tooMuch[busy])
			return 0, c.over
		}
	}
	return n, err
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

// tooMuch is what a client is told, by reason.
var tooMuch = map[string]string{
	busyRequests: "the server has as much to do as it takes; try again in a moment",
	busyBodies:   "the server has as much to do as it takes; try again in a moment",

	busyRequestsShare: "this caller has as many requests under way as one may have; let some of them end",
	busyBodiesShare:   "this caller sends as much at one time as one may; send less at one time",
	busyListens:       "too many requests wait for news; end some of them",
	busySessions:      "too many sessions are open and in use; end some of them, or try again in a moment",
}

// writeBusy answers a message that is not taken.
func writeBusy(w http.ResponseWriter, f frame, reason string) {
	id := json.RawMessage("null")
	if f.id != nil {
		id = json.RawMessage(f.id)
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{
		"code": codeBusy, "message": tooMuch[reason],
		"data": map[string]any{"code": fault.RateLimited, "reason": reason, "retryAfterMs": retryBusy.Milliseconds()},
	}})
	if err != nil { // cannot be: the id was checked
		body = (&rpcError{code: codeInternal, message: "internal error"}).answer(frame{})
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(retryBusy.Seconds())))
	writeRPC(w, http.StatusTooManyRequests, body)
}
