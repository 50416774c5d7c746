package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/gofrs/flock"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

// lockName is held by the process that updates an index.
const lockName = "index.lock"

// ErrBusy says that another process updates the index.
var ErrBusy = fault.New(fault.Usage, "busy", "another process updates the index of this log; try again when it is done")

// Report says what an update did.
type Report struct {
	Calls   int64  `json:"calls"`   // closes that came in
	Bytes   int64  `json:"bytes"`   // of the log that were read
	Rebuilt string `json:"rebuilt"` // why the index was made anew, "" = it went on
}

// An Updater brings the index of a log up to it. It is not safe for
// concurrent use; of several, of any process, one works at a time.
type Updater struct {
	path string
	rest func(ctx context.Context, worked time.Duration) // after each block, nil = none

	generation int64 // of the index that open belongs to
	open       *block
}

// NewUpdater is of the log at path.
func NewUpdater(path string) *Updater { return &Updater{path: path} }

// Update takes in what the log has and the index does not. An index that is
// absent, damaged, or of another log is made anew. It fails with ErrBusy, with
// USAGE where the log cannot be read, and with the error of the disk.
func (u *Updater) Update(ctx context.Context) (r Report, err error) {
	lines, err := audit.OpenLines(ctx, u.path)
	if err != nil {
		return r, err
	}
	defer lines.Close()
	path := File(u.path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return r, unwritable(path, err)
	}
	lock := flock.New(filepath.Join(filepath.Dir(path), lockName), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil {
		return r, unwritable(path, err)
	} else if !ok {
		return r, ErrBusy
	}
	defer func() { _ = lock.Unlock() }()

	s, err := open(ctx, path, "rw")
	if err == nil {
		if err = s.of(lines); err != nil {
			s.close()
		}
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		r.Rebuilt = err.Error()
		if s, err = create(ctx, path); err != nil {
			return r, unwritable(path, err)
		}
	}
	defer s.close()
	if err := u.readOn(ctx, s, lines, &r); err != nil {
		u.open = nil
		if f := new(fault.Error); errors.As(err, &f) || ctx.Err() != nil {
			return r, err
		}
		return r, unwritable(path, err)
	}
	return r, nil
}

func unwritable(path string, err error) error {
	e := fault.New(fault.Internal, "index", "the index %s cannot be updated; queries read the files of the log meanwhile. If it stays so, make room or remove it", path).Because(err)
	e.File = path
	return e
}

// errOther says that the index is of another log.
var errOther = errors.New("it is of other records than those of this log")

// of holds the index against the log: the last line that it knows has to be
// there as it was. That line names the one before it, and so on.
func (s *store) of(lines *audit.Lines) error {
	if s.meta.lastLength == 0 {
		return nil
	}
	l, err := lines.At(s.meta.lastPlace, s.meta.lastLength)
	if err != nil || sha256.Sum256(l.Raw) != s.meta.lastHash {
		return errOther
	}
	return nil
}

// readOn takes in the lines behind what the index covers.
func (u *Updater) readOn(ctx context.Context, s *store, lines *audit.Lines, r *Report) error {
	m := s.meta
	if err := s.forget(ctx, &m, lines.Begin()); err != nil {
		return err
	}
	b, from := u.open, m.next
	if b == nil || u.generation != s.generation || b.number != m.blocks-1 || b.end != m.next {
		// Nobody has the closes of the last block in memory: it is read again.
		b = newBlock(m.blocks, m.next)
		if m.blocks > m.first {
			last, err := s.header(ctx, m.blocks-1)
			if err != nil {
				return err
			}
			b = newBlock(last.number, last.begin)
		}
		from = b.begin
	}
	u.generation, u.open = s.generation, b
	starts := lines.Starts()
	begin := func(at int64) (file int) { return sort.Search(len(starts), func(i int) bool { return starts[i] > at }) }
	file := begin(b.begin)
	var last []byte
	lastPlace, began := int64(0), time.Now()
	flush := func() error {
		m.next, m.blocks = b.end, max(m.blocks, b.number+1)
		m.lastPlace, m.lastLength, m.lastHash = lastPlace, len(last), sha256.Sum256(last)
		if err := s.write(ctx, m, b.parts()); err != nil {
			return err
		}
		b.dirty = false
		if u.rest != nil {
			u.rest(ctx, time.Since(began))
		}
		began = time.Now()
		return nil
	}
	err := lines.Each(ctx, from, func(l audit.Line) error {
		// No block goes over the end of a file, so that it can go with it.
		if in := begin(l.Offset); in != file || len(b.docs) >= blockCalls {
			if b.dirty {
				if err := flush(); err != nil {
					return err
				}
			}
			if b.end > b.begin {
				b = newBlock(b.number+1, b.end)
				u.open = b
			}
			file = in
		}
		if l.Head.Phase == audit.PhaseClose {
			b.take(l)
		}
		length := int64(len(l.Raw)) + 1
		if l.Offset >= s.meta.next {
			r.Bytes += length
			if l.Head.Phase == audit.PhaseClose {
				r.Calls++
			}
		}
		b.end, b.dirty = l.Offset+length, true
		last, lastPlace = append(last[:0], l.Raw...), l.Offset
		return nil
	})
	if err != nil {
		return err
	}
	if b.dirty && (b.end != s.meta.next || m.first != s.meta.first) {
		return flush()
	}
	if m.first != s.meta.first {
		return s.write(ctx, m, nil)
	}
	b.dirty = false
	return nil
}

// forget leaves out the blocks whose records were removed from the log.
func (s *store) forget(ctx context.Context, m *meta, begin int64) error {
	for m.first < m.blocks {
		b, err := s.header(ctx, m.first)
		if err != nil {
			return err
		}
		if b.end > begin {
			return nil
		}
		m.first++
	}
	return nil
}

func (s *store) header(ctx context.Context, number int64) (*block, error) {
	data, err := s.part(ctx, headerPart(number))
	if err != nil {
		return nil, err
	}
	return readHeader(number, data)
}

// share is how much longer a server rests than it works on an index that is
// far behind: calls come first.
const share = 3

// Follow keeps the index of the log at path up to it until ctx ends, looking
// every so often. It is for a goroutine of its own: nothing waits for it. said
// gets each error once, and each reason for which the index was made anew.
func Follow(ctx context.Context, path string, every time.Duration, said func(rebuilt string, err error)) {
	u := NewUpdater(path)
	u.rest = func(ctx context.Context, worked time.Duration) { wait(ctx, min(share*worked, time.Second)) }
	var seen os.FileInfo
	told := ""
	pause := every
	for wait(ctx, pause); ctx.Err() == nil; wait(ctx, pause) {
		pause = every
		now, err := os.Stat(path)
		if err != nil || seen != nil && os.SameFile(now, seen) && now.Size() == seen.Size() {
			continue
		}
		began := time.Now()
		r, err := u.Update(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, ErrBusy):
		case err != nil:
			if err.Error() != told {
				said("", err)
			}
			told, pause = err.Error(), time.Minute
		default:
			seen, told = now, ""
			if r.Rebuilt != "" && r.Rebuilt != errAbsent.Error() {
				said(r.Rebuilt, nil)
				// Whatever made it necessary may be so again at once.
				pause = max(every, 10*time.Since(began))
			}
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
