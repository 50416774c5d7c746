package netns

import (
	"encoding/binary"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// loopback is the index of the loopback device: the first of every namespace.
const loopback = 1

// netlink is a socket for route messages, one request at a time.
type netlink struct {
	fd  int
	seq uint32
}

func openNetlink() (*netlink, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	// The kernel answers at once; the deadline is for one that does not.
	limit := unix.NsecToTimeval(int64(5 * time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &netlink{fd: fd}, nil
}

func (n *netlink) close() { _ = unix.Close(n.fd) }

// up sets IFF_UP of a device (struct ifinfomsg).
func (n *netlink) up(device uint32) error {
	body := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(body[4:], device)
	binary.NativeEndian.PutUint32(body[8:], unix.IFF_UP)
	binary.NativeEndian.PutUint32(body[12:], unix.IFF_UP)
	return n.request(unix.RTM_NEWLINK, 0, body)
}

// local makes every address of p one of device's own (struct rtmsg, then the
// destination and the device as attributes).
func (n *netlink) local(device uint32, p netip.Prefix) error {
	family, scope := byte(unix.AF_INET), byte(unix.RT_SCOPE_HOST)
	if p.Addr().Is6() {
		family, scope = unix.AF_INET6, unix.RT_SCOPE_UNIVERSE
	}
	body := []byte{
		family, byte(p.Bits()), 0, 0,
		unix.RT_TABLE_LOCAL, unix.RTPROT_STATIC, scope, unix.RTN_LOCAL,
		0, 0, 0, 0,
	}
	body = attribute(body, unix.RTA_DST, p.Addr().AsSlice())
	body = attribute(body, unix.RTA_OIF, binary.NativeEndian.AppendUint32(nil, device))
	return n.request(unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_EXCL, body)
}

// attribute appends one; values here are whole words, so nothing is padded.
func attribute(b []byte, kind uint16, value []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(unix.SizeofRtAttr+len(value)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	return append(b, value...)
}

// request sends one message and gives the error that the kernel answers with.
func (n *netlink) request(kind, flags uint16, body []byte) error {
	n.seq++
	m := make([]byte, 0, unix.SizeofNlMsghdr+len(body))
	m = binary.NativeEndian.AppendUint32(m, uint32(unix.SizeofNlMsghdr+len(body)))
	m = binary.NativeEndian.AppendUint16(m, kind)
	m = binary.NativeEndian.AppendUint16(m, flags|unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	m = binary.NativeEndian.AppendUint32(m, n.seq)
	m = binary.NativeEndian.AppendUint32(m, 0) // the kernel knows who asks
	m = append(m, body...)
	if err := unix.Sendto(n.fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	for {
		got, _, err := unix.Recvfrom(n.fd, answer, 0)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case got < unix.SizeofNlMsghdr+4:
			return unix.EPROTO
		case binary.NativeEndian.Uint32(answer[8:]) != n.seq:
			continue // of another request
		case binary.NativeEndian.Uint16(answer[4:]) != unix.NLMSG_ERROR:
			return unix.EPROTO
		}
		if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
			return unix.Errno(-code)
		}
		return nil
	}
}
