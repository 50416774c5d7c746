// Package apikey keeps the API keys of an installation: bearer tokens that an
// operator makes for programs that cannot log in anywhere.
//
// A token is shown once, when it is made. The file, <home>/keys/api-keys.json,
// has its id, what it stands for, and a tag: HMAC-SHA-256 under the secret of
// the token, over everything that the token stands for. So the file gives
// nobody a token, and an edit of the file makes none stronger: a key whose
// groups were changed by hand no longer has the tag that it is found with.
//
// A slow password hash is for secrets that people choose, where an attacker
// can try them all. A secret here is 256 random bits: nobody tries those, so
// that a fast keyed hash (RFC 2104) gives the same protection, and a flood of
// wrong tokens costs the server next to nothing.
//
// The key is the secret itself and not one of the keyring: API keys stay good
// when the keyring is rotated.
//
// Any package may import this one; it imports keyring, fault and atomicfile.
package apikey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Entry is one key, without its secret. Times are UTC, whole seconds.
type Entry struct {
	ID        string     `json:"id"`   // visible in the token
	Name      string     `json:"name"` // for people
	Subject   string     `json:"subject"`
	Groups    []string   `json:"groups"`
	Scopes    []string   `json:"scopes"`
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt *time.Time `json:"expiresAt"` // nil = never
	RevokedAt *time.Time `json:"revokedAt"` // nil = not revoked
	Tag       string     `json:"tag"`       // "hmac-sha256:" and hex
}

// ClientID is the name of the key as the client of a call.
func (e Entry) ClientID() string { return Prefix + e.ID }

// State is "active", "expired" or "revoked" at a time.
func (e Entry) State(now time.Time) string {
	switch {
	case e.RevokedAt != nil:
		return "revoked"
	case e.ExpiresAt != nil && !now.Before(*e.ExpiresAt):
		return "expired"
	}
	return "active"
}

const tagPrefix = "hmac-sha256:"

// tag binds everything that a key stands for to its secret. What changes
// later, its revocation, is left out.
func (e Entry) tag(secret []byte) (string, error) {
	bound := struct {
		Use       string     `json:"use"` // no other use of HMAC gives these bytes
		ID        string     `json:"id"`
		Name      string     `json:"name"`
		Subject   string     `json:"subject"`
		Groups    []string   `json:"groups"`
		Scopes    []string   `json:"scopes"`
		CreatedAt time.Time  `json:"createdAt"`
		ExpiresAt *time.Time `json:"expiresAt"`
	}{"toolwarrant/api-key/1", e.ID, e.Name, e.Subject, e.Groups, e.Scopes, e.CreatedAt, e.ExpiresAt}
	text, err := json.Marshal(bound)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(text)
	return tagPrefix + hex.EncodeToString(mac.Sum(nil)), nil
}

// Refused is why a token does not hold: "malformed", "unknown", "mismatch",
// "revoked" or "expired".
type Refused string

// Error implements error.
func (r Refused) Error() string { return "the API key does not hold: " + string(r) }

// The reasons.
const (
	Malformed Refused = "malformed" // no token of this form, or one that was misspelt
	Unknown   Refused = "unknown"   // no key has this id
	Mismatch  Refused = "mismatch"  // another secret, or the file was edited
	Revoked   Refused = "revoked"
	Expired   Refused = "expired"
)

// Wanted says what a new key is to stand for.
type Wanted struct {
	Name    string        // required: letters, digits and . _ - @ :, at most 64
	Subject string        // "" = the name
	Groups  []string      // of the principal
	Scopes  []string      // of the principal
	Expires time.Duration // from now, whole seconds count; 0 = never
}
