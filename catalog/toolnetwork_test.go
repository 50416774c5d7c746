package catalog_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// here resolves every name to one address of this machine.
type here netip.Addr

func (h here) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.Addr(h)}, nil
}

// ownAddress is a loopback address that other tests on this machine hardly
// use at the same time: the ports are fixed. Some systems have 127.0.0.1 alone.
func ownAddress() netip.Addr {
	pid := os.Getpid()
	own := netip.AddrFrom4([4]byte{127, 64 + byte(pid>>16&63), byte(pid >> 8), byte(pid&0xfe) | 1})
	l, err := net.Listen("tcp", netip.AddrPortFrom(own, 0).String())
	if err != nil {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	_ = l.Close()
	return own
}

// stage serves whatever the tools call, each host at its own port of this
// machine, with the handler of the moment.
type stage struct {
	addr    netip.Addr
	roots   *x509.CertPool
	private []string // the hosts, with their ports, that an operator has to open
	handler atomic.Pointer[http.HandlerFunc]
}

// newStage serves every address of the fixtures of tools.
func newStage(t *testing.T, recordings map[string]catalog.Recording) *stage {
	t.Helper()
	s := &stage{addr: ownAddress(), roots: x509.NewCertPool()}
	schemes, hosts := map[string]string{}, []string{} // port -> scheme
	for tool, r := range recordings {
		for _, f := range r.Fixtures {
			u, err := url.Parse(f.Request.URL)
			if err != nil {
				t.Fatalf("%s: %v", tool, err)
			}
			port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
			if is := schemes[port]; is != "" && is != u.Scheme {
				t.Fatalf("%s: port %s is of %s and %s", tool, port, is, u.Scheme)
			}
			schemes[port] = u.Scheme
			hosts = append(hosts, u.Hostname())
			s.private = append(s.private, u.Hostname()+":"+port)
		}
	}
	slices.Sort(hosts)
	slices.Sort(s.private)
	s.private = slices.Compact(s.private)
	cert := s.certificate(t, slices.Compact(hosts))
	for port, scheme := range schemes {
		l, err := net.Listen("tcp", net.JoinHostPort(s.addr.String(), port))
		if err != nil {
			t.Skipf("port %s, at which tools call their fixed hosts, cannot be served here: %v", port, err)
		}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.handler.Load())(w, r) }))
		_ = server.Listener.Close()
		server.Listener = l
		if scheme == "https" {
			server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
			server.StartTLS()
		} else {
			server.Start()
		}
		t.Cleanup(server.Close)
	}
	return s
}

// certificate makes one for hosts, which the roots of s trust.
func (s *stage) certificate(t *testing.T, hosts []string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: hosts, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	s.roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (s *stage) answer(h http.HandlerFunc) { s.handler.Store(&h) }

// sent is a request as the server got it.
func sent(t *testing.T, r *http.Request) catalog.Sent {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return catalog.Sent{Method: r.Method, URL: scheme + r.Host + r.RequestURI, Header: r.Header.Get, Body: body}
}

// fromRecording answers as the fixtures of a tool say.
func fromRecording(t *testing.T, recording catalog.Recording) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request := sent(t, r)
		f, ok := recording.Match(request)
		if !ok {
			t.Errorf("unexpected request %s %s with %v and the body %s", request.Method, request.URL, r.Header, request.Body)
			f.Response.Status = http.StatusTeapot
		}
		w.Header()["Content-Type"] = nil // none unless the fixture has one
		for name, value := range f.Response.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(f.Response.Status)
		_, _ = w.Write(f.Response.Bytes())
	}
}

// hostile are answers that no documentation has. Each ends the call as a
// failure: none may pass for a result.
var hostile = []struct {
	name    string
	handler http.HandlerFunc
	code    string // "" = any failure
}{
	{"an error", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"message": "down"}`)
	}, ""},
	{"too many requests", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
	}, ""},
	{"nothing", func(http.ResponseWriter, *http.Request) {}, ""},
	{"half of an answer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"results": [{"na`)
	}, ""},
	{"a huge answer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := bytes.Repeat([]byte(`{"name": "x"},`), 1<<12)
		_, _ = io.WriteString(w, "[")
		for written := 0; written < 11<<20; written += len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, "{}]")
	}, ""},
	{"a redirect to another host", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://elsewhere.test/")
		w.WriteHeader(http.StatusFound)
	}, "SECURITY"},
	{"no answer in time", func(_ http.ResponseWriter, r *http.Request) {
		// A server sees that the client left only once the body is read.
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
	}, "TIMEOUT"},
}

// onlyLive are cases that need the gate to follow a redirect, which fixtures
// by themselves do not.
var onlyLive = map[string][]catalog.Case{
	"extractPageContent": {{
		Why:  "links are resolved against where the page came from in the end",
		Args: jsontext.Value(`{"pageUrl": "https://old.example.com/"}`),
		Want: jsontext.Value(`"{\"title\":\"Moved\",\"content\":\"Here now\",\"links\":[{\"text\":\"now\",\"url\":\"https://new.example.com/deep/sub\"}]}"`),
	}},
}

// odd are answers that are well formed and not what was asked for. A tool may
// take one for an empty result; what it may not do is stumble over it.
var odd = []string{
	`null`, `true`, `7`, `"text"`, `[]`, `{}`, `[null]`, `[[]]`, `[7]`, `{"data":null}`, `{"response":{"header":{"resultCode":"00"}}}`,
	`{"items":[null]}`, `{"results":[{}]}`, `{"items":[{}]}`, `{"hits":[{}]}`, `[{}]`,
	`<a/>`, `<feed><entry/></feed>`,
}

// TestNetworkTools runs the tools that use the network through the real gate,
// against a server on this machine that answers from their fixtures.
func TestNetworkTools(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	recordings := map[string]catalog.Recording{}
	var tools []*catalog.Tool
	for _, tool := range bundledTools(t) {
		recording, ok, err := catalog.Fixtures(tool)
		if err != nil {
			t.Fatal(err)
		}
		networked := tool.Spec.Overrides != nil && !slices.Contains([]string{"", "blocked"}, deref(tool.Spec.Overrides.NetworkMode))
		if ok != networked {
			t.Errorf("%s uses the network: %v, has fixtures: %v", tool.Spec.Name, networked, ok)
		}
		if ok {
			tools, recordings[tool.Spec.Name] = append(tools, tool), recording
		}
	}
	stage := newStage(t, recordings)
	network := broker.Options{Egress: &egress.Options{Resolver: here(stage.addr), RootCAs: stage.roots}}
	rt := js.New(js.Options{})
	defer func() { _ = rt.Close() }()
	opened := builtinPolicy(t, resolver.Operator{PrivateHosts: stage.private})
	closed := builtinPolicy(t, resolver.Operator{})
	for _, tool := range tools {
		name := tool.Spec.Name
		t.Run(name, func(t *testing.T) {
			stage.answer(fromRecording(t, recordings[name]))
			for _, tc := range casesOf(t, name) {
				t.Run(tc.Name(), func(t *testing.T) {
					check(t, tc, callWithin(t, rt, tool, tc, opened, network, 0, stage.private))
				})
			}
			for _, tc := range onlyLive[name] {
				t.Run(tc.Name(), func(t *testing.T) {
					check(t, tc, callWithin(t, rt, tool, tc, opened, network, 0, stage.private))
				})
			}
			for _, h := range hostile {
				t.Run(h.name, func(t *testing.T) {
					stage.answer(h.handler)
					limit := 10 * time.Second
					if h.code == "TIMEOUT" {
						limit = 300 * time.Millisecond
					}
					reply := callWithin(t, rt, tool, catalog.Case{}, opened, network, limit, stage.private)
					if f := reply.Failure; f == nil || h.code != "" && f.Code != h.code {
						t.Errorf("got %s, %+v", reply.Result, f)
					}
				})
			}
			for _, body := range odd {
				t.Run(body, func(t *testing.T) {
					stage.answer(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
					reply := callWithin(t, rt, tool, catalog.Case{}, opened, network, 0, stage.private)
					if f := reply.Failure; f != nil && slices.Contains([]string{"TypeError", "ReferenceError", "RangeError", "URIError"}, f.Reason) {
						t.Errorf("got %s at line %d: %s", f.Reason, f.Line, f.Message)
					}
				})
			}
			t.Run("a private address that nobody opened", func(t *testing.T) {
				stage.answer(fromRecording(t, recordings[name]))
				reply := call(t, rt, tool, catalog.Case{}, closed, network)
				if f := reply.Failure; f == nil || f.Code != "SECURITY" || f.Reason != egress.ResolvedPrivateIP {
					t.Errorf("got %+v", reply)
				}
			})
		})
	}
}
