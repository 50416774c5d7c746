package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/internal/slowbody"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

// byName is byWho that knows nobody without a name.
type byName struct{ byWho }

func (n byName) Authenticate(r *http.Request) (decision.Principal, error) {
	if r.Header.Get("Who") == "" {
		return decision.Principal{}, &auth.Refusal{Reason: "missing", Status: http.StatusUnauthorized}
	}
	return n.byWho.Authenticate(r)
}

// callAs is the status of one call of echo.
func callAs(t *testing.T, url, who string) int {
	t.Helper()
	req := modernRequest(t.Context(), url, "echo", `{}`)
	req.Header.Set("Who", who)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// partly opens a connection with the beginning of a message.
func partly(t *testing.T, url, who string, length int, part string) net.Conn {
	t.Helper()
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\n"
	if who != "" {
		head += "Who: " + who + "\r\n"
	}
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	return slowbody.Send(t, address, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, length, part))
}

// TestListensTakeNoCallsAway: who listens without end keeps nobody from
// calling, and one principal not others from listening.
func TestListensTakeNoCallsAway(t *testing.T) {
	s, url := start(t, newFake(), func(o *Options) { o.Auth, o.MaxRequests, o.MaxListens, o.MaxListensEach = byName{}, 8, 7, 6 })
	ctx, end := context.WithCancel(t.Context())
	defer end()
	listen := func(who string) int {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(listenBody))
		for k, v := range map[string]string{headerVersion: modernVersion, "Mcp-Method": methodListen, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Who": who} {
			req.Header.Set(k, v)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res.StatusCode
	}
	for n := range 6 {
		if status := listen("ann"); status != http.StatusOK {
			t.Fatalf("listen %d: %d", n, status)
		}
	}
	if st := s.Load(); st.Listens != 6 || st.Requests != 0 {
		t.Errorf("%+v", st)
	}
	for _, who := range []string{"ann", "ben"} {
		if status := callAs(t, url, who); status != http.StatusOK {
			t.Errorf("a call of %s: %d", who, status)
		}
	}
	if a, b, c := listen("ann"), listen("ben"), listen("ben"); a != http.StatusTooManyRequests || b != http.StatusOK || c != http.StatusTooManyRequests {
		t.Errorf("beyond the bounds: %d, %d, %d", a, b, c)
	}
	if n := s.Load().Shed[busyListens]; n != 2 {
		t.Errorf("%d are counted", n)
	}
	end()
	settles(t, "listens stay", func() bool { st := s.Load(); return st.Listens == 0 && st.BodyBytes == 0 })
	if len(s.load.by) != 0 {
		t.Errorf("left: %+v", s.load.by)
	}
}

// TestShareOfRequests: one principal fills its share, and others are served.
func TestShareOfRequests(t *testing.T) {
	f := newFake()
	s, url := start(t, f, func(o *Options) { o.Auth, o.MaxRequests = byName{}, 8 })
	for range 2 {
		partly(t, url, "ann", 1000, "{")
	}
	settles(t, "they do not begin", func() bool { return s.Load().Requests == 2 })
	if a, b := callAs(t, url, "ann"), callAs(t, url, "ben"); a != http.StatusTooManyRequests || b != http.StatusOK {
		t.Errorf("ann %d, ben %d", a, b)
	}
	if n := s.Load().Shed[busyRequestsShare]; n != 1 {
		t.Errorf("%d are counted", n)
	}
	s.Limit(Limits{Share: 100})
	if status := callAs(t, url, "ann"); status != http.StatusOK {
		t.Errorf("with all of it: %d", status)
	}
}

// TestAnnouncedBytesAreNone: bodies that are announced and do not come take no
// room, and those that come take that of their principal alone.
func TestAnnouncedBytesAreNone(t *testing.T) {
	s, url := start(t, newFake(), func(o *Options) { o.Auth, o.MaxBodies = byName{}, 16<<20 })
	for range 64 {
		partly(t, url, "ann", 4<<20, "{")
	}
	settles(t, "they do not begin", func() bool { return s.Load().Requests == 64 })
	if n := s.Load().BodyBytes; n > 64*firstPart {
		t.Errorf("%d bytes are taken", n)
	}
	if status := callAs(t, url, "ann"); status != http.StatusOK {
		t.Errorf("ann %d", status)
	}
	// Two of 4 MiB are more than a quarter of 16.
	var wg sync.WaitGroup
	for range 2 {
		conn := partly(t, url, "eve", 4<<20, "")
		wg.Go(func() { _, _ = io.WriteString(conn, strings.Repeat(" ", 4<<20-1)) })
	}
	settles(t, "the second is not refused", func() bool { return s.Load().Shed[busyBodiesShare] == 1 })
	if status := callAs(t, url, "ben"); status != http.StatusOK {
		t.Errorf("ben %d", status)
	}
	wg.Wait()
}

// TestNobodyTakesNoPlace: without credentials no place is taken, and no more
// than a few bodies are waited for.
func TestNobodyTakesNoPlace(t *testing.T) {
	f := newFake()
	s, url := start(t, f, func(o *Options) { o.Auth, o.MaxRequests = byName{}, 4 })
	begun := time.Now()
	for range 3 * maxPeeking {
		partly(t, url, "", 1000, "{")
	}
	settles(t, "they are not refused", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.refused) >= 2*maxPeeking
	})
	if took := time.Since(begun); took >= peekTime {
		t.Errorf("the first refusals took %s", took)
	}
	if st := s.Load(); st.Requests != 0 || st.BodyBytes != 0 {
		t.Errorf("%+v", st)
	}
	if status := callAs(t, url, "ben"); status != http.StatusOK {
		t.Errorf("ben %d", status)
	}
}

// TestBodiesInParts: a body arrives whole however it is sent, and one byte too
// many is seen.
func TestBodiesInParts(t *testing.T) {
	const most = 20_000
	s, _ := start(t, newFake(), func(o *Options) { o.MaxBodyBytes = most })
	for _, size := range []int{0, 1, firstPart - 1, firstPart, firstPart + 1, 2 * firstPart, most - 1, most, most + 1} {
		for _, length := range []int64{-1, int64(size)} {
			r, _ := http.NewRequest(http.MethodPost, "http://localhost/mcp", io.MultiReader(strings.NewReader(strings.Repeat("x", size/2)), strings.NewReader(strings.Repeat("x", size-size/2))))
			r.ContentLength = length
			w := &blank{header: http.Header{}}
			p, _ := s.load.take(sender{})
			body, ok := s.readBody(w, r, nil, &p)
			if ok != (size <= most) || ok && len(body) != size || !ok && w.status != http.StatusRequestEntityTooLarge {
				t.Errorf("%d of %d bytes (announced %d): %t, status %d", len(body), size, length, ok, w.status)
			}
			s.load.leave(&p)
		}
	}
	if st := s.Load(); st.Requests != 0 || st.BodyBytes != 0 {
		t.Errorf("%+v", st)
	}
}

// TestPlacesCostNothing: places are taken for each call, so that they may not
// allocate.
func TestPlacesCostNothing(t *testing.T) {
	l := load{limits: loadLimits{10, 1 << 20, 25, 10, 10}}
	who := &decision.Principal{Method: "oidc", Subject: "ann"}
	var failed error
	if n := testing.AllocsPerRun(100, func() {
		p, busy := l.take(senderOf(who))
		if busy += l.grow(&p, 500); busy != "" {
			failed = errors.New(busy)
		}
		l.leave(&p)
	}); n != 0 || failed != nil {
		t.Errorf("%v allocations, %v", n, failed)
	}
}

// blank is a writer that keeps the status.
type blank struct {
	header http.Header
	status int
}

func (b *blank) Header() http.Header         { return b.header }
func (b *blank) Write(p []byte) (int, error) { return len(p), nil }
func (b *blank) WriteHeader(status int)      { b.status = status }
