package microvm

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// startQEMU starts a machine whose second serial port is a socket of ours.
func startQEMU(ctx context.Context, p plan) (*machine, error) {
	var near net.Conn
	var far *os.File
	m, err := run(ctx, p, func() (*exec.Cmd, error) {
		if far == nil {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return nil, err
			}
			ours := os.NewFile(uintptr(fds[0]), "stream")
			far = os.NewFile(uintptr(fds[1]), "stream")
			near, err = net.FileConn(ours)
			ours.Close()
			if err != nil {
				return nil, err
			}
		}
		c := &exec.Cmd{Path: p.monitor, Args: qemuArguments(p), ExtraFiles: []*os.File{p.kernel, p.initrd, far}}
		return c, nil
	}, func(*syscall.SysProcAttr) error { return nil })
	if far != nil {
		far.Close()
	}
	if err != nil {
		if near != nil {
			near.Close()
		}
		return nil, err
	}
	m.stream = near
	return m, nil
}

// qemuArguments is the command line: a machine with two serial ports and
// nothing else. Descriptors 3, 4 and 5 are kernel, first root and stream.
func qemuArguments(p plan) []string {
	return []string{
		p.monitor,
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
		"-machine", "pc,usb=off", "-accel", "tcg,tb-size=64", "-cpu", "max",
		"-m", strconv.Itoa(p.memoryMiB), "-smp", strconv.Itoa(p.cpus),
		"-kernel", "/proc/self/fd/3", "-initrd", "/proc/self/fd/4", "-append", arguments(p, "/dev/ttyS1"),
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-chardev", "socket,id=stream,fd=5", "-serial", "chardev:stream",
	}
}
