package admin

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

// changing is header with somebody whose credentials change.
type changing struct{ how *atomic.Value }

func (a changing) Authenticate(r *http.Request) (decision.Principal, error) {
	p, err := header{}.Authenticate(r)
	r.Header.Del("Authorization") // as auth.Chain does
	switch a.how.Load() {
	case "revoked", "expired":
		err = &auth.Refusal{Reason: a.how.Load().(string), Status: http.StatusUnauthorized}
	case "other groups":
		p.Groups = []string{}
	}
	return p, err
}

// TestEventsEndWithTheirCredentials: a stream of events ends when whoever
// opened it would not be let in any more.
func TestEventsEndWithTheirCredentials(t *testing.T) {
	for _, how := range []string{"revoked", "expired", "other groups"} {
		t.Run(how, func(t *testing.T) {
			a := changing{&atomic.Value{}}
			g := newRig(t, func(o *Options) { o.Auth = a })
			g.srv.alive = 5 * time.Millisecond
			l := g.listen("ann", "/events", "")
			l.next()
			select {
			case _, open := <-l.events:
				if !open {
					t.Fatal("the stream ends though its credentials hold")
				}
			case <-time.After(100 * time.Millisecond):
			}
			a.how.Store(how)
			g.until("the end of the stream", func() bool {
				select {
				case _, open := <-l.events:
					return !open
				default:
					return false
				}
			})
		})
	}
}
