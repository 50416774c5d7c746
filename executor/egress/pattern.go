package egress

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision/network"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// pattern is one host entry of a policy: an exact host or address, *.suffix
// (any depth below, not the suffix itself), or * (any host); each may carry a
// port; or a range of addresses, which matches literals. prefix is set for what
// names addresses.
type pattern struct {
	kind   patternKind
	host   string
	port   uint16 // 0 = any
	prefix netip.Prefix
}

type patternKind int

const (
	nothing patternKind = iota // an entry that cannot be read
	exact
	below
	anyHost
	addressRange
)

func parsePattern(entry string) pattern {
	if strings.Contains(entry, "/") {
		return parseRange(entry)
	}
	host, port, ok := splitPort(entry)
	if !ok {
		return pattern{}
	}
	if host == "*" {
		return pattern{kind: anyHost, port: port}
	}
	if suffix, wild := strings.CutPrefix(host, "*."); wild {
		name, addr, ok := normalHost(suffix, false)
		if !ok || addr.IsValid() {
			return pattern{}
		}
		return pattern{kind: below, host: name, port: port}
	}
	bracketed := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	if bracketed {
		host = host[1 : len(host)-1]
	}
	name, addr, ok := normalHost(host, bracketed)
	if !ok {
		return pattern{}
	}
	p := pattern{kind: exact, host: name, port: port}
	if addr.IsValid() {
		p.prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	return p
}

// parseRange reads 192.0.2.0/24, 192.0.2.0/24:443, 2001:db8::/32 or
// [2001:db8::/32]:443.
func parseRange(entry string) pattern {
	host, port := entry, uint16(0)
	if i := strings.LastIndexByte(entry, ':'); i > strings.IndexByte(entry, '/') {
		var ok bool
		if host, port, ok = splitPort(entry); !ok {
			return pattern{}
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if host, ok = strings.CutSuffix(inner, "]"); !ok {
			return pattern{}
		}
	}
	p, err := netip.ParsePrefix(host)
	if err != nil {
		return pattern{}
	}
	if p.Addr().Is4In6() {
		// The addresses that are compared have this spelling no more.
		if p.Bits() < 96 {
			return pattern{}
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return pattern{kind: addressRange, port: port, prefix: p.Masked()}
}

// splitPort cuts a port off. An IPv6 address without brackets has none.
func splitPort(entry string) (host string, port uint16, ok bool) {
	i := strings.LastIndexByte(entry, ':')
	if i < 0 || strings.HasSuffix(entry, "]") || strings.Count(entry, ":") > 1 && entry[i-1] != ']' {
		return entry, 0, entry != ""
	}
	n, err := strconv.ParseUint(entry[i+1:], 10, 16)
	return entry[:i], uint16(n), err == nil && n != 0 && i > 0
}

func (p pattern) matches(t *target) bool {
	if p.port != 0 && p.port != t.port {
		return false
	}
	switch p.kind {
	case exact:
		return p.host == t.host
	case below:
		return !t.addr.IsValid() && len(t.host) > len(p.host)+1 && strings.HasSuffix(t.host, "."+p.host)
	case anyHost:
		return true
	case addressRange:
		return t.addr.IsValid() && p.prefix.Contains(t.addr)
	}
	return false
}

// policy is the network part of a decision, compiled. The zero policy
// refuses everything.
type policy struct {
	mode    string
	hosts   []pattern
	deny    []pattern
	ports   []int
	private []string // host:port
}

func compile(n network.Policy) policy {
	p := policy{mode: n.Mode, ports: n.Ports}
	for _, h := range n.Hosts {
		p.hosts = append(p.hosts, parsePattern(h)) // an unreadable allow allows nothing
	}
	for _, h := range n.HostsDeny {
		d := parsePattern(h)
		if d.kind == nothing {
			d.kind = anyHost // an unreadable deny denies everything
		}
		p.deny = append(p.deny, d)
	}
	for _, h := range n.PrivateHosts {
		if d := parsePattern(h); d.kind == exact && d.port != 0 {
			p.private = append(p.private, joinHostPort(d.host, d.port))
		}
	}
	return p
}

// usable refuses what the mode refuses whatever is asked for.
func (p policy) usable() *worker.Failure {
	switch p.mode {
	case "allowlist", "strict", "open":
		return nil
	case "blocked":
		return security(NotGranted, "the network is blocked for this tool")
	}
	return security(UnknownEgressLevel, "the network mode of the policy is unknown")
}

// admit checks everything that can be known before resolving. guarded says
// whether the addresses have to be public.
func (p policy) admit(t *target) (guarded bool, f *worker.Failure) {
	if f := p.usable(); f != nil {
		return true, f
	}
	matches := func(q pattern) bool { return q.matches(t) }
	if slices.ContainsFunc(p.deny, matches) || t.addr.IsValid() && p.denies(t.addr, t.port) {
		return true, security(HostInDenylist, "host in denylist: "+t.host)
	}
	if p.mode == "allowlist" && !slices.ContainsFunc(p.hosts, matches) {
		return true, security(HostNotInAllowlist, "host not in allowlist: "+t.host)
	}
	if len(p.ports) > 0 && !slices.Contains(p.ports, int(t.port)) {
		return true, security(PortNotAllowed, "port not allowed: "+strconv.Itoa(int(t.port)))
	}
	guarded = p.mode != "open" && !slices.Contains(p.private, t.hostPort())
	if guarded && t.addr.IsValid() && !isPublic(t.addr) {
		return true, notPublic(LiteralPrivateIP, "not a public address", t)
	}
	return guarded, nil
}

// denies applies the deny entries that name addresses to one that is about
// to be dialled, however it was found.
func (p policy) denies(addr netip.Addr, port uint16) bool {
	addr = addr.Unmap()
	return slices.ContainsFunc(p.deny, func(d pattern) bool {
		return d.prefix.IsValid() && (d.port == 0 || d.port == port) && d.prefix.Contains(addr)
	})
}
