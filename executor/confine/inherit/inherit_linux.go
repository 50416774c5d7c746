// Package inherit closes what a process was started with by mistake.
package inherit

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Close closes the descriptors from keep on that this process inherited: each
// would be a way out of it. Those are the ones that an exec leaves open. The
// others are of this process itself, where a thread of the Go runtime or of the
// C library may be about to close its own: whoever closes it first has it close
// what bears the number by then, which may be what the runtime polls with.
//
// It is for the start of a process, before anything has opened a descriptor
// that its children are to have.
func Close(keep int) error {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd < keep {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	return nil
}
