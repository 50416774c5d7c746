//go:build !windows

package process

import (
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// childDescriptors are those that a worker keeps: the three of every process
// and its stream.
const childDescriptors = 4

// stream makes the socket pair of one worker, gives its far end to c, and
// returns the near one and the far one, which is to be closed after the start.
func stream(c *exec.Cmd) (near io.ReadWriteCloser, far io.Closer, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range pair {
		syscall.CloseOnExec(fd)
		_ = syscall.SetNonblock(fd, true)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "worker"), os.NewFile(uintptr(pair[1]), "parent")
	c.ExtraFiles = []*os.File{theirs}
	return ours, theirs, nil
}

// childStream is the far end, as the worker has it.
func childStream() (io.ReadWriter, error) {
	if err := syscall.SetNonblock(3, true); err != nil {
		return nil, err
	}
	syscall.CloseOnExec(3)
	return os.NewFile(3, "parent"), nil
}
