package apikey

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"strings"
)

const (
	// Prefix begins every token, so that secret scanners and people can tell
	// what it is.
	Prefix = "tw_"

	idBytes     = 10
	secretBytes = 32
	sumBytes    = 4

	idLen  = 16              // of 10 bytes
	tokLen = 3 + 16 + 1 + 58 // prefix, id, "_", 36 bytes of secret and sum
)

// alphabet is base32 (RFC 4648) in lower case and without padding: it has no
// character that ends a word, so that a double click selects a whole token.
var alphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// token is what a caller shows, taken apart.
type token struct {
	id     string
	secret [secretBytes]byte
}

// newToken makes a token of a new id and 256 random bits.
func newToken() token {
	var t token
	id := make([]byte, idBytes)
	_, _ = rand.Read(id) // never fails
	_, _ = rand.Read(t.secret[:])
	t.id = alphabet.EncodeToString(id)
	return t
}

// String is the form in which a token is handed out:
//
//	tw_<id>_<secret><checksum>
func (t token) String() string {
	body := append(t.secret[:], t.sum()...)
	return Prefix + t.id + "_" + alphabet.EncodeToString(body)
}

// sum is CRC-32 (IEEE) over id and secret. It protects nothing: it tells a
// slip of the hand, or a word that only looks like a token, from a token.
func (t token) sum() []byte {
	b := make([]byte, 0, len(t.id)+secretBytes)
	b = append(append(b, t.id...), t.secret[:]...)
	return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
}

// parseToken takes a token apart; false for everything that newToken cannot
// have made.
func parseToken(s string) (token, bool) {
	if len(s) != tokLen || !strings.HasPrefix(s, Prefix) || s[len(Prefix)+idLen] != '_' {
		return token{}, false
	}
	t := token{id: s[len(Prefix) : len(Prefix)+idLen]}
	if !validID(t.id) {
		return token{}, false
	}
	body, err := alphabet.DecodeString(s[len(Prefix)+idLen+1:])
	if err != nil || len(body) != secretBytes+sumBytes {
		return token{}, false
	}
	copy(t.secret[:], body)
	// Decoding takes some spellings that encoding does not give: the last
	// character has bits that stand for nothing.
	return t, t.String() == s
}

func validID(id string) bool {
	b, err := alphabet.DecodeString(id)
	return err == nil && len(b) == idBytes && alphabet.EncodeToString(b) == id
}
