//go:build !windows

package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

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
	raw, err := ours.SyscallConn()
	if err != nil {
		return nil, nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	return &socket{File: ours, raw: raw}, theirs, nil
}

// socket is one end of a stream.
type socket struct {
	*os.File
	raw  syscall.RawConn
	poll time.Duration
}

// pollFor makes the next read look for data so long before it goes to sleep.
// Other goroutines run meanwhile.
func (s *socket) pollFor(d time.Duration) { s.poll = d }

func (s *socket) Read(b []byte) (n int, err error) {
	d := s.poll
	if d == 0 {
		return s.File.Read(b)
	}
	s.poll = 0
	began := time.Now()
	waitErr := s.raw.Read(func(fd uintptr) bool {
		for {
			n, err = unix.Read(int(fd), b)
			switch {
			case err == unix.EINTR:
			case err != unix.EAGAIN:
				return true
			case time.Since(began) > d:
				return false
			default:
				runtime.Gosched()
			}
		}
	})
	switch {
	case waitErr != nil:
		return 0, waitErr
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// childStream is the far end, as the worker has it.
func childStream() (io.ReadWriter, error) {
	if err := syscall.SetNonblock(3, true); err != nil {
		return nil, err
	}
	syscall.CloseOnExec(3)
	f := os.NewFile(3, "parent")
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &socket{File: f, raw: raw}, nil
}
