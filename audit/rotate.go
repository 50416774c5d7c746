package audit

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

// place says where the open file lies in its log.
type place struct {
	known    bool
	first    uint64 // seq of its first line, 0 when that cannot be read
	began    time.Time
	base     int64 // offset of its first byte
	unsynced bool  // the name of the file may not be on the disk yet
}

// locate reads the place of the open file, once it has a first line. The
// caller holds the lock.
func (c *chain) locate() error {
	if c.place.known || c.end == 0 {
		return nil
	}
	line, err := firstLine(io.NewSectionReader(c.f, 0, c.end))
	if err != nil {
		return err
	}
	o, _ := originOf(line)
	if o.base < 0 { // its first line was torn or damaged
		if o.base, err = c.baseOfSegments(); err != nil {
			return err
		}
	}
	c.place = place{known: true, first: o.head.Seq, began: o.began, base: o.base, unsynced: c.place.unsynced}
	return nil
}

// rotate makes the open file a closed segment and begins the next one, whose
// first line carries the chain over. tree is over all lines so far, nil when
// it is not known. The caller holds the lock and has called refresh.
//
// The steps, and what a crash after each leaves:
//
//  1. All lines are synced.                   Nothing.
//  2. The next file is written and synced.    A file that the next rotation overwrites.
//  3. The open file gets its second name.     One file with two names; readers and the next
//     rotation know it by that.
//  4. The next file takes the first name.     The rotation is done.
//
// So there is a file with the name of the log at every moment.
func (c *chain) rotate(tree *checkpoint.Tree) (line []byte, err error) {
	if err := c.sync(); err != nil {
		return nil, err
	}
	dir := filepath.Join(c.stateDir, segmentsDir)
	if err := os.MkdirAll(dir, dirPerm); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(c.path)
	if err != nil {
		return nil, err
	}
	first, err := c.firstSeq()
	if err != nil {
		return nil, err
	}
	o := opening{Offset: c.place.base + c.end,
		Previous: previous{File: segmentName(first), First: first, Last: c.at.seq, Head: hashString(c.at.head), Bytes: c.end}}
	if tree != nil && tree.Size() == int64(c.at.seq) {
		o.Tree = tree.Edge()
	}
	e := &entry{}
	if e.body, err = encodeEvent(c.writer, o.event(), nil); err != nil {
		return nil, err
	}
	before := c.at
	c.buf = c.buf[:0]
	clear(c.once)
	c.layOut(e)
	after := c.at
	c.at = before // until the file is there
	line = bytes.Clone(c.buf[:len(c.buf)-1])

	next := filepath.Join(dir, nextName)
	if err := errors.Join(writeSynced(next, c.buf), c.reached("written")); err != nil {
		return nil, err
	}
	if err := c.linkTo(filepath.Join(dir, o.Previous.File), real); err != nil {
		return nil, err
	}
	if err := errors.Join(atomicfile.SyncDir(dir), c.reached("linked")); err != nil {
		return nil, err
	}
	if err := os.Rename(next, real); err != nil {
		return nil, err
	}
	// From here on the rotation is done, whatever goes wrong.
	c.known = false
	if err := c.reached("renamed"); err != nil {
		return line, err
	}
	f, err := c.open(c.path, os.O_RDWR)
	if err != nil {
		return line, err // refresh opens it
	}
	_ = c.f.Close()
	c.switchTo(f)
	c.known, c.at, c.end = true, after, int64(len(line)+1)
	if err := c.settled(); err != nil {
		return line, err
	}
	return line, c.locate()
}

// reached tells a test that a step is done.
func (c *chain) reached(step string) error {
	if c.step == nil {
		return nil
	}
	return c.step(step)
}

// switchTo takes another file for the open one, which is closed already. That
// it has its name is not known to be on the disk.
func (c *chain) switchTo(f logFile) {
	c.f, c.known, c.at, c.end = f, false, link{}, 0
	c.loose = loose{}
	c.place = place{unsynced: true}
}

// settled makes sure that the file that lines go into keeps its name when the
// machine dies. Until then no line is written.
func (c *chain) settled() error {
	if !c.place.unsynced {
		return nil
	}
	real, err := filepath.EvalSymlinks(c.path)
	if err != nil {
		return err
	}
	if err := atomicfile.SyncDir(filepath.Dir(real)); err != nil {
		return err
	}
	c.place.unsynced = false
	return nil
}

// firstSeq is the seq of the first line, also of one that cannot be read.
func (c *chain) firstSeq() (uint64, error) {
	if c.place.first > 0 {
		return c.place.first, nil
	}
	lines := uint64(0)
	r := newLineReader(io.NewSectionReader(c.f, 0, c.end))
	for {
		_, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		lines++
	}
	if lines == 0 || lines > c.at.seq {
		return 0, errors.New("audit: the first line of the file cannot be told")
	}
	return c.at.seq - lines + 1, nil
}

// linkTo gives the file at path its second name. Another file with that name
// can only be what a restored copy of the log makes of the two names: it is
// given up where it is the begin of this file.
func (c *chain) linkTo(name, path string) error {
	err := os.Link(path, name)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	have, err := os.Stat(name)
	if err != nil {
		return err
	}
	if st, err := os.Stat(path); err != nil || os.SameFile(st, have) {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	same, err := samePrefix(f, c.f, have.Size())
	_ = f.Close()
	if err != nil {
		return err
	}
	if !same {
		return &fs.PathError{Op: "rotate to", Path: name, Err: errors.New("there is another file with other records; move it away")}
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	return os.Link(path, name)
}

func samePrefix(a, b io.ReaderAt, size int64) (bool, error) {
	var x, y [32 << 10]byte
	for at := int64(0); at < size; {
		n := min(int64(len(x)), size-at)
		if _, err := a.ReadAt(x[:n], at); err != nil && err != io.EOF {
			return false, err
		}
		if k, err := b.ReadAt(y[:n], at); err == io.EOF && int64(k) < n {
			return false, nil
		} else if err != nil && err != io.EOF {
			return false, err
		}
		if !bytes.Equal(x[:n], y[:n]) {
			return false, nil
		}
		at += n
	}
	return true, nil
}

// writeSynced writes a file that nobody reads yet.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, filePerm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
