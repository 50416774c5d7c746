// Package dirstore keeps pending approvals in a directory that any number of
// processes on one host share. It survives restarts and needs no daemon.
//
// An entry is a chain of files, <id>.0.json (as created), <id>.1.json, ...:
// each holds the whole entry after one more change, and the highest one is
// the entry. A change writes and syncs a temporary file and then links it to
// the next name. Linking fails when the name exists, whoever made it, so of
// many processes that change one entry at the same moment exactly one wins,
// and no reader ever sees half a file. (A rename would claim the old file as
// exclusively, but could not bring the new content in the same step: a crash
// in between would lose who approved.) File 0 stands for the existence of the
// entry: it is removed first, and a change that finds it gone undoes itself.
//
// Threat model: who can write to the directory can approve calls, so it must
// belong to the user alone (0700, entries 0600). Ids are checked before they
// touch a path. An entry that cannot be read, is not an entry, or was written
// by a newer version is an error and never an absent one. The file system
// must support hard links and keep them atomic (ext4, XFS, Btrfs, APFS, NTFS,
// NFS do; FAT does not, and Open says so).
package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	tmpPrefix = ".tmp-"
	suffix    = ".json"
	// tmpAge is when a temporary file belongs to a process that is gone.
	tmpAge = time.Hour
	// lockName is locked by whoever looks for a question and asks it.
	lockName  = ".lock"
	lockRetry = 5 * time.Millisecond
	// maxRemembered bounds the entries that a Store keeps in memory.
	maxRemembered = 20_000
)

// Store is an approval.Store on a directory. Safe for concurrent use.
type Store struct {
	dir string
	one sync.Mutex // in this process, before the lock between processes

	mu    sync.Mutex
	known map[string]remembered
}

// remembered is an entry that was read: the files of a chain never change, so
// that one is read once.
type remembered struct {
	n int // the file
	p approval.Pending
}

var _ approval.Store = (*Store)(nil)

// Open makes the directory if it is missing (0700) and checks that it can
// hold a store: that nobody else can write to it and that links work.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unusable(dir, err)
	}
	st, err := os.Stat(dir)
	if err != nil {
		return nil, unusable(dir, err)
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o022 != 0 {
		return nil, fault.New(fault.Usage, "approvals-writable-by-others",
			"others may write to %s and so approve calls; check its content, then run: chmod 700 %s", dir, dir)
	}
	s := &Store{dir: dir}
	if err := s.removeStrays(); err != nil {
		return nil, unusable(dir, err)
	}
	if err := s.probe(); err != nil {
		return nil, unusable(dir, err)
	}
	return s, nil
}

func unusable(dir string, err error) error {
	return fault.New(fault.Usage, "approvals-unusable", "%s cannot hold approvals: %v", dir, err).Because(err)
}

// probe links one temporary file to a second name.
func (s *Store) probe() error {
	tmp, err := s.temp([]byte("{}"))
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := os.Link(tmp, tmp+"l"); err != nil {
		return fmt.Errorf("the file system has no hard links: %w", err)
	}
	return os.Remove(tmp + "l")
}

// removeStrays removes what a crash left behind: temporary files, and later
// files of an entry whose file 0 is gone.
func (s *Store) removeStrays() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		stray := false
		if strings.HasPrefix(e.Name(), tmpPrefix) {
			info, err := e.Info()
			stray = err == nil && time.Since(info.ModTime()) > tmpAge
		} else if id, n, ok := parseName(e.Name()); ok && n > 0 {
			_, err := os.Lstat(s.path(id, 0))
			stray = errors.Is(err, fs.ErrNotExist)
		}
		if stray {
			_ = os.Remove(filepath.Join(s.dir, e.Name())) // another process may be first
		}
	}
	return nil
}

// Create stores p as a new entry, synced to disk.
func (s *Store) Create(ctx context.Context, p approval.Pending) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !approval.ValidID(p.ID) {
		return fmt.Errorf("approval store: %q is not an id", p.ID)
	}
	err := s.put(p, 0)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("approval store: %s exists already: %w", p.ID, approval.ErrConflict)
	}
	return err
}

// Get gives the entry, or a NOT_FOUND fault.
func (s *Store) Get(ctx context.Context, id string) (approval.Pending, error) {
	if err := ctx.Err(); err != nil {
		return approval.Pending{}, err
	}
	if !approval.ValidID(id) {
		return approval.Pending{}, approval.NotFound(id)
	}
	p, _, err := s.latest(id)
	return p, err
}

// List gives all entries, oldest first. When some cannot be read, the error
// says which and the others are given all the same: a caller that decides by
// the list must stop, one that cleans up may go on.
func (s *Store) List(ctx context.Context) ([]approval.Pending, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("approval store: %w", err)
	}
	var all []approval.Pending
	var failed []error
	newest := make(map[string]int, len(files))
	var ids []string // whose file 0 is there
	for _, f := range files {
		id, n, ok := parseName(f.Name())
		switch {
		case ok:
			newest[id] = max(newest[id], n)
			if n == 0 {
				ids = append(ids, id)
			}
		case strings.HasPrefix(f.Name(), tmpPrefix), f.Name() == lockName:
		default:
			// A name that no version of this store makes could be an entry of
			// a newer one.
			failed = append(failed, corrupt(filepath.Join(s.dir, f.Name()), errors.New("not a name of an approval")))
		}
	}
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	next := make(map[string]remembered, min(len(ids), maxRemembered))
	for _, id := range ids {
		r, ok := known[id]
		if !ok || r.n != newest[id] {
			var err error
			switch r.p, r.n, err = s.latest(id); {
			case errors.Is(err, fault.New(fault.NotFound, "", "")): // deleted meanwhile
				continue
			case err != nil:
				failed = append(failed, err)
				continue
			}
		}
		all = append(all, r.p)
		if len(next) < maxRemembered {
			next[id] = r
		}
	}
	s.mu.Lock()
	s.known = next
	s.mu.Unlock()
	slices.SortStableFunc(all, func(a, b approval.Pending) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, errors.Join(failed...)
}

// Transition moves id from one state to another. Of many concurrent calls,
// in this process or another, exactly one wins; the rest get ErrConflict.
func (s *Store) Transition(ctx context.Context, id string, from, to approval.State, change func(*approval.Pending)) (approval.Pending, error) {
	if err := ctx.Err(); err != nil {
		return approval.Pending{}, err
	}
	if !approval.ValidID(id) {
		return approval.Pending{}, approval.NotFound(id)
	}
	p, n, err := s.latest(id)
	if err != nil {
		return approval.Pending{}, err
	}
	if p.State != from {
		return p, fmt.Errorf("approval store: %s is %s, not %s: %w", id, p.State, from, approval.ErrConflict)
	}
	next := p
	if change != nil {
		change(&next)
	}
	next.ID, next.Version, next.State = p.ID, version, to
	if err := s.put(next, n+1); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return p, fmt.Errorf("approval store: %s changed meanwhile: %w", id, approval.ErrConflict)
		}
		return approval.Pending{}, err
	}
	// Deleted between reading and linking: the change must not bring the
	// entry back to life.
	if _, err := os.Lstat(s.path(id, 0)); err != nil {
		_ = os.Remove(s.path(id, n+1))
		if errors.Is(err, fs.ErrNotExist) {
			return approval.Pending{}, approval.NotFound(id)
		}
		return approval.Pending{}, fmt.Errorf("approval store: %w", err)
	}
	return next, nil
}

// Exclusively runs f while no other process that shares the folder, and
// nobody else in this one, runs one.
func (s *Store) Exclusively(ctx context.Context, f func(context.Context) error) error {
	s.one.Lock()
	defer s.one.Unlock()
	l := flock.New(filepath.Join(s.dir, lockName), flock.SetPermissions(0o600))
	if ok, err := l.TryLockContext(ctx, lockRetry); err != nil || !ok {
		return fmt.Errorf("approval store: the lock of %s cannot be had: %w", s.dir, errors.Join(err, ctx.Err()))
	}
	defer func() { _ = l.Unlock() }()
	return f(ctx)
}

// Delete removes an entry; an absent one is no error.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !approval.ValidID(id) {
		return nil
	}
	// File 0 first: from then on the entry is absent for everybody.
	for n := 0; n <= maxChanges; n++ {
		if err := os.Remove(s.path(id, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("approval store: %w", err)
		}
	}
	return s.sync()
}

func (s *Store) path(id string, n int) string {
	return filepath.Join(s.dir, id+"."+strconv.Itoa(n)+suffix)
}

func parseName(name string) (id string, n int, ok bool) {
	rest, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return "", 0, false
	}
	id, num, ok := strings.Cut(rest, ".")
	if !ok || !approval.ValidID(id) {
		return "", 0, false
	}
	n, err := strconv.Atoi(num)
	return id, n, err == nil && n >= 0 && strconv.Itoa(n) == num
}
