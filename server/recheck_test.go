package server

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

// revocable is named with credentials that stop holding.
type revocable struct {
	named
	ended *atomic.Value // what is said then, an error
}

func (a revocable) Authenticate(r *http.Request) (decision.Principal, error) {
	if err, ok := a.ended.Load().(error); ok {
		return decision.Principal{}, err
	}
	return a.named.Authenticate(r)
}

// TestStreamsEndWithTheirCredentials: a key that is revoked or a token that is
// over ends the stream that it opened; a provider that is down does not.
func TestStreamsEndWithTheirCredentials(t *testing.T) {
	for name, tc := range map[string]struct {
		why  error
		ends bool
	}{
		"revoked": {&auth.Refusal{Reason: "revoked", Status: 401}, true},
		"expired": {&auth.Refusal{Reason: "expired", Status: 401}, true},
		"down":    {&auth.Unavailable{Method: "oidc"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := revocable{ended: &atomic.Value{}}
			s, url := start(t, newFake(), func(o *Options) { o.Auth = a })
			s.setPace(time.Hour, 5*time.Millisecond)
			open := func(method, body string, hdr map[string]string) *http.Response {
				t.Helper()
				req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				for k, v := range hdr {
					req.Header.Set(k, v)
				}
				req.Header.Set("Authorization", "Bearer alice")
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "application/json, text/event-stream")
				res, err := http.DefaultClient.Do(req)
				if err != nil || res.StatusCode != http.StatusOK {
					t.Fatal(res, err)
				}
				t.Cleanup(func() { res.Body.Close() })
				return res
			}
			first := open(http.MethodPost, initialize, nil)
			streams := map[string]*http.Response{
				"session": open(http.MethodGet, "", map[string]string{headerSession: first.Header.Get(headerSession), headerVersion: "2025-11-25"}),
				"listen":  open(http.MethodPost, listenBody, map[string]string{headerVersion: modernVersion, headerMethod: methodListen}),
			}
			over := map[string]chan struct{}{}
			for which, res := range streams {
				end := make(chan struct{})
				over[which] = end
				go func() { defer close(end); _, _ = io.Copy(io.Discard, res.Body) }()
			}
			still := func(which string, patience time.Duration) bool {
				select {
				case <-over[which]:
					return false
				case <-time.After(patience):
					return true
				}
			}
			for which := range streams {
				if !still(which, 50*time.Millisecond) {
					t.Fatalf("%s ends though its credentials hold", which)
				}
			}
			a.ended.Store(tc.why)
			for which := range streams {
				patience := 100 * time.Millisecond
				if tc.ends {
					patience = 30 * time.Second
				}
				if still(which, patience) == tc.ends {
					t.Errorf("%s: it goes on is %t", which, tc.ends)
				}
			}
		})
	}
}
