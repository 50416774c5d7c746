package keyring

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

const (
	// FileName is the keyring in the key folder of a home.
	FileName = "keyring.json"

	version  = 1
	maxFile  = 64 << 10
	lockName = ".lock"
	lockWait = 10 * time.Second
)

// File is a keyring in a file that all processes of a home share. A key that
// one process adds is seen by the others at their next use. Safe for
// concurrent use.
type File struct {
	path string
	now  func() time.Time

	mu    sync.Mutex
	seen  os.FileInfo // of the content in ring
	ring  ring
	cache map[cached]Key
}

type cached struct {
	id string
	p  Purpose
}

// ring is the checked content of the file.
type ring struct {
	current  master
	previous *master
}

// document is the content of the file.
type document struct {
	Version  int     `json:"version"`
	Keys     []entry `json:"keys"`
	Current  string  `json:"current"`
	Previous *string `json:"previous"`
}

type entry struct {
	ID        string `json:"id"`
	CreatedAt string `json:"createdAt"` // RFC 3339, UTC
	Secret    string `json:"secret"`    // Base64 of 32 random bytes
}

var _ Keyring = (*File)(nil)

// Open opens the keyring in dir, and makes dir (0700), the file (0600) and a
// first key if there is none: of any number of processes that start at once
// one makes it and all use it. A keyring that cannot be read, is damaged, of
// a newer version, or that others could read, is an INTERNAL error, reason
// "keyring": it is never replaced by a new one.
func Open(dir string) (*File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unusable(dir, err, "cannot make the key folder %s; give its parent to this user", dir)
	}
	f := &File{path: filepath.Join(dir, FileName), now: time.Now}
	_, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = f.locked(func() error {
			// Somebody may have been quicker.
			if _, err := os.Lstat(f.path); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			e, err := f.newEntry()
			if err != nil {
				return err
			}
			return f.save(document{Version: version, Keys: []entry{e}, Current: e.ID})
		})
	}
	if err != nil {
		return nil, asUnusable(f.path, err, "cannot make the keyring %s; its folder has to be writable for this user", f.path)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.load(); err != nil {
		return nil, err
	}
	return f, nil
}

// Current gives the key of the current master key.
func (f *File) Current(p Purpose) (Key, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.load()
	if err != nil {
		return Key{}, err
	}
	return f.derive(r.current, p)
}

// Lookup gives the key that id names.
func (f *File) Lookup(p Purpose, id string) (Key, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.load()
	if err != nil {
		return Key{}, false, err
	}
	m := r.current
	if id != m.id {
		if r.previous == nil || id != r.previous.id {
			return Key{}, false, nil
		}
		m = *r.previous
	}
	k, err := f.derive(m, p)
	return k, err == nil, err
}

// derive remembers derived keys, since each call needs one. The caller holds
// mu.
func (f *File) derive(m master, p Purpose) (Key, error) {
	if k, ok := f.cache[cached{m.id, p}]; ok {
		return k, nil
	}
	k, err := m.derive(p)
	if err == nil {
		f.cache[cached{m.id, p}] = k
	}
	return k, err
}

// Rotate adds a new current key, keeps the one before as the previous, drops
// any older one, and gives the id of the new key. What was made with a
// dropped key can no longer be checked. before, where it is not nil, is called
// with the id of the new key and of the one before when all is well and
// nothing is written yet; its error ends it.
func (f *File) Rotate(before func(id, previous string) error) (id string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.locked(func() error {
		doc, _, _, err := f.read()
		if err != nil {
			return err
		}
		e, err := f.newEntry()
		if err != nil {
			return err
		}
		old := doc.Current
		next := document{Version: version, Current: e.ID, Previous: &old}
		for _, k := range doc.Keys {
			if k.ID == old {
				next.Keys = append(next.Keys, k)
			}
		}
		next.Keys = append(next.Keys, e)
		id = e.ID
		if before != nil {
			if err := before(id, old); err != nil {
				return err
			}
		}
		return f.save(next)
	})
	if err != nil {
		return "", asUnusable(f.path, err, "cannot add a key to the keyring %s; its folder has to be writable for this user", f.path)
	}
	f.seen = nil
	_, err = f.load()
	return id, err
}

func (f *File) newEntry() (entry, error) {
	secret := make([]byte, keyBytes)
	if _, err := rand.Read(secret); err != nil {
		return entry{}, err
	}
	m, err := newMaster(secret)
	if err != nil {
		return entry{}, err
	}
	return entry{ID: m.id, CreatedAt: f.now().UTC().Format(time.RFC3339), Secret: base64.StdEncoding.EncodeToString(secret)}, nil
}

func (f *File) save(doc document) error {
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(f.path, append(b, '\n'), 0o600)
}

// locked runs change while no other process changes the file.
func (f *File) locked(change func() error) error { return Locked(filepath.Dir(f.path), change) }

// Locked runs change while no other process changes what is in dir, the key
// folder of a home.
func Locked(dir string, change func() error) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unusable(dir, err, "cannot make the key folder %s; give its parent to this user", dir)
	}
	l := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if _, err := l.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return unusable(dir, err, "another process holds the lock of the key folder %s for too long; find the process and end it", dir)
	}
	defer func() { _ = l.Unlock() }()
	return change()
}

// load gives the content of the file, read again if it changed. The caller
// holds mu.
func (f *File) load() (ring, error) {
	if f.seen != nil {
		st, err := os.Stat(f.path)
		if err == nil && SameFile(st, f.seen) {
			return f.ring, nil
		}
	}
	_, r, st, err := f.read()
	if err != nil {
		return ring{}, asUnusable(f.path, err, "cannot read the keyring %s; restore it from a backup, or remove it to begin with a new key", f.path)
	}
	f.ring, f.seen, f.cache = r, st, map[cached]Key{}
	return r, nil
}

// SameFile reports whether two looks at a path saw the same file with the same
// content, as far as the file system tells.
func SameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// read reads and checks the file.
func (f *File) read() (document, ring, os.FileInfo, error) {
	b, st, err := ReadPrivate(f.path, maxFile)
	if err != nil {
		return document{}, ring{}, nil, err
	}
	doc, r, err := parse(f.path, b)
	return doc, r, st, err
}

// ReadPrivate reads a file of the key folder of a home, of at most limit bytes.
// One that others could read or replace is refused with an INTERNAL error,
// reason "keyring".
func ReadPrivate(path string, limit int64) ([]byte, os.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, nil, errors.New("not a regular file")
	}
	if err := private(path, st); err != nil {
		return nil, nil, err
	}
	b, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(b)) > limit {
		return nil, nil, errors.New("too long")
	}
	return b, st, nil
}
