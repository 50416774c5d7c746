package microvm

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
)

// factory makes the sandboxes of one kind of monitor.
type factory struct {
	id       string
	priority int
	o        Options
	start    func(context.Context, plan) (*machine, error)

	mu     sync.Mutex
	kernel *os.File
	once   sync.Once    // of what follows
	groups *cgroup.Tree // nil: none here
}

func newFactory(id string, priority int, o Options) sandbox.Factory {
	f := &factory{id: id, priority: priority, o: o, start: startFirecracker}
	if id == QEMU {
		f.start = startQEMU
	}
	if f.o.BootTimeout == 0 {
		f.o.BootTimeout = map[string]time.Duration{Firecracker: 10 * time.Second, QEMU: time.Minute}[id]
	}
	return f
}

func (f *factory) ID() string    { return f.id }
func (f *factory) Priority() int { return f.priority }

// Create checks spec. The machine starts with the sandbox.
func (f *factory) Create(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := spec.Admit(f.id, f.enforcement(spec.Limits)); err != nil {
		return nil, err
	}
	if err := f.possible(spec); err != nil {
		return nil, err
	}
	image, err := f.imageFolder(spec)
	if err != nil {
		return nil, err
	}
	return f.create(spec, image)
}

func (f *factory) create(spec sandbox.Spec, image string) (sandbox.Sandbox, error) {
	f.look()
	agent, err := f.agentProgram()
	if err != nil {
		return nil, err
	}
	monitor, err := f.monitor()
	if err != nil {
		return nil, err
	}
	kernel, err := f.openKernel()
	if err != nil {
		return nil, err
	}
	b := &boot{f: f, spec: spec, plan: plan{
		monitor: monitor, kernel: kernel, folder: f.o.Folder,
		memory: int64(spec.Limits.MemoryMB+spec.Limits.DiskMB) << 20, processes: spec.Limits.MaxProcesses,
		cpus: int(math.Ceil(spec.Limits.CPUShares)),
	}, agent: agent, image: image}
	return host.New(host.Options{
		ID: f.id + "-" + strings.ToLower(rand.Text()[:12]), Backend: f.id, Spec: spec, Enforcement: f.enforcement(spec.Limits),
		Start: b.start, Closed: b.close,
	}), nil
}

// Close gives back what the factory holds. Sandboxes that were made go on.
func (f *factory) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kernel != nil {
		f.kernel.Close()
		f.kernel = nil
	}
	return nil
}

// look finds out, once, what this system has, and removes what processes left
// that were killed.
func (f *factory) look() {
	f.once.Do(func() {
		sweepFolders(f.o.Folder)
		if groups, err := cgroup.Open(); err == nil && groups.HasCPU() {
			f.groups = groups
		}
	})
}

// monitorMiB is what a monitor may need beside the memory of its machine.
const monitorMiB = 256

// group makes the control group of a monitor: from outside, it bounds the
// processors of the machine and of the emulation of its devices.
func (f *factory) group(l sandbox.Limits, memoryMiB int) (*cgroup.Group, error) {
	if f.groups == nil {
		return nil, nil
	}
	return f.groups.New(cgroup.Limits{Memory: int64(memoryMiB+monitorMiB) << 20, CPU: l.CPUShares})
}

// possible refuses what no machine has, also when the caller would accept
// less: there is nothing weaker to give.
func (f *factory) possible(spec sandbox.Spec) error {
	refuse := func(d sandbox.Dimension, pointer, format string, args ...any) error {
		return sandbox.Errorf(sandbox.ErrUnenforceable, format, args...).At("", pointer, 0, 0).
			Because(&sandbox.Unenforceable{Backend: f.id, Dimensions: []sandbox.Dimension{d}})
	}
	switch spec.Net().(type) {
	case sandbox.AllowList:
		return refuse(sandbox.NetAllowList, "/network", "a virtual machine of %s has no network; use another back end for an allow-list", f.id)
	case sandbox.Inherit:
		return refuse(sandbox.NetDeny, "/network", "a virtual machine of %s has no network, and cannot have that of the host", f.id)
	}
	for i, m := range spec.Mounts {
		if m.Writable {
			return refuse(sandbox.FSWrite, fmt.Sprintf("/mounts/%d", i), "a virtual machine of %s gets copies of folders, so that %s cannot be writable; mount it read-only, or use another back end", f.id, m.Target)
		}
	}
	if spec.Warm != "" {
		return refuse(sandbox.Processes, "/warm", "a virtual machine of %s keeps no interpreter warm", f.id)
	}
	return nil
}

// enforcement is what holds for a sandbox with these limits.
func (f *factory) enforcement(l sandbox.Limits) sandbox.Enforcement {
	f.look()
	full := func(by string) sandbox.Strength { return sandbox.Strength{Level: sandbox.Full, By: by} }
	e := sandbox.Enforcement{
		sandbox.FSRead:       full("a copy of image and mounts in a virtual machine"),
		sandbox.FSWrite:      full("a copy of image and mounts in a virtual machine"),
		sandbox.NetDeny:      full("a virtual machine without a network device"),
		sandbox.NetAllowList: {Level: sandbox.None, By: "the virtual machine has no network"},
		sandbox.CPU:          full("virtual processors"),
		sandbox.Memory:       full("the memory of the virtual machine"),
		sandbox.Disk:         full("tmpfs in the memory of the virtual machine"),
		sandbox.WallClock:    full("the monitor is killed"),
		sandbox.Processes:    full("a control group in the virtual machine"),
		sandbox.Environment:  full("a virtual machine"),
		sandbox.Syscalls:     full("seccomp in a virtual machine"),
		sandbox.Kernel:       full("KVM"),
	}
	if f.groups != nil {
		e[sandbox.CPU] = full("virtual processors, and a control group around the monitor")
	} else if l.CPUShares != math.Trunc(l.CPUShares) {
		e[sandbox.CPU] = sandbox.Strength{Level: sandbox.Partial, By: "whole virtual processors: the share is rounded up"}
	}
	if f.id == QEMU {
		e[sandbox.Kernel] = sandbox.Strength{Level: sandbox.Partial, By: "a kernel of its own, but an emulator that is not made to withstand attacks"}
	}
	return e
}

// monitor is the path of the monitor's program.
func (f *factory) monitor() (string, error) {
	name := f.o.Monitor
	if name == "" {
		if name = "firecracker"; f.id == QEMU {
			name = "qemu-system-x86_64"
		}
	}
	p, err := exec.LookPath(name)
	if err != nil {
		return "", sandbox.Errorf(sandbox.ErrUnavailable, "%s is not installed: %v", name, err)
	}
	return p, nil
}

// maxKernel bounds the image of a kernel.
const maxKernel = 256 << 20

// openKernel gives the kernel, which is read once; the caller closes what it
// gets.
func (f *factory) openKernel() (*os.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kernel != nil {
		return again(f.kernel)
	}
	if f.o.Kernel == "" {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "no kernel for virtual machines is named: set sandbox.kernel (Options.Kernel in a program) to its image")
	}
	k, err := sealedCopy(f.o.Kernel, maxKernel)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "the kernel for virtual machines cannot be read: %v", err)
	}
	f.kernel = k
	return again(k)
}
