package audit

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"
)

// logFile is what a chain needs of its file. Tests put failures in its place.
type logFile interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Stat() (os.FileInfo, error)
	Close() error
}

// osFile is the real thing.
type osFile struct{ *os.File }

// Sync makes what was written durable.
func (f osFile) Sync() error { return syncFile(f.File) }

func openLogFile(path string, flag int) (logFile, error) {
	f, err := os.OpenFile(path, flag, filePerm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// chain is the file and the place of its next line. Only one goroutine uses
// it, and only while it holds the lock: other processes append to the same
// file, so what chain knows is checked against the file each time.
type chain struct {
	path     string
	lockPath string
	stateDir string // where torn tails are set aside
	writer   string
	open     func(path string, flag int) (logFile, error)
	now      func() time.Time

	f     logFile
	known bool  // end and at describe the file as this process left it
	end   int64 // length of the good part
	at    link
	loose loose // what is answered and not synced
	place place // of the open file in the log

	hash *hasher
	buf  []byte
	step func(string) error // of a rotation, for tests that stop there
	once map[string]bool    // the names of the lines in buf
}

// entry is one line to write.
type entry struct {
	body []byte // members from phase on; none = nothing to write, only an answer wanted
	sync bool
	// unless, if set, is asked under the lock; true means that the line is
	// not needed any more.
	unless func() bool
	// once, if set, names the line: of those with one name, a batch gets the
	// first. unless cannot know of a line of its own batch.
	once string
	// written, if set, is called under the lock once the line, or the one
	// that makes it needless, is in the file for good.
	written func(e *entry)

	offset int64 // in the file
	place  int64 // in the log, through all its files
	length int
	at     link // place after this line
}

// append writes entries in their order and syncs if one of them asks for it.
// It returns how many are in the file for good and the error that stopped the
// others; those left no byte behind. early is called once the entries that
// ask for no sync are written, before the sync; they have to come first.
// The caller holds the lock and has called refresh.
func (c *chain) append(entries []*entry, early func(n int)) (done int, err error) {
	start, from := c.at, c.end
	unsynced := 0
	c.buf = c.buf[:0]
	clear(c.once)
	for _, e := range entries {
		c.layOut(e)
		if !e.sync {
			unsynced++
		}
	}
	if len(c.buf) > 0 {
		if _, err := c.f.WriteAt(c.buf, from); err != nil {
			c.rollback(start, from)
			return 0, err
		}
	}
	c.end = from + int64(len(c.buf))
	if unsynced > 0 && early != nil {
		early(unsynced)
	}
	if unsynced < len(entries) {
		if err := c.sync(); err != nil {
			if early == nil {
				unsynced = 0
			}
			at, end := start, from
			if unsynced > 0 {
				last := entries[unsynced-1]
				at, end = last.at, last.offset+int64(last.length)
			}
			c.rollback(at, end)
			return unsynced, err
		}
	}
	return len(entries), nil
}

// fits tries whether n bytes could be appended, and leaves none. It syncs, since
// some file systems look for room only then. Bytes that cannot be taken back are
// a torn tail, which the next refresh sets aside; nothing may be written before.
func (c *chain) fits(n int) (ok bool, err error) {
	_, err = c.f.WriteAt(make([]byte, n), c.end)
	if err == nil {
		err = c.f.Sync()
	}
	ok = err == nil
	if c.rollback(c.at, c.end); c.known {
		err = nil
	} else if err == nil {
		err = io.ErrShortWrite
	}
	return ok, err
}

// layOut encodes one line into the buffer and moves the place on.
func (c *chain) layOut(e *entry) {
	e.offset = c.end + int64(len(c.buf))
	e.place = c.place.base + e.offset
	e.length = 0
	e.at = c.at
	if e.body == nil || c.once[e.once] || (e.unless != nil && e.unless()) {
		e.body = nil
		return
	}
	start := len(c.buf)
	buf := append(appendHead(c.buf, c.now(), c.at), ',')
	buf = append(buf, e.body...)
	buf = appendSum(buf, start)
	c.at = link{seq: c.at.seq + 1, head: c.hash.leaf(buf[start:])}
	c.buf = append(buf, '\n')
	e.length = len(c.buf) - start
	e.at = c.at
	if e.once != "" {
		if c.once == nil {
			c.once = map[string]bool{}
		}
		c.once[e.once] = true
	}
}

// rollback takes back what a failed write or sync left. If this fails as
// well, the next refresh reads the file anew and sets a torn tail aside.
func (c *chain) rollback(at link, end int64) {
	c.at, c.end = at, end
	if c.f.Truncate(end) != nil {
		c.known = false
	}
}

// lines gives copies of the last appended lines, without their newlines.
func (c *chain) lines(entries []*entry) [][]byte {
	buf := bytes.Clone(c.buf)
	var out [][]byte
	for _, e := range entries {
		if e.length > 0 {
			out = append(out, buf[:e.length-1:e.length-1])
			buf = buf[e.length:]
		}
	}
	return out
}

// lock takes the lock of the log.
func (c *chain) lock(ctx context.Context) (unlock func(), err error) {
	return takeLock(ctx, c.lockPath)
}

// close gives the file back.
func (c *chain) close() error {
	if c.f == nil {
		return nil
	}
	err := c.f.Close()
	c.f = nil
	return err
}
