package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// resolve gives the addresses that may be dialled for t. Every address of a
// name has to pass: a mix of public and private ones is an attack.
func (c *Client) resolve(ctx context.Context, t *target, guarded bool) ([]netip.Addr, *worker.Failure) {
	addrs := []netip.Addr{t.addr.Unmap()}
	if !t.addr.IsValid() {
		var r Resolver = net.DefaultResolver
		if c.opts.Resolver != nil {
			r = c.opts.Resolver
		}
		ctx, cancel := context.WithTimeout(ctx, c.connectTimeout)
		defer cancel()
		found, err := r.LookupNetIP(ctx, "ip", t.host)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ended(ctx, "resolving the host took too long: "+t.host)
			}
			if guarded {
				return nil, security(DNSResolutionFailed, "the host cannot be resolved: "+t.host)
			}
			return nil, runtimeFailure(DNSUnknownHost, "the host cannot be resolved: "+t.host)
		}
		if len(found) == 0 || len(found) > maxAddresses {
			return nil, security(DNSNoAddresses, "the host has no usable address: "+t.host)
		}
		addrs = make([]netip.Addr, len(found))
		for i, a := range found {
			addrs[i] = a.Unmap()
		}
	}
	var own []netip.Addr
	if guarded {
		var err error
		if own, err = c.ownAddresses(); err != nil {
			return nil, runtimeFailure(IO, "the addresses of this machine cannot be read")
		}
	}
	for _, a := range addrs {
		if c.policy.denies(a, t.port) {
			return nil, security(HostInDenylist, "host in denylist: "+t.host)
		}
		if guarded && (!isPublic(a) || slices.Contains(own, a)) {
			if t.addr.IsValid() {
				return nil, notPublic(LiteralPrivateIP, "not a public address", t)
			}
			return nil, notPublic(ResolvedPrivateIP, "the host resolves to an address that is not public", t)
		}
	}
	return addrs, nil
}

// errUnchecked stops a socket whose address was not checked. It cannot happen
// unless this package or the standard library has a defect.
var errUnchecked = errors.New("egress: about to connect to an address that was not checked")

// dialer gives a DialContext that connects to the checked addresses alone, in
// their order, whatever it is asked for. used receives the address of the
// connection.
func (c *Client) dialer(addrs []netip.Addr, port uint16, guarded bool, used func(netip.Addr)) func(context.Context, string, string) (net.Conn, error) {
	checked := func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return errUnchecked
		}
		a := ap.Addr().Unmap()
		if ap.Port() != port || !slices.Contains(addrs, a) || guarded && !isPublic(a) {
			return errUnchecked
		}
		return nil
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, c.connectTimeout)
		defer cancel()
		var first error
		for i, a := range addrs {
			if ctx.Err() != nil {
				break
			}
			d := net.Dialer{Control: checked}
			if deadline, ok := ctx.Deadline(); ok {
				// Each address gets its share, so that a dead one does
				// not use up the time of the next.
				d.Timeout = max(time.Until(deadline)/time.Duration(len(addrs)-i), 50*time.Millisecond)
			}
			conn, err := c.connect(ctx, &d, netip.AddrPortFrom(a, port))
			if err == nil {
				used(a)
				return conn, nil
			}
			if first == nil {
				first = err
			}
		}
		if first == nil {
			first = context.Cause(ctx)
		}
		return nil, first
	}
}

// connect is the one line that opens a socket.
func (c *Client) connect(ctx context.Context, d *net.Dialer, to netip.AddrPort) (net.Conn, error) {
	if c.dial != nil {
		return c.dial(ctx, to)
	}
	return d.DialContext(ctx, "tcp", to.String())
}

// NewResolver makes a Resolver that asks the DNS server at address
// (host:port) and nobody else.
func NewResolver(address string) Resolver {
	return &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}}
}
