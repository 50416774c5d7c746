package agent

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/relay"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/stream"
)

// overStream carries the conversation over standard input and output, which
// are one stream then, and gives the agent's end of it. The carrier is of this
// process, so that no command can reach it. The end of the stream is the end
// of the agent; leave lets what was said last go out first.
func overStream() (conn *wire.Conn, leave func(code int), err error) {
	var both streams
	if both.in, err = takeOver(0, os.O_RDONLY); err != nil {
		return nil, nil, err
	}
	if both.out, err = takeOver(1, os.O_WRONLY); err != nil {
		return nil, nil, err
	}
	near, far, err := wire.Pair()
	if err != nil {
		return nil, nil, err
	}
	go func() {
		_ = relay.Guest(stream.New(both, false), near, nil, nil)
		os.Exit(exitParentGone)
	}()
	conn = wire.NewConn(far)
	return conn, func(int) {
		_ = conn.Close()
		select {} // the carrier ends the process
	}, nil
}

// takeOver gives what a standard stream was and puts nothing in its place, so
// that nobody else writes into the conversation.
func takeOver(fd, mode int) (*os.File, error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, control)
	if err != nil {
		return nil, err
	}
	null, err := unix.Open(os.DevNull, mode|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Dup3(null, fd, 0)
		_ = unix.Close(null)
	}
	return os.NewFile(uintptr(own), "stream"), err
}

type streams struct{ in, out *os.File }

func (s streams) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s streams) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s streams) Close() error                { return errors.Join(s.out.Close(), s.in.Close()) }

var _ io.ReadWriteCloser = streams{}
