// Package remote is what the audit sinks on the network share: whom they
// trust and how they send over HTTP.
//
// A destination is named by the operator, in the configuration, and nobody
// else: no caller, author or policy can choose or change one. So its address
// may be a private one, unlike that of a fetch of a tool (package
// executor/egress, whose gate none of this goes through). What holds instead:
// TLS 1.2 or newer with a verified certificate, except to a loopback address;
// no redirect is followed; no proxy, cookie or credential comes from the
// environment; answers are bounded; credentials come from files that their
// owner alone can read, are read again for each request, and are in no error.
package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"os"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// TLS says whom a sink trusts and who it is itself. Files are PEM.
type TLS struct {
	CAFile     string // certificates that are trusted; "" = those of the system
	ServerName string // that the certificate has to have; "" = the host of the address
	CertFile   string // of this side, "" = none; read anew for each connection
	KeyFile    string // to CertFile
}

// Config reads what there is now, so that a mistake is found at the start.
func (t TLS) Config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		text, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, usage("sink-tls", "the CA file of an audit sink cannot be read: %v", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, usage("sink-tls", "the CA file %s holds no certificate in PEM form", t.CAFile)
		}
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		return nil, usage("sink-tls", "an audit sink has a cert-file or a key-file without the other; name both")
	}
	if t.CertFile != "" {
		if _, err := t.own(); err != nil {
			return nil, err
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.own() }
	}
	return c, nil
}

func (t TLS) own() (*tls.Certificate, error) {
	key, err := keyring.ReadSecretFile(t.KeyFile)
	if err != nil {
		return nil, err
	}
	cert, err := os.ReadFile(t.CertFile)
	if err != nil {
		return nil, usage("sink-tls", "the certificate of an audit sink cannot be read: %v", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, usage("sink-tls", "the certificate %s and the key %s are no pair in PEM form", t.CertFile, t.KeyFile)
	}
	return &pair, nil
}

// IsLoopback reports whether host is this machine, by its spelling alone: no
// name server is asked.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || host == "localhost"
}

// CheckAddress wants host:port.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil && (host == "" || port == "" || port == "0") {
		err = errors.New("host or port is missing")
	}
	if err != nil {
		return usage("sink-address", "the address of an audit sink is host:port, not %q", address)
	}
	return nil
}

func usage(reason, format string, args ...any) *fault.Error {
	return fault.New(fault.Usage, reason, format, args...)
}
