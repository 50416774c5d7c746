package process

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/internal/nobody"
)

// lockedHook makes a worker try, once it is locked, what it must not be able
// to do, with raw system calls, and say what happened in its standard error.
func lockedHook(name string, _ io.ReadWriter) {
	if name != "try" {
		return
	}
	go func() {
		// The lock closes the files of this process last; then, or never.
		for range 500 {
			if _, err := os.Stat("/proc/self"); err != nil {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		ppid := os.Getppid()
		path := func(s string) uintptr { b, _ := unix.BytePtrFromString(s); return uintptr(unsafe.Pointer(b)) }
		addr4 := unix.RawSockaddrInet4{Family: unix.AF_INET, Port: 0x5000, Addr: [4]byte{127, 0, 0, 1}}
		fdcwd := ^uintptr(99)
		tries := []struct {
			name string
			nr   uintptr
			a    [6]uintptr
		}{
			{"openat /etc/passwd", unix.SYS_OPENAT, [6]uintptr{fdcwd, path("/etc/passwd"), 0}},
			{"openat environ", unix.SYS_OPENAT, [6]uintptr{fdcwd, path("/proc/self/environ"), 0}},
			{"openat other memory", unix.SYS_OPENAT, [6]uintptr{fdcwd, path("/proc/" + strconv.Itoa(ppid) + "/mem"), 0}},
			{"openat create", unix.SYS_OPENAT, [6]uintptr{fdcwd, path("/tmp/escaped"), unix.O_CREAT | unix.O_WRONLY, 0o600}},
			{"openat2", unix.SYS_OPENAT2, [6]uintptr{fdcwd, path("/etc/passwd"), path(""), 24}},
			{"memfd_create", unix.SYS_MEMFD_CREATE, [6]uintptr{path("x")}},
			{"socket", unix.SYS_SOCKET, [6]uintptr{unix.AF_INET, unix.SOCK_STREAM}},
			{"socket udp", unix.SYS_SOCKET, [6]uintptr{unix.AF_INET, unix.SOCK_DGRAM}},
			{"socket unix", unix.SYS_SOCKET, [6]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}},
			{"socket mptcp", unix.SYS_SOCKET, [6]uintptr{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}},
			{"connect on its stream", unix.SYS_CONNECT, [6]uintptr{3, uintptr(unsafe.Pointer(&addr4)), 16}},
			{"sendmsg on its stream", unix.SYS_SENDMSG, [6]uintptr{3, 0, 0}},
			{"execve", unix.SYS_EXECVE, [6]uintptr{path("/bin/true"), 0, 0}},
			{"execveat", unix.SYS_EXECVEAT, [6]uintptr{fdcwd, path("/bin/true"), 0, 0, 0}},
			{"clone process", unix.SYS_CLONE, [6]uintptr{uintptr(unix.SIGCHLD)}},
			{"clone3", unix.SYS_CLONE3, [6]uintptr{0, 0}},
			{"ptrace parent", unix.SYS_PTRACE, [6]uintptr{unix.PTRACE_ATTACH, uintptr(ppid)}},
			{"process_vm_readv", unix.SYS_PROCESS_VM_READV, [6]uintptr{uintptr(ppid)}},
			{"kill parent", unix.SYS_KILL, [6]uintptr{uintptr(ppid), 0}},
			{"tgkill parent", unix.SYS_TGKILL, [6]uintptr{uintptr(ppid), uintptr(ppid), 0}},
			{"pidfd_open", unix.SYS_PIDFD_OPEN, [6]uintptr{uintptr(ppid)}},
			{"prlimit", unix.SYS_PRLIMIT64, [6]uintptr{0, unix.RLIMIT_DATA}},
			{"prctl dumpable", unix.SYS_PRCTL, [6]uintptr{unix.PR_SET_DUMPABLE, 1}},
			{"unshare", unix.SYS_UNSHARE, [6]uintptr{unix.CLONE_NEWUSER}},
			{"setns", unix.SYS_SETNS, [6]uintptr{3}},
			{"mount", unix.SYS_MOUNT, [6]uintptr{path("x"), path("/"), path("tmpfs")}},
			{"chroot", unix.SYS_CHROOT, [6]uintptr{path("/")}},
			{"bpf", unix.SYS_BPF, [6]uintptr{}},
			{"io_uring_setup", unix.SYS_IO_URING_SETUP, [6]uintptr{1}},
			{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, [6]uintptr{}},
			{"keyctl", unix.SYS_KEYCTL, [6]uintptr{}},
			{"userfaultfd", unix.SYS_USERFAULTFD, [6]uintptr{}},
			{"mmap executable", unix.SYS_MMAP, [6]uintptr{0, 4096, unix.PROT_READ | unix.PROT_EXEC, unix.MAP_PRIVATE | unix.MAP_ANON, ^uintptr(0), 0}},
			{"shmget", unix.SYS_SHMGET, [6]uintptr{1, 4096, 0o600}},
			{"setuid", unix.SYS_SETUID, [6]uintptr{0}},
			{"unlinkat", unix.SYS_UNLINKAT, [6]uintptr{fdcwd, path("/tmp/x"), 0}},
			{"readlinkat", unix.SYS_READLINKAT, [6]uintptr{fdcwd, path("/proc/self/exe"), path("                "), 8}},
			{"getdents64", unix.SYS_GETDENTS64, [6]uintptr{0, path("                "), 16}},
		}
		var out []string
		for _, x := range tries {
			_, _, e := syscall.RawSyscall6(x.nr, x.a[0], x.a[1], x.a[2], x.a[3], x.a[4], x.a[5])
			out = append(out, fmt.Sprintf("%s=%d", x.name, int(e)))
		}
		if len(os.Environ()) > 0 {
			out = append(out, "environment=0")
		}
		fmt.Fprintf(os.Stderr, "TRIED %d %s END\n", len(tries), strings.Join(out, ";"))
	}()
}

// TestLocked: from inside a worker, raw system calls reach nothing.
func TestLocked(t *testing.T) {
	if os.Getenv("WORKER_SECRET") == "" {
		t.Setenv("WORKER_SECRET", "visible")
	}
	r := openWith(t, Options{Workers: 1}, "do:try")
	if err := r.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	iso := r.Isolation()
	if iso.Seccomp == nil || !*iso.Seccomp {
		t.Skip("this kernel has no system call filter")
	}
	text, _ := json.Marshal(iso)
	t.Logf("uid %d: level %q, %s", os.Getuid(), r.level.Name, text)
	p, err := r.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.give(p, false)
	var said string
	for range 500 {
		if said = p.stderr.String(); strings.Contains(said, " END") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, said, ok := strings.Cut(said, "TRIED ")
	count, list, _ := strings.Cut(strings.TrimSuffix(said, " END"), " ")
	results := strings.Split(list, ";")
	if n, _ := strconv.Atoi(count); !ok || n == 0 || n != len(results) {
		t.Fatalf("the worker tried nothing, or found its environment: %q", p.stderr.String())
	}
	for _, x := range results {
		name, errno, _ := strings.Cut(x, "=")
		switch syscall.Errno(atoi(errno)) {
		case unix.EPERM, unix.EACCES, unix.ENOSYS:
		default:
			t.Errorf("%s gave errno %s", name, errno)
		}
	}
	// What the kernel says of it.
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("the status lacks %q", want)
		}
	}
}

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

// TestLockedAsNobody runs the above, and calls, as a user without rights.
func TestLockedAsNobody(t *testing.T) {
	out, err := nobody.Rerun(t, nil, "-test.run=^(TestLocked|TestRun|TestDeadline|TestNothingIsLeft)$", "-test.v")
	if err != nil || !strings.Contains(out, "uid 65534") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "uid 65534") {
			t.Log(strings.TrimSpace(line))
		}
	}
}
