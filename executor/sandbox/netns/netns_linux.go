package netns

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// backlog is how many connections wait to be accepted, of each listener.
const backlog = 256

// Up brings the loopback device of this namespace up. It needs the rights of
// the namespace's owner.
func Up() error {
	n, err := openNetlink()
	if err != nil {
		return fmt.Errorf("no netlink socket for the loopback device: %w", err)
	}
	defer n.close()
	if err := n.up(loopback); err != nil {
		return fmt.Errorf("the loopback device does not come up: %w", err)
	}
	return nil
}

// Listen makes prefixes (198.18.0.0/15, 2001:db8::1/128) local and opens the
// sockets of an allow-list, after Up: one TCP listener for each port on every
// local address, then a UDP socket and a TCP listener for the name server. The
// descriptors are in this order, and the caller's to pass on and to close: a
// listener lives as long as one copy of it does.
func Listen(ports []int, prefixes []string) (fds []int, err error) {
	defer func() {
		if err != nil {
			closeAll(fds)
			fds = nil
		}
	}()
	if err := routes(prefixes); err != nil {
		return nil, err
	}
	for _, port := range ports {
		fd, err := listenAny(port)
		if err != nil {
			return fds, fmt.Errorf("port %d of the sandbox cannot be listened on: %w", port, err)
		}
		fds = append(fds, fd)
	}
	at := &unix.SockaddrInet4{Port: 53, Addr: netip.MustParseAddr(Server).As4()}
	for _, kind := range []int{unix.SOCK_DGRAM, unix.SOCK_STREAM} {
		fd, err := listen(unix.AF_INET, kind, at)
		if err != nil {
			return fds, fmt.Errorf("the name server of the sandbox cannot be reached: %w", err)
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

func routes(prefixes []string) error {
	if len(prefixes) == 0 {
		return nil
	}
	n, err := openNetlink()
	if err != nil {
		return fmt.Errorf("no netlink socket for the routes: %w", err)
	}
	defer n.close()
	for _, s := range prefixes {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return fmt.Errorf("not a range of addresses: %q", s)
		}
		if err := n.local(loopback, p.Masked()); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("%s cannot be made local: %w", s, err)
		}
	}
	return nil
}

// listenAny listens on every address of both families, or of IPv4 alone where
// the kernel has no IPv6. There is no SO_REUSEPORT: a command cannot put a
// socket of its own beside it.
func listenAny(port int) (int, error) {
	fd, err := listen(unix.AF_INET6, unix.SOCK_STREAM, &unix.SockaddrInet6{Port: port})
	if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL) {
		fd, err = listen(unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Port: port})
	}
	return fd, err
}

func listen(family, kind int, at unix.Sockaddr) (int, error) {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if family == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
	}
	if err == nil {
		err = unix.Bind(fd, at)
	}
	if err == nil && kind == unix.SOCK_STREAM {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}
