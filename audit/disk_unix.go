//go:build unix

package audit

import (
	"errors"
	"syscall"
)

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// isInterrupted reports a system call that has to be made again.
func isInterrupted(err error) bool { return errors.Is(err, syscall.EINTR) }
