// Package auth says who sent an HTTP request. It authenticates and nothing
// else: what a principal may see and do is decided by policy.
//
// Three kinds of credentials can be taken side by side (New): API keys of the
// installation, access tokens of an identity provider, client certificates.
// A request with two of them is refused, and so is one whose credentials
// cannot be checked at the moment. Nothing of what a caller sent enters an
// error, an answer, a log or a record, and the Authorization header is taken
// off a request that passes, so that nothing behind the door can hand it on.
package auth

import (
	"net/http"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Authenticator says who sent a request. Implementations are safe for
// concurrent use.
type Authenticator interface {
	// Authenticate gives the principal of r. Credentials that are absent or do
	// not hold are a *Refusal; any other error means that nobody could be
	// authenticated, and the request is refused too.
	Authenticate(r *http.Request) (decision.Principal, error)
}

// Publisher is an Authenticator that tells callers how they are authenticated.
type Publisher interface {
	// Public are documents that are served without authentication, by the path
	// of their URL.
	Public() map[string]http.Handler
}

// The kinds of credentials, as principals and records name them.
const (
	MethodOIDC = "oidc"
	MethodKey  = "api-key"
	MethodCert = "mtls"
)

// ReasonUnavailable is the reason of a refusal that is nobody's fault but
// ours: the credentials could not be checked.
const ReasonUnavailable = "unavailable"

// Refusal is why a request has no principal. It holds nothing of the
// credentials.
type Refusal struct {
	// Reason is a stable word for the record: missing, malformed, expired, ...
	Reason string
	// Method is the kind of credentials that were refused, "" = none came.
	Method string
	// Status is 401, or 403 for credentials that hold and do not suffice.
	Status int
	// Challenge is the value of WWW-Authenticate, "" = no header.
	Challenge string
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Method == "" {
		return "not authenticated: " + r.Reason
	}
	return "not authenticated: " + r.Method + " " + r.Reason
}

// Write answers a request that err refused.
func Write(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	h := w.Header()
	if r, ok := err.(*Refusal); ok {
		status = r.Status
		if r.Challenge != "" {
			h.Set("WWW-Authenticate", r.Challenge)
		}
	} else {
		h.Set("Retry-After", "5")
	}
	h.Set("Cache-Control", "no-store")
	http.Error(w, http.StatusText(status), status)
}
