package egress

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// Permits checks host and port as Connect does before it resolves, and
// records nothing. nil = permitted so far.
func (c *Client) Permits(host string, port int) *worker.Failure {
	t, f := connectTarget(host, port)
	if f == nil {
		_, f = c.policy.admit(t)
	}
	return plain(f)
}

// Connect opens a TCP connection to host, a name or an address, under the same
// gate as Fetch: host, port and every address are checked, and only a checked
// address is dialled. It takes ConnectTimeout at most for each of resolving
// and connecting. It records nothing: the ledger of what Connect did is that
// of the caller, who has RemoteAddr. The failure has a reason of this package,
// no helper, and shows nothing of this machine.
func (c *Client) Connect(ctx context.Context, host string, port int) (net.Conn, *worker.Failure) {
	t, f := connectTarget(host, port)
	if f != nil {
		return nil, plain(f)
	}
	guarded, f := c.policy.admit(t)
	if f != nil {
		return nil, plain(f)
	}
	addrs, f := c.resolve(ctx, t, guarded)
	if f != nil {
		return nil, plain(f)
	}
	conn, err := c.dialer(addrs, t.port, guarded, func(netip.Addr) {})(ctx, "", "")
	if err != nil {
		return nil, plain(transportFailure(ctx, err))
	}
	return conn, nil
}

func connectTarget(host string, port int) (*target, *worker.Failure) {
	if port < 1 || port > 65535 {
		return nil, security(PortNotAllowed, "not a port: "+strconv.Itoa(port))
	}
	name, addr, ok := NormalHost(host)
	if !ok {
		return nil, invalid(InvalidURL, "the host is not valid")
	}
	return &target{host: name, addr: addr, port: uint16(port)}, nil
}

// plain takes the name of the helper from f, which no helper caused.
func plain(f *worker.Failure) *worker.Failure {
	if f != nil {
		f.Helper, f.Message = "", strings.TrimPrefix(f.Message, "["+Helper+"] ")
	}
	return f
}

// NormalHost gives the one spelling of a host: a lower-case ASCII name without
// a trailing dot, or an address in its canonical form, however it was written
// (0x7f.1, ::ffff:127.0.0.1); addr is valid for the latter alone. ok is false
// for what is neither.
func NormalHost(raw string) (host string, addr netip.Addr, ok bool) {
	return normalHost(raw, false)
}

// A HostEntry is one entry of a list of hosts, as policies have them.
type HostEntry struct {
	// Host is a name, *.name, *, an address, or a range of addresses, in its
	// one spelling and without brackets.
	Host string
	Port int // 0 = any
	// Prefix is valid for an address and a range.
	Prefix netip.Prefix
}

// ParseHostEntry reads one entry; ok is false for what cannot be read.
func ParseHostEntry(entry string) (e HostEntry, ok bool) {
	p := parsePattern(entry)
	e = HostEntry{Host: p.host, Port: int(p.port), Prefix: p.prefix}
	switch p.kind {
	case nothing:
		return HostEntry{}, false
	case below:
		e.Host = "*." + p.host
	case anyHost:
		e.Host = "*"
	case addressRange:
		e.Host = p.prefix.String()
	}
	return e, true
}

// At is the entry with this port, as ParseHostEntry reads it.
func (e HostEntry) At(port int) string { return joinHostPort(e.Host, uint16(port)) }
