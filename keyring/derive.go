package keyring

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	keyBytes = 32
	// idInfo derives the public name of a master key. It tells nothing about
	// the keys of any purpose.
	idInfo = "toolwarrant/key-id/1"
)

// master is one master key with what was derived from it so far.
type master struct {
	id     string
	secret []byte
}

func newMaster(secret []byte) (master, error) {
	id, err := hkdf.Key(sha256.New, secret, nil, idInfo, 8)
	if err != nil {
		return master{}, err
	}
	return master{id: hex.EncodeToString(id), secret: secret}, nil
}

// derive makes the key of one purpose. An unknown purpose is as good as a
// known one; the empty one is a mistake.
func (m master) derive(p Purpose) (Key, error) {
	if p == "" || p == idInfo {
		return Key{}, fault.New(fault.Internal, "keyring", "a key was asked for without a purpose; this is a defect of toolwarrant")
	}
	b, err := hkdf.Key(sha256.New, m.secret, nil, string(p), keyBytes)
	if err != nil {
		return Key{}, unusable("", err, "the key for %s cannot be derived", p)
	}
	return Key{ID: m.id, Bytes: b}, nil
}

func unusable(file string, cause error, format string, args ...any) *fault.Error {
	e := fault.New(fault.Internal, "keyring", format, args...)
	e.File = file
	return e.Because(cause)
}
