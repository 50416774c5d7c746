package resolver

import (
	"crypto"
	"crypto/ecdsa"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"math/big"
	"strings"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// sign signs a bundle as "opa build" does: a JSON Web Signature over the
// digests of its files, manifest included.
func sign(b *bundle.Bundle, key *keyring.SigningKey) error {
	err := b.GenerateSignature(bundle.NewSigningConfig(key.Private, key.Algorithm, ""), key.ID, true)
	if err == nil {
		b.Signatures.Signatures[0], err = reproducible(b.Signatures.Signatures[0], key.Signer)
	}
	if err != nil {
		return fault.New(fault.Internal, "bundle-sign", "the bundle cannot be signed").Because(err)
	}
	return nil
}

// reproducible signs a token again, without chance: an ECDSA signature draws
// a random number, and two bundles of one policy would differ. The number of
// RFC 6979 is taken from the key and the text instead. RSA signatures of
// PKCS #1 are reproducible as they are.
func reproducible(token string, signer crypto.Signer) (string, error) {
	key, ok := signer.(*ecdsa.PrivateKey)
	if !ok {
		return token, nil
	}
	size := (key.Curve.Params().BitSize + 7) / 8
	hash := map[int]crypto.Hash{32: crypto.SHA256, 48: crypto.SHA384, 66: crypto.SHA512}[size]
	end := strings.LastIndexByte(token, '.')
	if end < 0 || hash == 0 {
		return "", errors.New("not a token of a known curve")
	}
	h := hash.New()
	h.Write([]byte(token[:end]))
	der, err := key.Sign(nil, h.Sum(nil), hash)
	if err != nil {
		return "", err
	}
	var rs struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &rs); err != nil {
		return "", err
	}
	raw := make([]byte, 2*size)
	rs.R.FillBytes(raw[:size])
	rs.S.FillBytes(raw[size:])
	return token[:end+1] + base64.RawURLEncoding.EncodeToString(raw), nil
}
