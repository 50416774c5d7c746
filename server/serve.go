package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/toolwarrant/toolwarrant/fault"
)

// settleTime is how long cut-off calls may take to answer with their error.
const settleTime = 3 * time.Second

// Serve answers on ln until ctx ends, then drains: /readyz says so first, and
// for DrainDelay nothing else changes. Then /healthz says so as well, and
// new calls get 503 while those in flight go on, answers to open questions
// still included, for at most DrainTimeout; what is left is cancelled. It
// returns nil after a drain in time and closes ln in any case. A Server that
// was drained cannot serve again.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	hs := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(s.opt.Logger, "", 0),
		// net/http would answer OPTIONS * itself, and wait for its body without end.
		DisableGeneralOptionsHandler: true,
		// No ReadTimeout: it would end streams; arriving bounds the body. No
		// WriteTimeout: it would cut the answer of a call off that waited
		// for a human. Handlers have deadlines of their own.
	}
	go s.follow(ctx)
	ln = netutil.LimitListener(ln, s.opt.MaxConnections)
	if s.opt.TLS != nil { // outermost: net/http looks for its connections
		ln = tls.NewListener(ln, s.opt.TLS)
	}
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(ln) }()
	select {
	case err := <-failed:
		s.stopNow()
		return err
	case <-ctx.Done():
	}

	s.leaving.Store(true)
	select {
	case err := <-failed:
		s.stopNow()
		return err
	case <-time.After(s.opt.DrainDelay):
	}
	s.draining.Store(true)
	cut := !s.inFlight.wait(s.opt.DrainTimeout)
	s.stopNow()
	s.inFlight.wait(settleTime)
	s.closeSessions()
	end, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	err := hs.Shutdown(end)
	if err != nil {
		_ = hs.Close()
	}
	if serveErr := <-failed; !errors.Is(serveErr, http.ErrServerClosed) {
		return serveErr
	}
	if cut {
		return fault.New(fault.Interrupted, "drain", "calls were still running when the drain time was over; they were cancelled")
	}
	return nil
}

// closeSessions ends the open sessions and with them their streams.
func (s *Server) closeSessions() {
	var wg sync.WaitGroup
	for ss := range s.legacy.Sessions() {
		wg.Go(func() { _ = ss.Close() })
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(settleTime):
		s.opt.Logger.Warn().Msg("sessions did not end in time")
	}
}

// tally counts calls in flight. The zero value is ready.
type tally struct {
	mu    sync.Mutex
	n     int
	empty chan struct{} // closed at zero while somebody waits
}

// add counts one more, unless closed is set.
func (t *tally) add(closed *atomic.Bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if closed.Load() {
		return false
	}
	t.n++
	return true
}

func (t *tally) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.empty != nil {
		close(t.empty)
		t.empty = nil
	}
}

// wait waits until none is in flight; false when limit passed before.
func (t *tally) wait(limit time.Duration) bool {
	t.mu.Lock()
	if t.n == 0 {
		t.mu.Unlock()
		return true
	}
	if t.empty == nil {
		t.empty = make(chan struct{})
	}
	empty := t.empty
	t.mu.Unlock()
	return within(limit, empty)
}

// within reports whether done came before the limit.
func within(limit time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
