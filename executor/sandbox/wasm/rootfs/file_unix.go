//go:build unix

package rootfs

import (
	"os"

	wasys "github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"
)

const openNonblock = unix.O_NONBLOCK

// system are the errors for which the runtime has no number of the same name.
// A full or bounded device must not look like a broken one.
func system(err error) (wasys.Errno, bool) {
	switch err {
	case unix.EXDEV, unix.ENXIO, unix.ETXTBSY, unix.EMLINK, unix.EBUSY:
		return wasys.EACCES, true
	case unix.EMFILE, unix.ENFILE:
		return wasys.EAGAIN, true
	}
	return 0, false
}

// control runs do on the descriptor without taking it from the os package.
func control(file *os.File, do func(fd int) error) wasys.Errno {
	conn, err := file.SyscallConn()
	if err != nil {
		return errno(err)
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return errno(err)
	}
	return errno(failed)
}

// setAppend sets the flag on the descriptor, and not through os.O_APPEND,
// with which os.File refuses to write at an offset.
func setAppend(file *os.File, on bool) wasys.Errno {
	return control(file, func(fd int) error {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return err
		}
		if flags &^= unix.O_APPEND; on {
			flags |= unix.O_APPEND
		}
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
		return err
	})
}

// setTimes sets the times of the open file, whatever its name is by now, in
// microseconds: what all systems can do on a descriptor.
func setTimes(file *os.File, atim, mtim int64) wasys.Errno {
	if atim == wasys.UTIME_OMIT || mtim == wasys.UTIME_OMIT {
		st, no := (&File{file: file}).Stat()
		if no != 0 {
			return no
		}
		if atim == wasys.UTIME_OMIT {
			atim = st.Atim
		}
		if mtim == wasys.UTIME_OMIT {
			mtim = st.Mtim
		}
	}
	times := []unix.Timeval{unix.NsecToTimeval(atim), unix.NsecToTimeval(mtim)}
	return control(file, func(fd int) error { return unix.Futimes(fd, times) })
}
