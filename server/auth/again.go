package auth

import (
	"errors"
	"net/http"
	"reflect"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Credentials are those of one request, kept for a stream that goes on for
// longer than they may hold. The zero value is of nobody, and always holds.
type Credentials struct {
	by    Authenticator
	given []string
}

// CredentialsOf keeps those of r. It is called before a has seen r, since that
// takes them out of it, and costs nothing for the many requests that are no
// streams.
func CredentialsOf(a Authenticator, r *http.Request) Credentials {
	if a == nil {
		return Credentials{}
	}
	return Credentials{a, r.Header.Values("Authorization")}
}

// Watch gives a function that reports whether was is still who sends r, with the
// same groups and scopes. Where nobody can be authenticated for the moment it
// does: a provider that is down for a minute is no reason to end what it let
// in. Whoever serves r may change it from here on. The function is not for
// concurrent use.
func (c Credentials) Watch(r *http.Request) (same func(was decision.Principal) bool) {
	if c.by == nil {
		return func(decision.Principal) bool { return true }
	}
	kept := r.Clone(r.Context())
	kept.Body = http.NoBody
	return func(was decision.Principal) bool {
		kept.Header["Authorization"] = c.given
		now, err := c.by.Authenticate(kept)
		var down *Unavailable
		if errors.As(err, &down) {
			return true
		}
		return err == nil && reflect.DeepEqual(was, now)
	}
}
