package agent

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// forker is the thread that has given up everything. Commands are its
// children and inherit its state. The thread ends with it.
type forker struct {
	configured     chan struct{} // closed when the configuration is there
	built          chan struct{} // closed when the root is what it stays
	ready          chan error    // one: what became of the thread
	jobs           chan job
	once           sync.Once
	holds, missing []string
}

type job struct {
	program string
	argv    []string
	attr    *syscall.ProcAttr
	started chan<- started
}

type started struct {
	pid int
	err error
}

// newForker makes the thread. What does not depend on the root, most of all the
// filter, it does beside whoever makes that; and what does not depend on the
// configuration beside whoever reads that.
func (a *agent) newForker() *forker {
	f := &forker{configured: make(chan struct{}), built: make(chan struct{}), ready: make(chan error, 1), jobs: make(chan job)}
	go func() {
		// Never unlocked: the thread ends with this function, and Go starts
		// no other thread from it.
		runtime.LockOSThread()
		err := a.harden(f)
		f.ready <- err
		if err != nil {
			return
		}
		for j := range f.jobs {
			pid, err := syscall.ForkExec(j.program, j.argv, j.attr)
			j.started <- started{pid, err}
		}
	}()
	return f
}

// finish is for when the root is made, and returns when the thread is as it
// should be. A layer that the kernel does not have is in missing; one that fails
// is an error. It is called once.
func (f *forker) finish() error {
	close(f.built)
	return <-f.ready
}

// start starts a program. It must not be called after close.
func (f *forker) start(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	done := make(chan started, 1)
	f.jobs <- job{program, argv, attr, done}
	s := <-done
	return s.pid, s.err
}

func (f *forker) close() { f.once.Do(func() { close(f.jobs) }) }

// harden is for the calling thread alone.
func (a *agent) harden(f *forker) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	f.holds = append(f.holds, "no-new-privs")
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	f.holds = append(f.holds, "no-capabilities")
	<-f.configured
	if len(a.cfg.Filter) > 0 {
		if err := filter(a.cfg.Filter); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
		f.holds = append(f.holds, "seccomp")
	} else {
		f.missing = append(f.missing, "seccomp")
	}
	<-f.built
	// The filter lets through what takes away even more.
	if a.cfg.Landlock {
		abi, err := landlock(a.writable())
		switch {
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
			f.missing = append(f.missing, "landlock")
		case err != nil:
			return fmt.Errorf("landlock: %w", err)
		default:
			f.holds = append(f.holds, "landlock")
			if abi >= abiScopes {
				f.holds = append(f.holds, "scopes")
			}
		}
	}
	return nil
}

// dropCapabilities takes care that nothing that is executed gets any: the
// bounding, inheritable and ambient sets are empty. What the thread itself has
// it needs to become another user, and loses with that or with the exec.
func dropCapabilities() error {
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EINVAL && c > 0 {
			break // beyond the last one that the kernel knows
		}
		if err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && err != unix.EINVAL { // no such set, as in gVisor
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	return unix.Capset(&header, &data[0])
}

func filter(program []wire.Instruction) error {
	raw := make([]unix.SockFilter, len(program))
	for i, in := range program {
		raw[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	prog := unix.SockFprog{Len: uint16(len(raw)), Filter: &raw[0]}
	const setFilter = 1
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, setFilter, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(raw)
	if errno != 0 {
		return errno
	}
	return nil
}

// limits are those of every process of the sandbox, the agent included, which
// is why none of them is below what the agent itself needs.
func (a *agent) limits() error {
	type limit struct {
		what int
		max  uint64
	}
	// Queued signals count with whoever made the user namespace as well, who
	// would be left without.
	all := []limit{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_MSGQUEUE, 0}, {unix.RLIMIT_MEMLOCK, 64 << 10}, {unix.RLIMIT_SIGPENDING, mostSignals}}
	for _, l := range []limit{{unix.RLIMIT_FSIZE, a.cfg.MaxFileSize}, {unix.RLIMIT_CPU, a.cfg.MaxCPUSeconds}} {
		if l.max > 0 {
			all = append(all, l)
		}
	}
	if a.cfg.MaxProcesses > 0 {
		// The kernel counts per user. Where commands are the user that the
		// agent is, its threads count with them.
		n := uint64(ownThreads + sparedThreads)
		if a.cfg.UID == 0 {
			n += a.cfg.MaxProcesses
		}
		all = append(all, limit{unix.RLIMIT_NPROC, max(n, a.cfg.MaxProcesses)})
	}
	for _, l := range all {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.what, &now); err != nil {
			return err
		}
		// Nobody here may raise what was lower already.
		l.max = min(l.max, now.Max)
		err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: l.max, Max: l.max})
		if err == unix.EPERM && l.what == unix.RLIMIT_MSGQUEUE {
			continue // the kernel of gVisor has no such limit, and little to be limited
		}
		if err != nil {
			return fmt.Errorf("resource limit %d: %w", l.what, err)
		}
	}
	return nil
}

// limitFiles bounds the open files of a process that runs nothing foreign yet; 0
// is this one. The agent itself is bounded when it has passed its own on: how
// many may be on their way between processes depends on this limit, and those
// of all processes of a user count, so that where commands are the user that
// agents are, one that has as many there as it may would keep other sandboxes
// from starting.
func (a *agent) limitFiles(pid int) error {
	if a.cfg.MaxOpenFiles == 0 {
		return nil
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		return err
	}
	most := min(a.cfg.MaxOpenFiles, now.Max)
	limit := unix.Rlimit{Cur: most, Max: most}
	if pid != 0 {
		return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &limit, nil)
	}
	return syscall.Setrlimit(unix.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most})
}

// mostSignals is how many signals may wait, and timers be armed.
const mostSignals = 1024

// ownThreads is what an idle agent has, at most, beyond the spared ones.
const ownThreads = 8

// sparedThreads are made ahead, so that the agent needs no new one when a
// command has taken all that are allowed.
const sparedThreads = 4

// spareThreads makes threads that wait for work afterwards: Go keeps those
// that it has. It returns at once; the channel is closed when they are there.
func spareThreads() <-chan struct{} {
	made := make(chan struct{})
	go func() {
		defer close(made)
		var all sync.WaitGroup
		hold := make(chan struct{})
		for range sparedThreads {
			all.Add(1)
			go func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				all.Done()
				<-hold
			}()
		}
		all.Wait()
		close(hold)
	}()
	return made
}
