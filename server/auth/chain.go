package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/keyring/apikey"
	"github.com/toolwarrant/toolwarrant/server/auth/oidc"
)

// Keys are the API keys of an installation; *apikey.Store is one.
type Keys interface {
	// Check gives the key of a token; the error is an apikey.Refused, or says
	// why none can be checked.
	Check(token string) (apikey.Entry, error)
}

// Tokens checks access tokens; *oidc.Verifier is one.
type Tokens interface {
	// Verify gives the caller of a token; the error is an *oidc.Refused, or
	// says why none can be checked.
	Verify(ctx context.Context, token string) (oidc.Caller, error)
	// Issuer is who makes them.
	Issuer() string
	// Scopes are those that each has to have.
	Scopes() []string
}

// Options say which credentials are taken. One of Keys, Tokens and
// Certificates is needed.
type Options struct {
	// Resource is the URI by which callers know this server; needed for Tokens.
	Resource string
	// Name is what the metadata of the resource calls it, "" = nothing.
	Name         string
	Keys         Keys          // nil = API keys are not taken
	Tokens       Tokens        // nil = access tokens are not taken
	Certificates *Certificates // nil = client certificates are not taken
}

// Chain takes several kinds of credentials. It is safe for concurrent use.
type Chain struct {
	opt      Options
	metadata string // URL of the metadata of the resource, "" = none
}

var (
	_ Authenticator = (*Chain)(nil)
	_ Publisher     = (*Chain)(nil)
)

// New makes an Authenticator.
func New(o Options) (*Chain, error) {
	if o.Keys == nil && o.Tokens == nil && o.Certificates == nil {
		return nil, errors.New("auth: no credentials would be taken")
	}
	c := &Chain{opt: o}
	if o.Tokens != nil {
		var err error
		if c.metadata, err = metadataURL(o.Resource); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Authenticate implements Authenticator. The Authorization header is taken off
// a request that passes.
func (c *Chain) Authenticate(r *http.Request) (decision.Principal, error) {
	p, err := c.principal(r)
	if err != nil {
		return decision.Principal{}, err
	}
	r.Header.Del("Authorization")
	return p, nil
}

func (c *Chain) principal(r *http.Request) (decision.Principal, error) {
	token, came, ok := bearer(r.Header.Values("Authorization"))
	method := ""
	if came {
		method = c.methodOf(token)
	}
	shown := c.opt.Certificates != nil && r.TLS != nil && len(r.TLS.PeerCertificates) > 0
	switch {
	case !ok:
		return c.no(method, "malformed")
	case came && shown:
		return c.no(method, "ambiguous")
	case method == MethodKey:
		return c.key(token)
	case method == MethodOIDC:
		return c.token(r.Context(), token)
	case shown:
		return c.certificate(r)
	}
	return c.no("", "missing")
}

// methodOf tells an API key from a token: by its prefix, which no JWT has.
func (c *Chain) methodOf(token string) string {
	if c.opt.Keys != nil && (strings.HasPrefix(token, apikey.Prefix) || c.opt.Tokens == nil) {
		return MethodKey
	}
	return MethodOIDC
}

func (c *Chain) key(token string) (decision.Principal, error) {
	e, err := c.opt.Keys.Check(token)
	var refused apikey.Refused
	switch {
	case errors.As(err, &refused):
		return c.no(MethodKey, string(refused))
	case err != nil:
		return decision.Principal{}, &Unavailable{Method: MethodKey, cause: err}
	}
	return decision.Principal{
		Subject: e.Subject, Method: MethodKey, ClientID: e.ClientID(), Groups: listed(e.Groups), Scopes: listed(e.Scopes),
	}, nil
}

func (c *Chain) token(ctx context.Context, token string) (decision.Principal, error) {
	if c.opt.Tokens == nil {
		return c.no(MethodOIDC, "not-taken")
	}
	who, err := c.opt.Tokens.Verify(ctx, token)
	var refused *oidc.Refused
	switch {
	case errors.As(err, &refused) && refused.Insufficient:
		return decision.Principal{}, &Refusal{
			Reason: refused.Reason, Method: MethodOIDC, Status: http.StatusForbidden,
			Challenge: c.challenge("insufficient_scope", "The token lacks a scope that this server needs."),
		}
	case errors.As(err, &refused):
		return c.no(MethodOIDC, refused.Reason)
	case err != nil:
		return decision.Principal{}, &Unavailable{Method: MethodOIDC, cause: err}
	}
	return decision.Principal{
		Subject: who.Subject, Method: MethodOIDC, ClientID: who.ClientID, Groups: listed(who.Groups), Scopes: listed(who.Scopes),
	}, nil
}

func (c *Chain) certificate(r *http.Request) (decision.Principal, error) {
	p, reason := c.opt.Certificates.principal(r.TLS.PeerCertificates)
	if reason != "" {
		return c.no(MethodCert, reason)
	}
	return p, nil
}

// no refuses a request. The challenge says invalid_token only where a token
// came (RFC 6750, section 3.1), and never what was wrong with it.
func (c *Chain) no(method, reason string) (decision.Principal, error) {
	r := &Refusal{Reason: reason, Method: method, Status: http.StatusUnauthorized}
	switch method {
	case MethodKey, MethodOIDC:
		r.Challenge = c.challenge("invalid_token", "The token does not hold.")
	default:
		r.Challenge = c.challenge("", "")
	}
	return decision.Principal{}, r
}

// Unavailable is that credentials came and cannot be checked now.
type Unavailable struct {
	Method string // their kind
	cause  error
}

// Error implements error. It is for the log of the server.
func (u *Unavailable) Error() string {
	return u.Method + " credentials cannot be checked: " + u.cause.Error()
}

// Unwrap gives the cause.
func (u *Unavailable) Unwrap() error { return u.cause }

func listed(l []string) []string { return append([]string{}, l...) }
