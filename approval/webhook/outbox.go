package webhook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/toolwarrant/toolwarrant/approval"
)

const (
	lockName  = ".lock"
	tmpPrefix = ".tmp-"
	suffix    = ".json"

	// keepFor is how long a notice is tried that the other side does not take.
	keepFor = 24 * time.Hour
	// maxWaiting bounds the notices that wait. Beyond it, none is added.
	maxWaiting = 10_000
	// firstPause and lastPause are the waits between attempts; each is twice
	// the one before.
	firstPause = time.Second
	lastPause  = time.Minute
)

// Poster sends one message. nil means that the other side has it.
type Poster func(ctx context.Context, id string, body []byte) error

// Later is the error of a Poster that knows when to come back.
type Later struct {
	After time.Duration
	Err   error
}

// Error implements error.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap gives the cause.
func (l *Later) Unwrap() error { return l.Err }

// Never is the error of a Poster for a message that will never be taken.
type Never struct{ Err error }

// Error implements error.
func (n *Never) Error() string { return n.Err.Error() }

// Unwrap gives the cause.
func (n *Never) Unwrap() error { return n.Err }

// Outbox keeps notices in a folder until they are sent. A file <approval>.<kind>.json
// holds a notice that waits; an empty one stands for a notice that was sent,
// until the question is gone from the store, so that none is made twice. Any
// number of processes share the folder: of several, one makes a notice, and one
// at a time sends. A restart goes on where the last process stopped.
type Outbox struct {
	dir   string
	post  Poster
	now   func() time.Time
	began time.Time
	said  func(msg string, err error)

	known map[string]bool // the files that are there, as far as is known
	pause time.Duration
	until time.Time // no attempt before
}

// OpenOutbox opens the folder, and makes it (0700). said gets what goes wrong,
// each thing once until something else is said; it holds no part of a notice.
func OpenOutbox(dir string, post Poster, said func(msg string, err error)) (*Outbox, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the approval notices cannot be made: %w", err)
	}
	o := &Outbox{dir: dir, post: post, now: time.Now, said: said}
	o.began = o.now()
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	o.known = map[string]bool{}
	for _, f := range files {
		o.known[f.Name()] = true
	}
	return o, nil
}

// Round makes the notices of what is new among all questions of the store, and
// sends what waits. It gives how long to wait for the next round at least, 0
// where nothing failed.
func (o *Outbox) Round(ctx context.Context, all []approval.Pending) time.Duration {
	if err := o.take(all); err != nil {
		o.said("a notice of an approval cannot be kept", err)
	}
	return o.send(ctx, all)
}

// take writes the notices that there are not yet.
func (o *Outbox) take(all []approval.Pending) error {
	for _, p := range all {
		asked, settled := p.ID+".asked"+suffix, p.ID+".settled"+suffix
		name := asked
		if p.State != approval.StatePending {
			name = settled
			if !o.known[settled] && !o.exists(asked) && p.CreatedAt.Before(o.began) {
				continue // over before anybody here could tell of it
			}
		}
		if o.known[name] {
			continue
		}
		if len(o.known) > 2*maxWaiting {
			return errors.New("too many notices wait; no further one is kept until some are sent")
		}
		text, err := body(p)
		if err != nil {
			return err
		}
		if err := o.write(name, text); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		o.known[name] = true
	}
	return nil
}

func (o *Outbox) exists(name string) bool {
	if o.known[name] {
		return true
	}
	_, err := os.Lstat(filepath.Join(o.dir, name)) // by another process
	return err == nil
}

// write makes a file at once, or not at all; fs.ErrExist when it is there.
func (o *Outbox) write(name string, text []byte) error {
	f, err := os.CreateTemp(o.dir, tmpPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), filepath.Join(o.dir, name))
}

// send sends what waits, the oldest first, unless another process does.
func (o *Outbox) send(ctx context.Context, all []approval.Pending) time.Duration {
	if wait := o.until.Sub(o.now()); wait > 0 {
		return wait
	}
	l := flock.New(filepath.Join(o.dir, lockName), flock.SetPermissions(0o600))
	if ok, err := l.TryLock(); err != nil || !ok {
		if err != nil {
			o.said("the approval notices cannot be locked", err)
		}
		return 0
	}
	defer func() { _ = l.Unlock() }()
	files, err := o.files()
	if err != nil {
		o.said("the approval notices cannot be read", err)
		return lastPause
	}
	stored := map[string]bool{}
	for _, p := range all {
		stored[p.ID] = true
	}
	known := make(map[string]bool, len(files))
	for _, f := range files {
		known[f.Name()] = true
	}
	o.known = known
	for _, f := range files {
		if ctx.Err() != nil {
			return 0
		}
		if err := o.one(ctx, f, stored); err != nil {
			return o.failed(err)
		}
	}
	o.pause = 0
	return 0
}

// one sends one notice, or removes what is of no use any more.
func (o *Outbox) one(ctx context.Context, f fs.FileInfo, stored map[string]bool) error {
	path := filepath.Join(o.dir, f.Name())
	id, kind, _ := strings.Cut(strings.TrimSuffix(f.Name(), suffix), ".")
	if f.Size() == 0 {
		if !stored[id] && o.now().Sub(f.ModTime()) > time.Minute {
			delete(o.known, f.Name())
			return os.Remove(path)
		}
		return nil
	}
	if o.now().Sub(f.ModTime()) > keepFor {
		o.said("a notice of an approval was not taken for a day and is dropped", nil)
		return os.Truncate(path, 0)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	err = o.post(ctx, "apr_"+id+"_"+kind, text)
	if never := (*Never)(nil); errors.As(err, &never) {
		o.said("a notice of an approval is refused by the webhook and is dropped", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return os.Truncate(path, 0)
}

// failed gives how long to wait.
func (o *Outbox) failed(err error) time.Duration {
	o.pause = min(max(2*o.pause, firstPause), lastPause)
	wait := o.pause
	if later := (*Later)(nil); errors.As(err, &later) {
		wait = min(max(later.After, firstPause), 10*lastPause)
	}
	o.until = o.now().Add(wait)
	o.said("the approval webhook does not take a notice; it is tried again", err)
	return wait
}

// files gives the notices, the oldest first.
func (o *Outbox) files() ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return nil, err
	}
	var out []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // removed meanwhile
		}
		id, kind, ok := strings.Cut(strings.TrimSuffix(e.Name(), suffix), ".")
		switch {
		case ok && approval.ValidID(id) && (kind == "asked" || kind == "settled") && info.Mode().IsRegular():
			out = append(out, info)
		case strings.HasPrefix(e.Name(), tmpPrefix) && o.now().Sub(info.ModTime()) > time.Hour:
			_ = os.Remove(filepath.Join(o.dir, e.Name())) // of a process that is gone
		}
	}
	slices.SortStableFunc(out, func(a, b fs.FileInfo) int {
		if c := a.ModTime().Compare(b.ModTime()); c != 0 {
			return c
		}
		return strings.Compare(a.Name(), b.Name()) // asked before settled
	})
	return out, nil
}
