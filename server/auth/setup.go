package auth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/server/auth/certs"
	"github.com/toolwarrant/toolwarrant/server/auth/oidc"
)

// Setup is authentication as a configuration wants it.
type Setup struct {
	// Auth says who sends a request; nil = nobody is asked.
	Auth Authenticator
	// TLS are the files of the listener; nil = it has no TLS.
	TLS *certs.Source
	// Upstream is that a proxy in front ends TLS.
	Upstream bool
	// Methods are the kinds of credentials that are taken.
	Methods []string
}

// Listener puts TLS in front of ln, where there is any.
func (s Setup) Listener(ln net.Listener) net.Listener {
	if s.TLS == nil {
		return ln
	}
	return tls.NewListener(ln, s.TLS.Config())
}

// Config is the TLS of the listener; nil = it has none.
func (s Setup) Config() *tls.Config {
	if s.TLS == nil {
		return nil
	}
	return s.TLS.Config()
}

// Encrypted reports whether what callers send does not cross a network in the
// clear.
func (s Setup) Encrypted() bool { return s.TLS != nil || s.Upstream }

// Hosts are the names by which cfg lets clients call this server: those that
// are allowed, and that of the resource.
func Hosts(cfg *config.Config) []string {
	hosts := slices.Clone(cfg.Server.AllowedHosts)
	if u, err := url.Parse(cfg.Auth.Resource); err == nil && u.Host != "" {
		hosts = append(hosts, u.Host)
	}
	return hosts
}

// renewEvery is how often the TLS files are looked at.
const renewEvery = 2 * time.Second

// FromConfig makes what cfg wants of the parts. It begins to ask the identity
// provider and to watch the TLS files, until ctx ends. keys are the API keys
// of the installation, of which nothing is read here. What is configured and
// cannot be is USAGE, reason "auth" or "tls-files".
func FromConfig(ctx context.Context, cfg *config.Config, keys Keys, log zerolog.Logger) (Setup, error) {
	s := Setup{Upstream: cfg.TLS.TerminatedUpstream}
	o := Options{Resource: cfg.Auth.Resource, Name: cfg.Name}
	if t := cfg.TLS; t.CertFile != "" || t.KeyFile != "" {
		if t.TerminatedUpstream {
			return s, wrong("tls.terminated-upstream says that a proxy ends TLS, and tls.cert-file that this server does; set one of them")
		}
		var err error
		if s.TLS, err = certs.Open(certs.Files{Cert: t.CertFile, Key: t.KeyFile, ClientCA: t.ClientCAFile}, log); err != nil {
			return s, err
		}
	}
	if cfg.TLS.ClientCAFile != "" {
		if s.TLS == nil {
			return s, wrong("tls.client-ca-file needs TLS that this server ends; set tls.cert-file and tls.key-file too")
		}
		s.Methods = append(s.Methods, MethodCert)
		o.Certificates = &Certificates{Pool: s.TLS.Pool, Subject: cfg.Auth.MTLS.Subject, Groups: cfg.Auth.MTLS.Groups}
	}
	if cfg.Auth.APIKeys {
		s.Methods = append(s.Methods, MethodKey)
		o.Keys = keys
	}
	if cfg.Auth.OIDC.Issuer != "" {
		v, err := tokens(ctx, cfg.Auth, log)
		if err != nil {
			return s, err
		}
		s.Methods = append(s.Methods, MethodOIDC)
		o.Tokens = v
	}
	if s.TLS != nil {
		go s.TLS.Watch(ctx, renewEvery)
	}
	if o.Keys == nil && o.Tokens == nil && o.Certificates == nil {
		return s, nil
	}
	chain, err := New(o)
	if err != nil {
		return s, wrong("%v", err)
	}
	s.Auth = chain
	return s, nil
}

// tokens makes the verifier of access tokens.
func tokens(ctx context.Context, a config.Auth, log zerolog.Logger) (Tokens, error) {
	if a.Resource == "" {
		return nil, wrong("auth.oidc.issuer needs auth.resource: the URI by which clients know this server, such as https://tools.example.com/mcp, which tokens have to be for")
	}
	if _, err := metadataURL(a.Resource); err != nil {
		return nil, wrong("auth.resource: %v", err)
	}
	o := oidc.Options{
		Issuer: a.OIDC.Issuer, Audience: a.OIDC.Audience, Algorithms: a.OIDC.Algorithms, Scopes: a.OIDC.Scopes,
		GroupsClaim: a.OIDC.GroupsClaim, TypedOnly: a.OIDC.TypedTokens, Skew: time.Duration(a.OIDC.ClockSkewSeconds) * time.Second, Logger: log,
	}
	if o.Audience == "" {
		o.Audience = a.Resource
	}
	if a.OIDC.CAFile != "" {
		text, err := os.ReadFile(a.OIDC.CAFile)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(text) {
			return nil, wrong("auth.oidc.ca-file: %s holds no certificate in PEM form that can be read", a.OIDC.CAFile)
		}
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	}
	v, err := oidc.New(ctx, o)
	if err != nil {
		return nil, wrong("%v", err)
	}
	return v, nil
}

func wrong(format string, args ...any) *fault.Error {
	return fault.New(fault.Usage, "auth", format, args...)
}
