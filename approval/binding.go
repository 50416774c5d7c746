package approval

import (
	"crypto/subtle"
	"slices"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Check compares the call that wants to run with the one that was shown:
// every field of the binding but the callId, and the nonce where got carries
// one (a call that came with a requestState). It returns a *MismatchError, or
// nil. Groups and scopes are sets: their order says nothing.
func (b Binding) Check(got Binding) error {
	for _, f := range []struct {
		name      string
		want, got string
	}{
		{"toolId", b.ToolID, got.ToolID},
		{"specDigest", b.SpecDigest, got.SpecDigest},
		{"paramsDigest", b.ParamsDigest, got.paramsLike(b.ParamsDigest)},
		{"decisionDigest", b.DecisionDigest, got.DecisionDigest},
	} {
		// An empty field would match another empty one: it binds nothing.
		if f.want == "" || subtle.ConstantTimeCompare([]byte(f.want), []byte(f.got)) != 1 {
			return &MismatchError{Field: f.name}
		}
	}
	if !samePrincipal(b.Principal, got.Principal) {
		return &MismatchError{Field: "principal"}
	}
	if got.Nonce != "" && subtle.ConstantTimeCompare([]byte(b.Nonce), []byte(got.Nonce)) != 1 {
		return &MismatchError{Field: "nonce"}
	}
	return nil
}

// paramsLike is the digest of the arguments under the key that stored names.
func (b Binding) paramsLike(stored string) string {
	if b.Rekeyed == nil || b.ParamsDigest == stored {
		return b.ParamsDigest
	}
	return b.Rekeyed(stored)
}

func samePrincipal(a, b decision.Principal) bool {
	return a.Subject == b.Subject && a.Method == b.Method && a.ClientID == b.ClientID &&
		a.Untrusted == b.Untrusted && sameSet(a.Groups, b.Groups) && sameSet(a.Scopes, b.Scopes)
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
