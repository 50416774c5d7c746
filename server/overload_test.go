package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

func readAll(res *http.Response) (string, error) {
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

func modernRequest(ctx context.Context, url, tool, args string) *http.Request {
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`,`+askingMeta+`}}`))
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		req.Header.Set(k, v)
	}
	return req
}

// occupied has one call under way until release is called.
func occupied(t *testing.T, f *fake, url string) (release func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if res, err := http.DefaultClient.Do(modernRequest(ctx, url, "slow", `{}`)); err == nil {
			res.Body.Close()
		}
	})
	<-f.started
	return func() {
		cancel()
		wg.Wait()
		<-f.cancelled
	}
}

// TestTooManyRequests: a message beyond the bounds is answered at once, by an
// error that says when to come back, and is not read.
func TestTooManyRequests(t *testing.T) {
	for reason, change := range map[string]func(*Options){
		busyRequests: func(o *Options) { o.MaxRequests = 1 },
		busyBodies:   func(o *Options) { o.MaxBodies = 600 },
	} {
		f := newFake()
		s, url := start(t, f, change)
		release := occupied(t, f, url)
		res, err := http.DefaultClient.Do(modernRequest(t.Context(), url, "echo", `{"a":"`+strings.Repeat("x", 400)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			JSONRPC string
			ID      any
			Error   struct {
				Code    int
				Message string
				Data    struct {
					Code, Reason string
					RetryAfterMs int
				}
			}
		}
		err = json.NewDecoder(res.Body).Decode(&answer)
		res.Body.Close()
		e := answer.Error
		if err != nil || res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") != "1" || answer.JSONRPC != "2.0" ||
			e.Code != codeBusy || e.Data.Code != "RATE_LIMITED" || e.Data.Reason != reason || e.Data.RetryAfterMs != 1000 {
			t.Errorf("%s: %d, %+v, %v", reason, res.StatusCode, answer, err)
		}
		if n := len(f.calls()); n != 1 {
			t.Errorf("%s: %d calls came through", reason, n)
		}
		// Others than messages are served all the same.
		if status := get(t, strings.TrimSuffix(url, "/mcp")+"/readyz"); status != http.StatusOK {
			t.Errorf("%s: readyz %d", reason, status)
		}
		release()
		settles(t, "the place does not come back", func() bool { return s.Load().Requests == 0 && s.Load().BodyBytes == 0 })
		if res := callTool(t, connect(t, url, "2026-07-28", "a", nil), "echo", nil); res.IsError {
			t.Errorf("%s: afterwards: %v", reason, text(res))
		}
		if n := s.Load().Shed[reason]; n != 1 {
			t.Errorf("%s: %d are counted", reason, n)
		}
	}
}

// TestOneLargeBodyFits: a body of the allowed size is taken where nothing else
// is under way, whatever the bound of all together.
func TestOneLargeBodyFits(t *testing.T) {
	_, url := start(t, newFake(), func(o *Options) { o.MaxBodies = 10 })
	res, err := http.DefaultClient.Do(modernRequest(t.Context(), url, "echo", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Error(res.StatusCode)
	}
}

// TestReaderThatStops: a client that asks for much and reads nothing is let go,
// and one that reads slowly gets all of it.
func TestReaderThatStops(t *testing.T) {
	const size = 3 << 20
	f := newFake()
	s := New(Options{Caller: f, Logger: zerolog.Nop(), ReaderPatience: time.Second})
	hs := httptest.NewServer(s.Handler())
	defer hs.Close()
	ask := func(window int) *net.TCPConn {
		conn, err := net.Dial("tcp", hs.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c := conn.(*net.TCPConn)
		if window > 0 {
			_ = c.SetReadBuffer(window)
		}
		req := modernRequest(t.Context(), "http://127.0.0.1/mcp", "echo", `{"a":"`+strings.Repeat("x", size)+`"}`)
		go func() { _ = req.Write(c) }()
		return c
	}
	stopped := ask(4 << 10)
	defer stopped.Close()
	settles(t, "the call does not begin", func() bool { return len(f.calls()) == 1 })
	settles(t, "its request is held for ever", func() bool { return s.Load().Requests == 0 })

	slow := ask(0)
	defer slow.Close()
	res, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, part := 0, make([]byte, 128<<10)
	for {
		n, err := res.Body.Read(part)
		if got += n; err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("a slow reader is cut off after %d bytes: %v", got, err)
			}
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	if got < size {
		t.Errorf("a slow reader got %d bytes", got)
	}
}

// TestReadyBeforeDrained: readiness goes first, and for DrainDelay calls are
// taken as before.
func TestReadyBeforeDrained(t *testing.T) {
	f := newFake()
	s := New(Options{Caller: f, Logger: zerolog.Nop(), DrainDelay: 2 * time.Second, DrainTimeout: 20 * time.Second})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + ln.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, ln) }()
	if status := get(t, base+"/readyz"); status != http.StatusOK {
		t.Errorf("readyz %d", status)
	}
	stop()
	settles(t, "it does not stop", func() bool { return s.leaving.Load() })
	if ready, healthy := get(t, base+"/readyz"), get(t, base+"/healthz"); ready != http.StatusServiceUnavailable || healthy != http.StatusOK {
		t.Errorf("while it leaves: readyz %d, healthz %d", ready, healthy)
	}
	res, err := http.DefaultClient.Do(modernRequest(t.Context(), base+"/mcp", "echo", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK || !res.Close {
		t.Errorf("a call while it leaves: %d, connection closed: %t", res.StatusCode, res.Close)
	}
	settles(t, "it does not drain", func() bool { return s.draining.Load() })
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestReadyzUnavailable(t *testing.T) {
	w := httptest.NewRecorder()
	s := New(Options{Caller: newFake(), Health: func() error { return errors.New("/secret/path is full") }})
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/readyz", nil))
	if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusServiceUnavailable || got != `{"ready":false,"reason":"unavailable"}` {
		t.Errorf("%d %s", w.Code, got)
	}
}

// TestCollector: the numbers of the door have names that a collector takes.
func TestCollector(t *testing.T) {
	s, url := start(t, newFake())
	begin(t, url, "")
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s.Collector())
	all, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]float64{}
	for _, family := range all {
		for _, m := range family.Metric {
			seen[family.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	if len(seen) != 7 || seen["toolwarrant_mcp_sessions"] != 1 || seen["toolwarrant_ready"] != 1 {
		t.Errorf("%v", seen)
	}
}
