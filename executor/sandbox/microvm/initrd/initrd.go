// Package initrd writes the archive that a Linux kernel unpacks as its first
// root: cpio in the form "newc".
//
// What goes in belongs to root in the guest and is only read there; all may
// read there what its owner may read here. Of a folder it takes folders, regular files and symbolic links; it follows no
// link out of the folder, also when the folder changes meanwhile, drops
// set-user-id and set-group-id bits, and stops at a bound on bytes and files.
package initrd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// The kinds of a mode, as the kernel has them.
const (
	modeFolder = 0o040000
	modeFile   = 0o100000
	modeLink   = 0o120000
	modeChar   = 0o020000
)

// ErrTooLarge is what Folder gives when the bounds of the writer are not
// enough.
var ErrTooLarge = errors.New("the folder is larger than what fits into the memory of a guest")

// A Writer writes one archive. Its first error stays. It belongs to one
// goroutine.
type Writer struct {
	to       io.Writer
	inode    uint32
	offset   int64
	err      error
	maxBytes int64
	maxFiles int
	files    int
}

// NewWriter makes a Writer of at most so many bytes and entries.
func NewWriter(to io.Writer, maxBytes int64, maxFiles int) *Writer {
	return &Writer{to: to, maxBytes: maxBytes, maxFiles: maxFiles}
}

// Dir adds a folder.
func (w *Writer) Dir(name string, perm fs.FileMode) { w.head(name, modeFolder|perm, 0, 0, 0) }

// File adds a regular file of exactly size bytes of r.
func (w *Writer) File(name string, perm fs.FileMode, r io.Reader, size int64) {
	w.head(name, modeFile|perm, size, 0, 0)
	if w.err != nil {
		return
	}
	n, err := io.Copy(counted{w}, io.LimitReader(r, size))
	if err == nil && n < size {
		err = fmt.Errorf("%s became shorter while it was read", name)
	}
	w.fail(err)
	w.pad()
}

// Symlink adds a symbolic link.
func (w *Writer) Symlink(name, target string) {
	w.head(name, modeLink|0o777, int64(len(target)), 0, 0)
	w.text(target)
	w.pad()
}

// Device adds a character device.
func (w *Writer) Device(name string, perm fs.FileMode, major, minor uint32) {
	w.head(name, modeChar|perm, 0, major, minor)
}

// Close ends the archive and gives the first error of it all.
func (w *Writer) Close() error {
	w.inode = 0
	w.head("TRAILER!!!", 0, 0, 0, 0)
	if n := w.offset % 512; n > 0 {
		w.text(strings.Repeat("\x00", int(512-n)))
	}
	return w.err
}

// Folder adds what is in dir below the name under, which is added as well.
func (w *Writer) Folder(under, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		w.fail(w.add(root, path.Join(under, name), name, d.Type()))
		return w.err
	})
	return err
}

func (w *Writer) add(root *os.Root, as, name string, t fs.FileMode) error {
	switch t {
	case fs.ModeDir:
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		w.Dir(as, Readable(info.Mode()))
	case fs.ModeSymlink:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		w.Symlink(as, target)
	case 0:
		f, err := openFile(root, name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return nil // it became something else since it was listed
		}
		w.File(as, Readable(info.Mode()), f, info.Size())
	}
	return nil // devices, sockets and pipes are of no use in a guest
}

// Readable is what a file of that mode may be used for in a guest: by all as by
// its owner, who wants it there, but for writing.
func Readable(mode fs.FileMode) fs.FileMode {
	owner := mode.Perm() >> 6 & 0o5
	return owner<<6 | mode.Perm()&0o200 | owner<<3 | owner
}

// head writes the header of an entry.
func (w *Writer) head(name string, mode fs.FileMode, size int64, major, minor uint32) {
	switch name = strings.TrimPrefix(name, "/"); {
	case w.err != nil:
		return
	case name == "" || strings.ContainsRune(name, 0) || len(name) > 4095:
		w.fail(fmt.Errorf("a file cannot have the name %q in an archive", name))
		return
	case size > 1<<32-1 || w.offset+size > w.maxBytes || w.files >= w.maxFiles:
		w.fail(fmt.Errorf("%w: at most %d MiB and %d files (at %s)", ErrTooLarge, w.maxBytes>>20, w.maxFiles, name))
		return
	}
	w.files++
	if w.inode++; mode == 0 {
		w.inode = 0
	}
	w.text("070701")
	for _, v := range []uint32{w.inode, uint32(mode), 0, 0, 1, 0, uint32(size), 0, 0, major, minor, uint32(len(name) + 1), 0} {
		w.text(fmt.Sprintf("%08x", v))
	}
	w.text(name + "\x00")
	w.pad()
}

func (w *Writer) pad() {
	if n := w.offset % 4; n > 0 {
		w.text("\x00\x00\x00"[:4-n])
	}
}

func (w *Writer) text(s string) {
	if w.err == nil {
		_, err := io.WriteString(counted{w}, s)
		w.fail(err)
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// counted writes and keeps the offset.
type counted struct{ w *Writer }

func (c counted) Write(p []byte) (int, error) {
	n, err := c.w.to.Write(p)
	c.w.offset += int64(n)
	return n, err
}
