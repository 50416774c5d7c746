package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

// torn tells what was set aside.
type torn struct {
	bytes  int64
	digest string
	file   string // name in the folder of the log's state
}

// event is the record of a torn tail.
func (t *torn) event() Event {
	return Event{Kind: "torn", Detail: map[string]any{"bytes": t.bytes, "digest": t.digest, "file": t.file}}
}

// refresh makes sure, under the lock, that the open file is the one at the
// path and that chain knows its end: lines of other processes are read, and a
// last line without newline, left by a process that died in a write, is set
// aside. Only create makes a file that is not there.
func (c *chain) refresh(create bool) (*torn, error) {
	st, err := os.Stat(c.path)
	if err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	if err == nil && !st.Mode().IsRegular() {
		return nil, refuse(c.path, ReasonNotALog, "the audit log %s is no regular file; name a file in a folder of its own", c.path)
	}
	if c.f != nil {
		have, err := c.f.Stat()
		if err != nil {
			return nil, err
		}
		if st == nil || !os.SameFile(st, have) {
			if err := c.adopt(); err != nil {
				return nil, err
			}
		}
	} else if err := c.openFile(create && st == nil); err != nil {
		return nil, err
	}
	now, err := c.f.Stat()
	if err != nil {
		return nil, err
	}
	t, err := c.catchUp(now.Size())
	if err == nil {
		err = c.locate()
	}
	return t, err
}

func (c *chain) openFile(create bool) error {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	f, err := c.open(c.path, flag)
	if err != nil {
		return err
	}
	if create {
		if err := atomicfile.SyncDir(filepath.Dir(c.path)); err != nil {
			_ = f.Close()
			return err
		}
	}
	c.switchTo(f)
	c.place.unsynced = false
	return nil
}

// adopt takes the file that is now at the path in place of the open one, if
// it holds our last line where we left it: then it is the same log, put back.
func (c *chain) adopt() error {
	f, err := c.open(c.path, os.O_RDWR)
	if err != nil {
		return err
	}
	if !c.known { // nothing to hold it against
		_ = c.f.Close()
		c.switchTo(f)
		return nil
	}
	if c.at.seq > 0 {
		head, err := c.leafEndingAt(f, c.end)
		if err == nil && head != c.at.head || err == io.EOF {
			var ours bool
			if ours, err = c.rotated(f); ours {
				if err := c.again(); err != nil {
					_ = f.Close()
					return err
				}
				_ = c.f.Close()
				c.switchTo(f)
				return nil
			}
		}
		if err != nil || head != c.at.head {
			_ = f.Close()
			return refuse(c.path, ReasonFileGone, "the audit log %s was replaced by another file while in use; put the right one back, or restart to go on with this one", c.path).Because(err)
		}
	}
	_ = c.f.Close()
	c.f = f
	return nil
}

// catchUp reads what is in the file beyond what is known.
func (c *chain) catchUp(size int64) (*torn, error) {
	if c.known && size == c.end {
		return nil, nil
	}
	low, from := int64(0), link{}
	if c.known {
		if size < c.end {
			return nil, refuse(c.path, ReasonFileCut, "the audit log %s got shorter while in use (%d of %d bytes are left); put the file back and keep other programs from rotating it, or restart to go on with what is left", c.path, size, c.end)
		}
		low, from = c.end, c.at
	} else if err := looksLikeALog(c.f, size); err != nil {
		return nil, refuse(c.path, ReasonNotALog, "%s does not begin like an audit log; name another file", c.path).Because(err)
	}
	nl, err := lastNewline(c.f, low, size)
	if err != nil {
		return nil, err
	}
	good := nl + 1 // nl is low-1 when there is none
	var t *torn
	if good < size {
		if t, err = c.setAside(good, size); err != nil {
			return nil, err
		}
	}
	at, err := c.placeAt(low, good, from)
	if err != nil {
		return nil, err
	}
	c.at, c.end, c.known = at, good, true
	return t, nil
}

// placeAt finds the place of the next line after [low, good), which holds
// whole lines, given the place at low. A last line that cannot be read, since
// somebody damaged it, stays where it is and counts as one: nothing that is
// complete is ever removed, and Verify names it.
func (c *chain) placeAt(low, good int64, from link) (link, error) {
	if good == low {
		return from, nil
	}
	head, err := c.leafEndingAt(c.f, good)
	if err != nil {
		return link{}, err
	}
	bad := uint64(0)
	for end := good; end > low; {
		begin, err := lastNewline(c.f, low, end-1)
		if err != nil {
			return link{}, err
		}
		begin++
		h, ok, err := headAt(c.f, begin, end-1)
		if err != nil {
			return link{}, err
		}
		if ok {
			return link{seq: h.Seq + bad, head: head}, nil
		}
		bad++
		end = begin
	}
	return link{seq: from.seq + bad, head: head}, nil
}

// leafEndingAt is the leaf hash of the line whose newline ends at end.
func (c *chain) leafEndingAt(f io.ReaderAt, end int64) (sum [32]byte, err error) {
	nl, err := lastNewline(f, 0, end-1)
	if err != nil {
		return sum, err
	}
	c.hash.h.Reset()
	c.hash.h.Write(leafPrefix)
	if _, err := io.Copy(c.hash.h, io.NewSectionReader(f, nl+1, end-1-(nl+1))); err != nil {
		return sum, err
	}
	c.hash.h.Sum(sum[:0])
	return sum, nil
}

// headAt parses the head of the line in [begin, end). Only the first bytes
// are read.
func headAt(f io.ReaderAt, begin, end int64) (Head, bool, error) {
	buf := make([]byte, min(end-begin, 4096))
	if _, err := f.ReadAt(buf, begin); err != nil && err != io.EOF {
		return Head{}, false, err
	}
	h, ok := parseHead(buf)
	return h, ok, nil
}

// lastNewline gives the offset of the last newline in [low, end), or low-1.
func lastNewline(f io.ReaderAt, low, end int64) (int64, error) {
	buf := make([]byte, 16<<10)
	for end > low {
		n := min(int64(len(buf)), end-low)
		chunk := buf[:n]
		if _, err := f.ReadAt(chunk, end-n); err != nil && err != io.EOF {
			return 0, err
		}
		if i := bytes.LastIndexByte(chunk, '\n'); i >= 0 {
			return end - n + int64(i), nil
		}
		end -= n
	}
	return low - 1, nil
}

// looksLikeALog keeps us from appending to a file that is something else. A
// file whose first line was torn, or filled with zeros by a power cut, may
// be one.
func looksLikeALog(f io.ReaderAt, size int64) error {
	begin := []byte(`{"time":"`)
	buf := make([]byte, min(size, int64(len(begin))))
	if _, err := f.ReadAt(buf, 0); err != nil && err != io.EOF {
		return err
	}
	if bytes.HasPrefix(begin, buf) || len(bytes.Trim(buf, "\x00")) == 0 {
		return nil
	}
	return errors.New("unknown first bytes")
}

// setAside moves the bytes from good to size out of the log into a file
// beside it, durably, before they are cut off.
func (c *chain) setAside(good, size int64) (*torn, error) {
	if err := os.MkdirAll(c.stateDir, dirPerm); err != nil {
		return nil, err
	}
	stamp := c.now().UTC().Format("20060102T150405.000000Z")
	var out *os.File
	var name string
	for i := 0; ; i++ {
		name = fmt.Sprintf("torn-%s.bin", stamp)
		if i > 0 {
			name = fmt.Sprintf("torn-%s-%d.bin", stamp, i)
		}
		var err error
		out, err = os.OpenFile(filepath.Join(c.stateDir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, filePerm)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || i > 1000 {
			return nil, err
		}
	}
	c.hash.h.Reset()
	_, err := io.Copy(io.MultiWriter(out, c.hash.h), io.NewSectionReader(c.f, good, size-good))
	if err == nil {
		err = out.Sync()
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = atomicfile.SyncDir(c.stateDir)
	}
	if err == nil {
		err = c.f.Truncate(good)
	}
	if err != nil {
		_ = os.Remove(out.Name())
		return nil, err
	}
	var sum [32]byte
	c.hash.h.Sum(sum[:0])
	return &torn{bytes: size - good, digest: hashString(sum), file: name}, nil
}
