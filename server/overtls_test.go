package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring/apikey"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

// issued is a certificate with its key, signed by another or by itself.
type issued struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func issue(t *testing.T, name string, by *issued) *issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name, OrganizationalUnit: []string{"finance"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, IsCA: by == nil, BasicConstraintsValid: true,
	}
	if by == nil {
		by = &issued{tmpl, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, by.cert, key.Public(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &issued{cert, key}
}

func (i *issued) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw})
}
func (i *issued) keyPEM(t *testing.T) []byte {
	b, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b})
}

func (i *issued) pair() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{i.cert.Raw}, PrivateKey: i.key}
}

// TestOverTLS: client certificates and API keys side by side, over HTTP/1.1 and
// HTTP/2, from files that change while it serves.
func TestOverTLS(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca, stranger := issue(t, "ca", nil), issue(t, "other-ca", nil)
	own := issue(t, "server", ca)
	cfg := &config.Config{Name: "test"}
	cfg.Auth.APIKeys, cfg.Auth.MTLS = true, config.MTLS{Subject: "cn", Groups: "ou"}
	cfg.TLS = config.TLS{CertFile: put("cert.pem", own.certPEM()), KeyFile: put("key.pem", own.keyPEM(t)), ClientCAFile: put("clients.pem", ca.certPEM())}
	keys := apikey.Open(filepath.Join(dir, "keys"), nil)
	token, _, err := keys.Create(apikey.Wanted{Name: "ci"}, func(apikey.Entry) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	setup, err := auth.FromConfig(ctx, cfg, keys, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	s := New(Options{Caller: f, Auth: setup.Auth, TLS: setup.Config(), Logger: zerolog.Nop(), DrainTimeout: time.Second})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	url := "https://" + ln.Addr().String() + "/mcp"

	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	post := func(client *issued, bearer, body string, h2 bool, hdr map[string]string) (*http.Response, string) {
		t.Helper()
		c := &tls.Config{RootCAs: roots}
		if client != nil {
			// Sent whatever authorities the server names.
			c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { p := client.pair(); return &p, nil }
		}
		tr := &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: h2}
		defer tr.CloseIdleConnections()
		req, _ := http.NewRequest("POST", url, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if bearer != "" {
			req.Header.Set("Authorization", "Bearer "+bearer)
		}
		for k, v := range hdr {
			req.Header.Set(k, v)
		}
		res, err := (&http.Client{Transport: tr, Timeout: time.Minute}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(bytes.TrimSpace(b))
	}
	agent := issue(t, "agent-1", ca)
	for _, h2 := range []bool{false, true} {
		// A session of an older version, whose answers are streams.
		res, body := post(agent, "", initialize, h2, nil)
		session := map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": res.Header.Get("Mcp-Session-Id")}
		if res.StatusCode != 200 || (res.ProtoMajor == 2) != h2 {
			t.Fatalf("h2 %v: %s %d %s", h2, res.Proto, res.StatusCode, body)
		}
		if res, body := post(agent, "", echoCall, h2, session); res.StatusCode != 200 || !strings.Contains(body, "SENT") {
			t.Errorf("h2 %v: %d %s", h2, res.StatusCode, body)
		}
		if p := f.last().Principal; p.Subject != "agent-1" || p.Method != "mtls" || p.Groups[0] != "finance" {
			t.Errorf("%+v", p)
		}
		if res, _ := post(nil, token, echoCall, h2, session); res.StatusCode != 404 {
			t.Errorf("h2 %v: a session of another kind of caller: %d", h2, res.StatusCode)
		}
		f.refused = nil
		for _, tc := range []struct {
			client *issued
			bearer string
			reason string
		}{
			{nil, "", "missing"}, {issue(t, "agent-1", stranger), "", "untrusted"}, {issue(t, "agent-1", nil), "", "untrusted"}, {agent, token, "ambiguous"},
		} {
			if res, body := post(tc.client, tc.bearer, echoCall, h2, nil); res.StatusCode != 401 {
				t.Errorf("%s: %d %s", tc.reason, res.StatusCode, body)
			}
			if n := len(f.refused); n == 0 || f.refused[n-1].Reason != tc.reason {
				t.Errorf("%s: %+v", tc.reason, f.refused)
			}
		}
	}
	// The authority is replaced while it serves.
	put("clients.pem", stranger.certPEM())
	if changed, err := setup.TLS.Renew(); err != nil {
		t.Fatal(changed, err)
	}
	if res, _ := post(agent, "", initialize, true, nil); res.StatusCode != 401 {
		t.Errorf("of an authority that is gone: %d", res.StatusCode)
	}
	if res, body := post(issue(t, "agent-2", stranger), "", initialize, true, nil); res.StatusCode != 200 {
		t.Errorf("of the new authority: %d %s", res.StatusCode, body)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestWrongSetups: what cannot be is said before anything is served.
func TestWrongSetups(t *testing.T) {
	for name, change := range map[string]func(*config.Config){
		"half a pair":            func(c *config.Config) { c.TLS.CertFile = "x" },
		"files that are missing": func(c *config.Config) { c.TLS.CertFile, c.TLS.KeyFile = "none", "none" },
		"authorities alone":      func(c *config.Config) { c.TLS.ClientCAFile = "x" },
		"both ends of TLS":       func(c *config.Config) { c.TLS.CertFile, c.TLS.KeyFile, c.TLS.TerminatedUpstream = "x", "y", true },
		"no resource":            func(c *config.Config) { c.Auth.OIDC.Issuer = "https://idp.example" },
		"a resource with a query": func(c *config.Config) {
			c.Auth.OIDC.Issuer, c.Auth.Resource = "https://idp.example", "https://a.example/mcp?x"
		},
		"issuer in the clear": func(c *config.Config) {
			c.Auth.OIDC.Issuer, c.Auth.Resource, c.Auth.OIDC.Algorithms = "http://idp.example", "https://a.example/mcp", []string{"RS256"}
		},
		"no algorithm": func(c *config.Config) {
			c.Auth.OIDC.Issuer, c.Auth.Resource = "https://idp.example", "https://a.example/mcp"
		},
		"no authorities of the issuer": func(c *config.Config) {
			c.Auth.OIDC.Issuer, c.Auth.Resource, c.Auth.OIDC.CAFile = "https://idp.example", "https://a.example/mcp", "none"
		},
	} {
		cfg := &config.Config{}
		cfg.Auth.OIDC.GroupsClaim = "groups"
		change(cfg)
		ctx, stop := context.WithCancel(context.Background())
		s, err := auth.FromConfig(ctx, cfg, nil, zerolog.Nop())
		stop()
		if err == nil || fault.From(err).Code != fault.Usage || s.Auth != nil {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	s, err := auth.FromConfig(context.Background(), &config.Config{}, nil, zerolog.Nop())
	if err != nil || s.Auth != nil || s.TLS != nil || s.Encrypted() {
		t.Errorf("nothing is configured: %+v, %v", s, err)
	}
}
