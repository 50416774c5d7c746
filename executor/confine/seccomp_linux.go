package confine

import (
	"errors"
	"os"
	"syscall"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
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

// filterCalls puts the filter into force for all threads. It reports false
// on a kernel or an architecture without one.
func filterCalls() (bool, error) {
	if !seccomp.Supported() {
		return false, nil
	}
	info, err := arch.GetInfo("")
	if err != nil {
		return false, nil
	}
	has := func(name string) bool { _, ok := info.SyscallNames[name]; return ok }
	group := seccomp.SyscallGroup{Action: seccomp.ActionAllow}
	for _, name := range allowed {
		if has(name) {
			group.Names = append(group.Names, name)
		}
	}
	conditional := func(name string, c ...seccomp.Condition) {
		if has(name) {
			group.NamesWithCondtions = append(group.NamesWithCondtions, seccomp.NameWithConditions{Name: name, Conditions: c})
		}
	}
	// Threads, not processes.
	conditional("clone", seccomp.Condition{Argument: 0, Operation: seccomp.BitsSet, Value: threadFlags})
	// Signals to its own threads: the Go scheduler preempts with them.
	conditional("tgkill", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: uint64(os.Getpid())})
	// No page becomes code.
	for _, name := range []string{"mmap", "mprotect"} {
		conditional(name, seccomp.Condition{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC})
	}
	// Go asks whether its descriptors block, and names its memory.
	conditional("fcntl", seccomp.Condition{Argument: 1, Operation: seccomp.LessOrEqual, Value: unix.F_SETFL})
	conditional("prctl", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: unix.PR_SET_VMA})
	groups := []seccomp.SyscallGroup{group}
	if has("clone3") {
		// Its flags are in memory, where a filter cannot look. Callers fall
		// back to clone when it does not exist.
		groups = append(groups, seccomp.SyscallGroup{Action: seccomp.ActionErrno | seccomp.Action(syscall.ENOSYS), Names: []string{"clone3"}})
	}
	err = seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true, Flag: seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: groups},
	})
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) {
		return false, nil
	}
	return err == nil, err
}
