package keyring

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// Static is a keyring whose master secrets come from outside: an environment
// variable or a mounted secret. It never changes. Safe for concurrent use.
type Static struct {
	current  master
	previous *master
}

var _ Keyring = (*Static)(nil)

// NewStatic makes a keyring of a master secret and, optionally, the one that
// was used before it. Each needs 32 bytes or more, and should be random: the
// output of `openssl rand -base64 48`, say. The bytes count as they are; no
// encoding is undone. Too short a secret is an INTERNAL error, reason
// "keyring".
func NewStatic(secret []byte, previous ...[]byte) (*Static, error) {
	cur, err := checked(secret)
	if err != nil {
		return nil, err
	}
	s := &Static{current: cur}
	if len(previous) > 1 {
		return nil, unusable("", nil, "a keyring holds a current and one previous secret, not %d", 1+len(previous))
	}
	for _, p := range previous {
		m, err := checked(p)
		if err != nil {
			return nil, err
		}
		s.previous = &m
	}
	return s, nil
}

func checked(secret []byte) (master, error) {
	secret = bytes.TrimSpace(secret)
	if len(secret) < minSecret {
		return master{}, unusable("", nil, "the master secret has %d bytes; give at least %d random ones, such as the output of: openssl rand -base64 48", len(secret), minSecret)
	}
	m, err := newMaster(bytes.Clone(secret))
	if err != nil {
		return master{}, unusable("", err, "the master secret cannot be used")
	}
	return m, nil
}

// FromSecret makes a keyring of the text of an environment variable. White
// space around it does not count.
func FromSecret(secret string) (*Static, error) { return NewStatic([]byte(secret)) }

// FromFile makes a keyring of a mounted secret: a file that holds nothing
// else. Whoever mounts it decides who may read it, so its mode is not looked
// at. White space around the secret does not count.
func FromFile(path string) (*Static, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unusable(path, err, "cannot read the master secret %s; mount it readable for this user", path)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = errors.New("too long")
	}
	if err != nil {
		return nil, unusable(path, err, "cannot read the master secret %s; it has to be a file of at most 64 KiB", path)
	}
	return NewStatic(b)
}

// Current gives the key of the current master secret.
func (s *Static) Current(p Purpose) (Key, error) { return s.current.derive(p) }

// Lookup gives the key that id names.
func (s *Static) Lookup(p Purpose, id string) (Key, bool, error) {
	return lookup(p, id, s.current, s.previous)
}

func lookup(p Purpose, id string, current master, previous *master) (Key, bool, error) {
	m := current
	if id != m.id {
		if previous == nil || id != previous.id {
			return Key{}, false, nil
		}
		m = *previous
	}
	k, err := m.derive(p)
	return k, err == nil, err
}
