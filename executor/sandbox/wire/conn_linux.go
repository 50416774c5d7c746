package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// MaxMessage bounds one message, in bytes. A packet that is larger is an
// error of its sender.
const MaxMessage = 1 << 20

// maxFDs is how many descriptors the kernel passes with one packet.
const maxFDs = 253

// A Conn is one end of a SOCK_SEQPACKET socket. Send may be called from
// several goroutines, Receive from one at a time.
type Conn struct {
	file *os.File
	mu   sync.Mutex
}

// Pair makes both ends: the near one, and the far one as a file to give to a
// child. Both are closed on exec.
func Pair() (*Conn, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range pair {
		// As large as is allowed: a command line may be long.
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, MaxMessage)
	}
	return NewConn(os.NewFile(uintptr(pair[0]), "agent")), os.NewFile(uintptr(pair[1]), "parent"), nil
}

// NewConn takes over a file that is such a socket and does not block.
func NewConn(f *os.File) *Conn { return &Conn{file: f} }

// SetDeadline bounds the Receive that runs and later ones; the zero time does
// not.
func (c *Conn) SetDeadline(t time.Time) error { return c.file.SetReadDeadline(t) }

// Close ends the conversation. A Receive that waits fails.
func (c *Conn) Close() error { return c.file.Close() }

// Send sends m with descriptors, which stay the caller's. A message that does
// not fit into a packet fails with EMSGSIZE in the error and leaves the
// conversation as it was.
func (c *Conn) Send(m Message, files ...*os.File) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(body) > MaxMessage || len(files) > maxFDs {
		return fmt.Errorf("a message of %d bytes and %d descriptors: %w", len(body), len(files), unix.EMSGSIZE)
	}
	var oob []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		oob = unix.UnixRights(fds...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	raw, err := c.file.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Write(func(fd uintptr) bool {
		sent = retry(func() error { return unix.Sendmsg(int(fd), body, oob, nil, unix.MSG_NOSIGNAL) })
		return sent != unix.EAGAIN
	})
	return errors.Join(err, sent)
}

// ErrFiles is for a message that came without its descriptors: this process has
// no room for them. The conversation is as it was.
var ErrFiles = errors.New("the descriptors of a message did not arrive: too many open files")

// Receive gives the next message and its descriptors, closed on exec; they are
// the caller's. The end of the conversation is io.EOF. With ErrFiles the message
// is given, and none of its descriptors.
func (c *Conn) Receive() (Message, []*os.File, error) {
	var m Message
	raw, err := c.file.SyscallConn()
	if err != nil {
		return m, nil, err
	}
	var body []byte
	var files []*os.File
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		body, files, failed = receive(int(fd))
		return failed != unix.EAGAIN
	})
	if err != nil { // closed, or too late
		return m, nil, err
	}
	if failed != nil && failed != ErrFiles {
		return m, nil, failed
	}
	if err := json.Unmarshal(body, &m); err != nil {
		closeAll(files)
		return Message{}, nil, fmt.Errorf("a message that cannot be read: %w", err)
	}
	return m, files, failed
}

func receive(fd int) ([]byte, []*os.File, error) {
	var size int
	err := retry(func() (err error) {
		size, _, _, _, err = unix.Recvmsg(fd, nil, nil, unix.MSG_PEEK|unix.MSG_TRUNC)
		return err
	})
	switch {
	case err == unix.ECONNRESET:
		return nil, nil, io.EOF
	case err != nil:
		return nil, nil, err
	case size == 0:
		return nil, nil, io.EOF
	case size > MaxMessage:
		return nil, nil, fmt.Errorf("a message of %d bytes", size)
	}
	body, oob := make([]byte, size), make([]byte, unix.CmsgSpace(4*maxFDs))
	var n, oobn, flags int
	err = retry(func() (err error) {
		n, oobn, flags, _, err = unix.Recvmsg(fd, body, oob, unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	files, err := rights(oob[:oobn])
	switch {
	case err == nil && (n != size || flags&unix.MSG_TRUNC != 0):
		err = errors.New("a message that was cut")
	case err == nil && flags&unix.MSG_CTRUNC != 0: // there is room for all that a packet can carry
		closeAll(files)
		return body, nil, ErrFiles
	}
	if err != nil {
		closeAll(files)
		return nil, nil, err
	}
	return body, files, nil
}

func rights(oob []byte) ([]*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	parts, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for i := range parts {
		fds, err := unix.ParseUnixRights(&parts[i])
		if err != nil {
			continue // credentials, which nobody asked for
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}
