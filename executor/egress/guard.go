package egress

import (
	"net"
	"net/netip"
	"slices"
)

// special4 are the IPv4 ranges that are not the public internet: the IANA
// special-purpose registry (RFC 6890 and its updates), multicast, reserved,
// and one metadata address that lies in public space.
var special4 = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // Azure's platform endpoint
)

// public6 is all of IPv6 that is global unicast today (RFC 3513, IANA): what
// is outside (loopback, mapped, compatible, NAT64, unique local, link local,
// site local, multicast, discard) is not public.
var public6 = netip.MustParsePrefix("2000::/3")

// special6 are the ranges inside public6 that are not: protocol assignments
// (Teredo, ORCHID, benchmarking), documentation, 6to4.
var special6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// isPublic reports whether addr is on the public internet. Whatever is
// doubtful is not.
func isPublic(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" || addr.Is4In6() {
		return false // a mapped address is a second spelling, which nobody needs
	}
	if addr.Is4() {
		return !inAny(special4, addr)
	}
	return public6.Contains(addr) && !inAny(special6, addr)
}

// spelling4 are the first 96 bits of the IPv6 addresses that are nothing but
// another way to write an IPv4 address: mapped, translated (RFC 2765), NAT64
// (RFC 6052, RFC 8215) and compatible. 6to4 and Teredo are not among them:
// there the packet goes to a relay.
var spelling4 = []netip.Addr{
	netip.MustParseAddr("::ffff:0:0"), netip.MustParseAddr("::ffff:0:0:0"),
	netip.MustParseAddr("64:ff9b::"), netip.MustParseAddr("64:ff9b:1::"), netip.MustParseAddr("::"),
}

// spelled4 gives the IPv4 address that a literal is another spelling of. It
// is judged, named and dialled as that address, so that neither the guard nor
// a deny list has a second spelling to miss. A name that resolves to such an
// address is refused instead: nobody needs it there.
func spelled4(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	low := netip.AddrFrom4([4]byte(b[12:]))
	for _, p := range spelling4 {
		if q := p.As16(); [12]byte(q[:12]) == [12]byte(b[:12]) {
			// :: and ::1 and their neighbours are themselves.
			return low, !p.IsUnspecified() || b[12] != 0
		}
	}
	return addr, false
}

func inAny(list []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// ownAddresses are the addresses of this machine: a connection to one of them
// reaches what listens here, behind the firewall, also where it is public.
func (c *Client) ownAddresses() ([]netip.Addr, error) {
	if c.opts.OwnAddresses != nil {
		return c.opts.OwnAddresses()
	}
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr().Unmap())
		}
	}
	return out, nil
}
