package guest

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/relay"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/stream"
)

// The users of the machine that the agent is outside of its namespace, and
// its commands: nobody else is one of them.
const (
	agentUser   = 100000
	commandUser = 100001
)

// Serve starts the agent and carries its conversation until the host or the
// agent ends it.
func Serve(host io.ReadWriteCloser, limits Limits) error {
	near, far, err := wire.Pair()
	if err != nil {
		return err
	}
	g, err := newGroup(limits)
	if err != nil {
		return fmt.Errorf("control group: %w", err)
	}
	defer g.close()
	attributes := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
		Setsid: true,
		UidMappings: []syscall.SysProcIDMap{
			{ContainerID: 0, HostID: agentUser, Size: 1}, {ContainerID: CommandUser, HostID: commandUser, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{
			{ContainerID: 0, HostID: agentUser, Size: 1}, {ContainerID: CommandUser, HostID: commandUser, Size: 1}},
		GidMappingsEnableSetgroups: true,
		Credential:                 &syscall.Credential{},
	}
	g.join(attributes)
	p, err := os.StartProcess("/proc/self/exe", []string{agent.Name}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr, far}, Sys: attributes,
	})
	far.Close()
	if err != nil {
		near.Close()
		return fmt.Errorf("the agent does not start: %w", err)
	}
	err = relay.Guest(stream.New(host, false), near, identify, g.annotate)
	_ = p.Kill() // and with it, by the kernel, all of its namespace
	_, _ = p.Wait()
	return err
}

// identify fills in what the agent checks its mounts by. The host cannot know
// it: their sources came with the machine.
func identify(m *wire.Message) {
	if m.Config == nil {
		return
	}
	for i := range m.Config.Mounts {
		var info unix.Stat_t
		if unix.Lstat(m.Config.Mounts[i].Source, &info) == nil {
			m.Config.Mounts[i].Dev, m.Config.Mounts[i].Ino = info.Dev, info.Ino
		}
	}
}
