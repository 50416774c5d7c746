package confine

import (
	"errors"
	"os"
	"syscall"

	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// allowed are the system calls that a Go program needs to compute, to wait,
// and to use descriptors that it has. None opens, connects, starts or signals
// anything. What is not here fails with EPERM.
var allowed = []string{
	"read", "write", "close", "readv", "writev",
	"munmap", "mremap", "madvise", "mincore", "brk",
	"futex", "sched_yield", "sched_getaffinity", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time",
	"epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd2",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
	"gettid", "getpid", "getppid", "getuid", "geteuid", "getgid", "getegid",
	"exit", "exit_group", "getrandom", "getrusage",
	// What the C library of a race-detecting build asks for each thread.
	"set_robust_list", "rseq", "membarrier",
}

// threadFlags are those of a clone that makes a thread of this process and
// nothing else.
const threadFlags = unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND

// actionENOSYS makes a call fail as one that the kernel does not have.
const actionENOSYS = seccomp.ActionErrno | seccomp.Action(syscall.ENOSYS)

// filterCalls puts the filter into force for all threads. It reports false
// on a kernel or an architecture without one.
func filterCalls() (bool, error) {
	if !seccomp.Supported() {
		return false, nil
	}
	r, err := newRules()
	if err != nil {
		return false, nil
	}
	r.always(allowed...)
	// Threads, not processes.
	r.when("clone", allOf(0, threadFlags)...)
	// Signals to its own threads: the Go scheduler preempts with them.
	r.when("tgkill", equal(0, uint64(os.Getpid())))
	// No page becomes code.
	r.when("mmap", noneOf(2, unix.PROT_EXEC))
	r.when("mprotect", noneOf(2, unix.PROT_EXEC))
	// Go asks whether its descriptors block, and names its memory.
	r.when("fcntl", seccomp.Condition{Argument: 1, Operation: seccomp.LessOrEqual, Value: unix.F_SETFL})
	r.when("prctl", equal(0, unix.PR_SET_VMA))
	// Its flags are in memory, where a filter cannot look. Callers fall
	// back to clone when it does not exist.
	r.missing("clone3")
	program, err := assemble(r.policy())
	if err != nil {
		return false, err
	}
	err = load(program)
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) {
		return false, nil
	}
	return err == nil, err
}
