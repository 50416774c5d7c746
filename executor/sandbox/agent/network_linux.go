package agent

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The networks of a configuration.
const (
	netNone    = "none"
	netInherit = "inherit"
)

// network prepares the network of the sandbox, before anything is given up.
// The files are sent to the parent with Ready and closed here.
func (a *agent) network() ([]*os.File, error) {
	switch a.cfg.Net {
	case netNone:
		return nil, loopback()
	case netInherit:
		return nil, nil
	}
	return nil, fmt.Errorf("a network of kind %q", a.cfg.Net)
}

// loopback sets the loopback device of the namespace up, by one message of
// rtnetlink.
func loopback() error {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	type request struct {
		unix.NlMsghdr
		unix.IfInfomsg
	}
	const first = 1 // the index of lo in every namespace
	r := request{
		unix.NlMsghdr{Len: uint32(unsafe.Sizeof(request{})), Type: unix.RTM_NEWLINK, Flags: unix.NLM_F_REQUEST | unix.NLM_F_ACK, Seq: 1},
		unix.IfInfomsg{Family: unix.AF_UNSPEC, Index: first, Flags: unix.IFF_UP, Change: unix.IFF_UP},
	}
	message := unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r))
	if err := unix.Sendto(s, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(s, answer, 0)
	if err != nil {
		return err
	}
	parsed, err := syscall.ParseNetlinkMessage(answer[:n])
	if err != nil || len(parsed) == 0 || len(parsed[0].Data) < 4 {
		return fmt.Errorf("an answer of the kernel that cannot be read: %w", err)
	}
	if errno := *(*int32)(unsafe.Pointer(&parsed[0].Data[0])); errno != 0 {
		return fmt.Errorf("loopback: %w", syscall.Errno(-errno))
	}
	return nil
}
