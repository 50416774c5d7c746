// Package rootfs gives a folder to a WebAssembly module, and nothing beside
// it. It is a file system of the runtime (wazero's experimental/sys.FS) over
// an os.Root.
//
// # Threat model
//
// The module is hostile and, in a writable folder, other programs may change
// the tree at the same time. Every name is resolved by os.Root, component by
// component and relative to open directories, so that neither "..", nor an
// absolute name, nor a symbolic link, whenever it was made, leads out of the
// folder. Beyond that a module cannot make symbolic links, cannot set special
// mode bits, and opens only regular files and folders: a named pipe would
// block it, a device would be one of the host's.
//
// What is not covered: hard links and mounts inside the folder that already
// lead elsewhere (those are the folder), and how much is written (see
// sandbox.Disk for what bounds it).
package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	wasys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// FS is one folder. It is safe for concurrent use.
type FS struct {
	wasys.UnimplementedFS
	root     *os.Root
	writable bool
}

// New gives root to a module; without writable every change is EROFS. The
// caller keeps root and closes it when no module uses it any more.
func New(root *os.Root, writable bool) *FS { return &FS{root: root, writable: writable} }

// name is what os.Root takes: clean, without a slash at the end. dir tells
// that there was one, so that the name has to be that of a folder.
func name(p string) (clean string, dir bool, errno wasys.Errno) {
	if p == "" || strings.ContainsRune(p, 0) {
		return "", false, wasys.EINVAL
	}
	dir = strings.HasSuffix(p, "/")
	clean = path.Clean(p)
	if path.IsAbs(clean) && clean != "/" {
		return "", false, wasys.EPERM
	}
	if clean == "/" {
		clean = "."
	}
	return clean, dir, 0
}

// errno translates; what os.Root refuses because it leads out is EPERM.
func errno(err error) wasys.Errno {
	if err == nil {
		return 0
	}
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	if no, ok := system(err); ok {
		return no
	}
	if no := wasys.UnwrapOSError(err); no != wasys.EIO {
		return no
	}
	if strings.Contains(err.Error(), "escapes") {
		return wasys.EPERM
	}
	return wasys.EIO
}

// OpenFile opens a regular file or a folder.
func (f *FS) OpenFile(p string, flag wasys.Oflag, perm fs.FileMode) (wasys.File, wasys.Errno) {
	p, dir, no := name(p)
	if no != 0 {
		return nil, no
	}
	open, writes := os.O_RDONLY, false
	switch flag & (wasys.O_RDWR | wasys.O_WRONLY) {
	case wasys.O_RDWR:
		open, writes = os.O_RDWR, true
	case wasys.O_WRONLY:
		open, writes = os.O_WRONLY, true
	}
	if flag&wasys.O_CREAT != 0 {
		open |= os.O_CREATE
	}
	if flag&wasys.O_EXCL != 0 {
		open |= os.O_EXCL
	}
	if flag&wasys.O_TRUNC != 0 {
		open |= os.O_TRUNC
	}
	if flag&(wasys.O_SYNC|wasys.O_DSYNC|wasys.O_RSYNC) != 0 {
		open |= os.O_SYNC
	}
	if !f.writable && (writes || flag&(wasys.O_CREAT|wasys.O_TRUNC) != 0) {
		return nil, wasys.EROFS
	}
	if flag&wasys.O_NOFOLLOW != 0 {
		if st, err := f.root.Lstat(p); err == nil && st.Mode()&fs.ModeSymlink != 0 {
			return nil, wasys.ELOOP
		}
	}
	// Without openNonblock a named pipe would hold the call here.
	file, err := f.root.OpenFile(p, open|openNonblock, perm&0o777)
	if err != nil {
		return nil, errno(err)
	}
	st, err := file.Stat()
	switch {
	case err != nil:
		no = errno(err)
	case st.IsDir() && (writes || flag&wasys.O_CREAT != 0):
		no = wasys.EISDIR
	case !st.IsDir() && (dir || flag&wasys.O_DIRECTORY != 0):
		no = wasys.ENOTDIR
	case !st.IsDir() && !st.Mode().IsRegular():
		no = wasys.EACCES
	}
	if no == 0 && flag&wasys.O_APPEND != 0 {
		no = setAppend(file, true)
	}
	if no != 0 {
		file.Close()
		return nil, no
	}
	return &File{file: file, fs: f, dir: st.IsDir(), reads: flag&wasys.O_WRONLY == 0, writes: writes, append: flag&wasys.O_APPEND != 0}, 0
}

// Lstat describes a name, the link itself where it is one.
func (f *FS) Lstat(p string) (sys.Stat_t, wasys.Errno) { return f.stat(p, f.root.Lstat) }

// Stat describes what a name leads to.
func (f *FS) Stat(p string) (sys.Stat_t, wasys.Errno) { return f.stat(p, f.root.Stat) }

func (f *FS) stat(p string, stat func(string) (fs.FileInfo, error)) (sys.Stat_t, wasys.Errno) {
	p, dir, no := name(p)
	if no != 0 {
		return sys.Stat_t{}, no
	}
	if dir { // a link with a slash behind it is what it leads to
		stat = f.root.Stat
	}
	st, err := stat(p)
	if err != nil {
		return sys.Stat_t{}, errno(err)
	}
	if dir && !st.IsDir() {
		return sys.Stat_t{}, wasys.ENOTDIR
	}
	return sys.NewStat_t(st), 0
}

// Readlink gives the text of a link, which may name what cannot be opened.
func (f *FS) Readlink(p string) (string, wasys.Errno) {
	p, _, no := name(p)
	if no != 0 {
		return "", no
	}
	to, err := f.root.Readlink(p)
	return to, errno(err)
}

// change does what writes to one name.
func (f *FS) change(p string, do func(p string) error) wasys.Errno {
	p, _, no := name(p)
	switch {
	case no != 0:
		return no
	case !f.writable:
		return wasys.EROFS
	case p == ".":
		return wasys.EPERM
	}
	return errno(do(p))
}

// Mkdir makes a folder.
func (f *FS) Mkdir(p string, perm fs.FileMode) wasys.Errno {
	return f.change(p, func(p string) error { return f.root.Mkdir(p, perm&0o777) })
}

// Chmod sets the permissions, and no bit beyond them.
func (f *FS) Chmod(p string, perm fs.FileMode) wasys.Errno {
	return f.change(p, func(p string) error { return f.root.Chmod(p, perm&0o777) })
}

// Rename moves within the folder.
func (f *FS) Rename(from, to string) wasys.Errno {
	to, _, no := name(to)
	if no != 0 {
		return no
	}
	if to == "." {
		return wasys.EPERM
	}
	return f.change(from, func(from string) error { return f.root.Rename(from, to) })
}

// Link makes a hard link within the folder.
func (f *FS) Link(from, to string) wasys.Errno {
	to, _, no := name(to)
	if no != 0 {
		return no
	}
	return f.change(from, func(from string) error { return f.root.Link(from, to) })
}

// Symlink is refused: whoever reads the folder outside would follow it there.
func (f *FS) Symlink(string, string) wasys.Errno {
	if !f.writable {
		return wasys.EROFS
	}
	return wasys.EPERM
}

// Rmdir removes an empty folder.
func (f *FS) Rmdir(p string) wasys.Errno { return f.remove(p, true) }

// Unlink removes a name that is not a folder.
func (f *FS) Unlink(p string) wasys.Errno { return f.remove(p, false) }

// remove looks at the kind first, as os.Root removes either. Between the two
// the kind can change; what is then removed is still the module's to remove.
func (f *FS) remove(p string, dir bool) wasys.Errno {
	clean, slash, no := name(p)
	if no != 0 {
		return no
	}
	if f.writable {
		st, err := f.root.Lstat(clean)
		switch {
		case err != nil:
			return errno(err)
		case dir && !st.IsDir(), !dir && slash && !st.IsDir():
			return wasys.ENOTDIR
		case !dir && st.IsDir():
			return wasys.EISDIR
		}
	}
	return f.change(p, f.root.Remove)
}

// Utimens sets the times of what a name leads to.
func (f *FS) Utimens(p string, atim, mtim int64) wasys.Errno {
	return f.change(p, func(p string) error {
		return f.root.Chtimes(p, stamp(atim), stamp(mtim))
	})
}

// stamp is the zero time, which os leaves as it is, for a time to keep.
func stamp(ns int64) time.Time {
	if ns == wasys.UTIME_OMIT {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
