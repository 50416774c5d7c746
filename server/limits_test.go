package server

import (
	"context"
	"flag"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

// byWho believes what a request says of its sender.
type byWho struct{}

func (byWho) Authenticate(r *http.Request) (decision.Principal, error) {
	return decision.Principal{Subject: r.Header.Get("Who"), Method: "test"}, nil
}

var _ auth.Authenticator = byWho{}

// begin opens a session and gives its id, or the status that refused it.
func begin(t *testing.T, url, who string) (id string, status int) {
	t.Helper()
	req, _ := http.NewRequest(http.MethodPost, url, strings.NewReader(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"raw","version":"1"}}}`))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Who", who)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = readAll(res)
	return res.Header.Get("Mcp-Session-Id"), res.StatusCode
}

// alive reports whether a session is served.
func alive(t *testing.T, url, id, who string) bool {
	t.Helper()
	status, _ := postAs(t, url, id, who, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	return status == http.StatusOK
}

func postAs(t *testing.T, url, id, who, body string) (int, string) {
	t.Helper()
	req, _ := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	req.Header.Set("Mcp-Session-Id", id)
	req.Header.Set("Who", who)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	text, _ := readAll(res)
	return res.StatusCode, text
}

// TestSessionsMakeRoom: beyond the bound the session goes that was used longest
// ago, of the principal that has too many, or the most.
func TestSessionsMakeRoom(t *testing.T) {
	s, url := start(t, newFake(), func(o *Options) { o.Auth, o.MaxSessions, o.MaxSessionsEach = byWho{}, 4, 3 })
	open := func(who string) string {
		t.Helper()
		id, status := begin(t, url, who)
		if id == "" || status != http.StatusOK {
			t.Fatalf("a session of %s: %d", who, status)
		}
		return id
	}
	a1, a2, a3 := open("ann"), open("ann"), open("ann")
	if !alive(t, url, a1, "ann") { // now a2 is the oldest
		t.Fatal("the first session is gone before it has to")
	}
	b1 := open("ben")
	a4 := open("ann") // the fourth of ann
	if alive(t, url, a2, "ann") {
		t.Error("the oldest session of ann is still there")
	}
	for _, id := range []string{a1, a3, a4} {
		if !alive(t, url, id, "ann") {
			t.Error("a session of ann went that was younger")
		}
	}
	b2 := open("ben") // the fifth in total: ann has the most
	if !alive(t, url, b1, "ben") || !alive(t, url, b2, "ben") {
		t.Error("ben paid for ann")
	}
	if alive(t, url, a1, "ann") {
		t.Error("the oldest of whoever has the most is still there")
	}
	if st := s.Load(); st.Sessions != 4 || st.Evicted != 2 {
		t.Errorf("%+v", st)
	}
	settles(t, "the library keeps sessions", func() bool { return s.sessions() == 4 })
}

// TestSessionsInUseStay: no session is ended in which a call is under way; a
// new one is refused instead.
func TestSessionsInUseStay(t *testing.T) {
	f := newFake()
	s, url := start(t, f, func(o *Options) { o.MaxSessionsEach = 1 })
	id, _ := begin(t, url, "")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`))
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": id} {
			req.Header.Set(k, v)
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
		}
	})
	<-f.started
	if _, status := begin(t, url, ""); status != http.StatusTooManyRequests {
		t.Errorf("a session while the only one is in use: %d", status)
	}
	if n := s.Load().Shed[busySessions]; n != 1 {
		t.Errorf("%d are counted as refused", n)
	}
	cancel()
	wg.Wait()
	<-f.cancelled
	settles(t, "the session stays in use", func() bool { _, status := begin(t, url, ""); return status == http.StatusOK })
	// One can still be asked for and ended by its owner.
	s.Limit(Limits{SessionsEach: 2})
	if _, status := begin(t, url, ""); status != http.StatusOK {
		t.Errorf("after the bound was raised: %d", status)
	}
}

var manySessions = flag.Int("sessions", 1500, "how many sessions TestSessionsLeaveNothing opens")

// TestSessionsLeaveNothing opens sessions and drops them, half of them with a
// goodbye, and finds the heap as it was.
func TestSessionsLeaveNothing(t *testing.T) {
	s, url := start(t, newFake(), func(o *Options) { o.MaxSessions, o.MaxSessionsEach = 200, 200 })
	drop := func(n int) {
		var wg sync.WaitGroup
		next := make(chan int)
		for range 8 {
			wg.Go(func() {
				for i := range next {
					id, status := begin(t, url, "")
					if status != http.StatusOK {
						t.Errorf("session %d: %d", i, status)
						continue
					}
					if i%2 == 0 {
						continue // vanished
					}
					req, _ := http.NewRequest(http.MethodDelete, url, nil)
					req.Header.Set("Mcp-Session-Id", id)
					if res, err := http.DefaultClient.Do(req); err == nil {
						res.Body.Close()
					}
				}
			})
		}
		for i := range n {
			next <- i
		}
		close(next)
		wg.Wait()
	}
	heap := func() float64 {
		settles(t, "sessions are left", func() bool { return s.sessions() <= 200 && s.Load().Sessions <= 200 })
		http.DefaultClient.CloseIdleConnections()
		var m runtime.MemStats
		for range 3 { // pools are emptied by the second
			runtime.GC()
			time.Sleep(20 * time.Millisecond)
		}
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	drop(1000) // as many as are kept, and then some
	before := heap()
	drop(*manySessions)
	after := heap()
	t.Logf("heap %.2f MiB before, %.2f MiB after %d sessions: %+.1f %%", before/(1<<20), after/(1<<20), *manySessions, 100*(after/before-1))
	if after > before*1.05 {
		t.Errorf("the heap has grown by more than 5 %%")
	}
}
