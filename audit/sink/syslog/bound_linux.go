package syslog

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// bound makes a connection fail whose other side does not acknowledge.
func bound(_, _ string, c syscall.RawConn) error {
	var err error
	if e := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(ackWithin.Milliseconds()))
	}); e != nil {
		return e
	}
	return err
}
