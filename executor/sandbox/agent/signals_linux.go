package agent

import (
	"os"
	"os/signal"
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
	ignore := action{ignored}
	for _, s := range deadly {
		var before action
		set(s, nil, &before)
		if before[0] == ignored {
			// As whoever started the program had it, by nohup for one. The runtime
			// left that as it was, and a command would find it so.
			signal.Notify(make(chan os.Signal, 1), s)
		}
		set(s, &ignore, nil)
	}
}

// leaveNoZombies has the kernel take up each child in the moment of its end. What
// is told by a descriptor is then true of the list of processes as well.
func leaveNoZombies() {
	ignore := action{ignored}
	set(unix.SIGCHLD, &ignore, nil)
}

// action is struct sigaction. The handler is its first word wherever a sandbox
// has a filter of system calls; the rest is nothing for one that is ignored.
type action [8]uintptr

const ignored = 1 // SIG_IGN

func set(s syscall.Signal, to, before *action) {
	const setOfSignals = 8 // bytes
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(before)), setOfSignals, 0, 0)
}
