package confine

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// simulate says what the kernel would do with one call.
func simulate(t *testing.T, vm *bpf.VM, archID uint32, number uint32, args ...uint64) seccomp.Action {
	t.Helper()
	// struct seccomp_data, which the filter reads in the order of the
	// machine; the simulation loads in network order.
	words := []uint32{number, archID, 0, 0}
	for i := range 6 {
		var v uint64
		if i < len(args) {
			v = args[i]
		}
		words = append(words, uint32(v), uint32(v>>32))
	}
	var data []byte
	for _, w := range words {
		data = append(data, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
	n, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return seccomp.Action(uint32(n))
}

func TestCommandFilter(t *testing.T) {
	one := uint16(1)
	if *(*byte)(unsafe.Pointer(&one)) != 1 {
		t.Skip("the simulation is written for a little-endian machine")
	}
	info, err := arch.GetInfo("")
	if err != nil {
		t.Skip("the library does not know this architecture")
	}
	raw, err := CommandFilter(true)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 4096 {
		t.Fatalf("the kernel takes no program of %d instructions", len(raw))
	}
	program, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("the program cannot be read back")
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	const (
		allow  = seccomp.ActionAllow
		eperm  = seccomp.ActionErrno | seccomp.Action(unix.EPERM)
		enosys = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)
		kill   = seccomp.ActionKillProcess
		high   = uint64(1) << 32
		minus  = ^uint64(0)
	)
	for _, c := range []struct {
		name string
		want seccomp.Action
		args []uint64
	}{
		{"read", allow, nil}, {"execve", allow, nil}, {"openat", allow, nil}, {"getrandom", allow, nil},
		{"mount", eperm, nil}, {"umount2", eperm, nil}, {"pivot_root", eperm, nil}, {"chroot", eperm, nil}, {"unshare", eperm, nil}, {"setns", eperm, nil},
		{"move_mount", eperm, nil}, {"open_tree", eperm, nil}, {"fsopen", eperm, nil}, {"fsmount", eperm, nil}, {"fsconfig", eperm, nil}, {"mount_setattr", eperm, nil},
		{"ptrace", eperm, nil}, {"process_vm_readv", eperm, nil}, {"process_vm_writev", eperm, nil}, {"kcmp", eperm, nil}, {"pidfd_getfd", eperm, nil},
		{"bpf", eperm, nil}, {"perf_event_open", eperm, nil}, {"io_uring_setup", eperm, nil}, {"io_uring_enter", eperm, nil}, {"io_uring_register", eperm, nil},
		{"keyctl", eperm, nil}, {"add_key", eperm, nil}, {"request_key", eperm, nil}, {"userfaultfd", eperm, nil}, {"open_by_handle_at", eperm, nil}, {"name_to_handle_at", eperm, nil},
		{"init_module", eperm, nil}, {"finit_module", eperm, nil}, {"delete_module", eperm, nil}, {"kexec_load", eperm, nil}, {"reboot", eperm, nil}, {"swapon", eperm, nil},
		{"settimeofday", eperm, nil}, {"clock_settime", eperm, nil}, {"adjtimex", eperm, nil}, {"sethostname", eperm, nil}, {"quotactl", eperm, nil}, {"acct", eperm, nil}, {"syslog", eperm, nil}, {"vhangup", eperm, nil},
		{"shmget", eperm, nil}, {"semget", eperm, nil}, {"msgget", eperm, nil}, {"mq_open", eperm, nil}, {"fanotify_init", eperm, nil}, {"seccomp", eperm, nil},
		{"clone3", enosys, nil}, {"statmount", enosys, nil},

		{"clone", allow, []uint64{17}}, {"clone", allow, []uint64{threadFlags | unix.CLONE_FS | unix.CLONE_SETTLS}},
		{"clone", eperm, []uint64{unix.CLONE_NEWUSER}}, {"clone", eperm, []uint64{unix.CLONE_NEWNET | threadFlags}}, {"clone", eperm, []uint64{unix.CLONE_NEWNS | high}},

		{"socket", allow, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET, 0}}, {"socket", allow, []uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, unix.IPPROTO_TCP}},
		{"socket", allow, []uint64{unix.AF_INET6, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK, 0}}, {"socket", allow, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}},
		{"socket", eperm, []uint64{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}}, {"socket", eperm, []uint64{unix.AF_INET, unix.SOCK_RAW | high, unix.IPPROTO_UDP}}, {"socket", eperm, []uint64{unix.AF_PACKET, unix.SOCK_RAW, 3}}, {"socket", eperm, []uint64{unix.AF_INET, unix.SOCK_PACKET, 0}},
		{"socket", eperm, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}}, {"socket", eperm, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER | high}},
		{"socket", eperm, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM, 0}}, {"socket", eperm, []uint64{unix.AF_ALG, unix.SOCK_SEQPACKET, 0}}, {"socket", eperm, []uint64{unix.AF_KEY, unix.SOCK_RAW, 2}}, {"socket", eperm, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP}},
		{"socket", eperm, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}}, {"socketpair", allow, []uint64{unix.AF_UNIX, 1}}, {"socketpair", eperm, []uint64{unix.AF_TIPC, 1}},

		{"ioctl", allow, []uint64{1, unix.TCGETS}}, {"ioctl", allow, []uint64{1, unix.TIOCGWINSZ}}, {"ioctl", allow, []uint64{1, 0xffffffff80045430}},
		{"ioctl", eperm, []uint64{1, unix.TIOCSTI}}, {"ioctl", eperm, []uint64{1, unix.TIOCSTI | high}}, {"ioctl", eperm, []uint64{1, unix.TIOCSTI | 0xffffffff00000000}}, {"ioctl", eperm, []uint64{1, tiocLinux}}, {"ioctl", eperm, []uint64{1, unix.TIOCSETD}},

		{"kill", allow, []uint64{2, 9}}, {"kill", allow, []uint64{0, 9}}, {"kill", allow, []uint64{minus, 9}}, {"kill", allow, []uint64{0xffffffff, 9}}, {"kill", allow, []uint64{minus - 40, 9}},
		{"kill", eperm, []uint64{1, 9}}, {"kill", eperm, []uint64{1 | high, 9}}, {"kill", eperm, []uint64{1 | 0xffffffff00000000, 9}},
		{"tgkill", allow, []uint64{7, 7, 6}}, {"tgkill", eperm, []uint64{1, 1, 9}}, {"tkill", eperm, []uint64{1 | high, 9}}, {"pidfd_open", eperm, []uint64{1}}, {"rt_sigqueueinfo", eperm, []uint64{1, 9}},
		{"rt_sigqueueinfo", allow, []uint64{7, 10}}, {"rt_sigqueueinfo", allow, []uint64{7, 64}}, {"rt_sigqueueinfo", eperm, []uint64{7, 11}}, {"rt_sigqueueinfo", eperm, []uint64{7, 11 | high}}, {"rt_sigqueueinfo", eperm, []uint64{7, 4}}, {"rt_sigqueueinfo", eperm, []uint64{7, 16}},
		{"pidfd_send_signal", allow, []uint64{3, 11, 0}}, {"pidfd_send_signal", allow, []uint64{3, 10, 4096}}, {"pidfd_send_signal", eperm, []uint64{3, 11, 4096}}, {"pidfd_send_signal", eperm, []uint64{3, 8, high}},
		{"fcntl", allow, []uint64{3, unix.F_SETFL}}, {"fcntl", allow, []uint64{3, unix.F_SETOWN}}, {"fcntl", allow, []uint64{3, unix.F_ADD_SEALS}}, {"fcntl", allow, []uint64{3, unix.F_SETSIG, 0}}, {"fcntl", allow, []uint64{3, unix.F_SETSIG, 35}},
		{"fcntl", eperm, []uint64{3, unix.F_SETSIG, 11}}, {"fcntl", eperm, []uint64{3, unix.F_SETSIG | high, 11}}, {"fcntl", eperm, []uint64{3, unix.F_SETSIG, 7 | high}}, {"fcntl", eperm, []uint64{3, unix.F_SETSIG, 31}},
		{"prlimit64", allow, []uint64{0}}, {"prlimit64", eperm, []uint64{1}}, {"prlimit64", allow, []uint64{0, 1, 4096}},
		{"prlimit64", allow, []uint64{2, 1, 0, 4096}}, {"prlimit64", eperm, []uint64{2, 1, 4096}}, {"prlimit64", eperm, []uint64{2, 1, high}}, {"prlimit64", eperm, []uint64{1, 1, 0, 4096}},

		{"prctl", allow, []uint64{unix.PR_SET_NAME}}, {"prctl", eperm, []uint64{unix.PR_SET_MM}}, {"prctl", eperm, []uint64{unix.PR_SET_SECUREBITS}}, {"prctl", eperm, []uint64{unix.PR_SET_SPECULATION_CTRL}},
		{"personality", allow, []uint64{0xffffffff}}, {"personality", eperm, []uint64{0x0040000}},
		// An argument that is the number of another call.
		{"socket", eperm, []uint64{257, 0, 0}}, {"clone", eperm, []uint64{unix.CLONE_NEWUSER | 9}}, {"mknod", eperm, []uint64{0, unix.S_IFCHR}},
		{"openat", allow, []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o644}}, {"openat", allow, []uint64{0, 0, unix.O_RDONLY | unix.O_DIRECTORY, 0o6755}}, {"openat", eperm, []uint64{0, 0, unix.O_CREAT, 0o4755}}, {"openat", eperm, []uint64{0, 0, unix.O_TMPFILE | unix.O_RDWR, 0o2755}},
		{"chmod", allow, []uint64{0, 0o1777}}, {"chmod", eperm, []uint64{0, 0o4755}}, {"fchmod", eperm, []uint64{0, 0o2755}}, {"fchmodat", eperm, []uint64{0, 0, 0o4755}}, {"openat2", enosys, nil},
		{"mknodat", allow, []uint64{0, 0, unix.S_IFIFO | 0o600}}, {"mknodat", eperm, []uint64{0, 0, unix.S_IFCHR | 0o600}}, {"mknodat", eperm, []uint64{0, 0, unix.S_IFBLK | 0o600}}, {"mknod", eperm, []uint64{0, unix.S_IFBLK | 0o600}},
	} {
		number, ok := info.SyscallNames[c.name]
		if !ok {
			continue // another architecture, or newer than the library
		}
		if got := simulate(t, vm, uint32(info.ID), uint32(number), c.args...); got != c.want {
			t.Errorf("%s %#x: %#x, want %#x", c.name, c.args, uint32(got), uint32(c.want))
		}
	}
	if got := simulate(t, vm, uint32(info.ID)^1, 0); got != kill {
		t.Errorf("a call of another architecture: %#x", uint32(got))
	}
	if info.ID == arch.X86_64.ID {
		if got := simulate(t, vm, uint32(info.ID), 0x40000000|39); got != kill {
			t.Errorf("a call of the x32 form: %#x", uint32(got))
		}
	}
	if got := simulate(t, vm, uint32(info.ID), 4000); got != enosys {
		t.Errorf("a call that nobody knows yet: %#x", uint32(got))
	}
	// Nothing is let through that the list does not name.
	policy, _ := CommandPolicy(true)
	var named []string
	for _, group := range policy.Syscalls {
		named = append(named, group.Names...)
		for _, n := range group.NamesWithCondtions {
			named = append(named, n.Name)
		}
	}
	for name, number := range info.SyscallNames {
		if got := simulate(t, vm, uint32(info.ID), uint32(number)); got == allow && !slices.Contains(named, name) {
			t.Errorf("%s is let through", name)
		}
	}
}

// TestCommandFilterWithoutNames is about sockets that a folder of the host may
// hold.
func TestCommandFilterWithoutNames(t *testing.T) {
	one := uint16(1)
	if *(*byte)(unsafe.Pointer(&one)) != 1 {
		t.Skip("the simulation is written for a little-endian machine")
	}
	info, err := arch.GetInfo("")
	if err != nil {
		t.Skip("the library does not know this architecture")
	}
	raw, err := CommandFilter(false)
	if err != nil {
		t.Fatal(err)
	}
	program, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("the program cannot be read back")
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	const eperm = seccomp.ActionErrno | seccomp.Action(unix.EPERM)
	for _, c := range []struct {
		name string
		want seccomp.Action
		args []uint64
	}{
		{"socket", eperm, []uint64{unix.AF_UNIX, unix.SOCK_STREAM, 0}},
		{"socket", eperm, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, 0}},
		{"socket", eperm, []uint64{unix.AF_UNIX | 1<<32, unix.SOCK_SEQPACKET, 0}},
		{"socketpair", eperm, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}},
		{"socketpair", eperm, []uint64{unix.AF_UNIX, unix.SOCK_RAW}}, // the kernel makes one of datagrams
		{"socketpair", eperm, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | 1<<32 | unix.SOCK_CLOEXEC}},
		{"socketpair", seccomp.ActionAllow, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}},
		{"socketpair", seccomp.ActionAllow, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}},
		{"socket", seccomp.ActionAllow, []uint64{unix.AF_INET, unix.SOCK_STREAM, 0}},
		{"connect", seccomp.ActionAllow, nil},
	} {
		if got := simulate(t, vm, uint32(info.ID), uint32(info.SyscallNames[c.name]), c.args...); got != c.want {
			t.Errorf("%s %#x: %#x, want %#x", c.name, c.args, uint32(got), uint32(c.want))
		}
	}
}
