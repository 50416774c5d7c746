// Package digest states how toolwarrant names content: SHA-256 over the
// RFC 8785 (JSON Canonicalization Scheme) form of a JSON value, written
// "sha256:<hex>"; and the keyed variant for values that could be guessed.
package digest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

const prefix = "sha256:"

// Bytes is the digest of b as it is.
func Bytes(b []byte) string {
	sum := sha256.Sum256(b)
	return prefix + hex.EncodeToString(sum[:])
}

// Canonical gives the RFC 8785 form of v: a json.RawMessage as it stands, any
// other value after encoding/json. Duplicate names and invalid UTF-8 are
// errors, since they have no canonical form.
func Canonical(v any) ([]byte, error) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	val := jsontext.Value(append([]byte(nil), raw...))
	if err := val.Canonicalize(); err != nil {
		return nil, err
	}
	return val, nil
}

// JSON is the digest of the canonical form of v.
func JSON(v any) (string, error) {
	b, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return Bytes(b), nil
}

// Keyed is HMAC-SHA-256 over the canonical form of v, written
// "hmac-sha256:<key id>:<hex>". It names call arguments, which an attacker
// could otherwise guess from a plain digest.
func Keyed(keyID string, key []byte, v any) (string, error) {
	b, err := Canonical(v)
	if err != nil {
		return "", err
	}
	m := hmac.New(sha256.New, key)
	m.Write(b)
	return "hmac-sha256:" + keyID + ":" + hex.EncodeToString(m.Sum(nil)), nil
}
