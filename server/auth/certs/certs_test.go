package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/fault"
)

func put(t *testing.T, path string, b []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, b, mode); err != nil {
		t.Fatal(err)
	}
}

// pair writes a certificate of its own with its key.
func pair(t *testing.T, dir, name string) (cert, key []byte) {
	t.Helper()
	return pairOf(t, dir, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

// pairOf writes one that is good between two times.
func pairOf(t *testing.T, dir, name string, from, until time.Time) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: from,
		NotAfter: until, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b})
	put(t, filepath.Join(dir, "cert.pem"), cert, 0o644)
	put(t, filepath.Join(dir, "key.pem"), key, 0o600)
	return cert, key
}

func files(dir string) Files {
	return Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), ClientCA: filepath.Join(dir, "ca.pem")}
}

// shown is the name of the certificate that a client gets to see.
func shown(t *testing.T, c *tls.Config, version uint16) (string, error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln = tls.NewListener(ln, c)
	defer ln.Close()
	go func() {
		if conn, err := ln.Accept(); err == nil {
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	conn, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true, MaxVersion: version})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName, nil
}

// TestRenew: what is good comes into force for new connections; what is broken
// is logged once and changes nothing.
func TestRenew(t *testing.T) {
	dir := t.TempDir()
	cert, key := pair(t, dir, "first.example")
	put(t, filepath.Join(dir, "ca.pem"), cert, 0o644)
	var log bytes.Buffer
	s, err := Open(files(dir), zerolog.New(&log))
	if err != nil {
		t.Fatal(err)
	}
	config := s.Config()
	if name, err := shown(t, config, 0); err != nil || name != "first.example" {
		t.Fatalf("%q, %v", name, err)
	}
	if _, err := shown(t, config, tls.VersionTLS11); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if changed, err := s.Renew(); changed || err != nil {
		t.Errorf("nothing changed: %v, %v", changed, err)
	}
	pool := s.Pool()

	_, otherKey := pair(t, dir, "second.example")
	put(t, filepath.Join(dir, "key.pem"), key, 0o600) // not its key
	for range 3 {
		if changed, err := s.Renew(); changed || fault.From(err).Reason != "tls-files" {
			t.Errorf("no pair: %v, %v", changed, err)
		}
	}
	if n := strings.Count(log.String(), "what was good stays in force"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
	if name, _ := shown(t, config, 0); name != "first.example" || s.Pool() != pool {
		t.Errorf("a broken pair is in force: %q", name)
	}
	put(t, filepath.Join(dir, "key.pem"), otherKey, 0o600)
	if changed, err := s.Renew(); !changed || err != nil {
		t.Errorf("%v, %v", changed, err)
	}
	if name, _ := shown(t, config, 0); name != "second.example" || s.Pool() == pool {
		t.Errorf("%q is in force", name)
	}
	if strings.Contains(log.String(), "PRIVATE") {
		t.Error("the log has a key")
	}
}

// TestAge: a certificate that clients refuse, or will soon, is told once, and
// again when it is replaced by another one of the kind.
func TestAge(t *testing.T) {
	hour := func(n int) time.Time { return time.Now().Add(time.Duration(n) * time.Hour) }
	for name, tc := range map[string]struct {
		from, until time.Time
		want        string
	}{
		"expired":  {hour(-48), hour(-24), "has expired"},
		"too soon": {hour(24), hour(48), "is not good yet"},
		"its end":  {hour(-99), hour(1), "expires soon"},
		"good":     {hour(-24), hour(24), ""},
	} {
		dir := t.TempDir()
		pairOf(t, dir, "a.example", tc.from, tc.until)
		f := files(dir)
		f.ClientCA = ""
		var log bytes.Buffer
		s, err := Open(f, zerolog.New(&log))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := s.Renew(); err != nil {
				t.Fatal(err)
			}
		}
		told := 0
		if tc.want != "" {
			told = 1
		}
		if n := strings.Count(log.String(), "the certificate of this server"); n != told || !strings.Contains(log.String(), tc.want) {
			t.Errorf("%s: told %d times:\n%s", name, n, log.String())
		}
		pairOf(t, dir, "a.example", tc.from, tc.until)
		if changed, err := s.Renew(); !changed || err != nil {
			t.Fatal(changed, err)
		}
		if n := strings.Count(log.String(), "the certificate of this server"); n != 2*told {
			t.Errorf("%s: of the next one, told %d times:\n%s", name, n, log.String())
		}
		if !s.Leaf().NotAfter.Equal(tc.until.UTC().Truncate(time.Second)) {
			t.Errorf("%s: it ends at %v", name, s.Leaf().NotAfter)
		}
	}
}

// TestOpen: what cannot be used keeps the server from starting.
func TestOpen(t *testing.T) {
	for name, spoil := range map[string]func(dir string, f *Files){
		"no certificate": func(_ string, f *Files) { f.Cert = "" },
		"no key":         func(_ string, f *Files) { f.Key = "" },
		"missing":        func(dir string, _ *Files) { _ = os.Remove(filepath.Join(dir, "cert.pem")) },
		"no PEM":         func(dir string, _ *Files) { put(t, filepath.Join(dir, "cert.pem"), []byte("x"), 0o644) },
		"no authorities": func(dir string, _ *Files) { put(t, filepath.Join(dir, "ca.pem"), []byte("x"), 0o644) },
		"too long":       func(dir string, _ *Files) { put(t, filepath.Join(dir, "ca.pem"), make([]byte, maxFile+1), 0o644) },
		"a key for all":  func(dir string, _ *Files) { _ = os.Chmod(filepath.Join(dir, "key.pem"), 0o644) },
	} {
		if name == "a key for all" && runtime.GOOS == "windows" {
			continue
		}
		dir := t.TempDir()
		cert, _ := pair(t, dir, "a.example")
		put(t, filepath.Join(dir, "ca.pem"), cert, 0o644)
		f := files(dir)
		spoil(dir, &f)
		if _, err := Open(f, zerolog.Nop()); err == nil || fault.From(err).Code != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
