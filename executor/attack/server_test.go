package attack

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// hostileServer is a server at which every path misbehaves in its own way.
func hostileServer(t testing.TB) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Add(1)
	t.Cleanup(func() { l.Close(); open.Wait() })
	go func() {
		defer open.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Add(1)
			go func() {
				defer open.Done()
				defer conn.Close()
				misbehave(conn)
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

var bomb = sync.OnceValue(func() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 100 {
		_, _ = z.Write(zeros)
	}
	z.Close()
	return b.String()
})

func misbehave(conn net.Conn) {
	r := bufio.NewReader(conn)
	line, err := r.ReadString('\n')
	for l := line; err == nil && l != "\r\n"; {
		l, err = r.ReadString('\n')
	}
	parts := strings.Fields(line)
	if len(parts) != 3 {
		return
	}
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	path, to, _ := strings.Cut(parts[1], "?")
	switch path {
	case "/ok":
		fmt.Fprint(conn, head+"Content-Length: 2\r\n\r\nok")
	case "/json":
		fmt.Fprint(conn, head+"\r\n{\"__proto__\":{\"evil\":1},\"constructor\":{\"prototype\":{\"evil\":1}}}")
	case "/deep":
		fmt.Fprint(conn, head+"\r\n"+strings.Repeat("[", 1<<20))
	case "/go":
		fmt.Fprint(conn, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "+to+"\r\n\r\n")
	case "/loop":
		fmt.Fprint(conn, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /loop\r\n\r\n")
	case "/silent":
		_, _ = r.ReadByte() // until the other end is gone
	case "/slow-head":
		every(conn, "H")
	case "/slow-body":
		fmt.Fprint(conn, head+"Content-Length: 1000000\r\n\r\n")
		every(conn, "x")
	case "/headers":
		fmt.Fprint(conn, head)
		forever(conn, "x: y\r\n")
	case "/header":
		fmt.Fprint(conn, head+"X: ")
		forever(conn, strings.Repeat("x", 4096))
	case "/chunks":
		fmt.Fprint(conn, head+"Transfer-Encoding: chunked\r\n\r\nzz\r\ngarbage\r\n")
	case "/endless":
		fmt.Fprint(conn, head+"\r\n")
		forever(conn, strings.Repeat("x", 1<<16))
	case "/bomb":
		fmt.Fprint(conn, head+"Content-Encoding: gzip\r\n\r\n"+bomb())
	case "/short":
		fmt.Fprint(conn, head+"Content-Length: 99\r\n\r\nshort")
	}
}

func forever(conn net.Conn, text string) {
	for {
		if _, err := conn.Write([]byte(text)); err != nil {
			return
		}
	}
}

func every(conn net.Conn, text string) {
	for {
		if _, err := conn.Write([]byte(text)); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
