package dirstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

const (
	version = approval.Version
	// maxEntryBytes bounds what is read: an entry holds arguments of one call
	// twice (shown and recorded), and those are bounded by the server.
	maxEntryBytes = 64 << 20
	// maxChanges bounds the chain: pending, accepted, consumed, finished, and
	// acceptances that came back unused.
	maxChanges = 32
)

// put writes p and links it to the n-th name; fs.ErrExist when that exists.
func (s *Store) put(p approval.Pending, n int) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("approval store: %w", err)
	}
	if len(data) > maxEntryBytes {
		return fmt.Errorf("approval store: the entry has %d bytes, at most %d are kept", len(data), maxEntryBytes)
	}
	tmp, err := s.temp(append(data, '\n'))
	if err != nil {
		return fmt.Errorf("approval store: %w", err)
	}
	defer os.Remove(tmp)
	if err := os.Link(tmp, s.path(p.ID, n)); err != nil {
		return fmt.Errorf("approval store: %w", err)
	}
	return s.sync()
}

// sync makes the new names of the folder, and those that are gone, survive a
// power cut.
func (s *Store) sync() error {
	if err := atomicfile.SyncDir(s.dir); err != nil {
		return fmt.Errorf("approval store: %w", err)
	}
	return nil
}

// temp writes data to a temporary file in the folder, synced, mode 0600.
func (s *Store) temp(data []byte) (name string, err error) {
	f, err := os.CreateTemp(s.dir, tmpPrefix+"*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return f.Name(), errors.Join(err, f.Close())
}

// latest reads the entry and says how many changes it has had.
func (s *Store) latest(id string) (approval.Pending, int, error) {
	n := 0
	for {
		if _, err := os.Lstat(s.path(id, n+1)); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			return approval.Pending{}, 0, fmt.Errorf("approval store: %w", err)
		}
		if n++; n > maxChanges {
			return approval.Pending{}, 0, corrupt(s.path(id, n), errors.New("more changes than an approval can have"))
		}
	}
	p, err := read(s.path(id, n), id)
	// File 0 decides whether there is an entry, so it is looked at last: an
	// entry that is being deleted is gone.
	if _, zerr := os.Lstat(s.path(id, 0)); errors.Is(zerr, fs.ErrNotExist) {
		return approval.Pending{}, 0, approval.NotFound(id)
	} else if err == nil {
		err = zerr
	}
	return p, n, err
}

func read(path, id string) (approval.Pending, error) {
	var p approval.Pending
	f, err := os.Open(path)
	if err != nil {
		return p, fmt.Errorf("approval store: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return p, fmt.Errorf("approval store: %w", err)
	}
	if !st.Mode().IsRegular() || st.Size() > maxEntryBytes+1 {
		return p, corrupt(path, errors.New("not a regular file of a sensible size"))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEntryBytes+2))
	if err != nil {
		return p, fmt.Errorf("approval store: %w", err)
	}
	if !jsontext.Value(data).IsValid() {
		return p, corrupt(path, errors.New("not valid JSON"))
	}
	var head struct {
		Version *int `json:"version"`
	}
	switch err := json.Unmarshal(data, &head); {
	case err != nil:
		return p, corrupt(path, err)
	case head.Version == nil || *head.Version < 1:
		return p, corrupt(path, errors.New("no version"))
	case *head.Version > version:
		return p, fault.New(fault.Usage, "approval-newer-version",
			"%s has version %d and this toolwarrant reads up to %d; run the newer toolwarrant, or remove the file to drop the question",
			path, *head.Version, version)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return p, corrupt(path, err)
	}
	if *head.Version < 2 && (p.Origin != "" || p.Amendment != nil || p.ConsumedAt != nil || p.Released != 0 || p.Outcome != nil) {
		return approval.Pending{}, corrupt(path, errors.New("fields of a later version"))
	}
	if p.ID != id || !known(p.State) || p.Binding.Nonce == "" || p.Binding.ExpiresAt.IsZero() || p.CreatedAt.IsZero() {
		return approval.Pending{}, corrupt(path, errors.New("fields of an approval are missing or contradict its name"))
	}
	return p, nil
}

func known(s approval.State) bool {
	switch s {
	case approval.StatePending, approval.StateAccepted, approval.StateDeclined, approval.StateCancelled,
		approval.StateTimeout, approval.StateExpired, approval.StateConsumed:
		return true
	}
	return false
}

func corrupt(path string, err error) error {
	return fault.New(fault.Internal, "approval-unreadable",
		"%s is not a readable approval (%v); look at it, then remove it to drop the question", path, err).Because(err)
}
