package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/internal/slowbody"
)

// TestBodyThatDoesNotCome: nobody holds a connection by announcing a body and
// not sending it, with credentials or without, whoever answers.
func TestBodyThatDoesNotCome(t *testing.T) {
	const body = time.Second
	s := New(Options{Caller: newFake(), Auth: byWho{}, Logger: zerolog.Nop(), Callback: http.NotFoundHandler()})
	s.body = body
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, ln) }()
	defer func() { stop(); <-ended }()
	known := "Host: localhost\r\nWho: ann\r\n"
	call := "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	var wg sync.WaitGroup
	for what, head := range map[string]string{
		"healthz":            "POST /healthz HTTP/1.1\r\nHost: localhost\r\n",
		"sse":                "POST /sse HTTP/1.1\r\nHost: localhost\r\n",
		"root":               "GET / HTTP/1.1\r\nHost: localhost\r\n",
		"nowhere":            "PUT /nowhere HTTP/1.1\r\nHost: localhost\r\n",
		"foreign host":       "POST /mcp HTTP/1.1\r\nHost: elsewhere\r\n",
		"foreign origin":     "POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: https://elsewhere\r\n",
		"options":            "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n",
		"callback":           "POST /approvals/callback HTTP/1.1\r\nHost: localhost\r\n",
		"mcp, nobody":        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + call,
		"mcp, known":         "POST /mcp HTTP/1.1\r\n" + known + call,
		"mcp, GET":           "GET /mcp HTTP/1.1\r\n" + known + call,
		"mcp, DELETE":        "DELETE /mcp HTTP/1.1\r\n" + known,
		"mcp, with continue": "POST /mcp HTTP/1.1\r\n" + known + call + "Expect: 100-continue\r\n",
	} {
		for how, rest := range map[string]string{
			"length": "Content-Length: 9\r\n\r\n", "part": "Content-Length: 9\r\n\r\n{", "large": "Content-Length: 999999\r\n\r\n{",
			"chunked": "Transfer-Encoding: chunked\r\n\r\n", "part of a chunk": "Transfer-Encoding: chunked\r\n\r\n9\r\n{",
		} {
			wg.Go(func() {
				held := slowbody.Hold(t, ln.Addr().String(), head+rest, 10*time.Second)
				if !held.Closed || held.Took > body+peekTime+3*time.Second || !strings.HasPrefix(held.Answer, "HTTP/1.1 ") {
					t.Errorf("%s, %s: %+v", what, how, held)
				}
			})
		}
	}
	wg.Wait()
}

// TestAnswerBeforeTheBody: who does not read the body answers at once.
func TestAnswerBeforeTheBody(t *testing.T) {
	hs := httptest.NewServer(Arriving(http.NotFoundHandler(), Times{}))
	defer hs.Close()
	conn, err := net.Dial("tcp", hs.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusNotFound || !res.Close {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestWholeBodyHasTime: the time for a body does not end what comes after it,
// and a connection whose bodies are read is used again.
func TestWholeBodyHasTime(t *testing.T) {
	const body = 200 * time.Millisecond
	gone := make(chan error, 2)
	hs := httptest.NewServer(Arriving(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(2 * body)
		gone <- r.Context().Err()
		_, _ = w.Write([]byte("x"))
	}), Times{Body: body}))
	defer hs.Close()
	conn, err := net.Dial("tcp", hs.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for range 2 {
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = readAll(res)
		if err := <-gone; err != nil || res.Close {
			t.Errorf("context %v, closed %t", err, res.Close)
		}
	}
}
