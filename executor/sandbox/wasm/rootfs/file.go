package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"

	wasys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// File is an open file or folder. One module uses it at a time.
type File struct {
	file          *os.File
	fs            *FS
	dir           bool
	reads, writes bool
	append        bool
	closed        bool
}

var _ wasys.File = (*File)(nil)

// usable tells whether the file can be read or written now.
func (f *File) usable(can bool) wasys.Errno {
	switch {
	case f.closed:
		return wasys.EBADF
	case f.dir:
		return wasys.EISDIR
	case !can:
		return wasys.EBADF
	}
	return 0
}

// Dev is the device that holds the file.
func (f *File) Dev() (uint64, wasys.Errno) {
	st, no := f.Stat()
	return st.Dev, no
}

// Ino is the number of the file on its device.
func (f *File) Ino() (sys.Inode, wasys.Errno) {
	st, no := f.Stat()
	return st.Ino, no
}

// IsDir tells whether it is a folder.
func (f *File) IsDir() (bool, wasys.Errno) { return f.dir, 0 }

// IsAppend tells whether writes go to the end.
func (f *File) IsAppend() bool { return f.append }

// SetAppend switches it.
func (f *File) SetAppend(on bool) wasys.Errno {
	if no := f.usable(true); no != 0 {
		return no
	}
	no := setAppend(f.file, on)
	if no == 0 {
		f.append = on
	}
	return no
}

// Stat describes the file.
func (f *File) Stat() (sys.Stat_t, wasys.Errno) {
	if f.closed {
		return sys.Stat_t{}, wasys.EBADF
	}
	st, err := f.file.Stat()
	if err != nil {
		return sys.Stat_t{}, errno(err)
	}
	return sys.NewStat_t(st), 0
}

// transfer runs one read or write; the end of the file is 0 bytes.
func (f *File) transfer(can bool, buf []byte, do func() (int, error)) (int, wasys.Errno) {
	if no := f.usable(can); no != 0 {
		return 0, no
	}
	if len(buf) == 0 {
		return 0, 0
	}
	n, err := do()
	if errors.Is(err, io.EOF) || n > 0 {
		return n, 0
	}
	return n, errno(err)
}

// Read reads on.
func (f *File) Read(buf []byte) (int, wasys.Errno) {
	return f.transfer(f.reads, buf, func() (int, error) { return f.file.Read(buf) })
}

// Pread reads at off.
func (f *File) Pread(buf []byte, off int64) (int, wasys.Errno) {
	return f.transfer(f.reads, buf, func() (int, error) { return f.file.ReadAt(buf, off) })
}

// Write writes on, or at the end.
func (f *File) Write(buf []byte) (int, wasys.Errno) {
	return f.transfer(f.writes, buf, func() (int, error) { return f.file.Write(buf) })
}

// Pwrite writes at off.
func (f *File) Pwrite(buf []byte, off int64) (int, wasys.Errno) {
	return f.transfer(f.writes, buf, func() (int, error) { return f.file.WriteAt(buf, off) })
}

// A position is an int64 under a name of its own: go vet takes a method Seek
// of int64 for that of io.Seeker, which this one is not.
type position = int64

// Seek moves the place of Read and Write. In a folder only its beginning can
// be gone to.
func (f *File) Seek(offset position, whence int) (int64, wasys.Errno) {
	if f.closed {
		return 0, wasys.EBADF
	}
	if f.dir && (offset != 0 || whence != io.SeekStart) {
		return 0, wasys.EISDIR
	}
	if whence < io.SeekStart || whence > io.SeekEnd {
		return 0, wasys.EINVAL
	}
	at, err := f.file.Seek(offset, whence)
	return at, errno(err)
}

// Readdir lists on, n entries at most, all with n < 1. Inode numbers are left
// out: they would cost a look at each file.
func (f *File) Readdir(n int) ([]wasys.Dirent, wasys.Errno) {
	switch {
	case f.closed:
		return nil, wasys.EBADF
	case !f.dir:
		return nil, wasys.ENOTDIR
	}
	entries, err := f.file.ReadDir(n)
	if err != nil && !errors.Is(err, io.EOF) && len(entries) == 0 {
		// A folder that was removed while it is open has nothing in it.
		if errors.Is(err, fs.ErrNotExist) {
			return nil, 0
		}
		return nil, errno(err)
	}
	list := make([]wasys.Dirent, len(entries))
	for i, e := range entries {
		list[i] = wasys.Dirent{Name: e.Name(), Type: e.Type()}
	}
	return list, 0
}

// Truncate sets the size.
func (f *File) Truncate(size int64) wasys.Errno {
	if no := f.usable(f.writes); no != 0 {
		return no
	}
	if size < 0 {
		return wasys.EINVAL
	}
	return errno(f.file.Truncate(size))
}

// Sync waits until the file is on its device.
func (f *File) Sync() wasys.Errno {
	if f.closed {
		return wasys.EBADF
	}
	if !f.fs.writable {
		return 0
	}
	return errno(f.file.Sync())
}

// Datasync is Sync.
func (f *File) Datasync() wasys.Errno { return f.Sync() }

// Utimens sets the times of the file.
func (f *File) Utimens(atim, mtim int64) wasys.Errno {
	switch {
	case f.closed:
		return wasys.EBADF
	case !f.fs.writable:
		return wasys.EROFS
	}
	return setTimes(f.file, atim, mtim)
}

// Close closes it, once.
func (f *File) Close() wasys.Errno {
	if f.closed {
		return 0
	}
	f.closed = true
	return errno(f.file.Close())
}
