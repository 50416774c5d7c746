package agent

import (
	"errors"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// The users of a sandbox as the host sees them, where root makes it: numbers
// that nobody has. Inside, the agent is 0 and commands are CommandID.
const (
	HostID        = 0x70000000
	CommandHostID = HostID + 1
	CommandID     = 1000
)

const spaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP

// attributes are those of an agent, which is root in namespaces of its own.
func attributes(ownNetwork bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Cloneflags: spaces, Setsid: true, Pdeathsig: syscall.SIGKILL,
		Credential: &syscall.Credential{},
	}
	if ownNetwork {
		a.Cloneflags |= syscall.CLONE_NEWNET
	}
	if os.Geteuid() == 0 {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: HostID, Size: 1}, {ContainerID: CommandID, HostID: CommandHostID, Size: 1}}
		a.GidMappings = a.UidMappings
		a.GidMappingsEnableSetgroups = true
		return a
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	a.Credential.NoSetGroups = true
	return a
}

// launcher starts agents for a parent that is large: the kernel copies the page
// tables of whoever starts a process in a new user namespace, and this one has
// few. The agents are its children and end with it, as it ends with its parent.
type launcher struct {
	conn *wire.Conn
	null uintptr
}

func launch() {
	runtime.LockOSThread() // agents end with the thread that started them
	os.Clearenv()
	surviveSignals()
	if err := closeOthers(); err != nil {
		os.Exit(exitUsage)
	}
	conn, leave, err := parent()
	if err != nil {
		os.Exit(exitUsage)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		os.Exit(exitFailed)
	}
	leaveNoZombies()
	l := &launcher{conn: conn, null: null.Fd()}
	for {
		m, files, err := conn.Receive()
		if err != nil {
			leave(exitParentGone)
		}
		if m.Kind != wire.KindLaunch || m.Launch == nil || len(files) != 1 {
			leave(exitUsage)
		}
		l.start(*m.Launch, files[0])
	}
}

// start starts one agent and tells of it.
func (l *launcher) start(order wire.Launch, far *os.File) {
	defer far.Close()
	pidfd := -1
	attr := &syscall.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=4"}, Files: []uintptr{l.null, l.null, l.null, far.Fd()}, Sys: attributes(order.OwnNetwork),
	}
	attr.Sys.PidFD = &pidfd
	var told wire.Launched
	err := order.Group.Start(attr.Sys, func() (err error) {
		told.PID, _, err = syscall.StartProcess("/proc/self/exe", []string{Name}, attr)
		return err
	})
	if err != nil {
		told.Error = err.Error()
	}
	var files []*os.File
	if pidfd >= 0 {
		_ = unix.SetNonblock(pidfd, true) // the parent waits for many
		files = append(files, os.NewFile(uintptr(pidfd), "agent"))
	}
	if told.PID > 0 && len(files) == 0 { // nobody configures it, and it ends
		told = wire.Launched{Error: "the kernel gives no descriptor of a process; Linux 5.11 or later is needed"}
	}
	err = l.conn.Send(wire.Message{Kind: wire.KindLaunched, Launched: &told}, files...)
	for _, f := range files {
		_ = f.Close()
	}
	if errors.Is(err, unix.ETOOMANYREFS) {
		// Commands of an ordinary user are that user, and what they send each
		// other counts: one agent fails for it and not all.
		err = l.conn.Send(wire.Message{Kind: wire.KindLaunched, Launched: &wire.Launched{Error: "too many descriptors of this user are on their way between processes"}})
	}
	if err != nil {
		os.Exit(exitFailed)
	}
}
