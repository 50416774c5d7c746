package main

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socketProbes make sockets that ordinary programs have no use for. Each is a
// way into a part of the kernel.
var socketProbes = []probe{
	socket("socket-raw", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
	socket("socket-raw6", unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6),
	socket("socket-packet", unix.AF_PACKET, unix.SOCK_RAW, 0),
	socket("socket-audit", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
	socket("socket-netfilter", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
	socket("socket-xfrm", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_XFRM),
	socket("socket-uevent", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT),
	socket("socket-generic-netlink", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC),
	socket("socket-vsock", unix.AF_VSOCK, unix.SOCK_STREAM, 0),
	socket("socket-crypto", unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
	socket("socket-bluetooth", unix.AF_BLUETOOTH, unix.SOCK_RAW, 0),
	socket("socket-tipc", unix.AF_TIPC, unix.SOCK_STREAM, 0),
	socket("socket-rds", unix.AF_RDS, unix.SOCK_SEQPACKET, 0),
	socket("socket-key", unix.AF_KEY, unix.SOCK_RAW, 2),
	socket("socket-can", unix.AF_CAN, unix.SOCK_RAW, 1),
	socket("socket-xdp", unix.AF_XDP, unix.SOCK_RAW, 0),
	socket("socket-sctp", unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP),
	{Name: "netlink-sets-device-down", Dimension: syscalls, Wild: true, run: func(args) verdict {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return held("%v", err)
		}
		defer unix.Close(fd)
		r, err := unix.NewIfreq("lo")
		if err != nil {
			return held("%v", err)
		}
		r.SetUint16(0)
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(r)))
		return refused(failure(e), "lo was set down")
	}},
	{Name: "tun-device", Dimension: syscalls, run: func(args) verdict {
		f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return refused(err, "opened")
	}},
	{Name: "terminal-injection", Dimension: syscalls, run: func(args) verdict {
		last := held("no terminal")
		if tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY, 0); err == nil {
			defer unix.Close(tty)
			last = pushed(tty)
		}
		return first(pushed(0), pushed(1), pushed(2), last)
	}},
	{Name: "terminal-made-inside", Dimension: syscalls, run: func(args) verdict {
		fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return absent("no terminal can be made: %v", err)
		}
		defer unix.Close(fd)
		return pushed(fd)
	}},
}

// pushed tries to type into a terminal for whoever reads it next, and to
// change how it is read.
func pushed(fd int) verdict {
	c, paste, line := byte(' '), []byte{3, 0}, uint32(0)
	for _, try := range []struct {
		name string
		call uintptr
		arg  unsafe.Pointer
	}{
		{"TIOCSTI", unix.TIOCSTI, unsafe.Pointer(&c)}, {"TIOCLINUX", unix.TIOCLINUX, unsafe.Pointer(&paste[0])}, {"TIOCSETD", unix.TIOCSETD, unsafe.Pointer(&line)},
	} {
		// Where it is no terminal the kernel says so, unless a filter came first.
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), try.call, uintptr(try.arg))
		if e == 0 {
			return open("%s on %d", try.name, fd)
		}
	}
	return held("refused on %d", fd)
}

// socket makes one. A kernel without the family says so.
func socket(name string, family, kind, protocol int) probe {
	return probe{Name: name, Dimension: syscalls, run: func(args) verdict {
		fd, err := unix.Socket(family, kind, protocol)
		if err == unix.EAFNOSUPPORT || err == unix.EPROTONOSUPPORT || err == unix.ESOCKTNOSUPPORT {
			return absent("%v", err)
		}
		if err == nil {
			_ = unix.Close(fd)
		}
		return refused(err, "made")
	}}
}

// failure makes an error of a number, nil of 0.
func failure(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}
