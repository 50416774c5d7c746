package oidc

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"

	"github.com/go-jose/go-jose/v4"
)

const (
	maxKeys    = 100
	minRSABits = 2048
	maxRSABits = 8192 // longer ones cost more time than a request may
	// maxTries bounds the keys that a token without the id of one is tried
	// with.
	maxTries = 8
)

// key is a public key that checks signatures.
type key struct {
	id     string // "" = it has none
	alg    string // the only one that it is for, "" = any that fits
	public any
}

// keysOf takes the keys of a set that can be used. One that cannot is left
// out: providers add kinds that we do not know (RFC 7517, section 5).
func keysOf(set []json.RawMessage) []key {
	var keys []key
	for i, raw := range set {
		if i == maxKeys {
			break
		}
		var k jose.JSONWebKey
		if err := k.UnmarshalJSON(raw); err != nil || !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
			continue
		}
		switch public := k.Key.(type) {
		case *rsa.PublicKey:
			if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
				continue
			}
		case *ecdsa.PublicKey, ed25519.PublicKey:
		default:
			continue // a shared secret, above all
		}
		keys = append(keys, key{k.KeyID, k.Algorithm, k.Key})
	}
	return keys
}

// fits reports whether the key can check a signature of an algorithm. Its kind
// decides, not what the token says.
func (k key) fits(alg string) bool {
	if k.alg != "" && k.alg != alg {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return alg[:2] == "RS" || alg[:2] == "PS"
	case *ecdsa.PublicKey:
		return alg == map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[public.Curve.Params().BitSize]
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// candidates are the keys that a token can be signed with; the second result
// is whether any key has that id. The caller holds mu.
func (v *Verifier) candidates(id, alg string) (fitting []key, known bool) {
	for _, k := range v.keys {
		if id != "" && k.id != id {
			continue
		}
		known = true
		if k.fits(alg) && len(fitting) < maxTries {
			fitting = append(fitting, k)
		}
	}
	return fitting, known
}
