package syslog

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
	"github.com/toolwarrant/toolwarrant/audit/sink/sinktest"
	"github.com/toolwarrant/toolwarrant/fault"
)

// message is RFC 5424, as far as we use it.
var message = regexp.MustCompile(`(?s)^<(\d+)>1 (\S+) (\S{1,255}) (toolwarrant) (\d+) (\S{1,32}) - (.*)$`)

// receiver reads frames over TLS.
type receiver struct {
	t     *testing.T
	ln    net.Listener
	mu    sync.Mutex
	lines []string
	raw   []byte
	conns []net.Conn
}

func start(t *testing.T, id sinktest.Identity, config *tls.Config) *receiver {
	t.Helper()
	config.Certificates = []tls.Certificate{id.Pair}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{t: t, ln: ln}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.conns = append(r.conns, c)
			r.mu.Unlock()
			go r.serve(c)
		}
	}()
	return r
}

func (r *receiver) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		count, err := in.ReadString(' ')
		if err != nil {
			return
		}
		n, err := strconv.Atoi(strings.TrimSuffix(count, " "))
		if err != nil || count[0] == '0' {
			r.t.Errorf("frame of length %q", count)
			return
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(in, b); err != nil {
			return
		}
		m := message.FindSubmatch(b)
		if m == nil {
			r.t.Errorf("no message of RFC 5424: %q", b)
			return
		}
		r.mu.Lock()
		r.raw = append(r.raw, b...)
		r.lines = append(r.lines, string(m[7]))
		r.mu.Unlock()
	}
}

func (r *receiver) got() []string { r.mu.Lock(); defer r.mu.Unlock(); return slices.Clone(r.lines) }

// cut ends every connection.
func (r *receiver) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

func mustNew(t *testing.T, address string, conf remote.TLS) *Sink {
	t.Helper()
	s, err := New(Options{Address: address, TLS: conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestDestination(t *testing.T) {
	id := sinktest.NewIdentity(t, "logs.example")
	sinktest.Run(t, func(t *testing.T) sinktest.Destination {
		r := start(t, id, &tls.Config{})
		proxy := sinktest.NewProxy(t, r.ln.Addr().String())
		return sinktest.Destination{
			Proxy: proxy, Lines: r.got,
			Sink: func(t *testing.T) audit.Sink {
				return mustNew(t, proxy.Addr, remote.TLS{CAFile: id.CAFile, ServerName: "logs.example"})
			},
			Raw: func() []byte { r.mu.Lock(); defer r.mu.Unlock(); return bytes.Clone(r.raw) },
		}
	})
}

// TestTrust: what is not the receiver that was named gets nothing.
func TestTrust(t *testing.T) {
	id, other := sinktest.NewIdentity(t, "logs.example"), sinktest.NewIdentity(t, "logs.example")
	r := start(t, id, &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: id.Pool})
	for name, c := range map[string]struct {
		conf remote.TLS
		ok   bool
	}{
		"all right":          {remote.TLS{CAFile: id.CAFile, ServerName: "logs.example", CertFile: id.CertFile, KeyFile: id.KeyFile}, true},
		"by address":         {remote.TLS{CAFile: id.CAFile, CertFile: id.CertFile, KeyFile: id.KeyFile}, true},
		"another name":       {remote.TLS{CAFile: id.CAFile, ServerName: "other.example", CertFile: id.CertFile, KeyFile: id.KeyFile}, false},
		"another authority":  {remote.TLS{CAFile: other.CAFile, ServerName: "logs.example", CertFile: id.CertFile, KeyFile: id.KeyFile}, false},
		"of the system":      {remote.TLS{ServerName: "logs.example"}, false},
		"no certificate":     {remote.TLS{CAFile: id.CAFile, ServerName: "logs.example"}, false},
		"another's identity": {remote.TLS{CAFile: id.CAFile, ServerName: "logs.example", CertFile: other.CertFile, KeyFile: other.KeyFile}, false},
	} {
		before := len(r.got())
		err := mustNew(t, r.ln.Addr().String(), c.conf).Write(t.Context(), [][]byte{[]byte("{}")}, true)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if !c.ok && len(r.got()) != before {
			t.Errorf("%s: the receiver got a line", name)
		}
	}
	if _, err := New(Options{Address: "host"}); fault.From(err) == nil || fault.From(err).Reason != "sink-address" {
		t.Errorf("an address without a port: %v", err)
	}
}

// TestSentAgain: lines that went into a connection that ended are sent over
// the next one, before anything new, and without anything new.
func TestSentAgain(t *testing.T) {
	id := sinktest.NewIdentity(t, "logs.example")
	r := start(t, id, &tls.Config{})
	s := mustNew(t, r.ln.Addr().String(), remote.TLS{CAFile: id.CAFile})
	write := func(text string) {
		t.Helper()
		for s.Write(t.Context(), [][]byte{[]byte(text)}, true) != nil {
		}
	}
	arrived := func(text string, times int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			_ = s.Settle(t.Context()) // as the spool does, until it works
			n := 0
			for _, l := range r.got() {
				if l == text {
					n++
				}
			}
			if n >= times {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s arrived %d times, want %d: %q", text, n, times, r.got())
			}
		}
	}
	write("one")
	arrived("one", 1)
	gone := s.gone
	r.cut()
	<-gone
	arrived("one", 2)
	r.cut()
	write("two")
	arrived("two", 1)
	if got := r.got(); !slices.Equal(got[len(got)-2:], []string{"one", "two"}) {
		t.Errorf("got %q", got)
	}
	// What is old enough has arrived.
	s.now = func() time.Time { return time.Now().Add(2 * settled) }
	if err := s.Settle(t.Context()); err != nil || len(s.recent) != 0 {
		t.Errorf("%v, %d lines are kept", err, len(s.recent))
	}
}

func TestFrame(t *testing.T) {
	s := newSource("a höst\n", 42)
	for line, want := range map[string]string{
		`{"time":"2026-11-28T10:00:00.000001Z","phase":"close","outcome":"OK"}`:     `<110>1 2026-11-28T10:00:00.000001Z a_h_st_ toolwarrant 42 close - `,
		`{"time":"2026-11-28T10:00:00.000001Z","phase":"close","outcome":"DENIED"}`: `<109>1 2026-11-28T10:00:00.000001Z a_h_st_ toolwarrant 42 close - `,
		`{"phase":"a b"}`: `<110>1 - a_h_st_ toolwarrant 42 a_b - `,
		"é no record":     `<110>1 - a_h_st_ toolwarrant 42 - - `,
	} {
		want += line
		if got := string(s.frame(nil, []byte(line))); got != strconv.Itoa(len(want))+" "+want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// FuzzFrame: whatever a line holds, a frame is one message.
func FuzzFrame(f *testing.F) {
	f.Add("host", []byte(`{"phase":"close\n<1>"}`))
	f.Fuzz(func(t *testing.T, host string, line []byte) {
		b := newSource(host, 1).frame(nil, line)
		count, rest, _ := bytes.Cut(b, []byte(" "))
		m := message.FindSubmatch(rest)
		if string(count) != strconv.Itoa(len(rest)) || m == nil || !bytes.Equal(m[7], line) {
			t.Errorf("%q", b)
		}
	})
}

var _ interface{ Settle(context.Context) error } = (*Sink)(nil)
