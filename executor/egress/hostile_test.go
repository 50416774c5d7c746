package egress

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/toolwarrant/toolwarrant/decision"
)

// rawServer speaks whatever answer writes, after it read a request's head.
func rawServer(t *testing.T, answer func(net.Conn)) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for r := bufio.NewReader(conn); ; {
					line, err := r.ReadString('\n')
					if err != nil || line == "\r\n" {
						break
					}
				}
				answer(conn)
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// forever writes text until the other end is gone.
func forever(conn net.Conn, text string) {
	for {
		if _, err := conn.Write([]byte(text)); err != nil {
			return
		}
	}
}

// trickle writes one byte now and then until the other end is gone.
func trickle(conn net.Conn, text string) {
	for {
		if _, err := conn.Write([]byte(text)); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func bomb() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 200 {
		_, _ = z.Write(zeros)
	}
	z.Close()
	return b.String()
}

// TestHostileServers is every way in which the other end can misbehave: each
// ends, with its reason, and what was read of it stays within the caps.
func TestHostileServers(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	squeezed := bomb()
	for _, tc := range []struct {
		name, want string
		answer     func(net.Conn)
	}{
		{"silence", Timeout, func(c net.Conn) { time.Sleep(3 * time.Second) }},
		{"slow head", Timeout, func(c net.Conn) { trickle(c, "H") }},
		{"slow headers", Timeout, func(c net.Conn) { fmt.Fprint(c, head); trickle(c, "a: b\r\n") }},
		{"slow body", Timeout, func(c net.Conn) { fmt.Fprint(c, head+"Content-Length: 1000000\r\n\r\n"); trickle(c, "x") }},
		{"slow chunks", Timeout, func(c net.Conn) {
			fmt.Fprint(c, head+"Transfer-Encoding: chunked\r\n\r\n")
			trickle(c, "1\r\nx\r\n")
		}},
		{"endless header", IO, func(c net.Conn) { fmt.Fprint(c, head+"X: "); forever(c, strings.Repeat("x", 4096)) }},
		{"endless headers", IO, func(c net.Conn) { fmt.Fprint(c, head); forever(c, "x: y\r\n") }},
		{"endless status line", IO, func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 200 "); forever(c, strings.Repeat("x", 4096)) }},
		{"endless 1xx", IO, func(c net.Conn) { forever(c, "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n") }},
		{"no HTTP", IO, func(c net.Conn) { fmt.Fprint(c, "220 mail.example ESMTP\r\n") }},
		{"closed at once", IO, func(net.Conn) {}},
		{"chunked garbage", IO, func(c net.Conn) { fmt.Fprint(c, head+"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n") }},
		{"chunk of a huge length", IO, func(c net.Conn) {
			fmt.Fprint(c, head+"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nhello\r\n")
		}},
		{"endless chunk extension", IO, func(c net.Conn) {
			fmt.Fprint(c, head+"Transfer-Encoding: chunked\r\n\r\n1;")
			forever(c, strings.Repeat("x", 4096))
		}},
		{"endless small chunks with extensions", IO, func(c net.Conn) {
			fmt.Fprint(c, head+"Transfer-Encoding: chunked\r\n\r\n")
			forever(c, "1;"+strings.Repeat("e", 64)+"\r\nx\r\n")
		}},
		{"endless trailer", IO, func(c net.Conn) {
			fmt.Fprint(c, head+"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n")
			forever(c, "x: y\r\n")
		}},
		{"two lengths", IO, func(c net.Conn) { fmt.Fprint(c, head+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx") }},
		{"negative length", IO, func(c net.Conn) { fmt.Fprint(c, head+"Content-Length: -1\r\n\r\nxx") }},
		{"short body", IO, func(c net.Conn) { fmt.Fprint(c, head+"Content-Length: 9\r\n\r\nxx") }},
		{"endless body", ResponseTooLarge, func(c net.Conn) { fmt.Fprint(c, head+"\r\n"); forever(c, strings.Repeat("x", 1<<16)) }},
		{"huge length", ResponseTooLarge, func(c net.Conn) {
			fmt.Fprint(c, head+"Content-Length: 9223372036854775807\r\n\r\n")
			forever(c, strings.Repeat("x", 1<<16))
		}},
		{"gzip bomb", ResponseTooLarge, func(c net.Conn) { fmt.Fprint(c, head+"Content-Encoding: gzip\r\n\r\n"+squeezed) }},
		{"no gzip", IO, func(c net.Conn) { fmt.Fprint(c, head+"Content-Encoding: gzip\r\n\r\nnot gzip at all") }},
		{"cut gzip", IO, func(c net.Conn) { fmt.Fprint(c, head+"Content-Encoding: gzip\r\n\r\n"+squeezed[:50]) }},
		{"redirect with a huge URL", IO, func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 302 Found\r\nLocation: /"+strings.Repeat("x", 300<<10)+"\r\n\r\n")
		}},
		{"redirect with a long URL", InvalidURL, func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 302 Found\r\nLocation: /"+strings.Repeat("x", 20<<10)+"\r\n\r\n")
		}},
		{"redirect to garbage", InvalidURL, func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n") }},
		{"redirect without end", TooManyRedirects, func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 307 Again\r\nLocation: ?x\r\n\r\n") }},
		{"redirect with an endless body", TooManyRedirects, func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 302 Again\r\nLocation: ?x\r\n\r\n")
			forever(c, "x")
		}},
		{"switching protocols", "", func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		}},
		{"status without text", "", func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 299\r\nContent-Length: 0\r\n\r\n") }},
		{"headers that are not UTF-8", "", func(c net.Conn) { fmt.Fprint(c, head+"X: \xff\xfe\r\nContent-Length: 0\r\n\r\n") }},
		{"redirect without a place", "", func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			port := rawServer(t, tc.answer)
			c := New(open("127.0.0.1:"+port), Options{})
			if tc.want == Timeout {
				c.requestTimeout = 300 * time.Millisecond
			}
			resp, f := c.Fetch(context.Background(), Request{URL: "http://127.0.0.1:" + port + "/"})
			got := ""
			if f != nil {
				got = f.Reason
			}
			if got != tc.want {
				t.Fatalf("%q, want %q (%+v)", got, tc.want, resp)
			}
			for _, e := range c.Ledger() {
				if e.Bytes > MaxBody+1 || e.IP != "127.0.0.1" {
					t.Errorf("ledger %+v", e)
				}
			}
		})
	}
}

// dnsServer answers A and AAAA questions over UDP; answer gives the addresses
// of the n-th question of that type, from 0.
func dnsServer(t *testing.T, answer func(name string, n int64) []netip.Addr) (address string) {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	var asked atomic.Int64
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Authoritative, m.RecursionAvailable, m.Additionals = true, true, true, nil
			if q.Type == dnsmessage.TypeA {
				for _, a := range answer(q.Name.String(), asked.Add(1)-1) {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
						Body:   &dnsmessage.AResource{A: a.As4()},
					})
				}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(out, from)
			}
		}
	}()
	return pc.LocalAddr().String()
}

// TestRebindingServer asks a DNS server that gives a public address first and
// loopback ever after, without a time to live.
func TestRebindingServer(t *testing.T) {
	w := newWorld(t)
	server := dnsServer(t, func(_ string, n int64) []netip.Addr {
		if n == 0 {
			return []netip.Addr{publicAddr}
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	})
	c := w.client(decision.Network{Mode: "strict"})
	c.opts.Resolver = NewResolver(server)
	if _, f := c.Fetch(context.Background(), Request{URL: "http://rebind.example.test/"}); f != nil {
		t.Fatalf("first: %+v", f)
	}
	for range 3 {
		if _, f := c.Fetch(context.Background(), Request{URL: "http://rebind.example.test/"}); f == nil || f.Reason != ResolvedPrivateIP {
			t.Errorf("later: %+v", f)
		}
	}
	if l := c.Ledger(); l[0].IP != publicAddr.String() || l[1].IP != "" || len(w.private) != 0 || len(w.seen) != 1 {
		t.Errorf("ledger %+v, private %v, %d requests", l, w.private, len(w.seen))
	}
}

// TestSilentResolver bounds a DNS server that never answers.
func TestSilentResolver(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	c := New(decision.Network{Mode: "strict"}, Options{Resolver: NewResolver(pc.LocalAddr().String())})
	c.connectTimeout = 200 * time.Millisecond
	if _, f := c.Fetch(context.Background(), Request{URL: "http://slow.test/"}); f == nil || f.Reason != Timeout {
		t.Errorf("%+v", f)
	}
}

// TestFloodOfAddresses refuses a name with more addresses than anybody needs.
func TestFloodOfAddresses(t *testing.T) {
	many := &names{answers: map[string][][]netip.Addr{"many.test": {make([]netip.Addr, maxAddresses+1)}}, lookups: map[string]int{}}
	if _, f := New(decision.Network{Mode: "strict"}, Options{Resolver: many}).Fetch(context.Background(), Request{URL: "http://many.test/"}); f == nil || f.Reason != DNSNoAddresses {
		t.Errorf("%+v", f)
	}
}
