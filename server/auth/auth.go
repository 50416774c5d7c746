// Package auth says who sent an HTTP request. It authenticates and nothing
// else: what a principal may see and do is decided by policy.
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
	if r, ok := err.(*Refusal); ok {
		status = r.Status
		if r.Challenge != "" {
			w.Header().Set("WWW-Authenticate", r.Challenge)
		}
	}
	http.Error(w, http.StatusText(status), status)
}
