package main

import "golang.org/x/sys/unix"

// archProbes are of this architecture alone.
var archProbes = []probe{
	{Name: "call-of-x32", Dimension: syscalls, Bomb: true, run: func(args) verdict {
		pid, _, e := unix.RawSyscall(0x40000000|unix.SYS_GETPID, 0, 0, 0)
		if e == unix.ENOSYS {
			return held("%v", e)
		}
		return open("answered %d", pid)
	}},
	{Name: "call-of-32-bit", Dimension: syscalls, Bomb: true, run: func(args) verdict {
		if pid := int80(20); pid > 0 { // getpid
			return open("answered %d", pid)
		}
		return held("no answer")
	}},
	raw("iopl", unix.SYS_IOPL, 3),
	raw("ioperm", unix.SYS_IOPERM, 0x80),
	raw("ustat", unix.SYS_USTAT, ^uintptr(0)),
	raw("uselib", unix.SYS_USELIB, 0),
	raw("sysfs", unix.SYS_SYSFS, 3),
	raw("kexec_file_load", unix.SYS_KEXEC_FILE_LOAD, nowhere),
}

func raw(name string, nr, arg uintptr) probe {
	return probe{Name: "call-" + name, Dimension: syscalls, run: func(args) verdict {
		_, _, e := unix.Syscall(nr, arg, 0, 0)
		return reached(e)
	}}
}

// int80 makes a system call as a 32-bit program does.
func int80(nr uint32) int32
