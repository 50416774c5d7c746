package container

import (
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// enforcement is what holds for containers of this factory with that network.
func (f *Factory) enforcement(network sandbox.NetPolicy) sandbox.Enforcement {
	full := func(by string) sandbox.Strength { return sandbox.Strength{Level: sandbox.Full, By: by} }
	e := sandbox.Enforcement{
		sandbox.FSRead:       full("a root of its own, from the image"),
		sandbox.FSWrite:      full("read-only mounts, Landlock"),
		sandbox.NetDeny:      full("a network namespace without devices"),
		sandbox.NetAllowList: full("a network namespace whose listeners are served from outside"),
		sandbox.Disk:         full("scratch space in memory, of fixed size"),
		sandbox.WallClock:    full("the end of the process namespace"),
		sandbox.Environment:  full("made by the agent"),
		sandbox.Syscalls:     full("seccomp allow-lists of the container and of each command"),
		sandbox.Kernel:       {Level: sandbox.None, By: "the kernel is the host's"},
	}
	if f.kind.stream {
		e[sandbox.NetAllowList] = sandbox.Strength{Level: sandbox.None, By: "no listener can be passed out of it; such a sandbox has no network at all"}
		e[sandbox.Disk] = full("scratch spaces in memory, of fixed sizes")
	}
	if _, shared := network.(sandbox.Inherit); shared {
		open := sandbox.Strength{Level: sandbox.None, By: "the network of the host, as asked"}
		e[sandbox.NetDeny], e[sandbox.NetAllowList] = open, open
	}
	switch f.kind {
	case gvisor:
		f.ofKernel(e)
		return e
	case docker:
		f.docker.enforcement(e)
		return e
	}
	if f.cgroups() {
		e[sandbox.CPU] = full("control group")
		e[sandbox.Memory] = full("control group, swap included")
		e[sandbox.Processes] = full("control group, process namespace")
		return e
	}
	e[sandbox.CPU] = sandbox.Strength{Level: sandbox.None, By: "no control groups: any number of processors"}
	e[sandbox.Memory] = sandbox.Strength{Level: sandbox.Partial, By: "no control groups: bounded per process, not together"}
	e[sandbox.Processes] = full("resource limit per user of the namespace, process namespace")
	return e
}
