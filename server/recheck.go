package server

import (
	"context"
	"net/http"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/internal/tick"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

// held ends a stream soon after the credentials of its caller do: a key that
// is revoked and a token that expires end what they opened. It gives the
// request that is to be served, and what ends the watch.
func (s *Server) held(r *http.Request, who *decision.Principal, given auth.Credentials) (*http.Request, func()) {
	if who == nil {
		return r, func() {}
	}
	same := given.Watch(r)
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		for range tick.Every(ctx, s.beat) {
			if !same(*who) {
				cancel()
				return
			}
		}
	}()
	return r.WithContext(ctx), cancel
}
