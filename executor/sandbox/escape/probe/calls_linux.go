package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reached says whether a system call got to its own code: it was carried out,
// or failed for another reason than that it is forbidden or unknown.
func reached(e unix.Errno) verdict {
	switch e {
	case 0:
		return open("carried out")
	case unix.EPERM, unix.EACCES, unix.ENOSYS:
		return held("%v", e)
	}
	return open("reached: %v", e)
}

// A call is one with arguments that do nothing, or cannot work.
type call struct {
	name string
	nr   uintptr
	args [6]uintptr
}

const nowhere = 1 << 30 // no descriptor

// numbered are calls that fail harmlessly even where they are allowed.
func numbered() []call {
	bad := ^uintptr(0)
	return []call{
		{"umount2", unix.SYS_UMOUNT2, [6]uintptr{0, 0}},
		{"open_tree", unix.SYS_OPEN_TREE, [6]uintptr{nowhere, 0, unix.OPEN_TREE_CLONE}},
		{"move_mount", unix.SYS_MOVE_MOUNT, [6]uintptr{nowhere, 0, nowhere, 0, 0}},
		{"fsopen", unix.SYS_FSOPEN, [6]uintptr{0, 0}},
		{"fsconfig", unix.SYS_FSCONFIG, [6]uintptr{nowhere, 0}},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, [6]uintptr{nowhere, 0, 0, 0, 0}},
		{"pivot_root", unix.SYS_PIVOT_ROOT, [6]uintptr{0, 0}},
		{"setns", unix.SYS_SETNS, [6]uintptr{nowhere, 0}},
		{"bpf", unix.SYS_BPF, [6]uintptr{bad, 0, 0}},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, [6]uintptr{0, 0, bad, bad, 0}},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, [6]uintptr{1, 0}},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, [6]uintptr{nowhere, 0, 0, 0}},
		{"userfaultfd", unix.SYS_USERFAULTFD, [6]uintptr{bad}},
		{"add_key", unix.SYS_ADD_KEY, [6]uintptr{0, 0, 0, 0, bad}},
		{"request_key", unix.SYS_REQUEST_KEY, [6]uintptr{0, 0, 0, 0}},
		{"keyctl", unix.SYS_KEYCTL, [6]uintptr{bad}},
		{"kcmp", unix.SYS_KCMP, [6]uintptr{bad, bad, bad, 0, 0}},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, [6]uintptr{1, 0, 0, 0, 0, 1}},
		{"process_madvise", unix.SYS_PROCESS_MADVISE, [6]uintptr{nowhere, 0, 0, 0, 0}},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, [6]uintptr{nowhere, 0, 0}},
		{"init_module", unix.SYS_INIT_MODULE, [6]uintptr{0, 0, 0}},
		{"finit_module", unix.SYS_FINIT_MODULE, [6]uintptr{nowhere, 0, 0}},
		{"delete_module", unix.SYS_DELETE_MODULE, [6]uintptr{0, 0}},
		{"kexec_load", unix.SYS_KEXEC_LOAD, [6]uintptr{0, bad, 0, bad}},
		{"reboot", unix.SYS_REBOOT, [6]uintptr{1, 2, 3, 0}}, // no magic numbers
		{"swapon", unix.SYS_SWAPON, [6]uintptr{0, 0}},
		{"swapoff", unix.SYS_SWAPOFF, [6]uintptr{0}},
		{"acct", unix.SYS_ACCT, [6]uintptr{1}},
		{"quotactl", unix.SYS_QUOTACTL, [6]uintptr{bad, 0, 0, 0}},
		{"syslog", unix.SYS_SYSLOG, [6]uintptr{10, 0, 0}}, // size of the log
		{"fanotify_init", unix.SYS_FANOTIFY_INIT, [6]uintptr{bad, 0}},
		{"name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, [6]uintptr{nowhere, 0, 0, 0, 0}},
		{"lookup_dcookie", unix.SYS_LOOKUP_DCOOKIE, [6]uintptr{0, 0, 0}},
		{"move_pages", unix.SYS_MOVE_PAGES, [6]uintptr{1, 0, 0, 0, 0, 0}},
		{"migrate_pages", unix.SYS_MIGRATE_PAGES, [6]uintptr{1, 0, 0, 0}},
		{"settimeofday", unix.SYS_SETTIMEOFDAY, [6]uintptr{8, 0}},
		{"clock_settime", unix.SYS_CLOCK_SETTIME, [6]uintptr{0, 8}},
		{"clock_adjtime", unix.SYS_CLOCK_ADJTIME, [6]uintptr{0, 8}},
		{"sethostname", unix.SYS_SETHOSTNAME, [6]uintptr{8, bad}},
		{"setdomainname", unix.SYS_SETDOMAINNAME, [6]uintptr{8, bad}},
		{"mknod", unix.SYS_MKNODAT, [6]uintptr{nowhere, 0, unix.S_IFCHR, 259}},
		{"chroot-call", unix.SYS_CHROOT, [6]uintptr{0}},
		{"msgget", unix.SYS_MSGGET, [6]uintptr{0x70726f62, 0}},
		{"semget", unix.SYS_SEMGET, [6]uintptr{0x70726f62, 0, 0}},
		{"shmget", unix.SYS_SHMGET, [6]uintptr{0x70726f62, 0, 0}},
		{"mq_open", unix.SYS_MQ_OPEN, [6]uintptr{0, 0, 0, 0}},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, [6]uintptr{nowhere, 0, 0}},
		{"vmsplice-of-other-process", unix.SYS_PROCESS_VM_READV, [6]uintptr{1, 0, 0, 0, 0, 1}},
	}
}

func numberedProbes() []probe {
	var list []probe
	for _, c := range numbered() {
		list = append(list, probe{Name: "call-" + c.name, Dimension: syscalls, run: func(args) verdict {
			_, _, e := unix.Syscall6(c.nr, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], c.args[5])
			return reached(e)
		}})
	}
	return list
}

// callProbes are calls that are tried in earnest.
var callProbes = []probe{
	{Name: "unshare-user", Dimension: syscalls, run: func(args) verdict { return refused(unshared(unix.CLONE_NEWUSER), "a user namespace") }},
	{Name: "unshare-mount", Dimension: syscalls, run: func(args) verdict { return refused(unshared(unix.CLONE_NEWNS), "a mount namespace") }},
	{Name: "unshare-net", Dimension: syscalls, run: func(args) verdict { return refused(unshared(unix.CLONE_NEWNET), "a network namespace") }},
	{Name: "unshare-all", Dimension: syscalls, run: func(args) verdict {
		return refused(unshared(unix.CLONE_NEWUSER|unix.CLONE_NEWNS|unix.CLONE_NEWIPC|unix.CLONE_NEWNET), "namespaces")
	}},
	{Name: "clone-user", Dimension: syscalls, run: func(args) verdict { return cloned(unix.CLONE_NEWUSER) }},
	{Name: "clone-pid", Dimension: syscalls, run: func(args) verdict { return cloned(unix.CLONE_NEWPID) }},
	{Name: "clone3-user", Dimension: syscalls, run: func(args) verdict {
		a := [11]uint64{0: unix.CLONE_NEWUSER, 4: uint64(unix.SIGCHLD)} // flags, exit signal
		pid, _, e := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&a)), unsafe.Sizeof(a), 0)
		if e == 0 && pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		return reached(e)
	}},
	{Name: "setns-of-process-1", Dimension: syscalls, run: func(args) verdict {
		fd, err := unix.Open("/proc/1/ns/net", unix.O_RDONLY, 0)
		if err != nil {
			return held("%v", err)
		}
		defer unix.Close(fd)
		return refused(unix.Setns(fd, unix.CLONE_NEWNET), "entered")
	}},
	{Name: "ptrace-traceme", Dimension: syscalls, run: func(args) verdict { return refused(childCall("traceme", 0), "traced") }},
	{Name: "ptrace-process-1", Dimension: syscalls, Wild: true, run: func(args) verdict { return refused(unix.PtraceSeize(1), "attached") }},
	{Name: "ptrace-host-process", Dimension: environ, run: func(a args) verdict {
		var pid int
		_, _ = fmt.Sscan(a["pid"], &pid)
		err := unix.PtraceSeize(pid)
		if err == nil {
			_ = unix.PtraceDetach(pid)
		}
		return refused(err, "attached")
	}},
	{Name: "personality", Dimension: syscalls, run: func(args) verdict {
		_, _, e := unix.Syscall(unix.SYS_PERSONALITY, 0x0040000, 0, 0) // no randomised addresses
		return refused(failure(e), "changed")
	}},
	{Name: "keyring-of-session", Dimension: syscalls, run: func(args) verdict {
		_, err := unix.AddKey("user", "probe", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
		return refused(err, "a key was added")
	}},
	{Name: "no-new-privileges", Dimension: syscalls, run: func(args) verdict {
		if status("NoNewPrivs") != "1" {
			return open("not set")
		}
		return held("set")
	}},
	{Name: "filter-of-calls", Dimension: syscalls, run: func(args) verdict {
		if status("Seccomp") != "2" {
			return open("mode %s", status("Seccomp"))
		}
		return held("mode 2")
	}},
	{Name: "filter-from-inside", Dimension: syscalls, run: func(args) verdict {
		// An allow-list is not made weaker by one more; only that it is there counts.
		_, err := os.Stat("/proc/self/status")
		if err != nil {
			return held("%v", err)
		}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0); err == nil {
			return open("no_new_privs was taken back")
		}
		return held("it cannot be taken back")
	}},
	{Name: "memory-map-of-process", Dimension: syscalls, run: func(args) verdict {
		return reached(errno(unix.Prctl(unix.PR_SET_MM, unix.PR_SET_MM_EXE_FILE, nowhere, 0, 0)))
	}},
}

// errno is the number of an error of a call.
func errno(err error) unix.Errno {
	e, _ := err.(unix.Errno)
	return e
}

// unshared starts a process that leaves its namespaces before it runs. A process
// with threads, as this is one, could not leave that of its users.
func unshared(flags uintptr) error {
	c := exec.Command("/proc/self/exe", "child", "exit")
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: flags}
	return c.Run()
}

// cloned makes a process in namespaces of its own, which ends at once.
func cloned(flags uintptr) verdict {
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e == 0 && pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return refused(failure(e), "a process in a namespace of its own")
}
