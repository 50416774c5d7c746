// Package certs keeps the TLS files of a listener: the certificate of the
// server with its key, and the authorities of client certificates. They are
// read again when they change, all together or not at all: what cannot be used
// is logged, and what was good stays in force.
package certs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/tick"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// maxFile bounds a file of certificates, in bytes.
const maxFile = 4 << 20

// Files are paths of PEM files.
type Files struct {
	Cert     string // of the server, with those between it and its authority
	Key      string // to Cert, readable by its owner alone
	ClientCA string // authorities of client certificates, "" = none
}

// Source is the TLS files as they are in force. It is safe for concurrent use.
type Source struct {
	files Files
	log   zerolog.Logger
	now   atomic.Pointer[loaded]

	mu   sync.Mutex
	said string // the last refusal
	told string // what was last told of the time of the certificate
}

type loaded struct {
	pair *tls.Certificate
	pool *x509.CertPool
	sum  [sha256.Size]byte
}

// Open reads the files. What cannot be used is USAGE, reason "tls-files", or
// that of keyring.ReadSecretFile.
func Open(f Files, log zerolog.Logger) (*Source, error) {
	if f.Cert == "" || f.Key == "" {
		return nil, fault.New(fault.Usage, "tls-files", "TLS needs a certificate and its key; set both tls.cert-file and tls.key-file")
	}
	s := &Source{files: f, log: log}
	l, err := f.read()
	if err != nil {
		return nil, err
	}
	s.now.Store(l)
	s.tellAge(l)
	return s, nil
}

// Leaf is the certificate of the server that is in force at this moment.
func (s *Source) Leaf() *x509.Certificate { return s.now.Load().pair.Leaf }

// tellAge logs once that a certificate has ended, is not good yet, or is in the
// last tenth of its time. It stays in force: clients say what they think of it,
// and a new one is taken over without a restart.
func (s *Source) tellAge(l *loaded) {
	leaf, now := l.pair.Leaf, time.Now()
	text := ""
	switch left := leaf.NotAfter.Sub(now); {
	case left <= 0:
		text = "the certificate of this server has expired: clients refuse it; renew the file of tls.cert-file"
	case now.Before(leaf.NotBefore):
		text = "the certificate of this server is not good yet: clients refuse it"
	case left < leaf.NotAfter.Sub(leaf.NotBefore)/10:
		text = "the certificate of this server expires soon; renew the file of tls.cert-file"
	}
	if text != "" && text != s.told {
		s.log.Warn().Str("file", s.files.Cert).Time("from", leaf.NotBefore).Time("expires", leaf.NotAfter).Msg(text)
	}
	s.told = text
}

// Pool are the authorities of client certificates at this moment, nil = none
// are taken.
func (s *Source) Pool() *x509.CertPool { return s.now.Load().pool }

// Config is for the listener. It gives the certificate that is in force when
// a connection begins, and asks for one of the client where authorities are
// named. It does not check that one: package auth does, for each request.
func (s *Source) Config() *tls.Config {
	c := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.now.Load().pair, nil },
	}
	if s.files.ClientCA == "" {
		return c
	}
	c.ClientAuth = tls.RequestClientCert
	return c
}

// Renew reads the files if they changed, and reports whether that put others
// into force. A refusal is logged once.
func (s *Source) Renew() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.files.read()
	switch {
	case err != nil:
		if text := err.Error(); text != s.said {
			s.said = text
			s.log.Error().Err(err).Msg("the TLS files changed and cannot be used; what was good stays in force")
		}
		return false, err
	case l.sum == s.now.Load().sum:
		s.said = ""
		s.tellAge(l)
		return false, nil
	}
	s.said = ""
	s.now.Store(l)
	s.log.Info().Time("expires", l.pair.Leaf.NotAfter).Msg("the TLS files were renewed")
	s.told = ""
	s.tellAge(l)
	return true, nil
}

// Watch calls Renew until ctx ends.
func (s *Source) Watch(ctx context.Context, every time.Duration) {
	for range tick.Every(ctx, every) {
		_, _ = s.Renew() // which logs it
	}
}

func (f Files) read() (*loaded, error) {
	key, err := keyring.ReadSecretFile(f.Key)
	if err != nil {
		return nil, err
	}
	cert, err := readFile(f.Cert)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, unusable("the certificate %s and the key %s are no pair in PEM form", f.Cert, f.Key)
	}
	l := &loaded{pair: &pair}
	if pair.Leaf == nil {
		if pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
			return nil, unusable("the certificate %s cannot be read", f.Cert)
		}
	}
	var ca []byte
	if f.ClientCA != "" {
		if ca, err = readFile(f.ClientCA); err != nil {
			return nil, err
		}
		if l.pool = x509.NewCertPool(); !l.pool.AppendCertsFromPEM(ca) {
			return nil, unusable("the file %s holds no certificate in PEM form", f.ClientCA)
		}
	}
	l.sum = sha256.Sum256(bytes.Join([][]byte{cert, key, ca}, []byte{0}))
	return l, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		why := err
		if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
			why = pathErr.Err
		}
		return nil, unusable("the certificates %s cannot be read: %v", path, why).Because(err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil || len(b) > maxFile {
		return nil, unusable("the certificates %s cannot be read, or are too long", path).Because(err)
	}
	return b, nil
}

func unusable(format string, args ...any) *fault.Error {
	return fault.New(fault.Usage, "tls-files", format, args...)
}
