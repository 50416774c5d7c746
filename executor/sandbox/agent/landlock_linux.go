package agent

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The versions of Landlock that brought what is used here.
const (
	abiRefer    = 2
	abiTruncate = 3
	abiIoctlDev = 5
	abiScopes   = 6
)

const (
	fsRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fsFirst = 1<<13 - 1 // all rights of the first version
	// fsDevices are rights that no place gives: there are no new devices.
	fsDevices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	// fsOnFiles are the rights that a rule on a file may have.
	fsOnFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	scopeAbstractSockets = 1
	scopeSignals         = 2
)

// rulesetAttr is struct landlock_ruleset_attr.
type rulesetAttr struct {
	fs, net, scoped uint64
}

// landlock confines the calling thread and what it starts: everything below /
// can be read and executed, and the places of writable changed; no signal and
// no abstract socket reaches out. It gives the version of the kernel; ENOSYS
// and EOPNOTSUPP are kernels without it.
func landlock(writable []string) (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	abi := int(version)
	all := uint64(fsFirst)
	for since, right := range map[int]uint64{abiRefer: unix.LANDLOCK_ACCESS_FS_REFER, abiTruncate: unix.LANDLOCK_ACCESS_FS_TRUNCATE, abiIoctlDev: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV} {
		if abi >= since {
			all |= right
		}
	}
	attr, size := rulesetAttr{fs: all}, unsafe.Sizeof(uint64(0))
	if abi >= abiScopes {
		attr.scoped, size = scopeAbstractSockets|scopeSignals, unsafe.Sizeof(attr)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return 0, errno
	}
	ruleset := int(fd)
	defer unix.Close(ruleset)
	if err := rule(ruleset, "/", fsRead); err != nil {
		return 0, err
	}
	for _, place := range writable {
		if err := rule(ruleset, place, all&^fsDevices); err != nil {
			return 0, err
		}
	}
	if _, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return 0, errno
	}
	return abi, nil
}

// rule lets through what is below place, or place itself where it is a file. A
// place that is not there needs no rule.
func rule(ruleset int, place string, access uint64) error {
	fd, err := unix.Open(place, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fsOnFiles
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	runtime.KeepAlive(&attr)
	if errno != 0 {
		return errno
	}
	return nil
}
