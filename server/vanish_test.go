package server

import (
	"bufio"
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
)

var manyVanish = flag.Int("vanish", 60, "how many clients of TestVanishingClients are asked at one time; from 1000 on, they have to be forgotten within 5 s")

// Clients of both eras that vanish while their human is asked, all at one time,
// leave nothing behind: no goroutine, no session, no open question. Of the
// older ones, half cut their connection, and half hold it until their time is
// over.
func TestVanishingClients(t *testing.T) {
	clients, expiry := *manyVanish, 5
	full := clients >= 1000
	if full {
		expiry = 30
	}
	i := install(t, map[string]map[string]any{"t_ask": askingTool(gives)})
	i.setting(1, "hitl", "expirySeconds")
	i.tell()
	s, address := start(t, Governed(i.Service), func(o *Options) { o.SessionTimeout = time.Second })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	open := func() (n int) {
		all, err := i.Approvals.List(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.State == approval.StatePending || p.State == approval.StateAccepted {
				n++
			}
		}
		return n
	}
	// What one client of each era makes for good, such as the checker of
	// expired sessions, is there before it is counted.
	vanishModern(t, address, -1)
	vanishLegacy(t, u.Host, -1).Close()
	settles(t, "the first ones do not go", func() bool { return s.sessions() == 0 && open() == 0 })
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	baseline := runtime.NumGoroutine()
	i.setting(expiry, "hitl", "expirySeconds")
	i.tell()

	var cut, held conns
	gate := make(chan struct{}, 40)
	together(clients, func(n int) bool {
		gate <- struct{}{}
		defer func() { <-gate }()
		switch n % 4 {
		case 1:
			held.add(vanishLegacy(t, u.Host, n))
		case 3:
			cut.add(vanishLegacy(t, u.Host, n))
		default:
			vanishModern(t, address, n)
		}
		return true
	})
	if n := open(); n != clients {
		t.Fatalf("%d of %d clients are being asked", n, clients)
	}
	cut.close()
	all, err := i.Approvals.List(context.Background())
	if err != nil || len(all) != clients+2 {
		t.Errorf("%d of %d clients were asked (%v)", len(all)-2, clients, err)
	}
	last := time.Time{}
	for _, p := range all {
		if p.Binding.ExpiresAt.After(last) {
			last = p.Binding.ExpiresAt
		}
	}
	time.Sleep(time.Until(last))
	// An open connection has a goroutine as long as the client likes, or 2
	// minutes. The server learns of these ends as of any other.
	held.close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	settles(t, "something stays behind", func() bool {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		return s.sessions() == 0 && open() == 0 && runtime.NumGoroutine() <= baseline+5
	})
	took := time.Since(last)
	if full && took > 5*time.Second {
		t.Errorf("it took %s after the last expiry", took)
	}
	t.Logf("%d clients: back to %d goroutines (from %d), no session, no open question %s after the last expiry", clients, runtime.NumGoroutine(), baseline, took.Round(time.Millisecond))
	if n := i.runs("t_ask"); n != 0 {
		t.Errorf("ran %d times", n)
	}
}

// vanishModern is asked and never comes back.
func vanishModern(t *testing.T, address string, n int) {
	got := agent{t: t, url: address, client: "gone"}.call("t_ask", `{"a":"`+strconv.Itoa(n)+`"}`, "")
	if got.verdict != "input_required" {
		t.Errorf("answered %s", got.text)
	}
}

// vanishLegacy opens a session, calls, and waits until it is asked; whoever has
// its connection has nothing more to say.
func vanishLegacy(t *testing.T, host string, n int) net.Conn {
	base := "http://" + host + "/mcp"
	post := func(session, body string) *http.Response {
		req, err := http.NewRequest(http.MethodPost, base, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return nil
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return nil
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		return res
	}
	res := post("", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"gone","version":"1"}}}`)
	if res == nil {
		return nil
	}
	session := res.Header.Get("Mcp-Session-Id")
	post(session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)

	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Error(err)
		return nil
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t_ask","arguments":{"a":"` + strconv.Itoa(n) + `"}}}`
	_, err = io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: "+host+"\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: "+session+
		"\r\nMcp-Protocol-Version: 2025-11-25\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
	if err != nil {
		t.Error(err)
		return conn
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "elicitation/create") {
			return conn
		}
	}
	t.Errorf("client %d was not asked: %v", n, lines.Err())
	return conn
}

// conns are connections that are held.
type conns struct {
	mu   sync.Mutex
	list []net.Conn
}

func (c *conns) add(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn != nil {
		c.list = append(c.list, conn)
	}
}

func (c *conns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.list {
		conn.Close()
	}
}
