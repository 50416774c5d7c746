package confine

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the user and the group that own nothing, by convention.
const nobody = 65534

// spaces are the namespaces of a worker: no network device but a dead
// loopback, no mount, no SysV object, no host name of its host. There is no
// process namespace: a restriction of all threads, as Landlock needs it,
// does not return in one whose /proc is the host's. What it would hide,
// seccomp makes unreachable.
const spaces = syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWNS | syscall.CLONE_NEWCGROUP

// Levels gives the ways to start a confined process, strongest first.
func Levels() []Level {
	uid, gid := os.Geteuid(), os.Getegid()
	var levels []Level
	if uid == 0 {
		levels = append(levels,
			// Another user on the host as well, without a right to anything.
			Level{"namespaces as nobody", func(c *exec.Cmd) { userNamespace(c, nobody, nobody, true) }})
	}
	levels = append(levels, Level{"namespaces", func(c *exec.Cmd) { userNamespace(c, uid, gid, false) }})
	if uid == 0 {
		levels = append(levels,
			Level{"namespaces without a user namespace, as nobody", func(c *exec.Cmd) {
				attributes(c).Cloneflags = spaces
				attributes(c).Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
			}},
			Level{"as nobody", func(c *exec.Cmd) {
				attributes(c).Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
			}})
	}
	return append(levels, Level{"no namespaces", func(c *exec.Cmd) { attributes(c) }})
}

// attributes are those of every level: the process dies with the thread that
// started it and takes no signal that is meant for its parent's group.
func attributes(c *exec.Cmd) *syscall.SysProcAttr {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	}
	return c.SysProcAttr
}

// userNamespace starts c in namespaces of its own, in which it is nobody and
// which map the one host identity that it has. It leaves all capabilities with
// the exec, since nobody is not root.
func userNamespace(c *exec.Cmd, uid, gid int, change bool) {
	a := attributes(c)
	a.Cloneflags = spaces | syscall.CLONE_NEWUSER
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: gid, Size: 1}}
	if change {
		a.GidMappingsEnableSetgroups = true
		a.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
}
