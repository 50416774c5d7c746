package guest

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Main prepares the machine, serves its host until the stream ends, and turns
// the machine off. It never returns. It refuses to run as anything but the
// first process.
func Main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, Program+": this is the first process of a virtual machine and nothing else")
		os.Exit(2)
	}
	err := machine()
	if err != nil {
		// The console of the machine; its last lines are in the error that
		// the host reports.
		fmt.Println(Program+":", err)
	}
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // a monitor without power management takes this for the end
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	select {}
}

func machine() error {
	if err := prepare(); err != nil {
		return err
	}
	host, err := openStream(os.Getenv(StreamVariable))
	if err != nil {
		return err
	}
	if _, err := io.WriteString(host, Hello); err != nil {
		return fmt.Errorf("the stream to the host: %w", err)
	}
	return Serve(host, Limits{Memory: number(MemoryVariable), Processes: int(number(ProcessesVariable))})
}

// number is that of a variable that the host set; what is none is 0.
func number(variable string) int64 {
	n, err := strconv.ParseInt(os.Getenv(variable), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// prepare makes a root that can be left (the kernel's first one cannot) and
// mounts what the agent expects on a Linux.
func prepare() error {
	const root = "/root"
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"bind the root", func() error { return unix.Mount("/", root, "", unix.MS_BIND|unix.MS_REC, "") }},
		{"enter the root", func() error { return unix.Chdir(root) }},
		{"move the root", func() error { return unix.Mount(".", "/", "", unix.MS_MOVE, "") }},
		{"change the root", func() error { return unix.Chroot(".") }},
		{"leave the old root", func() error { return unix.Chdir("/") }},
		{"mount /proc", func() error {
			return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
		}},
		{"mount /dev", func() error { return unix.Mount("dev", "/dev", "devtmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755") }},
		{"mount /tmp", func() error { return unix.Mount("tmp", "/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777") }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

// openStream opens what StreamVariable names.
func openStream(name string) (io.ReadWriteCloser, error) {
	if port, ok := strings.CutPrefix(name, "vsock:"); ok {
		n, err := strconv.ParseUint(port, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%s=%s is no port", StreamVariable, name)
		}
		return acceptVsock(uint32(n))
	}
	if !strings.HasPrefix(name, "/dev/") {
		return nil, fmt.Errorf("%s=%q names no stream to the host", StreamVariable, name)
	}
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	if err := raw(fd); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("%s is no serial device: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// raw makes a serial device carry bytes as they are.
func raw(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | unix.B115200
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, t); err != nil {
		return err
	}
	return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIOFLUSH)
}

// acceptVsock waits for the one connection of the host.
func acceptVsock(port uint32) (io.ReadWriteCloser, error) {
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("this kernel has no vsock: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_ANY, Port: port}); err != nil {
		return nil, fmt.Errorf("bind vsock port %d: %w", port, err)
	}
	if err := unix.Listen(fd, 1); err != nil {
		return nil, err
	}
	for {
		conn, from, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("accept on vsock: %w", err)
		}
		if vm, ok := from.(*unix.SockaddrVM); ok && vm.CID == unix.VMADDR_CID_HOST {
			return os.NewFile(uintptr(conn), "vsock"), nil
		}
		unix.Close(conn) // the machine itself, where the kernel has a loopback
	}
}
