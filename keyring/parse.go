package keyring

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/go-json-experiment/json"

	"github.com/toolwarrant/toolwarrant/fault"
)

// parse checks the content of a keyring file. Nothing of a secret enters an
// error.
func parse(path string, b []byte) (document, ring, error) {
	fail := func(err error) (document, ring, error) {
		return document{}, ring{}, unusable(path, err, "the keyring %s is damaged; restore it from a backup, or remove it to begin with a new key: what was made with the old one then counts no more", path)
	}
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return fail(errors.New("no JSON object with a version"))
	}
	if v.Version > version {
		return document{}, ring{}, unusable(path, nil, "the keyring %s has version %d, this program knows %d; use a newer toolwarrant", path, v.Version, version)
	}
	var doc document
	if err := json.Unmarshal(b, &doc, json.RejectUnknownMembers(true)); err != nil || doc.Version != version {
		return fail(errors.New("not of the form of version 1"))
	}
	keys := map[string]master{}
	for i, k := range doc.Keys {
		secret, err := base64.StdEncoding.Strict().DecodeString(k.Secret)
		if err != nil || len(secret) != keyBytes {
			return fail(fmt.Errorf("key %d has no secret of %d bytes", i, keyBytes))
		}
		m, err := newMaster(secret)
		if err != nil || m.id != k.ID {
			return fail(fmt.Errorf("key %d has an id that is not that of its secret", i))
		}
		if _, ok := keys[m.id]; ok {
			return fail(fmt.Errorf("key %d stands twice", i))
		}
		keys[m.id] = m
	}
	cur, ok := keys[doc.Current]
	if !ok {
		return fail(errors.New("the current key is not among the keys"))
	}
	r := ring{current: cur}
	if doc.Previous != nil {
		prev, ok := keys[*doc.Previous]
		if !ok {
			return fail(errors.New("the previous key is not among the keys"))
		}
		r.previous = &prev
	}
	return doc, r, nil
}

// private refuses a keyring that others than its owner may read, or whose
// folder others may change. On Windows access lists rule, which the mode does
// not show.
func private(path string, st os.FileInfo) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	if st.Mode().Perm()&0o077 != 0 {
		return unusable(path, nil, "%s has mode %04o, so others can read it; run: chmod 600 %s", path, st.Mode().Perm(), path)
	}
	dir := filepath.Dir(path)
	d, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if d.Mode().Perm()&0o022 != 0 {
		return unusable(path, nil, "the key folder %s has mode %04o, so others can replace what is in it; run: chmod 700 %s", dir, d.Mode().Perm(), dir)
	}
	return nil
}

// asUnusable makes the error of this package out of err. One that is one
// already stays as it is.
func asUnusable(path string, err error, format string, args ...any) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, fs.ErrPermission) {
		return unusable(path, err, "this user may not read or write the keyring %s; give the file and its folder to this user", path)
	}
	return unusable(path, err, format, args...)
}
