package keyring

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

func pemFile(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	// What openssl writes before an EC key is passed over.
	text := append(pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{1}}), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})...)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBundleKeys(t *testing.T) {
	p256, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p521, _ := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	ec, err := x509.MarshalECPrivateKey(p256)
	ecFile := pemFile(t, "EC PRIVATE KEY", ec, err)
	p8, err := x509.MarshalPKCS8PrivateKey(p521)
	p8File := pemFile(t, "PRIVATE KEY", p8, err)
	rsaFile := pemFile(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey), nil)
	for file, alg := range map[string]string{ecFile: "ES256", p8File: "ES512", rsaFile: "RS256"} {
		s, err := ReadSigningKey(file)
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode([]byte(s.Public))
		v, err := ReadVerifyKey(pemFile(t, "PUBLIC KEY", block.Bytes, nil))
		if err != nil {
			t.Fatal(err)
		}
		if *v != s.VerifyKey || v.Algorithm != alg || len(v.ID) != 16 {
			t.Errorf("%s: pair %+v and %+v", alg, s.VerifyKey, v)
		}
	}

	_, edKey, _ := ed25519.GenerateKey(rand.Reader)
	ed, err := x509.MarshalPKCS8PrivateKey(edKey)
	edFile := pemFile(t, "PRIVATE KEY", ed, err)
	open := pemFile(t, "EC PRIVATE KEY", ec, nil)
	os.Chmod(open, 0o640)
	for name, tc := range map[string]struct {
		file, reason string
		read         func(string) error
	}{
		"another kind":              {edFile, "key-unusable", signing},
		"others can read it":        {open, "key-permissions", signing},
		"no file":                   {filepath.Join(t.TempDir(), "none"), "key-unreadable", signing},
		"a folder":                  {t.TempDir(), "key-unreadable", signing},
		"damaged":                   {pemFile(t, "PRIVATE KEY", []byte{1, 2}, nil), "key-unusable", signing},
		"a private key as a public": {ecFile, "key-unusable", verifying},
		"damaged public":            {pemFile(t, "PUBLIC KEY", []byte{1, 2}, nil), "key-unusable", verifying},
	} {
		if runtime.GOOS == "windows" && tc.reason == "key-permissions" {
			continue
		}
		err := tc.read(tc.file)
		if f := fault.From(err); err == nil || f.Code != fault.Usage || f.Reason != tc.reason {
			t.Errorf("%s: %v, want %s", name, err, tc.reason)
		}
	}
}

// TestCredentialOfSystemd: a service can have its keys from systemd.
func TestCredentialOfSystemd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode there")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "webhook.secret")
	if err := os.WriteFile(file, []byte("whsec_x"), 0o440); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecretFile(file); fault.From(err) == nil || fault.From(err).Reason != "key-permissions" {
		t.Errorf("of no service: %v", err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	if _, err := ReadSecretFile(file); err != nil {
		t.Error(err)
	}
}

func signing(file string) error   { _, err := ReadSigningKey(file); return err }
func verifying(file string) error { _, err := ReadVerifyKey(file); return err }
