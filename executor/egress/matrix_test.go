package egress

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolwarrant/toolwarrant/decision"
)

// world is an internet of two addresses: whoever dials a public one reaches
// the servers of the test, whoever dials a private one is noted.
type world struct {
	plain, secure string // addresses of the servers
	roots         *x509.CertPool
	names         *names

	mu      sync.Mutex
	private []string          // dialled
	seen    []*http.Request   // arrived
	answer  map[string]string // path -> Location
}

var publicAddr = netip.MustParseAddr("93.184.216.34")

func newWorld(t *testing.T) *world {
	w := &world{answer: map[string]string{}, roots: x509.NewCertPool()}
	w.names = newNames(map[string]string{
		"example.com": publicAddr.String(), "www.example.com": publicAddr.String(), "other.test": publicAddr.String(),
		"private.test": "10.1.2.3", "mixed.test": "93.184.216.34 10.1.2.3", "mapped.test": "::ffff:10.1.2.3", "nat64.test": "64:ff9b::a01:203",
	})
	big := bytes.Repeat([]byte("0123456789abcdef"), MaxBody/16)
	h := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, r)
		to, found := w.answer[r.URL.Path]
		w.mu.Unlock()
		if found {
			rw.Header().Set("Location", to)
			rw.WriteHeader(http.StatusFound)
			return
		}
		if r.URL.Path == "/big" {
			_, _ = rw.Write(big)
		}
		fmt.Fprint(rw, "ok")
	})
	plain, secure := httptest.NewServer(h), httptest.NewUnstartedServer(h)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	w.plain, w.secure = plain.Listener.Addr().String(), secure.Listener.Addr().String()
	w.roots.AddCert(secure.Certificate())
	return w
}

// client is a Client whose sockets lead into w. Everything up to the socket
// is the real thing.
func (w *world) client(n decision.Network) *Client {
	c := New(n, Options{Resolver: w.names, RootCAs: w.roots, OwnAddresses: func() ([]netip.Addr, error) { return nil, nil }})
	c.dial = func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
		if !isPublic(to.Addr()) {
			w.mu.Lock()
			w.private = append(w.private, to.String())
			w.mu.Unlock()
		}
		if to.Port() == 443 {
			return net.Dial("tcp", w.secure)
		}
		return net.Dial("tcp", w.plain)
	}
	return c
}

// TestMatrix tries every mode against every kind of target. open drops the
// check of addresses, and nothing else.
func TestMatrix(t *testing.T) {
	modes := []decision.Network{
		{Mode: "allowlist", Hosts: []string{"example.com", "private.test", "93.184.216.34", "10.1.2.3", "127.0.0.1", "169.254.169.254", "*.test"}},
		{Mode: "allowlist", Hosts: []string{"*"}},
		{Mode: "strict"},
		{Mode: "open"},
		{Mode: "open", HostsDeny: []string{"10.0.0.0/8", "169.254.0.0/16", "127.0.0.0/8"}},
		{Mode: "strict", PrivateHosts: []string{"private.test:80", "10.1.2.3:80"}},
		{Mode: "blocked"},
		{Mode: "permissive"},
	}
	type row [8]string // a reason for each mode, "" = reached
	all := func(reason string) row {
		return row{reason, reason, reason, reason, reason, reason, NotGranted, UnknownEgressLevel}
	}
	guarded := func(reason string) row {
		return row{reason, reason, reason, "", HostInDenylist, reason, NotGranted, UnknownEgressLevel}
	}
	exempt := func(reason string) row { r := guarded(reason); r[5] = ""; return r }
	long := strings.Repeat("v", maxHeaderBytes)
	for _, tc := range []struct {
		name     string
		url      string
		redirect string // of /go
		header   Header
		method   string
		want     row
	}{
		{name: "public name", url: "http://example.com/", want: all("")},
		{name: "public name, https", url: "https://example.com/", want: all("")},
		{name: "public literal", url: "http://93.184.216.34/", want: all("")},
		{name: "private name", url: "http://private.test/", want: exempt(ResolvedPrivateIP)},
		{name: "private name, another port", url: "http://private.test:8080/", want: guarded(ResolvedPrivateIP)},
		{name: "public and private addresses", url: "http://mixed.test/", want: guarded(ResolvedPrivateIP)},
		{name: "mapped behind a name", url: "http://mapped.test/", want: guarded(ResolvedPrivateIP)},
		{name: "NAT64 behind a name", url: "http://nat64.test/", want: row{ResolvedPrivateIP, ResolvedPrivateIP, ResolvedPrivateIP, "", "", ResolvedPrivateIP, NotGranted, UnknownEgressLevel}},
		{name: "private literal", url: "http://10.1.2.3/", want: exempt(LiteralPrivateIP)},
		{name: "private literal, hexadecimal", url: "http://0xa010203/", want: exempt(LiteralPrivateIP)},
		{name: "loopback", url: "http://0x7f.1/", want: guarded(LiteralPrivateIP)},
		{name: "loopback, mapped", url: "http://[::ffff:7f00:1]/", want: guarded(LiteralPrivateIP)},
		{name: "metadata", url: "http://169.254.169.254/", want: guarded(LiteralPrivateIP)},
		{name: "unspecified", url: "http://[::]/", want: row{HostNotInAllowlist, LiteralPrivateIP, LiteralPrivateIP, "", "", LiteralPrivateIP, NotGranted, UnknownEgressLevel}},
		{name: "redirect to a public name", url: "http://example.com/go", redirect: "http://other.test/", want: all("")},
		{name: "redirect to a private name", url: "http://example.com/go", redirect: "http://private.test:81/", want: guarded(ResolvedPrivateIP)},
		{name: "redirect to a private literal", url: "http://example.com/go", redirect: "http://127.1/", want: guarded(LiteralPrivateIP)},
		{name: "redirect up to https", url: "http://example.com/go", redirect: "https://example.com/", want: all("")},
		{name: "redirect down to http", url: "https://example.com/go", redirect: "http://example.com/", want: all(InsecureRedirect)},
		{name: "redirect to a file", url: "http://example.com/go", redirect: "file:///etc/passwd", want: all(UnsupportedScheme)},
		{name: "redirect to a URL with a password", url: "http://example.com/go", redirect: "http://a:b@example.com/", want: all(InvalidURL)},
		{name: "redirect to itself", url: "http://example.com/go", redirect: "/go", want: all(TooManyRedirects)},
		{name: "unknown name", url: "http://gone.test/", want: row{DNSResolutionFailed, DNSResolutionFailed, DNSResolutionFailed, DNSUnknownHost, DNSUnknownHost, DNSResolutionFailed, NotGranted, UnknownEgressLevel}},
		{name: "another scheme", url: "ftp://example.com/", want: all(UnsupportedScheme)},
		{name: "large body", url: "http://example.com/big", want: all(ResponseTooLarge)},
		{name: "injected header", url: "http://example.com/", header: Header{"X", "a\r\nb: c"}, want: all(InvalidHeader)},
		{name: "long header", url: "http://example.com/", header: Header{"X", long}, want: all(InvalidHeader)},
		{name: "method", url: "http://example.com/", method: "TRACE", want: all(InvalidMethod)},
	} {
		for i, n := range modes {
			w := newWorld(t)
			if tc.redirect != "" {
				w.answer["/go"] = tc.redirect
			}
			req := Request{URL: tc.url, Method: tc.method, Headers: []Header{{"Connection", "upgrade"}, {"Host", "evil.test"}}}
			if tc.header.Name != "" {
				req.Headers = append(req.Headers, tc.header)
			}
			c := w.client(n)
			resp, f := c.Fetch(context.Background(), req)
			got := ""
			if f != nil {
				got = f.Reason
			}
			if got != tc.want[i] {
				t.Errorf("%s in %v: %q, want %q", tc.name, n, got, tc.want[i])
			}
			if len(w.private) > 0 && n.Mode != "open" && tc.want[i] != "" {
				t.Errorf("%s in %v: dialled %v", tc.name, n, w.private)
			}
			for _, r := range w.seen {
				if strings.Contains(r.Host, "evil") || r.Header.Get("Connection") == "upgrade" {
					t.Errorf("%s in %v: headers %v of %s", tc.name, n, r.Header, r.Host)
				}
			}
			if f == nil && (resp.Status != 200 || len(c.Ledger()) == 0 || c.Ledger()[len(c.Ledger())-1].IP == "") {
				t.Errorf("%s in %v: %+v, ledger %+v", tc.name, n, resp, c.Ledger())
			}
		}
	}
}

// TestJudgedIsDialled sends each spelling of a host and looks at what the
// server was told: the Host header and the name in the TLS handshake are the
// host that the policy was asked about.
func TestJudgedIsDialled(t *testing.T) {
	for _, raw := range []string{
		"http://example.com/", "http://EXAMPLE.com./", "http://ｅxample.com:80/", "http://93.184.216.34/", "http://0x5db8d822/",
		"http://[::ffff:93.184.216.34]/", "http://[64:ff9b::5db8:d822]/", "http://93.12113954/", "http://0135.0270.0330.042/",
		"http://www.example.com:8080/?http://a.test/", "http://example.com#@a.test/", "http://example.com?@a.test/", "https://example.com/", "https://EXAMPLE.COM:443/",
	} {
		w := newWorld(t)
		target, f := parseTarget(raw)
		if f != nil {
			t.Fatal(raw, f)
		}
		c := w.client(decision.Network{Mode: "allowlist", Hosts: []string{target.host}})
		resp, f := c.Fetch(context.Background(), Request{URL: raw})
		if f != nil {
			t.Errorf("%s: %+v", raw, f)
			continue
		}
		r := w.seen[0]
		final, err := url.Parse(resp.URL)
		if r.Host != target.label() && r.Host != target.hostPort() || err != nil || final.Hostname() != target.host {
			t.Errorf("%s: judged %s, Host %s, final URL %s", raw, target.hostPort(), r.Host, resp.URL)
		}
		if r.TLS != nil && r.TLS.ServerName != target.host {
			t.Errorf("%s: judged %s, TLS asked for %s", raw, target.host, r.TLS.ServerName)
		}
		if l := c.Ledger(); len(l) != 1 || l[0].Host != target.label() || l[0].IP != publicAddr.String() {
			t.Errorf("%s: ledger %+v", raw, l)
		}
	}
}

// TestCredentialsDoNotComeBack strips at the first foreign hop and for good.
func TestCredentialsDoNotComeBack(t *testing.T) {
	w := newWorld(t)
	w.answer["/go"], w.answer["/back"] = "http://other.test/back", "http://example.com/end"
	_, f := w.client(decision.Network{Mode: "strict"}).Fetch(context.Background(), Request{URL: "http://example.com/go",
		Headers: []Header{{"Authorization", "Bearer t"}, {"Cookie", "c"}, {"X-Api-Key", "k"}, {"Accept", "text/x"}}})
	if f != nil {
		t.Fatal(f)
	}
	for i, r := range w.seen {
		has := slices.ContainsFunc([]string{"Authorization", "Cookie", "X-Api-Key"}, func(n string) bool { return r.Header.Get(n) != "" })
		if has != (i == 0) || r.Header.Get("Accept") != "text/x" {
			t.Errorf("hop %d to %s: %v", i, r.Host, r.Header)
		}
	}
	if len(w.seen) != 3 {
		t.Errorf("%d hops", len(w.seen))
	}
}
