package confine

import (
	"sync"

	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// ordinary are the calls that ordinary programs make: a shell and its tools,
// interpreters with threads and children, compilers, clients of a network.
// What is missing is missing on purpose: mounts and namespaces, tracing and
// other processes' memory, kernel programs, keyrings, asynchronous rings,
// handles of files, SysV and POSIX queues (they outlive their process), whole
// machine matters.
var ordinary = []string{
	// Hot ones first: a filter is read from its beginning.
	"read", "write", "futex", "close", "fstat", "newfstatat", "mmap", "munmap", "mprotect", "lseek", "epoll_wait", "epoll_pwait",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "clock_gettime", "poll", "ppoll", "recvfrom", "recvmsg", "sendto", "sendmsg", "stat", "lstat", "access",
	// memory
	"brk", "madvise", "mremap", "msync", "mincore", "mlock", "mlock2", "mlockall", "munlock", "munlockall", "membarrier", "mseal", "pkey_alloc", "pkey_free", "pkey_mprotect", "memfd_create",
	// files
	"statx", "faccessat", "faccessat2", "readlink", "readlinkat", "symlink", "symlinkat", "link", "linkat", "unlink", "unlinkat",
	"rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "chown", "fchown", "lchown", "fchownat",
	"utime", "utimes", "utimensat", "futimesat", "truncate", "ftruncate", "fallocate", "getdents", "getdents64", "getcwd", "chdir", "fchdir", "umask",
	"statfs", "fstatfs", "flock", "dup", "dup2", "dup3", "pipe", "pipe2", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2",
	"sendfile", "splice", "tee", "vmsplice", "copy_file_range", "fsync", "fdatasync", "sync_file_range", "fadvise64", "readahead", "close_range",
	"getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
	"inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
	// waiting
	"select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait2", "eventfd", "eventfd2", "signalfd", "signalfd4",
	"timerfd_create", "timerfd_settime", "timerfd_gettime", "timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete",
	"nanosleep", "clock_nanosleep", "clock_getres", "gettimeofday", "time", "times", "alarm", "pause", "getitimer", "setitimer",
	"futex_waitv", "futex_wake", "futex_wait", "futex_requeue", "restart_syscall",
	// processes and threads
	"fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid", "set_tid_address", "set_robust_list", "get_robust_list", "rseq", "arch_prctl", "set_thread_area", "get_thread_area",
	"getpid", "getppid", "gettid", "getpgid", "getpgrp", "setpgid", "getsid", "setsid", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups", "capget", "capset",
	"getrlimit", "setrlimit", "getrusage", "getpriority", "setpriority", "ioprio_get", "ioprio_set", "sysinfo", "uname", "getrandom", "getcpu",
	"sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getparam", "sched_setparam", "sched_getscheduler", "sched_setscheduler",
	"sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "sched_getattr", "sched_setattr",
	"sigaltstack", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait",
	// what takes away from whoever calls it, and from nobody else
	"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
	// sockets that were made under the rules below
	"bind", "connect", "listen", "accept", "accept4", "getsockname", "getpeername", "shutdown", "setsockopt", "getsockopt", "sendmmsg", "recvmmsg",
}

// newSpaces are the flags of clone that make a namespace.
const newSpaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// harmlessPrctl are options of prctl that ask, or that only take away.
var harmlessPrctl = []uint64{
	unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_PDEATHSIG, unix.PR_GET_PDEATHSIG, unix.PR_GET_DUMPABLE, unix.PR_SET_DUMPABLE,
	unix.PR_CAPBSET_READ, unix.PR_GET_SECCOMP, unix.PR_SET_NO_NEW_PRIVS, unix.PR_GET_NO_NEW_PRIVS, unix.PR_SET_TIMERSLACK, unix.PR_GET_TIMERSLACK,
	unix.PR_SET_CHILD_SUBREAPER, unix.PR_GET_CHILD_SUBREAPER, unix.PR_SET_VMA, unix.PR_SET_THP_DISABLE, unix.PR_GET_THP_DISABLE,
	unix.PR_GET_KEEPCAPS, unix.PR_GET_SECUREBITS, unix.PR_GET_SPECULATION_CTRL, unix.PR_PAC_RESET_KEYS, unix.PR_GET_TAGGED_ADDR_CTRL,
}

// CommandPolicy is the allow-list for foreign programs in a sandbox: what is
// not in it fails with EPERM, and with ENOSYS where programs then fall back.
// Where an argument decides, the kernel looks at the lower half of a register
// only, so that conditions are ranges and never "anything but". It is for a
// runtime that takes rules; the program of it is CommandFilter.
//
// Without named, there are no sockets but connected pairs that stay so: a
// program of the host that listens on a socket in a folder that is mounted is
// otherwise reached through it, also where the mount is read-only, and neither
// a network namespace nor Landlock has a say in that.
func CommandPolicy(named bool) (seccomp.Policy, error) {
	r, err := newRules()
	if err != nil {
		return seccomp.Policy{}, err
	}
	r.always(ordinary...)
	r.when("clone", noneOf(0, newSpaces))
	// Their flags are in memory, where a filter cannot look.
	r.missing("clone3", "openat2", "statmount", "listmount", "cachestat", "sync_file_range2", "listns",
		"file_getattr", "file_setattr", "setxattrat", "getxattrat", "listxattrat", "removexattrat", "memfd_secret", "process_mrelease")

	if named {
		r.when("socket", equal(0, unix.AF_UNIX))
		r.when("socketpair", equal(0, unix.AF_UNIX))
	}
	for _, others := range []uint64{0xf &^ unix.SOCK_STREAM, 0xf &^ unix.SOCK_SEQPACKET} {
		// One of datagrams could send to a name.
		r.when("socketpair", equal(0, unix.AF_UNIX), noneOf(1, others))
	}
	for _, family := range []uint64{unix.AF_INET, unix.AF_INET6} {
		// The type is in the lower four bits: 1 is a stream, 2 a datagram.
		for _, others := range []uint64{0xf &^ unix.SOCK_STREAM, 0xf &^ unix.SOCK_DGRAM} {
			r.when("socket", equal(0, family), noneOf(1, others), atMost(2, unix.IPPROTO_UDP))
		}
	}
	// The list of addresses and routes, which resolvers ask for.
	r.when("socket", equal(0, unix.AF_NETLINK), equal(2, unix.NETLINK_ROUTE))

	// Any request but those that put input into a terminal or load a line
	// discipline. Some C libraries extend the sign of a request.
	r.when("ioctl", atMost(1, 1<<32-1), notEqual(1, unix.TIOCSTI), notEqual(1, tiocLinux), notEqual(1, unix.TIOCSETD), notEqual(1, unix.TIOCCONS))
	r.when("ioctl", atLeast(1, 0xffffffff80000000))
	for _, option := range harmlessPrctl {
		r.when("prctl", equal(0, option))
	}
	for _, persona := range []uint64{0, 0xffffffff, 1<<64 - 1} { // the ordinary one, and the question which it is
		r.when("personality", equal(0, persona))
	}
	// Processes but 1, which is the agent. Negative numbers are groups and
	// all; 1 is in no group but its own, which cannot be named.
	r.when("kill", equal(0, 0))
	r.when("kill", atLeast(0, 1<<31), atMost(0, 1<<32-1))
	r.when("kill", atLeast(0, 0xffffffff80000000))
	for _, name := range []string{"kill", "tkill", "tgkill", "rt_tgsigqueueinfo", "pidfd_open"} {
		r.when(name, atLeast(0, 2), atMost(0, 1<<31-1))
	}
	// A signal with more than its number, or that a descriptor sends, is taken
	// for a fault of its own by whoever gets it, and ends the agent where that
	// is the same user and is reached by the number of a thread. Those that no
	// fault causes remain.
	r.when("fcntl", atMost(1, unix.F_SETSIG-1))
	r.when("fcntl", atLeast(1, unix.F_SETSIG+1), atMost(1, 1<<32-1))
	for _, ordinary := range [][2]uint64{{0, 0}, {uint64(unix.SIGHUP), uint64(unix.SIGQUIT)}, {uint64(unix.SIGUSR1), uint64(unix.SIGUSR1)}, {uint64(unix.SIGUSR2), uint64(unix.SIGTERM)}, {uint64(unix.SIGCHLD), uint64(unix.SIGPWR)}, {32, 64}} {
		r.when("fcntl", equal(1, unix.F_SETSIG), atLeast(2, ordinary[0]), atMost(2, ordinary[1]))
		r.when("pidfd_send_signal", atLeast(1, ordinary[0]), atMost(1, ordinary[1]))
		r.when("rt_sigqueueinfo", atLeast(0, 2), atMost(0, 1<<31-1), atLeast(1, ordinary[0]), atMost(1, ordinary[1]))
	}
	r.when("pidfd_send_signal", equal(2, 0))
	// Its own limits; those of others are only read. The threads of the agent
	// have numbers above 1, are the same user where an ordinary one makes the
	// sandbox, and what they may not, later commands may not.
	r.when("prlimit64", equal(0, 0))
	r.when("prlimit64", atLeast(0, 2), atMost(0, 1<<31-1), equal(2, 0))
	// A named pipe or a socket, no device.
	r.when("mknod", noneOf(1, unix.S_IFCHR|setIDs))
	r.when("mknodat", noneOf(2, unix.S_IFCHR|setIDs))
	// No file that runs as its owner: within a sandbox it would not, but on
	// the host, where a writable mount is seen without its restrictions.
	for _, c := range []struct {
		name string
		mode uint32
	}{{"chmod", 1}, {"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2}, {"creat", 1}} {
		r.when(c.name, noneOf(c.mode, setIDs))
	}
	for _, c := range []struct {
		name  string
		flags uint32
	}{{"openat", 2}, {"open", 1}} {
		r.when(c.name, noneOf(c.flags, unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY)) // the mode is anything then
		r.when(c.name, noneOf(c.flags+1, setIDs))
	}
	return r.policy(), nil
}

// setIDs are the bits of a mode that make a program run as the owner or the
// group of its file.
const setIDs = unix.S_ISUID | unix.S_ISGID

// tiocLinux puts text into the input of a virtual console.
const tiocLinux = 0x541c

// CommandFilter is CommandPolicy as a program for the kernel. Each is made once.
func CommandFilter(named bool) ([]bpf.RawInstruction, error) {
	if named {
		return withNamed()
	}
	return withoutNamed()
}

var (
	withNamed    = sync.OnceValues(func() ([]bpf.RawInstruction, error) { return program(true) })
	withoutNamed = sync.OnceValues(func() ([]bpf.RawInstruction, error) { return program(false) })
)

func program(named bool) ([]bpf.RawInstruction, error) {
	policy, err := CommandPolicy(named)
	if err != nil {
		return nil, err
	}
	return assemble(policy)
}
