package agent

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// deadly are the signals that end a Go program which is not told to take them,
// also when a process sent them; the others do nothing to it, and what stops a
// process does not stop process 1.
var deadly = []syscall.Signal{
	unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGABRT, unix.SIGILL, unix.SIGTRAP,
	unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGSTKFLT, unix.SIGSYS,
}

// surviveSignals has the kernel drop the deadly signals. A fault of the agent's
// own still ends it.
//
// Package os/signal would hand each of them to a thread of its own and wait for
// that, which takes a twentieth of a start. What it would do for commands happens
// all the same: the runtime gives a child the default for every signal that it
// once took for itself, and these are among them.
func surviveSignals() {
	// Zeroes but for the handler, which is the first word of struct sigaction
	// wherever a sandbox has a filter of system calls.
	ignore := [8]uintptr{1}
	const setOfSignals = 8 // bytes
	for _, s := range deadly {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&ignore)), 0, setOfSignals, 0, 0)
	}
}
