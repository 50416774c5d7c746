// Package allow is the network allow-list of a sandbox, from outside: it
// answers the names that the sandbox asks for, accepts its connections, checks
// them, dials for it, and writes down what was asked and what became of it.
//
// The sandbox has no network. Its agent (package netns) opens listeners in the
// sandbox's own network namespace and passes them out. A name that a policy
// allows gets an address of 198.18.0.0/15 that means this name in this sandbox
// and nothing anywhere else; any other name does not exist. So a program needs
// no proxy setting and no support for one: it resolves, connects, and talks.
// The address that it connects to says which name it means. Names are resolved
// out here and afresh for each connection, and package egress dials, under the
// same checks that requests of tools pass.
//
// Threat model: everything in the sandbox is hostile and controls every byte,
// packet and moment; the names it is allowed to use resolve to what their
// owners like. It gets no packet out but the bytes of a connection to an
// allowed host and port. No question is forwarded, so names carry nothing out.
// What it can use up is bounded: names, connections, time, entries of the
// ledger; beyond that its own calls fail.
//
// What is not kept: an allowed host that relays (a proxy, a front of many
// sites) reaches what it reaches. The SNI check narrows the second for TLS; the
// Host header of a request is behind the encryption, or on port 80 not looked
// at, and a protocol that turns to TLS later (STARTTLS) is not seen as one.
package allow

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/decision/network"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// Reasons of entries in the ledger, beside those of package egress.
const (
	UnknownAddress = "unknown-address"      // no name was given this address
	TooMany        = "too-many-connections" // at one time
	SNIMissing     = "sni-missing"          // TLS without the name of the host
	SNIMismatch    = "sni-mismatch"         // TLS with another name
	SNIEncrypted   = "sni-encrypted"        // TLS with a second, hidden name
	NotTLS         = "not-tls"              // no readable TLS where there has to be
	Idle           = "idle"                 // nothing was said for too long
	Ended          = "ended"                // from outside, or at the time limit
	Failed         = "connection-failed"    // broken off by one side
	MoreEntries    = "more-entries"         // the ledger was full
)

// Bounds of one sandbox.
const (
	MaxEntries            = 1000 // of Hosts and of Deny, each
	MaxPorts              = 64   // different ones: each is a listener
	DefaultMaxConnections = 128
	DefaultIdle           = 15 * time.Minute
	DefaultLifetime       = 24 * time.Hour
	helloTimeout          = 10 * time.Second // for the first message of TLS
)

// issued is where addresses for names come from: the range for benchmarks of
// network devices (RFC 2544), which is nobody's.
var issued = netip.MustParsePrefix("198.18.0.0/15")

// Options are what the operator sets. The zero value is of use.
type Options struct {
	// Egress says how names are resolved and which addresses are this
	// machine's own.
	Egress         egress.Options
	MaxConnections int           // at one time; 0 = DefaultMaxConnections
	Idle           time.Duration // of a connection, both ways; 0 = DefaultIdle
	Lifetime       time.Duration // of a connection; 0 = DefaultLifetime
}

// A List is a policy, compiled. It does not change and may serve any number of
// sandboxes.
type List struct {
	gate     *egress.Client
	opts     Options
	sni      bool
	ports    []int
	prefixes []netip.Prefix // literals that an entry names
	names    bool           // an entry names names
}

// New compiles policy. An entry without a port has those of policy.Ports; a
// denied entry without one is denied on every port. An error is an ErrSpec
// with a pointer to the entry.
func New(policy sandbox.AllowList, opts Options) (*List, error) {
	if opts.MaxConnections <= 0 {
		opts.MaxConnections = DefaultMaxConnections
	}
	if opts.Idle <= 0 {
		opts.Idle = DefaultIdle
	}
	if opts.Lifetime <= 0 {
		opts.Lifetime = DefaultLifetime
	}
	l := &List{opts: opts, sni: policy.SNI}
	gate := network.Policy{Mode: "allowlist", HostsDeny: policy.Deny, PrivateHosts: policy.Private}
	if len(policy.Hosts) > MaxEntries || len(policy.Deny) > MaxEntries {
		return nil, wrong("hosts", -1, "more than %d entries", MaxEntries)
	}
	ports := policy.Ports
	if len(ports) == 0 {
		ports = []int{80, 443}
	}
	for i, raw := range policy.Hosts {
		e, err := entry("hosts", i, raw)
		if err != nil {
			return nil, err
		}
		on := ports
		if e.Port != 0 {
			on = []int{e.Port}
		}
		for _, port := range on {
			if err := l.port(i, port); err != nil {
				return nil, err
			}
			gate.Hosts = append(gate.Hosts, e.At(port))
		}
		l.add(e)
	}
	for i, raw := range policy.Deny {
		if _, err := entry("deny", i, raw); err != nil {
			return nil, err
		}
	}
	for i, raw := range policy.Private {
		if e, err := entry("private", i, raw); err != nil {
			return nil, err
		} else if e.Port == 0 || strings.ContainsAny(e.Host, "*/") {
			return nil, wrong("private", i, "must be one host with a port: %q", raw)
		}
	}
	slices.Sort(l.ports)
	l.gate = egress.New(gate, opts.Egress)
	return l, nil
}

func (l *List) add(e egress.HostEntry) {
	switch {
	case !e.Prefix.IsValid():
		l.names = true
	case !slices.Contains(l.prefixes, e.Prefix):
		l.prefixes = append(l.prefixes, e.Prefix)
	}
}

func (l *List) port(i, port int) error {
	switch {
	case port < 1 || port > 65535:
		return wrong("hosts", i, "not a port: %d", port)
	case port == 53:
		return wrong("hosts", i, "port 53 is that of the sandbox's own name server; names are resolved for it")
	case slices.Contains(l.ports, port):
		return nil
	case len(l.ports) == MaxPorts:
		return wrong("hosts", i, "more than %d different ports", MaxPorts)
	}
	l.ports = append(l.ports, port)
	return nil
}

func entry(field string, i int, raw string) (egress.HostEntry, error) {
	e, ok := egress.ParseHostEntry(raw)
	switch {
	case !ok:
		return e, wrong(field, i, "not a host, *.host, *, address or range of addresses, with or without :port: %q", raw)
	case e.Prefix.IsValid() && issued.Contains(e.Prefix.Addr()) && e.Prefix.Bits() >= issued.Bits():
		return e, wrong(field, i, "the addresses of %v stand for names in a sandbox: %q", issued, raw)
	}
	return e, nil
}

func wrong(field string, i int, format string, args ...any) error {
	at := "/network/" + field
	if i >= 0 {
		at += "/" + strconv.Itoa(i)
	}
	return sandbox.Errorf(sandbox.ErrSpec, format, args...).At("", at, 0, 0)
}

// Ports are what the sandbox has to listen on, in order (wire.Config.Ports).
func (l *List) Ports() []int { return slices.Clone(l.ports) }

// Prefixes are what has to be local in the sandbox (wire.Config.Prefixes).
// What is local anyhow is not among them.
func (l *List) Prefixes() []string {
	var out []string
	if l.names {
		out = append(out, issued.String())
	}
	for _, p := range l.prefixes {
		if !p.Addr().IsLoopback() {
			out = append(out, p.String())
		}
	}
	return out
}

// known reports whether an entry names the address itself. A "*" does not: it
// is any name.
func (l *List) known(a netip.Addr) bool {
	return slices.ContainsFunc(l.prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}
