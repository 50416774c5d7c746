package approval

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolwarrant/toolwarrant/keyring"
)

// The sealed form, base64url without padding over
//
//	version (1 byte) | length of key id (1 byte) | key id | GCM nonce (12) | AES-256-GCM
//
// Everything before the GCM nonce is its additional data. A random 96-bit
// nonce allows 2^32 seals per key (NIST SP 800-38D, section 8.3), far beyond
// the number of questions that humans answer under one key.
const (
	sealVersion  = 1
	maxSealBytes = 1024
)

type sealed struct {
	ID        string `json:"i"`
	Nonce     string `json:"n"`
	ExpiresAt int64  `json:"e"` // Unix milliseconds
}

// Seal makes the requestState for p: what a client carries between asking and
// retrying. It names the pending approval and holds nothing else.
func (g *Gate) Seal(p Pending) (string, error) {
	key, err := g.keys.Current(keyring.RequestState)
	if err != nil {
		return "", fmt.Errorf("seal request state: %w", err)
	}
	aead, err := aeadOf(key)
	if err != nil {
		return "", err
	}
	plain, err := json.Marshal(sealed{p.ID, p.Binding.Nonce, p.Binding.ExpiresAt.UnixMilli()})
	if err != nil {
		return "", err
	}
	head := append([]byte{sealVersion, byte(len(key.ID))}, key.ID...)
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails (documented)
	out := aead.Seal(append(head[:len(head):len(head)], nonce...), nonce, plain, head)
	return base64.RawURLEncoding.EncodeToString(out), nil
}

// Open reads a requestState. Anything that Seal did not make, or that was
// changed by a single bit, is ErrForged. A genuine one that is too old gives
// its id and nonce together with ErrExpired.
func (g *Gate) Open(state string) (id, nonce string, err error) {
	if len(state) > maxSealBytes {
		return "", "", ErrForged
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	// Go's decoder skips line breaks: only the one canonical spelling counts.
	if err != nil || base64.RawURLEncoding.EncodeToString(raw) != state {
		return "", "", ErrForged
	}
	if len(raw) < 2 || raw[0] != sealVersion || len(raw) < 2+int(raw[1]) {
		return "", "", ErrForged
	}
	head, rest := raw[:2+int(raw[1])], raw[2+int(raw[1]):]
	key, ok, err := g.keys.Lookup(keyring.RequestState, string(head[2:]))
	if err != nil {
		return "", "", fmt.Errorf("open request state: %w", err)
	}
	if !ok {
		return "", "", ErrForged
	}
	aead, err := aeadOf(key)
	if err != nil {
		return "", "", err
	}
	if len(rest) < aead.NonceSize() {
		return "", "", ErrForged
	}
	plain, err := aead.Open(nil, rest[:aead.NonceSize()], rest[aead.NonceSize():], head)
	if err != nil {
		return "", "", ErrForged
	}
	var s sealed
	if err := json.Unmarshal(plain, &s); err != nil || !ValidID(s.ID) || s.Nonce == "" {
		return "", "", ErrForged
	}
	if !g.now().Before(time.UnixMilli(s.ExpiresAt)) {
		return s.ID, s.Nonce, ErrExpired
	}
	return s.ID, s.Nonce, nil
}

func aeadOf(key keyring.Key) (cipher.AEAD, error) {
	if len(key.Bytes) != 32 || len(key.ID) > 255 {
		return nil, fmt.Errorf("request state key %q: need 32 bytes and an id of at most 255", key.ID)
	}
	block, err := aes.NewCipher(key.Bytes)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
