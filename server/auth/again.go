package auth

import (
	"errors"
	"net/http"
	"reflect"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Again asks a about the sender of r once more, later: a stream goes on for
// longer than credentials may hold. It is made before a has seen r, since that
// takes the credentials out of it. The function it gives reports whether was is
// still who sends r, with the same groups and scopes. Where nobody can be
// authenticated for the moment it does: a provider that is down for a minute
// is no reason to end what it let in.
func Again(a Authenticator, r *http.Request) (same func(was decision.Principal) bool) {
	if a == nil {
		return func(decision.Principal) bool { return true }
	}
	given := r.Header.Values("Authorization")
	return func(was decision.Principal) bool {
		again := r.Clone(r.Context())
		again.Header["Authorization"] = given
		now, err := a.Authenticate(again)
		var down *Unavailable
		if errors.As(err, &down) {
			return true
		}
		return err == nil && reflect.DeepEqual(was, now)
	}
}
