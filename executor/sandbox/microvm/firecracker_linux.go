package microvm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/guest"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/microvm/firecracker"
)

// guestCID is the address of a guest on its own vsock device; every machine
// has a device of its own.
const guestCID = 3

// The sockets in the folder of a machine.
const (
	apiSocket   = "api"
	vsockSocket = "vsock"
)

// kvm is the device that Firecracker opens.
const kvm = "/dev/kvm"

// startFirecracker starts a monitor, makes the machine through its API, boots
// it and connects to the guest.
func startFirecracker(ctx context.Context, p plan) (*machine, error) {
	dir, err := socketFolder(p.folder)
	if err != nil {
		return nil, err
	}
	// The name of a socket is short, and that of the folder may not be: the
	// monitor is in the folder, and we go through a descriptor of it.
	open, err := os.Open(dir)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	defer open.Close()
	m, err := run(ctx, p, func() (*exec.Cmd, error) {
		return &exec.Cmd{
			Path: p.monitor,
			Args: []string{p.monitor, "--api-sock", apiSocket, "--id", "sandbox"},
			Dir:  dir, ExtraFiles: []*os.File{p.kernel, p.initrd},
		}, nil
	}, func(a *syscall.SysProcAttr) error { return monitorRights(a, dir) })
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	m.cleanup = func() { os.RemoveAll(dir) }
	err = m.boot(ctx, fmt.Sprintf("/proc/self/fd/%d", open.Fd()), p)
	if err != nil {
		// The words of the monitor are complete when it has ended.
		m.end()
		return nil, fmt.Errorf("%w%s", err, m.said())
	}
	return m, nil
}

// boot makes the machine and waits until the guest listens. folder leads to
// the sockets.
func (m *machine) boot(ctx context.Context, folder string, p plan) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-m.gone:
			cancel(errors.New("firecracker ended"))
		case <-ctx.Done():
		}
	}()
	c := firecracker.NewClient(filepath.Join(folder, apiSocket))
	defer c.Close()
	if err := until(ctx, func() error { _, err := c.Info(ctx); return err }); err != nil {
		return fmt.Errorf("firecracker does not answer on its socket: %w", err)
	}
	for _, step := range []func() error{
		func() error {
			return c.SetMachine(ctx, firecracker.MachineConfig{VCPUs: p.cpus, MemoryMiB: p.memoryMiB})
		},
		func() error {
			return c.SetBoot(ctx, firecracker.BootSource{
				Kernel: "/proc/self/fd/3", Initrd: "/proc/self/fd/4",
				Arguments: arguments(p, fmt.Sprintf("vsock:%d", guest.Port)) + " pci=off",
			})
		},
		func() error { return c.SetVsock(ctx, firecracker.Vsock{CID: guestCID, Socket: vsockSocket}) },
		func() error { return c.Start(ctx) },
	} {
		if err := step(); err != nil {
			return because(ctx, err)
		}
	}
	var conn net.Conn
	err := until(ctx, func() (err error) {
		conn, err = firecracker.Connect(ctx, filepath.Join(folder, vsockSocket), guest.Port)
		return err
	})
	if err != nil {
		return fmt.Errorf("the kernel does not boot as far as the agent: %w", err)
	}
	m.stream = conn
	return nil
}

// because is err, with the reason why ctx ended where it did.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%w (%w)", err, cause)
	}
	return err
}

// until tries again, soon at first, until it works or ctx ends.
func until(ctx context.Context, try func() error) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return because(ctx, err)
		}
	}
}

// monitorRights lets a monitor that runs as another user reach its folder and
// KVM, and nothing else of ours. A monitor with the rights of root is not
// started at all.
func monitorRights(a *syscall.SysProcAttr, dir string) error {
	if a.Credential == nil {
		if os.Geteuid() == 0 {
			return errors.New("the monitor would run as root")
		}
		return nil
	}
	uid, gid := int(a.Credential.Uid), int(a.Credential.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		return err
	}
	info, err := os.Stat(kvm)
	if err != nil {
		return nil // the monitor says so better
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Gid == 0 || info.Mode().Perm()&0o060 != 0o060 {
		return nil
	}
	a.Credential.Groups = []uint32{owner.Gid}
	if len(a.GidMappings) > 0 {
		a.GidMappings = append(a.GidMappings, syscall.SysProcIDMap{ContainerID: int(owner.Gid), HostID: int(owner.Gid), Size: 1})
	}
	return nil
}
