package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCheckCertificate: before a start it is said until when the certificate of
// the server is good. One that clients refuse is no reason not to start, since
// it is taken over anew without a restart.
func TestCheckCertificate(t *testing.T) {
	day := 24 * time.Hour
	for name, tc := range map[string]struct {
		from, until time.Duration
		want        string
	}{
		"good":     {-day, day, "tls      the certificate is good until 2"},
		"expired":  {-2 * day, -day, "tls      the certificate EXPIRED at 2"},
		"too soon": {day, 2 * day, "tls      the certificate is NOT GOOD before 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(tc.from), NotAfter: time.Now().Add(tc.until)}
			der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
			if err != nil {
				t.Fatal(err)
			}
			pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
			if err != nil {
				t.Fatal(err)
			}
			config := filepath.Join(dir, "c.yaml")
			err = errors.Join(
				os.WriteFile(filepath.Join(dir, "tls.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644),
				os.WriteFile(filepath.Join(dir, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600),
				os.WriteFile(config, []byte("tls: {cert-file: tls.crt, key-file: tls.key}\n"), 0o600),
			)
			if err != nil {
				t.Fatal(err)
			}
			check := exec.Command("toolwarrant", "serve", "--check-config", "--config", config, "--home", filepath.Join(dir, "home"))
			check.Dir = dir
			out, err := check.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tc.want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
