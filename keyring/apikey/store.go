package apikey

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// FileName is the file of keys in the key folder of a home.
const FileName = "api-keys.json"

// Store is the keys of a home, which any number of processes share. What one
// of them changes counts for the others at their next look: each use asks the
// file system whether the file is still the one that was read. Safe for
// concurrent use.
type Store struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	read bool
	seen os.FileInfo // of the content in keys; nil = there was no file
	keys map[string]Entry
	list []Entry
}

// Open is the store in dir, the key folder of a home. Nothing is read or made
// yet; now is the clock, nil = the system's.
func Open(dir string, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{path: filepath.Join(dir, FileName), now: now}
}

// nobody is what an unknown id is compared with, so that it takes as long as
// a known one.
var nobody = Entry{Tag: tagPrefix + "0000000000000000000000000000000000000000000000000000000000000000"}

// Check gives the key that a token is of. The error is a Refused, or INTERNAL,
// reason "api-keys", while the file cannot be used: then nobody is known.
func (s *Store) Check(text string) (Entry, error) {
	t, ok := parseToken(text)
	if !ok {
		return Entry{}, Malformed
	}
	s.mu.Lock()
	err := s.load()
	e, known := s.keys[t.id]
	s.mu.Unlock()
	if err != nil {
		return Entry{}, err
	}
	if !known {
		e = nobody
	}
	tag, err := e.tag(t.secret[:])
	if err != nil {
		return Entry{}, unusable(s.path, err, "an API key cannot be checked; this is a defect of toolwarrant")
	}
	same := subtle.ConstantTimeCompare([]byte(tag), []byte(e.Tag)) == 1
	switch {
	case !known:
		return Entry{}, Unknown
	case !same:
		return Entry{}, Mismatch
	}
	switch e.State(s.now()) {
	case "revoked":
		return Entry{}, Revoked
	case "expired":
		return Entry{}, Expired
	}
	return e, nil
}

// List gives all keys, the oldest first.
func (s *Store) List() ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, err
	}
	return slices.Clone(s.list), nil
}

// Create makes a key and gives its token, which nothing can show again. before
// is called with the new key when all is well and nothing is written yet; its
// error ends it. A wrong wish is USAGE, reason "api-key".
func (s *Store) Create(w Wanted, before func(Entry) error) (string, Entry, error) {
	if w.Subject == "" {
		w.Subject = w.Name
	}
	if err := checkWords(w.Name, w.Subject, w.Groups, w.Scopes); err != nil {
		return "", Entry{}, fault.New(fault.Usage, "api-key", "no such key can be made: %v", err)
	}
	if w.Expires < 0 || w.Expires != 0 && w.Expires < time.Second {
		return "", Entry{}, fault.New(fault.Usage, "api-key", "a key has to be good for a second at least")
	}
	t := newToken()
	e := Entry{
		ID: t.id, Name: w.Name, Subject: w.Subject, Groups: list(w.Groups), Scopes: list(w.Scopes),
		CreatedAt: s.now().UTC().Truncate(time.Second),
	}
	if w.Expires > 0 {
		at := e.CreatedAt.Add(w.Expires).Truncate(time.Second)
		e.ExpiresAt = &at
	}
	var err error
	if e.Tag, err = e.tag(t.secret[:]); err != nil {
		return "", Entry{}, unusable(s.path, err, "the key cannot be made; this is a defect of toolwarrant")
	}
	err = s.change(func(keys []Entry) ([]Entry, error) {
		for _, k := range keys {
			if k.ID == e.ID {
				return nil, errors.New("the random number came twice")
			}
			if k.Name == e.Name && k.State(s.now()) == "active" {
				return nil, fault.New(fault.Usage, "api-key-exists", "there is a key %q already, %s; revoke it first, or take another name", k.Name, k.ID)
			}
		}
		if len(keys) >= MaxKeys {
			// The oldest one that counts for nothing makes room.
			i := slices.IndexFunc(keys, func(k Entry) bool { return k.State(s.now()) != "active" })
			if i < 0 {
				return nil, fault.New(fault.Usage, "api-keys-full", "there are %d active keys, and no more can be made; revoke some", len(keys))
			}
			keys = slices.Delete(keys, i, i+1)
		}
		if err := before(e); err != nil {
			return nil, err
		}
		return append(keys, e), nil
	})
	if err != nil {
		return "", Entry{}, err
	}
	return t.String(), e, nil
}

// Revoke ends a key, named by its id, its token or the name of an active one. before
// is as for Create. Revoking twice changes nothing and is no error.
func (s *Store) Revoke(idOrName string, before func(Entry) error) (Entry, error) {
	if t, ok := parseToken(idOrName); ok {
		idOrName = t.id
	}
	var out Entry
	err := s.change(func(keys []Entry) ([]Entry, error) {
		i := slices.IndexFunc(keys, func(k Entry) bool { return k.ID == idOrName || k.ClientID() == idOrName })
		if i < 0 {
			i = slices.IndexFunc(keys, func(k Entry) bool { return k.Name == idOrName && k.RevokedAt == nil })
		}
		if i < 0 {
			return nil, fault.New(fault.Usage, "api-key-unknown", "there is no key %q; toolwarrant keys list shows all", clip(idOrName))
		}
		out = keys[i]
		if out.RevokedAt != nil {
			return nil, nil
		}
		at := s.now().UTC().Truncate(time.Second)
		out.RevokedAt = &at
		if err := before(out); err != nil {
			return nil, err
		}
		keys[i] = out
		return keys, nil
	})
	return out, err
}

// clip keeps a whole token, which somebody may give for an id, out of a
// message.
func clip(s string) string {
	if len(s) > len(Prefix)+idLen {
		return s[:len(Prefix)+idLen] + "..."
	}
	return s
}

func list(l []string) []string { return append([]string{}, l...) }

// change replaces the file by what to makes of its keys, while no other
// process does; nil leaves it as it is.
func (s *Store) change(to func([]Entry) ([]Entry, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := keyring.Locked(filepath.Dir(s.path), func() error {
		s.read = false // whatever the times of the file say
		if err := s.load(); err != nil {
			return err
		}
		keys, err := to(slices.Clone(s.list))
		if err != nil || keys == nil {
			return err
		}
		b, err := json.MarshalIndent(document{Version: version, Keys: keys}, "", "  ")
		if err != nil {
			return err
		}
		if err := atomicfile.WriteFile(s.path, append(b, '\n'), 0o600); err != nil {
			return unusable(s.path, err, "the API keys %s cannot be written; nothing was changed. Their folder has to be writable for this user", s.path)
		}
		s.read = false
		return nil
	})
	var f *fault.Error
	if err != nil && !errors.As(err, &f) {
		return unusable(s.path, err, "the API keys %s cannot be changed", s.path)
	}
	return err
}

// load reads the file if it is another than the one that was read. The caller
// holds mu.
func (s *Store) load() error {
	st, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.read, s.seen, s.keys, s.list = true, nil, nil, nil
		return nil
	case err == nil && s.read && s.seen != nil && keyring.SameFile(st, s.seen):
		return nil
	}
	s.read, s.keys, s.list = false, nil, nil
	b, st, err := keyring.ReadPrivate(s.path, maxFile)
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) {
			return unusable(s.path, f.Unwrap(), "%s", f.Message)
		}
		return unusable(s.path, err, "the API keys %s cannot be read; give the file to this user, or restore it", s.path)
	}
	doc, err := parse(s.path, b)
	if err != nil {
		return err
	}
	s.keys = make(map[string]Entry, len(doc.Keys))
	for _, e := range doc.Keys {
		s.keys[e.ID] = e
	}
	s.read, s.seen, s.list = true, st, doc.Keys
	return nil
}
