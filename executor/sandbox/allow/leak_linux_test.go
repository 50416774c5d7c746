package allow

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestNothingIsLeft closes lists in the middle of their work.
func TestNothingIsLeft(t *testing.T) {
	o := newOutside(t)
	l := o.list(t, nil)
	count := func() (int, int) {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		// Those of the list alone: other tests have some of their own.
		stacks := make([]byte, 1<<22)
		stacks = stacks[:runtime.Stack(stacks, true)]
		return strings.Count(string(stacks), "allow.(*Proxy)") + strings.Count(string(stacks), "allow.(*carrier)"), len(fds)
	}
	_, before := count()
	for range 20 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		dns, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p := l.Serve([]net.Listener{as{ln, &net.TCPAddr{IP: l.names0(t), Port: o.echo}}}, udp, dns)
		p.names.of("db.test")
		var guests []net.Conn
		for i := range 20 {
			at := ln
			if i%4 == 0 {
				at = dns
			}
			c, err := net.Dial("tcp", at.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = c.Write([]byte("x"))
			guests = append(guests, c)
		}
		p.Close()
		for _, c := range guests {
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			for {
				if _, err := c.Read(make([]byte, 10)); err != nil {
					if os.IsTimeout(err) {
						t.Error("a connection lives on")
					}
					break
				}
			}
			c.Close()
		}
	}
	// The other ends, which are the test's, take a moment.
	for wait := 0; ; wait++ {
		ours, fds := count()
		if ours == 0 && fds <= before+2 {
			return
		}
		if wait == 500 {
			t.Fatalf("%d goroutines of the list; %d descriptors, %d before", ours, fds, before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
