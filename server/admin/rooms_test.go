package admin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/slowbody"
)

// half opens a connection with a request whose body does not come.
func (g *rig) half(who, path string) net.Conn {
	g.t.Helper()
	return slowbody.Send(g.t, strings.TrimPrefix(g.url, "http://"), fmt.Sprintf("POST %s%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{", base, path, who))
}

// TestHalfABodyTakesNoPlace: who may only look keeps nobody from working by
// sending nothing.
func TestHalfABodyTakesNoPlace(t *testing.T) {
	g := newRig(t)
	taken := func(r *rooms) int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.taken
	}
	for range 80 {
		g.half("vera", "/decisions")
	}
	g.until("they do not begin", func() bool { return taken(g.srv.reading) == readAtOnce/4 })
	if n := taken(g.srv.working); n != 0 {
		t.Errorf("%d places are taken", n)
	}
	g.want(200, "root", "GET", "/catalog", nil)
	g.want(200, "vera", "GET", "/catalog", nil)
	question := map[string]any{"tool": "base64", "args": map[string]any{"text": "a"}}
	if r := g.do("root", "POST", "/decisions", question); r.status == http.StatusTooManyRequests {
		t.Errorf("root: %d", r.status)
	}
	g.failed(g.want(429, "vera", "POST", "/decisions", question), "RATE_LIMITED", "busy")
}

// TestStreamsAreShared: one sender has a quarter of the streams.
func TestStreamsAreShared(t *testing.T) {
	g := newRig(t)
	for range maxStreams / 4 {
		l := g.listen("vera", "/events", "")
		defer l.cancel()
	}
	g.failed(g.want(429, "vera", "GET", "/events", nil), "RATE_LIMITED", "busy")
	g.listen("root", "/events", "").cancel()
}

func TestRooms(t *testing.T) {
	r := newRooms("things", 8, false)
	who := func(n int) decision.Principal { return decision.Principal{Method: "m", Subject: fmt.Sprint(n)} }
	var leave []func()
	for n := range 4 {
		for range 2 {
			l, err := r.enter(who(n))
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, l)
		}
		if _, err := r.enter(who(n)); err == nil || fault.From(err).Code != fault.RateLimited {
			t.Errorf("a third one of %d: %v", n, err)
		}
	}
	if _, err := r.enter(who(9)); err == nil {
		t.Error("the ninth comes in")
	}
	var wg sync.WaitGroup
	for _, l := range leave {
		wg.Go(l)
	}
	wg.Wait()
	if r.taken != 0 || len(r.by) != 0 {
		t.Errorf("left: %d, %v", r.taken, r.by)
	}
	alone := newRooms("things", 8, true)
	for range 8 {
		if _, err := alone.enter(who(1)); err != nil {
			t.Error(err)
		}
	}
}

// TestPanicIsLogged: what fails inside says where.
func TestPanicIsLogged(t *testing.T) {
	var log bytes.Buffer
	g := newRig(t, func(o *Options) { o.Logger = zerolog.New(&log) })
	rt := &route{id: "broken", method: http.MethodGet, path: "/broken", role: "viewer", read: func(*call) (answer, error) { panic("a secret of somebody") }}
	req, _ := http.NewRequest(http.MethodGet, "http://localhost/broken", nil)
	g.srv.dispatch(rt, discard{http.Header{}}, req.WithContext(context.WithValue(req.Context(), senderKey{}, sender{who: people["vera"]})))
	if text := log.String(); !strings.Contains(text, "rooms_test.go") || strings.Contains(text, "a secret of") {
		t.Errorf("%s", text)
	}
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return io.Discard.Write(p) }
func (d discard) WriteHeader(int)             {}
