package allow

import (
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// writeCA gives a file with the certificate of a server.
func writeCA(t testing.TB, s *httptest.Server) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestSNI demands the name of the host in TLS, where it is TLS.
func TestSNI(t *testing.T) {
	o := newOutside(t)
	// Only root has the port of HTTPS; the address is nobody else's.
	at443 := "127.77." + strconv.Itoa(os.Getpid()%250) + ".1"
	l, err := net.Listen("tcp", at443+":443")
	has443 := err == nil
	if has443 {
		defer l.Close()
	}
	o.names.rows["tls.test"] = []string{at443}
	j := newJail(t, o.list(t, func(a *sandbox.AllowList, _ *Options) {
		a.SNI = true
		a.Hosts = append(a.Hosts, "tls.test:443")
		a.Private = append(a.Private, "tls.test:443")
	}))
	secure, echo := strconv.Itoa(o.secure), strconv.Itoa(o.echo)
	for _, tc := range []struct {
		name   string
		probe  string
		args   []string
		want   string
		reason string
	}{
		{"the name", "tls", []string{"example.com:" + secure, "example.com"}, "shaken", ""},
		{"the name in capitals", "tls", []string{"example.com:" + secure, "EXAMPLE.com"}, "shaken", ""},
		{"another name", "tls", []string{"example.com:" + secure, "front.test"}, "", SNIMismatch},
		{"no name", "tls", []string{"example.com:" + secure, ""}, "", SNIMissing},
		{"not TLS, at a port that is not TLS's", "say", []string{"db.test:" + echo, "select 1"}, "select 1", ""},
		{"begins like TLS, and is not", "say", []string{"db.test:" + echo, "\x16\x03nonsense that is no hello"}, "", NotTLS},
		{"half of it", "say", []string{"db.test:" + echo, "\x16\x03\x01\x01\x00\x01"}, "", NotTLS},
		{"not TLS, at TLS's port", "say", []string{"tls.test:443", "GET / HTTP/1.1\r\n\r\n"}, "", NotTLS},
		{"nothing, at TLS's port", "say", []string{"tls.test:443", ""}, "", NotTLS},
		{"another name, at TLS's port", "tls", []string{"tls.test:443", "front.test"}, "", SNIMismatch},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if !has443 && tc.args[0] == "tls.test:443" {
				t.Skip(err)
			}
			log := j.proxy.Log()
			defer log.Close()
			r := j.try(tc.probe, tc.args...)
			if r.Err == "" != (tc.reason == "") || r.Err == "" && r.Out != tc.want {
				t.Errorf("%+v, want %q", r, tc.want)
			}
			j.proxy.Cut()
			list, _ := log.Connections()
			if len(list) != 1 || list[0].Allowed != (tc.reason == "") || tc.reason != "" && (list[0].Reason != tc.reason || list[0].Out != 0) {
				t.Errorf("ledger %+v, want reason %q", list, tc.reason)
			}
		})
	}
}

// TestConnectionsAreBounded floods the list with connections that say nothing.
func TestConnectionsAreBounded(t *testing.T) {
	o := newOutside(t)
	j := newJail(t, o.list(t, func(_ *sandbox.AllowList, opts *Options) { opts.MaxConnections = 10 }))
	log := j.proxy.Log()
	echo := "db.test:" + strconv.Itoa(o.echo)
	if r := j.try("flood", echo, "200"); r.Out != "10" {
		t.Errorf("%+v live, want 10", r)
	}
	j.proxy.Cut()
	if r := j.try("say", echo, "x"); r.Out != "x" {
		t.Errorf("after the flood: %+v", r)
	}
	j.proxy.Cut()
	list, missed := log.Connections()
	many := 0
	for _, c := range list {
		if c.Reason == TooMany && c.Host == "db.test" && !c.Allowed {
			many++
		}
	}
	if len(list) != 12 || many != 1 || missed != 0 {
		t.Errorf("%d entries, %d of them say so, %d missed", len(list), many, missed)
	}
}

// TestEnds are the ways in which connections end from here.
func TestEnds(t *testing.T) {
	o := newOutside(t)
	for _, tc := range []struct {
		name   string
		change func(*Options)
		reason string
	}{
		{"idle", func(opts *Options) { opts.Idle = 50 * time.Millisecond }, Idle},
		{"lifetime", func(opts *Options) { opts.Lifetime = 50 * time.Millisecond }, Ended},
	} {
		l := o.list(t, func(_ *sandbox.AllowList, opts *Options) { tc.change(opts) })
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p := l.Serve([]net.Listener{as{ln, &net.TCPAddr{IP: l.names0(t), Port: o.echo}}}, nil, nil)
		p.names.of("db.test")
		log := p.Log()
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if n, err := c.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: read %d", tc.name, n)
		}
		p.Close()
		p.Close()
		if list, _ := log.Connections(); len(list) != 1 || list[0].Reason != tc.reason || !list[0].Allowed {
			t.Errorf("%s: %+v", tc.name, list)
		}
		c.Close()
	}
}

// names0 is the address that the first name gets.
func (l *List) names0(t testing.TB) net.IP {
	t.Helper()
	return newNames().of("first").AsSlice()
}

// as is a listener whose connections say that they were made to another
// address: what an accepted connection of a sandbox is.
type as struct {
	net.Listener
	to net.Addr
}

func (l as) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return asConn{c.(*net.TCPConn), l.to}, nil
}

type asConn struct {
	*net.TCPConn
	to net.Addr
}

func (c asConn) LocalAddr() net.Addr { return c.to }
