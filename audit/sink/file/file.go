// Package file is the audit sink that appends the lines to one more file,
// such as one on another disk or of a log shipper. Several processes may
// append to one: each line stands in it as a whole. The file may be renamed
// away by whoever rotates it; the next batch begins a new one.
package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

// lockEvery is how often a lock that is held is tried again.
const lockEvery = 10 * time.Millisecond

// Sink appends to one file. Safe for concurrent use by several processes, not
// by several goroutines.
type Sink struct {
	path string
	lock *flock.Flock
}

var _ audit.Sink = (*Sink)(nil)

// New makes a sink for the file at path, which is made with mode 0600 when
// there is none, and <path>.lock. USAGE, reason sink-file, if it cannot be
// appended to.
func New(path string) (*Sink, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.New(fault.Usage, "sink-file", "the path of the audit sink cannot be resolved: %v", err)
	}
	f, err := open(path)
	if err != nil {
		return nil, fault.New(fault.Usage, "sink-file", "the audit sink cannot append to its file: %v", err)
	}
	return &Sink{path: path, lock: flock.New(path+".lock", flock.SetPermissions(0o600))}, f.Close()
}

func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		_ = f.Close()
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return f, nil
}

// Write appends a batch and syncs it. A batch that fails leaves nothing
// behind, nor does one that a crash cut: what has no end is taken off before
// the next.
func (s *Sink) Write(ctx context.Context, lines [][]byte, _ bool) (err error) {
	if ok, err := s.lock.TryLockContext(ctx, lockEvery); !ok {
		return fmt.Errorf("another process holds %s.lock: %w", s.path, errors.Join(err, ctx.Err()))
	}
	defer func() { _ = s.lock.Unlock() }()
	f, err := open(s.path) // for each batch: it may have been renamed
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	size, err := whole(f, st.Size())
	if err != nil {
		return err
	}
	text := append(bytes.Join(lines, []byte("\n")), '\n')
	if size < st.Size() {
		ours, err := isOurs(f, size)
		switch {
		case err != nil:
			return err
		case ours:
			if err := f.Truncate(size); err != nil {
				return err
			}
		default:
			size, text = st.Size(), append([]byte{'\n'}, text...)
		}
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// isOurs reports whether the text at offset is the begin of a line of a log:
// what somebody else wrote is not cut.
func isOurs(f *os.File, offset int64) (bool, error) {
	const begin = `{"time":"`
	buf := make([]byte, len(begin))
	n, err := f.ReadAt(buf, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return strings.HasPrefix(begin, string(buf[:n])), nil
}

// whole gives the length of the file up to its last newline.
func whole(f *os.File, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		n := min(end, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], end-n); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, nil
}

// Close does nothing: no file is held between two batches.
func (s *Sink) Close() error { return nil }
