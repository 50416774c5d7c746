package approval

import (
	"crypto/rand"
	"fmt"

	"github.com/toolwarrant/toolwarrant/keyring"
)

// contentVersion begins what sealContent makes:
//
//	version (1 byte) | length of key id (1 byte) | key id | GCM nonce (12) | AES-256-GCM
//
// with everything before the nonce, and the id of the entry, as additional
// data: content of one entry cannot stand in another.
const contentVersion = 1

// sealContent seals what an entry holds and nobody should read in its file.
func (g *Gate) sealContent(id string, plain []byte) ([]byte, error) {
	key, err := g.keys.Current(keyring.ApprovalContent)
	if err != nil {
		return nil, fmt.Errorf("seal approval content: %w", err)
	}
	aead, err := aeadOf(key)
	if err != nil {
		return nil, err
	}
	head := append([]byte{contentVersion, byte(len(key.ID))}, key.ID...)
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails (documented)
	return aead.Seal(append(head[:len(head):len(head)], nonce...), nonce, plain, append(head, id...)), nil
}

// openContent gives what sealContent sealed for this entry. ErrForged means
// that it did not, or that the key is neither the current nor the previous one.
func (g *Gate) openContent(id string, raw []byte) ([]byte, error) {
	if len(raw) < 2 || raw[0] != contentVersion || len(raw) < 2+int(raw[1]) {
		return nil, ErrForged
	}
	n := 2 + int(raw[1])
	head, rest := raw[:n:n], raw[n:]
	key, ok, err := g.keys.Lookup(keyring.ApprovalContent, string(head[2:]))
	if err != nil {
		return nil, fmt.Errorf("open approval content: %w", err)
	}
	if !ok {
		return nil, ErrForged
	}
	aead, err := aeadOf(key)
	if err != nil {
		return nil, err
	}
	if len(rest) < aead.NonceSize() {
		return nil, ErrForged
	}
	plain, err := aead.Open(nil, rest[:aead.NonceSize()], rest[aead.NonceSize():], append(head, id...))
	if err != nil {
		return nil, ErrForged
	}
	return plain, nil
}
