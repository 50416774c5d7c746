package egress

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// names is a resolver over a table; each lookup takes the next answer of its
// name and the last one stays.
type names struct {
	mu      sync.Mutex
	answers map[string][][]netip.Addr
	lookups map[string]int
}

func newNames(table map[string]string) *names {
	n := &names{answers: map[string][][]netip.Addr{}, lookups: map[string]int{}}
	for host, answers := range table {
		for answer := range strings.SplitSeq(answers, ";") {
			var addrs []netip.Addr
			for a := range strings.FieldsSeq(answer) {
				addrs = append(addrs, netip.MustParseAddr(a))
			}
			n.answers[host] = append(n.answers[host], addrs)
		}
	}
	return n
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list, ok := n.answers[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	i := min(n.lookups[host], len(list)-1)
	n.lookups[host]++
	return list[i], nil
}

func serve(t *testing.T, h http.HandlerFunc) (port string, srv *httptest.Server) {
	t.Helper()
	srv = httptest.NewServer(h)
	t.Cleanup(srv.Close)
	u, _ := url.Parse(srv.URL)
	return u.Port(), srv
}

func open(hosts ...string) decision.Network {
	return decision.Network{Mode: "strict", PrivateHosts: hosts}
}

func TestFetch(t *testing.T) {
	var got *http.Request
	var sent []byte
	port, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Add("X-Two", "1")
		w.Header().Add("X-Two", "2")
		w.WriteHeader(201)
		fmt.Fprint(w, "hello")
	})
	c := New(open("a.test:"+port), Options{Resolver: newNames(map[string]string{"a.test": "127.0.0.1"}), UserAgent: "toolwarrant/1"})
	resp, f := c.Fetch(context.Background(), Request{
		URL: "http://A.test:" + port + "/p?q=1#f", Method: "post", Body: []byte("body"),
		Headers: []Header{
			{"Content-Type", "text/x"}, {"X-A", " padded "}, {"Host", "evil.test"}, {"Connection", "upgrade"}, {"Upgrade", "h2c"},
			{"Content-Length", "999"}, {"Transfer-Encoding", "chunked"}, {"Expect", "100-continue"}, {"Proxy-Authorization", "x"},
			{"Proxy-Connection", "x"}, {"TE", "x"}, {"Accept-Encoding", "br"}, {"Authorization", "Bearer t"},
		},
	})
	if f != nil {
		t.Fatal(f)
	}
	if resp.Status != 201 || resp.StatusText != "Created" || string(resp.Body) != "hello" || resp.Truncated || resp.NextStartIndex != nil {
		t.Errorf("response %+v", resp)
	}
	if resp.URL != "http://a.test:"+port+"/p?q=1" || resp.ContentType() != "text/plain; charset=utf-8" {
		t.Errorf("url %q, content type %q", resp.URL, resp.ContentType())
	}
	var two []string
	for _, h := range resp.Headers {
		if h.Name == "x-two" {
			two = append(two, h.Value)
		}
	}
	if diff := cmp.Diff([]string{"1", "2"}, two); diff != "" {
		t.Error(diff)
	}
	if got.Method != "POST" || string(sent) != "body" || got.Host != "a.test:"+port || got.ContentLength != 4 || got.RequestURI != "/p?q=1" {
		t.Errorf("request %v %q %v %v %v", got.Method, sent, got.Host, got.ContentLength, got.RequestURI)
	}
	if got.Header.Get("X-A") != "padded" || got.Header.Get("User-Agent") != "toolwarrant/1" || got.Header.Get("Authorization") != "Bearer t" {
		t.Errorf("headers %v", got.Header)
	}
	for _, name := range []string{"Upgrade", "Expect", "Proxy-Authorization", "Proxy-Connection", "Te"} {
		if v := got.Header.Get(name); v != "" {
			t.Errorf("%s was sent: %q", name, v)
		}
	}
	if diff := cmp.Diff([]Entry{{Host: "a.test:" + port, IP: "127.0.0.1", Status: 201, Bytes: 5}}, c.Ledger()); diff != "" {
		t.Error(diff)
	}
}

func TestResolvedAddresses(t *testing.T) {
	var hits atomic.Int64
	port, _ := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	table := newNames(map[string]string{
		"private.test": "127.0.0.1", "mixed.test": "93.184.216.34 127.0.0.1", "mapped.test": "::ffff:127.0.0.1",
		"six.test": "::1", "nat64.test": "64:ff9b::7f00:1", "none.test": "", "meta.test": "169.254.169.254", "own.test": "198.41.0.4",
	})
	opts := Options{Resolver: table, OwnAddresses: func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("198.41.0.4")}, nil }}
	tests := []struct{ host, mode, want string }{
		{"private.test", "strict", ResolvedPrivateIP},
		{"private.test", "allowlist", ResolvedPrivateIP},
		{"mixed.test", "strict", ResolvedPrivateIP},
		{"mapped.test", "strict", ResolvedPrivateIP},
		{"six.test", "strict", ResolvedPrivateIP},
		{"nat64.test", "strict", ResolvedPrivateIP},
		{"meta.test", "strict", ResolvedPrivateIP},
		{"own.test", "strict", ResolvedPrivateIP},
		{"198.41.0.4", "strict", LiteralPrivateIP},
		{"none.test", "strict", DNSNoAddresses},
		{"absent.test", "strict", DNSResolutionFailed},
		{"absent.test", "open", DNSUnknownHost},
		{"127.0.0.1", "strict", LiteralPrivateIP},
		{"2130706433", "strict", LiteralPrivateIP},
	}
	for _, tt := range tests {
		c := New(decision.Network{Mode: tt.mode, Hosts: []string{"*"}}, opts)
		_, f := c.Fetch(context.Background(), Request{URL: "http://" + tt.host + ":" + port + "/"})
		if f == nil || f.Reason != tt.want {
			t.Errorf("%s in %s: %+v, want %s", tt.host, tt.mode, f, tt.want)
		}
		if l := c.Ledger(); len(l) != 1 || l[0].Status != 0 || l[0].IP != "" {
			t.Errorf("%s: ledger %+v", tt.host, l)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests arrived", hits.Load())
	}
	c := New(decision.Network{Mode: "open", HostsDeny: []string{"127.0.0.0/8"}}, opts)
	if _, f := c.Fetch(context.Background(), Request{URL: "http://private.test:" + port}); f == nil || f.Reason != HostInDenylist {
		t.Errorf("a denied range behind a name: %+v", f)
	}
}

func TestRebinding(t *testing.T) {
	// The name has one address when it is checked and another a moment
	// later. One lookup has to serve both the check and the connection, so
	// the second address is never seen.
	var hits atomic.Int64
	port, _ := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	table := newNames(map[string]string{"rebind.test": "127.0.0.1;127.0.0.2", "public.test": "93.184.216.34;127.0.0.1"})
	c := New(open("rebind.test:"+port), Options{Resolver: table})
	if _, f := c.Fetch(context.Background(), Request{URL: "http://rebind.test:" + port + "/"}); f != nil {
		t.Fatal(f)
	}
	if n := table.lookups["rebind.test"]; n != 1 || c.Ledger()[0].IP != "127.0.0.1" {
		t.Errorf("resolved %d times for one connection, connected to %s", n, c.Ledger()[0].IP)
	}
	// The next fetch is checked anew: public at first, private now.
	if addrs, f := resolveFor(c, "http://public.test/"); f != nil || len(addrs) != 1 {
		t.Errorf("first: %v %+v", addrs, f)
	}
	if _, f := c.Fetch(context.Background(), Request{URL: "http://public.test:" + port + "/"}); f == nil || f.Reason != ResolvedPrivateIP {
		t.Errorf("second: %+v", f)
	}
	if hits.Load() != 1 {
		t.Errorf("%d requests arrived", hits.Load())
	}
}

func resolveFor(c *Client, url string) ([]netip.Addr, *worker.Failure) {
	target, f := parseTarget(url)
	if f != nil {
		return nil, f
	}
	return c.resolve(context.Background(), target, true)
}

func TestDialerKeepsToCheckedAddresses(t *testing.T) {
	port, _ := serve(t, func(http.ResponseWriter, *http.Request) {})
	loopback := netip.MustParseAddr("127.0.0.1")
	var p uint16
	fmt.Sscan(port, &p)
	used := func(netip.Addr) { t.Error("connected") }
	// A private address that slipped into the list of a guarded target.
	if _, err := New(decision.Network{}, Options{}).dialer([]netip.Addr{loopback}, p, true, used)(context.Background(), "tcp", "ignored:1"); !errors.Is(err, errUnchecked) {
		t.Errorf("guarded dial of loopback: %v", err)
	}
	// What it is asked to dial does not count.
	var got netip.Addr
	conn, err := New(decision.Network{}, Options{}).dialer([]netip.Addr{loopback}, p, false, func(a netip.Addr) { got = a })(context.Background(), "tcp", "8.8.8.8:53")
	if err != nil || got != loopback {
		t.Fatalf("dialled %v: %v", got, err)
	}
	if conn.RemoteAddr().String() != "127.0.0.1:"+port {
		t.Errorf("connected to %v", conn.RemoteAddr())
	}
	conn.Close()
}

func TestRedirectToPrivate(t *testing.T) {
	var hits atomic.Int64
	inner, _ := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	to := ""
	outer, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", to); w.WriteHeader(302) })
	table := newNames(map[string]string{"a.test": "127.0.0.1", "b.test": "127.0.0.1"})
	tests := []struct{ to, want string }{
		{"http://127.0.0.1:" + inner + "/", LiteralPrivateIP},
		{"http://[::ffff:127.0.0.1]:" + inner + "/", LiteralPrivateIP},
		{"http://0x7f000001:" + inner + "/", LiteralPrivateIP},
		{"//127.1:" + inner + "/", LiteralPrivateIP},
		{"http://b.test:" + inner + "/", ResolvedPrivateIP},
		{"http://a.test:" + inner + "/", ResolvedPrivateIP}, // the same host, another port
		{"http://169.254.169.254/latest/meta-data/", LiteralPrivateIP},
		{"file:///etc/passwd", UnsupportedScheme},
		{"ftp://a.test/", UnsupportedScheme},
		{"http://user:pw@a.test:" + inner, InvalidURL},
		{"http://", MissingHost},
		{"http://a.test:99999/", InvalidURL},
	}
	for _, tt := range tests {
		to = tt.to
		c := New(open("a.test:"+outer), Options{Resolver: table})
		_, f := c.Fetch(context.Background(), Request{URL: "http://a.test:" + outer + "/"})
		if f == nil || f.Reason != tt.want {
			t.Errorf("%s: %+v, want %s", tt.to, f, tt.want)
		}
		if l := c.Ledger(); l[0].Status != 302 {
			t.Errorf("%s: ledger %+v", tt.to, l)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests arrived", hits.Load())
	}
	// In allowlist mode each hop needs its host on the list.
	to = "http://b.test:" + inner + "/"
	c := New(decision.Network{Mode: "allowlist", Hosts: []string{"a.test"}, PrivateHosts: []string{"a.test:" + outer, "b.test:" + inner}}, Options{Resolver: table})
	if _, f := c.Fetch(context.Background(), Request{URL: "http://a.test:" + outer}); f == nil || f.Reason != HostNotInAllowlist {
		t.Errorf("%+v", f)
	}
}

func TestRedirects(t *testing.T) {
	type seen struct {
		Method, Body, Auth, Cookie, Key, Type, Plain string
	}
	var last seen
	note := func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		last = seen{r.Method, string(b), r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("X-Api-Key"), r.Header.Get("Content-Type"), r.Header.Get("X-Plain")}
	}
	other, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { note(r) })
	port, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("n") == "" {
			note(r)
			return
		}
		to := "/"
		if q.Get("to") == "other" {
			to = "http://b.test:" + other + "/"
		}
		if q.Get("to") == "loop" {
			to = r.URL.String()
		}
		w.Header().Set("Location", to)
		var code int
		fmt.Sscan(q.Get("n"), &code)
		w.WriteHeader(code)
	})
	table := newNames(map[string]string{"a.test": "127.0.0.1", "b.test": "127.0.0.1"})
	full := seen{"POST", "b", "Bearer t", "c=1", "k", "text/x", "p"}
	get := seen{"GET", "", "Bearer t", "c=1", "k", "", "p"}
	cross := func(s seen) seen { s.Auth, s.Cookie, s.Key = "", "", ""; return s }
	tests := []struct {
		query, method string
		want          seen
	}{
		{"n=301", "POST", get}, {"n=302", "POST", get}, {"n=303", "POST", get}, {"n=307", "POST", full}, {"n=308", "POST", full},
		{"n=302&to=other", "POST", cross(get)}, {"n=307&to=other", "POST", cross(full)},
		{"n=301", "PUT", seen{"PUT", "b", "Bearer t", "c=1", "k", "text/x", "p"}}, {"n=303", "PUT", get},
		{"n=303", "HEAD", seen{"HEAD", "", "Bearer t", "c=1", "k", "text/x", "p"}},
	}
	for _, tt := range tests {
		last = seen{}
		c := New(open("a.test:"+port, "b.test:"+other), Options{Resolver: table})
		_, f := c.Fetch(context.Background(), Request{URL: "http://a.test:" + port + "/?" + tt.query, Method: tt.method, Body: []byte("b"), Headers: []Header{
			{"Authorization", "Bearer t"}, {"Cookie", "c=1"}, {"X-API-Key", "k"}, {"Content-Type", "text/x"}, {"X-Plain", "p"},
		}})
		if f != nil {
			t.Fatal(tt.query, f)
		}
		if diff := cmp.Diff(tt.want, last); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.method, tt.query, diff)
		}
	}
	c := New(open("a.test:"+port), Options{Resolver: table})
	if _, f := c.Fetch(context.Background(), Request{URL: "http://a.test:" + port + "/?n=302&to=loop"}); f == nil || f.Reason != TooManyRedirects {
		t.Errorf("loop: %+v", f)
	}
	if n := len(c.Ledger()); n != MaxRedirects+1 {
		t.Errorf("%d exchanges for 5 redirects", n)
	}
	resp, f := c.Fetch(context.Background(), Request{URL: "http://a.test:" + port + "/?n=304&to=other"})
	if f != nil || resp.Status != 304 {
		t.Errorf("304: %+v %+v", resp, f)
	}
}

func TestTLS(t *testing.T) {
	plain, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("reached over http") })
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, "http://example.com:"+plain+"/", http.StatusFound)
			return
		}
		fmt.Fprint(w, r.Proto)
	}))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = nil
	srv.StartTLS()
	t.Cleanup(srv.Close)
	u, _ := url.Parse(srv.URL)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	table := newNames(map[string]string{"example.com": "127.0.0.1", "wrong.test": "127.0.0.1"})
	network := open("example.com:"+u.Port(), "wrong.test:"+u.Port(), "example.com:"+plain)
	c := New(network, Options{Resolver: table, RootCAs: roots})
	resp, f := c.Fetch(context.Background(), Request{URL: "https://example.com:" + u.Port()})
	if f != nil || string(resp.Body) != "HTTP/2.0" || resp.StatusText != "OK" {
		t.Fatalf("%+v %+v", resp, f)
	}
	for target, want := range map[string]string{"https://example.com:%s/down": InsecureRedirect, "https://wrong.test:%s/": TLS} {
		if _, f := c.Fetch(context.Background(), Request{URL: fmt.Sprintf(target, u.Port())}); f == nil || f.Reason != want {
			t.Errorf("%s: %+v, want %s", target, f, want)
		}
	}
	if _, f := New(network, Options{Resolver: table}).Fetch(context.Background(), Request{URL: "https://example.com:" + u.Port()}); f == nil || f.Reason != TLS {
		t.Errorf("unknown authority: %+v", f)
	}
	if _, f := New(open("example.com:"+plain), Options{Resolver: table}).Fetch(context.Background(), Request{URL: "https://example.com:" + plain}); f == nil || f.Reason != TLS {
		t.Errorf("TLS to a plain server: %+v", f)
	}
}

func TestBody(t *testing.T) {
	ten := bytes.Repeat([]byte("0123456789"), MaxBody/10+1)[:MaxBody]
	port, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/small":
			fmt.Fprint(w, "0123456789")
		case "/max":
			_, _ = w.Write(ten)
		case "/over":
			_, _ = w.Write(append(append([]byte{}, ten...), 'x'))
		case "/endless":
			for {
				if _, err := w.Write(ten[:1<<16]); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 40 {
				if _, err := z.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
			z.Close()
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, "0123456789")
			z.Close()
		case "/headers":
			for i := range 400 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("v", 1024))
			}
		case "/cut":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "short")
		}
	})
	i64 := func(n int64) *int64 { return &n }
	tests := []struct {
		path       string
		start      int64
		max        *int64
		body       string
		next       *int64
		length     int
		wantReason string
	}{
		{path: "/small", body: "0123456789"},
		{path: "/small", max: i64(4), body: "0123", next: i64(4)},
		{path: "/small", start: 4, max: i64(4), body: "4567", next: i64(8)},
		{path: "/small", start: 8, max: i64(4), body: "89"},
		{path: "/small", max: i64(10), body: "0123456789"},
		{path: "/small", max: i64(0), body: "", next: i64(0)},
		{path: "/small", start: 10, body: ""},
		{path: "/small", start: 99, max: i64(5), body: ""},
		{path: "/small", max: i64(1 << 53), body: "0123456789"},
		{path: "/small", start: -1, wantReason: InvalidRange},
		{path: "/small", max: i64(-1), wantReason: InvalidRange},
		{path: "/small", start: MaxBody + 1, wantReason: InvalidRange},
		{path: "/gzip", body: "0123456789"},
		{path: "/max", length: MaxBody},
		{path: "/over", wantReason: ResponseTooLarge},
		{path: "/endless", wantReason: ResponseTooLarge},
		{path: "/endless", max: i64(3), body: "012", next: i64(3)},
		{path: "/bomb", wantReason: ResponseTooLarge},
		{path: "/headers", wantReason: IO},
		{path: "/cut", wantReason: IO},
	}
	for _, tt := range tests {
		c := New(open("127.0.0.1:"+port), Options{})
		resp, f := c.Fetch(context.Background(), Request{URL: "http://127.0.0.1:" + port + tt.path, StartIndex: tt.start, MaxLength: tt.max})
		if tt.wantReason != "" {
			if f == nil || f.Reason != tt.wantReason {
				t.Errorf("%s: %+v, want %s", tt.path, f, tt.wantReason)
			}
			continue
		}
		if f != nil {
			t.Errorf("%+v: %+v", tt, f)
			continue
		}
		if tt.length > 0 {
			if len(resp.Body) != tt.length || resp.Truncated {
				t.Errorf("%s: %d bytes, truncated %v", tt.path, len(resp.Body), resp.Truncated)
			}
			continue
		}
		if string(resp.Body) != tt.body || cmp.Diff(tt.next, resp.NextStartIndex) != "" || resp.Truncated != (tt.next != nil) {
			t.Errorf("%+v: body %q, truncated %v, next %v", tt, resp.Body, resp.Truncated, resp.NextStartIndex)
		}
		cut := (&Response{Body: []byte("0123456789")}).Cut(Request{StartIndex: tt.start, MaxLength: tt.max})
		if tt.path == "/small" && (string(cut.Body) != tt.body || cmp.Diff(tt.next, cut.NextStartIndex) != "") {
			t.Errorf("Cut %+v: %q %v", tt, cut.Body, cut.NextStartIndex)
		}
	}
}

func TestRequestsRefused(t *testing.T) {
	var hits atomic.Int64
	port, _ := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	tests := []struct {
		name string
		req  Request
		want string
	}{
		{"value injection", Request{Headers: []Header{{"X", "a\r\nY: b"}}}, InvalidHeader},
		{"value with NUL", Request{Headers: []Header{{"X", "a\x00"}}}, InvalidHeader},
		{"name injection", Request{Headers: []Header{{"X: y\r\nZ", "a"}}}, InvalidHeader},
		{"empty name", Request{Headers: []Header{{"", "a"}}}, InvalidHeader},
		{"name with a space", Request{Headers: []Header{{"X Y", "a"}}}, InvalidHeader},
		{"many headers", Request{Headers: make([]Header, maxHeaders+1)}, InvalidHeader},
		{"long headers", Request{Headers: []Header{{"X", strings.Repeat("a", maxHeaderBytes)}}}, InvalidHeader},
		{"method injection", Request{Method: "GET / HTTP/1.1\r\nX: y\r\n\r\nGET"}, InvalidMethod},
		{"CONNECT", Request{Method: "CONNECT"}, InvalidMethod},
		{"TRACE", Request{Method: "trace"}, InvalidMethod},
		{"large body", Request{Method: "POST", Body: make([]byte, MaxBody+1)}, RequestTooLarge},
	}
	for _, tt := range tests {
		tt.req.URL = "http://127.0.0.1:" + port
		_, f := New(open("127.0.0.1:"+port), Options{}).Fetch(context.Background(), tt.req)
		if f == nil || f.Reason != tt.want || f.Code != "INVALID_INPUT" {
			t.Errorf("%s: %+v, want %s", tt.name, f, tt.want)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests arrived", hits.Load())
	}
}

func TestEndOfCall(t *testing.T) {
	entered := make(chan struct{})
	port, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { close(entered); <-r.Context().Done() })
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-entered; cancel() }()
	if _, f := New(open("127.0.0.1:"+port), Options{}).Fetch(ctx, Request{URL: "http://127.0.0.1:" + port}); f == nil || f.Reason != Interrupted {
		t.Errorf("cancelled: %+v", f)
	}
	late, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if _, f := New(open("127.0.0.1:"+port), Options{}).Fetch(late, Request{URL: "http://127.0.0.1:" + port}); f == nil || f.Reason != Timeout {
		t.Errorf("out of time: %+v", f)
	}
}

func TestNoProxyFromEnvironment(t *testing.T) {
	proxy, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was used") })
	for _, k := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(k, "http://127.0.0.1:"+proxy)
	}
	port, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "direct") })
	c := New(open("a.test:"+port), Options{Resolver: newNames(map[string]string{"a.test": "127.0.0.1"})})
	if resp, f := c.Fetch(context.Background(), Request{URL: "http://a.test:" + port}); f != nil || string(resp.Body) != "direct" {
		t.Errorf("%+v %+v", resp, f)
	}
}

func TestFailuresShowNothingOfTheMachine(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	c := New(open("a.test:"+port), Options{Resolver: newNames(map[string]string{"a.test": "127.0.0.1"})})
	_, f := c.Fetch(context.Background(), Request{URL: "http://a.test:" + port})
	if f == nil || f.Reason != IO || strings.Contains(f.Message, "127.0.0.1") {
		t.Errorf("%+v", f)
	}
}
