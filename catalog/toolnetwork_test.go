package catalog_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// here resolves every name to this machine.
type here struct{}

func (here) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// upstream is a TLS server for host on port 443 of this machine, and the
// roots that trust it.
func upstream(t *testing.T, host string, handler http.Handler) *x509.CertPool {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:443")
	if err != nil {
		t.Skipf("port 443, at which the tool calls its fixed host, cannot be served here: %v", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	s := httptest.NewUnstartedServer(handler)
	_ = s.Listener.Close()
	s.Listener = l
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return roots
}

// TestNetworkTools runs the tools that use the network through the real gate,
// against a server on this machine that answers from their fixtures.
func TestNetworkTools(t *testing.T) {
	c, err := catalog.Open(context.Background(), catalog.Options{Preset: "everything"})
	if err != nil {
		t.Fatal(err)
	}
	tool, err := c.Lookup(context.Background(), "getWeather")
	if err != nil {
		t.Fatal(err)
	}
	fixtures, _, err := catalog.Fixtures(tool)
	if err != nil {
		t.Fatal(err)
	}
	roots := upstream(t, "wttr.in", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "application/json" {
			t.Errorf("Accept is %q", r.Header.Get("Accept"))
		}
		f, ok := catalog.MatchFixture(fixtures, r.Method, "https://"+r.Host+r.RequestURI)
		if !ok {
			t.Errorf("unexpected request %s %s%s", r.Method, r.Host, r.RequestURI)
			f.Response.Status = http.StatusTeapot
		}
		for name, value := range f.Response.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(f.Response.Status)
		_, _ = w.Write(f.Response.Bytes())
	}))
	network := broker.Options{Egress: &egress.Options{Resolver: here{}, RootCAs: roots}}
	rt := js.New(js.Options{})
	defer func() { _ = rt.Close() }()

	opened := builtinPolicy(t, resolver.Operator{PrivateHosts: []string{"wttr.in:443"}})
	for _, tc := range toolCases {
		if tc.tool == tool.Spec.Name {
			t.Run(tc.args, func(t *testing.T) {
				check(t, tc, call(t, rt, tool, tc.args, opened, network))
			})
		}
	}
	t.Run("a private address that nobody opened", func(t *testing.T) {
		reply := call(t, rt, tool, "", builtinPolicy(t, resolver.Operator{}), network)
		if f := reply.Failure; f == nil || f.Code != "SECURITY" || f.Reason != egress.ResolvedPrivateIP {
			t.Errorf("got %+v", reply)
		}
	})
}
