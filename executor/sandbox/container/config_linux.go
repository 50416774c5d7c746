package container

import (
	"slices"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// The agent is agentName in agentFolder, below the root of the container. It
// is found through PATH, so that its name is argument 0.
const (
	agentFolder = ".toolwarrant"
	agentName   = "toolwarrant-agent"
)

// A plan is all that the configuration of a container is made of.
type plan struct {
	id       string
	rootfs   string // our own folder with the places of mounts
	agent    string // the program, on the host
	binds    []bind
	network  sandbox.NetPolicy
	limits   sandbox.Limits
	kind     kind
	asRoot   bool   // commands are root in the container, without rights
	nothing  string // an empty file that nobody may read
	idBase   int    // first of the ids on the host that the container has; below 0: only the caller's own
	cgroups  bool   // the runtime may make control groups
	cgroup   string
	uid, gid int // of the caller, for idBase below 0
	seccomp  *specs.LinuxSeccomp
	// What engines have to be told, whose defaults may be above what this
	// process may allow: the hard limits of this process.
	openFiles, processes uint64
}

// rights are what the agent needs, in the user namespace of the container, to
// prepare it. Commands get none of them.
var rights = []string{
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP",
	"CAP_NET_ADMIN", "CAP_NET_BIND_SERVICE", "CAP_SYS_ADMIN",
}

// hidden are places below /proc that tell about the host or act on it.
var hidden = []string{
	"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug",
	"/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/proc/sysrq-trigger", "/proc/config.gz", "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup",
}

// config is the document that a runtime reads.
func (p plan) config() *specs.Spec {
	if p.kind.kernel {
		return p.kernelConfig()
	}
	// Bounds of the container's own user namespace are the agent's to set.
	rights := append(slices.Clone(rights), "CAP_SYS_RESOURCE")
	c := &specs.Spec{
		Version: "1.0.2", // what all runtimes in use read
		Process: &specs.Process{
			User:            specs.User{},
			Args:            []string{agentName},
			Env:             []string{"PATH=/" + agentFolder},
			Cwd:             "/",
			NoNewPrivileges: true,
			Capabilities:    &specs.LinuxCapabilities{Bounding: rights, Effective: rights, Permitted: rights},
			Rlimits:         []specs.POSIXRlimit{{Type: "RLIMIT_CORE"}},
		},
		Root:     &specs.Root{Path: p.rootfs, Readonly: true},
		Hostname: "sandbox",
		Linux: &specs.Linux{
			Namespaces: []specs.LinuxNamespace{
				{Type: specs.PIDNamespace}, {Type: specs.IPCNamespace}, {Type: specs.UTSNamespace}, {Type: specs.MountNamespace}, {Type: specs.UserNamespace}, {Type: specs.CgroupNamespace},
			},
			MaskedPaths: hidden,
			Seccomp:     p.seccomp,
		},
	}
	if _, shared := p.network.(sandbox.Inherit); !shared {
		c.Linux.Namespaces = append(c.Linux.Namespaces, specs.LinuxNamespace{Type: specs.NetworkNamespace})
	}
	if p.idBase >= 0 {
		ids := []specs.LinuxIDMapping{{ContainerID: 0, HostID: uint32(p.idBase), Size: 1}, {ContainerID: commandID, HostID: uint32(p.idBase) + 1, Size: 1}}
		c.Linux.UIDMappings, c.Linux.GIDMappings = ids, ids
	} else {
		c.Linux.UIDMappings = []specs.LinuxIDMapping{{ContainerID: 0, HostID: uint32(p.uid), Size: 1}}
		c.Linux.GIDMappings = []specs.LinuxIDMapping{{ContainerID: 0, HostID: uint32(p.gid), Size: 1}}
	}
	if p.cgroups {
		c.Linux.CgroupsPath = p.cgroup
		c.Linux.Resources = p.resources()
	}
	c.Mounts = p.mounts()
	return c
}

// commandID is the user and group of commands in a container whose ids are not
// only the caller's, as package process has it.
const commandID = 1000

// period is that of a processor quota, in microseconds, as the kernel has it
// by default.
const period = 100_000

// resources are the limits of the control group.
func (p plan) resources() *specs.LinuxResources {
	memory := p.memory()
	quota := max(int64(p.limits.CPUShares*period), 1000)
	cycle := uint64(period)
	r := &specs.LinuxResources{
		Memory:  &specs.LinuxMemory{Limit: &memory, Swap: &memory},
		CPU:     &specs.LinuxCPU{Quota: &quota, Period: &cycle},
		Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}},
	}
	if p.limits.MaxProcesses > 0 {
		n := int64(p.limits.MaxProcesses + agentThreads)
		r.Pids = &specs.LinuxPids{Limit: &n}
	}
	return r
}

// What is added for the runtime and the agent. The limit of processes is set
// again when the agent is ready and its threads can be counted.
const (
	agentThreads = 32
	agentMemory  = 16 << 20
)

// memory is the limit of the group, in bytes. The scratch space is memory too,
// and must not be what ends a command that stays within its memory.
func (p plan) memory() int64 {
	return int64(p.limits.MemoryMB+p.limits.DiskMB)<<20 + agentMemory
}

// mounts gives the mounts of the container in their order. Those of a Spec are
// not among them: the agent puts them in their place, from descriptors that
// cannot have become another file since they were checked.
func (p plan) mounts() []specs.Mount {
	all := []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev", "ro"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "noexec", "strictatime", "mode=755", "size=64k", "nr_inodes=64", "ro"}},
		{Destination: "/dev/shm", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "nodev", "noexec", "mode=755", "size=4k", "nr_inodes=8"}},
	}
	return append(all, p.bindings()...)
}

// bindings are the agent and what the container has of the host.
func (p plan) bindings() []specs.Mount {
	var all []specs.Mount
	for _, b := range append([]bind{{source: p.agent, target: "/" + agentFolder + "/" + agentName}}, p.binds...) {
		all = append(all, specs.Mount{Destination: b.target, Type: "bind", Source: b.source, Options: []string{"rbind", "rprivate", "nosuid", "nodev", b.mode()}})
	}
	return all
}

func (b bind) mode() string {
	if b.writable {
		return "rw"
	}
	return "ro"
}
