package container

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// kernelMemory is what the processes of gVisor itself need, in bytes.
const kernelMemory = 96 << 20

// kernelArgs are the arguments of runsc that run the container. Its platform
// is the one that this version prefers. The control group is ours, so that its
// counters outlive the container.
func (p plan) kernelArgs(dir, bundle, pidFile string) []string {
	network := "none"
	if _, shared := p.network.(sandbox.Inherit); shared {
		network = "host"
	}
	return []string{"--root", state(dir), "--network=" + network, "--ignore-cgroups", "run", "--bundle", bundle, "--pid-file", pidFile, p.id}
}

// kernelConfig is config for gVisor. Its namespaces and users are of its own
// kernel; runsc takes its rights on the host away from itself.
func (p plan) kernelConfig() *specs.Spec {
	dev := []string{"nosuid", "noexec", "mode=755"}
	if p.asRoot {
		dev = append(dev, "ro") // old versions cannot write to a device there
	}
	c := &specs.Spec{
		Version: "1.0.2",
		Process: &specs.Process{
			Args:            []string{agentName, agent.Stream},
			Env:             []string{"PATH=/" + agentFolder},
			Cwd:             "/",
			NoNewPrivileges: true,
			Capabilities:    &specs.LinuxCapabilities{Bounding: streamRights, Effective: streamRights, Permitted: streamRights},
		},
		Root:     &specs.Root{Path: p.rootfs, Readonly: true},
		Hostname: "sandbox",
		Linux: &specs.Linux{Namespaces: []specs.LinuxNamespace{
			{Type: specs.PIDNamespace}, {Type: specs.IPCNamespace}, {Type: specs.UTSNamespace}, {Type: specs.MountNamespace},
		}},
		Mounts: []specs.Mount{
			{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev", "ro"}},
			{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: dev},
			// Of the devices that its kernel has by itself.
			{Destination: "/dev/net", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "noexec", "nodev", "mode=755", "size=4096", "ro"}},
			{Destination: "/dev/fuse", Type: "bind", Source: p.nothing, Options: []string{"rbind", "rprivate", "nosuid", "nodev", "ro"}},
			{Destination: "/sys", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "noexec", "nodev", "mode=755", "size=4096", "ro"}},
		},
	}
	if _, shared := p.network.(sandbox.Inherit); !shared {
		c.Linux.Namespaces = append(c.Linux.Namespaces, specs.LinuxNamespace{Type: specs.NetworkNamespace})
	}
	c.Mounts = append(c.Mounts, p.bindings()...)
	for _, r := range rooms {
		c.Mounts = append(c.Mounts, specs.Mount{Destination: r.path, Type: "tmpfs", Source: "tmpfs", Options: p.room(r.share)})
	}
	return c
}

// group makes the control group of a container that has a kernel of its own;
// nil where the runtime makes one or nobody can.
func (m *making) group() (*cgroup.Group, error) {
	if !m.f.kind.kernel || m.f.tree == nil {
		return nil, nil
	}
	limits := cgroup.Limits{Memory: int64(m.spec.Limits.MemoryMB+m.spec.Limits.DiskMB)<<20 + kernelMemory}
	if m.f.tree.HasCPU() {
		limits.CPU = m.spec.Limits.CPUShares
	}
	return m.f.tree.New(limits)
}

// verify makes sure, before anything untrusted runs, that the container is in
// its group and has the mounts that it is to have. pid is that of its kernel.
func (m *making) verify(r *running, group *cgroup.Group, pid int) (host.Meter, error) {
	if mounts := m.setup.Told().Mounts; len(mounts) > 0 {
		gofer, err := child(r.cmd.Process.Pid, pid)
		if err != nil {
			return nil, err
		}
		root, err := os.Open("/proc/" + strconv.Itoa(gofer) + "/root")
		if err != nil {
			return nil, err
		}
		defer root.Close()
		for _, mount := range mounts {
			if err := shows(root, mount.Target, mount.Dev, mount.Ino); err != nil {
				return nil, fmt.Errorf("the source %s: %w", mount.Source, err)
			}
		}
	}
	if group == nil {
		return nil, nil
	}
	if in, err := group.Holds(pid); err != nil || !in {
		return nil, errors.Join(errors.New("the container is not in its control group"), err)
	}
	return process.NewMeter(group), nil
}

// child is the process that serves files to a kernel: the child of runsc that
// is not the kernel itself.
func child(of, but int) (int, error) {
	lists, err := filepath.Glob("/proc/" + strconv.Itoa(of) + "/task/*/children")
	if err != nil {
		return 0, err
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue
		}
		for _, field := range bytes.Fields(text) {
			pid, err := strconv.Atoi(string(field))
			if err != nil || pid == but {
				continue
			}
			name, err := os.ReadFile("/proc/" + string(field) + "/cmdline")
			if err == nil && strings.HasPrefix(string(name), "runsc-gofer") {
				return pid, nil
			}
		}
	}
	return 0, errors.New("the process that serves its files is not there")
}

// shows compares what is at a place below root with a file.
func shows(root *os.File, target string, dev, ino uint64) error {
	for _, top := range []string{".", "root"} {
		fd, err := unix.Openat2(int(root.Fd()), filepath.Join(top, target), &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
		if err == unix.ENOENT {
			continue
		}
		if err != nil {
			return err
		}
		var info unix.Stat_t
		err = unix.Fstat(fd, &info)
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
		if uint64(info.Dev) == dev && info.Ino == ino {
			return nil
		}
	}
	return errors.New("it is not what it was when the sandbox was made")
}

// withoutPriorities is a filter that also refuses to change the priority of a
// process: gVisor lets everybody raise it. It would be of no effect outside.
func withoutPriorities(filter wire.Program) wire.Program {
	const (
		load, jumpEqual, give = 0x20, 0x15, 0x06 // of the number of the call; classic BPF
		refuse                = 0x00050000 | uint32(unix.EPERM)
	)
	return append(wire.Program{{Op: load}, {Op: jumpEqual, Jf: 1, K: unix.SYS_SETPRIORITY}, {Op: give, K: refuse}}, filter...)
}

// ofKernel says what holds where the kernel of the container is gVisor's.
func (f *Factory) ofKernel(e sandbox.Enforcement) {
	full := func(by string) sandbox.Strength { return sandbox.Strength{Level: sandbox.Full, By: by} }
	e[sandbox.FSWrite] = full("read-only mounts of gVisor's kernel")
	e[sandbox.Syscalls] = full("gVisor's kernel takes them all, and seccomp in it")
	e[sandbox.Kernel] = full("gVisor's kernel, a process without rights on the host")
	e[sandbox.Processes] = full("resource limit per user of gVisor's kernel")
	if f.shown {
		e[sandbox.FSRead] = sandbox.Strength{Level: sandbox.Partial, By: "a root of its own; this version of gVisor shows commands the descriptors of the agent, as newer ones do not"}
	}
	if f.tree != nil {
		e[sandbox.Disk] = full("scratch spaces in memory, of fixed sizes; the number of files by the memory of the control group")
		e[sandbox.CPU], e[sandbox.Memory] = full("control group of the whole kernel"), full("control group of the whole kernel, swap included")
		return
	}
	e[sandbox.Disk] = sandbox.Strength{Level: sandbox.Partial, By: "scratch spaces in memory, of fixed sizes; any number of files"}
	e[sandbox.CPU] = sandbox.Strength{Level: sandbox.None, By: "no control groups: any number of processors"}
	e[sandbox.Memory] = sandbox.Strength{Level: sandbox.None, By: "no control groups: any amount"}
}
