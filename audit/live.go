package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// A writer shows that it lives by a lock on writers/<id>.lock, which goes
// with its process however that ends. Beside it, writers/<id>.mark holds the
// offset in the log, through all its files, from where on the records of its unfinished calls are, so
// that recovery need not read years of log. The registry itself is only
// changed under .recover.lock.
const (
	writersDir  = "writers"
	recoverLock = ".recover.lock"
	lockExt     = ".lock"
	markExt     = ".mark"
	markDigits  = 20
	markEvery   = 8 << 20 // bytes of log between two updates of the mark
)

// live is the registration of this process. Only the committer and Shutdown
// use it, never at the same time.
type live struct {
	lock   *flock.Flock
	mark   *os.File
	path   string // without extension
	marked int64
}

// register announces a writer. The caller holds the recovery lock.
func register(stateDir, id string, offset int64) (*live, error) {
	dir := filepath.Join(stateDir, writersDir)
	if err := os.MkdirAll(dir, dirPerm); err != nil {
		return nil, err
	}
	v := &live{path: filepath.Join(dir, id), marked: offset}
	var err error
	if v.mark, err = os.OpenFile(v.path+markExt, os.O_CREATE|os.O_EXCL|os.O_RDWR, filePerm); err != nil {
		return nil, err
	}
	if err = writeMark(v.mark, offset); err == nil {
		v.lock = flock.New(v.path+lockExt, flock.SetPermissions(filePerm))
		var ok bool
		if ok, err = v.lock.TryLock(); err == nil && !ok {
			err = errors.New("a new writer id is taken")
		}
	}
	if err != nil {
		v.release(true)
		return nil, err
	}
	return v, nil
}

// settle moves the mark on now, so that a process with little to do keeps no
// segment from being removed.
func (v *live) settle(end int64, c *calls) {
	if low, _ := c.low(end); writeMark(v.mark, low) == nil {
		v.marked = end
	}
}

// advance moves the mark on from time to time. A failure only makes a later
// recovery read more.
func (v *live) advance(end int64, c *calls) {
	if end-v.marked < markEvery {
		return
	}
	low, _ := c.low(end)
	if writeMark(v.mark, low) == nil {
		v.marked = end
	}
}

// release ends the registration. With remove nothing is left of it; without,
// recovery finds the calls that this process did not finish.
func (v *live) release(remove bool) {
	_ = v.mark.Close()
	if v.lock != nil {
		_ = v.lock.Unlock()
	}
	if remove {
		_ = os.Remove(v.path + lockExt)
		_ = os.Remove(v.path + markExt)
	}
}

// writeMark overwrites the mark in one small write of a fixed size.
func writeMark(f *os.File, offset int64) error {
	_, err := f.WriteAt(fmt.Appendf(nil, "%0*d\n", markDigits, offset), 0)
	return err
}

// readMark gives the mark, or 0, the begin of the log, if it cannot be read.
func readMark(path string) int64 {
	b, err := os.ReadFile(path)
	if err != nil || len(b) != markDigits+1 {
		return 0
	}
	n, err := strconv.ParseInt(string(b[:markDigits]), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// gone is a writer whose process has ended without releasing.
type gone struct {
	id   string
	lock *flock.Flock // held while recovery works on it
	path string       // without extension
	mark int64
}

// goneWriters finds the writers whose lock nobody holds, and takes it. The
// caller holds the recovery lock, and gives back what it gets.
func goneWriters(stateDir, self string) ([]*gone, error) {
	dir := filepath.Join(stateDir, writersDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var out []*gone
	locks := map[string]bool{}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), lockExt)
		if !ok {
			continue
		}
		locks[id] = true
		if id == self {
			continue
		}
		g := &gone{id: id, path: filepath.Join(dir, id)}
		if g.lock, ok, err = tryHeld(g.path + lockExt); err != nil {
			giveBack(out)
			return nil, err
		}
		if !ok {
			continue
		}
		g.mark = readMark(g.path + markExt)
		out = append(out, g)
	}
	for _, e := range entries { // a crash between the two files leaves a mark alone
		if id, ok := strings.CutSuffix(e.Name(), markExt); ok && !locks[id] {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}

func giveBack(list []*gone) {
	for _, g := range list {
		_ = g.lock.Unlock()
	}
}

// settle ends the work on a gone writer: nothing is left of it, or its mark
// says from where on its open questions are.
func (g *gone) settle(pendingFrom int64, pending bool) {
	if pending {
		if f, err := os.OpenFile(g.path+markExt, os.O_CREATE|os.O_RDWR, filePerm); err == nil {
			_ = writeMark(f, pendingFrom)
			_ = f.Close()
		}
		_ = g.lock.Unlock()
		return
	}
	_ = g.lock.Unlock() // before removing: Windows does not remove open files
	_ = os.Remove(g.path + lockExt)
	_ = os.Remove(g.path + markExt)
}

// withRecoveryLock runs f while no other process registers or recovers.
func withRecoveryLock(ctx context.Context, stateDir string, f func() error) error {
	unlock, err := takeLock(ctx, filepath.Join(stateDir, recoverLock))
	if err != nil {
		return err
	}
	defer unlock()
	return f()
}
