// Package oidc checks the access tokens of one identity provider, as a
// resource server of OAuth 2.1 does: signed JWTs (RFC 7519, RFC 9068), whose
// keys the provider publishes (OpenID Connect Discovery 1.0, RFC 8414,
// RFC 7517).
//
// What is believed of a token before its signature is checked is that it names
// our issuer, an algorithm from the list and a key; nothing else, and never a
// key that it brings itself. Then it has to be for this resource, to end, and
// to be in its time. A text that could be two callers' is refused and not
// cleaned.
//
// The provider is asked in the background: at the start until it answers, then
// from time to time. A token whose key is unknown has it asked at once, but
// not more often than once in Options.MinRefetch, whoever sends how many such
// tokens. While there are no keys, no token can be checked, and Verify says
// so; it never lets one pass.
package oidc

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/rs/zerolog"
)

// Options configure a Verifier.
type Options struct {
	// Issuer is the provider, exactly as its tokens name it: https, or http to
	// a loopback address.
	Issuer string
	// Audience is what tokens have to be for, the URI of the resource.
	Audience   string
	Algorithms []string // of signatures, from Algorithms
	Scopes     []string // that each token has to have
	// GroupsClaim is the name of a claim, or an RFC 6901 pointer to it.
	GroupsClaim string
	TypedOnly   bool          // only tokens of type at+jwt
	Skew        time.Duration // how much clocks may differ
	TLS         *tls.Config   // for asking the provider, nil = the system's
	Logger      zerolog.Logger

	// Refresh is after which time keys are asked for again; 15 minutes.
	Refresh time.Duration
	// MinRefetch is the least time between two attempts to get keys that
	// tokens give cause to; 10 seconds.
	MinRefetch time.Duration
	// MaxStale is how long keys count that cannot be renewed; 24 hours.
	MaxStale time.Duration
	Now      func() time.Time // nil = the system's clock
}

// Algorithms are those that can be configured. None of them has a key that is
// shared, so that nobody can take a public key for one.
var Algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	opt    Options
	algs   []jose.SignatureAlgorithm
	client *http.Client

	mu        sync.Mutex
	keys      []key // nil = none yet
	fetched   time.Time
	attempted time.Time
	failed    error         // of the last attempt
	asking    chan struct{} // closed when the attempt ends; nil = none goes on
}

// Caller is who a token is of.
type Caller struct {
	Subject, ClientID string
	Groups, Scopes    []string
}

// Refused is why a token does not hold. It holds nothing of the token.
type Refused struct {
	Reason string // stable word
	// Insufficient is that the token holds and lacks a scope.
	Insufficient bool
}

// Error implements error.
func (r *Refused) Error() string { return "the token does not hold: " + r.Reason }

// ErrNoKeys is that the keys of the provider could not be had so far, or not
// for too long.
var ErrNoKeys = errors.New("oidc: the keys of the issuer could not be fetched")

// New makes a Verifier and begins to ask the provider, until ctx ends. It does
// not wait: a provider that is down keeps no server from starting.
func New(ctx context.Context, o Options) (*Verifier, error) {
	if o.Audience == "" || len(o.Algorithms) == 0 || o.GroupsClaim == "" {
		return nil, errors.New("oidc: audience, algorithms and the claim of groups are needed")
	}
	if err := checkURL(o.Issuer); err != nil {
		return nil, err
	}
	v := &Verifier{opt: o}
	for _, a := range o.Algorithms {
		known := false
		for _, k := range Algorithms {
			known = known || a == k
		}
		if !known {
			return nil, errors.New("oidc: an algorithm is not one of " + strings.Join(Algorithms, ", "))
		}
		v.algs = append(v.algs, jose.SignatureAlgorithm(a))
	}
	if v.opt.Now == nil {
		v.opt.Now = time.Now
	}
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&v.opt.Refresh, 15 * time.Minute}, {&v.opt.MinRefetch, 10 * time.Second}, {&v.opt.MaxStale, 24 * time.Hour}} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	v.client = &http.Client{
		Timeout: fetchPatience,
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: fetchPatience}).DialContext,
			TLSClientConfig:        o.TLS,
			TLSHandshakeTimeout:    fetchPatience,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxDocument,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        time.Minute,
		},
		// The issuer is named exactly; where it sends us on to is not.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	go v.keepFresh(ctx)
	return v, nil
}

// Issuer is whose tokens are taken.
func (v *Verifier) Issuer() string { return v.opt.Issuer }

// Scopes are those that each token has to have.
func (v *Verifier) Scopes() []string { return v.opt.Scopes }

// checkURL wants https, or http to this host.
func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" {
		return errors.New("oidc: the issuer is no URL without user, query and fragment")
	}
	if u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()) {
		return nil
	}
	return errors.New("oidc: the issuer has to be asked over https")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
