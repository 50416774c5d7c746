package approval

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// idLength is the length of an id: 128 random bits in lower-case base32
// (RFC 4648) without padding.
const idLength = 26

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewID makes an unguessable id or nonce of 128 random bits.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (documented): it ends the process instead
	return idEncoding.EncodeToString(b[:])
}

// ValidID reports whether id has the form that NewID makes. Only such ids may
// become part of a path.
func ValidID(id string) bool {
	return len(id) == idLength && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
