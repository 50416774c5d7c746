package allow

import (
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/toolwarrant/toolwarrant/executor/egress"
)

// maxNames is how many names of one sandbox have an address at one time. What
// was not used for longest loses its own; no address is given again before all
// others were.
const maxNames = 4096

// names gives addresses to names. It is safe for concurrent use.
type names struct {
	mu      sync.Mutex
	address *simplelru.LRU[string, netip.Addr]
	name    map[netip.Addr]string
	last    netip.Addr
}

func newNames() *names {
	n := &names{name: map[netip.Addr]string{}, last: issued.Addr()}
	lru, err := simplelru.NewLRU(maxNames, func(_ string, a netip.Addr) { delete(n.name, a) })
	if err != nil {
		panic(err) // only for a size below 1
	}
	n.address = lru
	return n
}

// of gives the address of a name.
func (n *names) of(name string) netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a, ok := n.address.Get(name); ok {
		return a
	}
	for {
		if n.last = n.last.Next(); !issued.Contains(n.last) {
			n.last = issued.Addr().Next()
		}
		if _, taken := n.name[n.last]; !taken {
			break
		}
	}
	n.name[n.last] = name
	n.address.Add(name, n.last)
	return n.last
}

// at gives the name that has an address.
func (n *names) at(a netip.Addr) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.name[a]
	if ok {
		n.address.Get(name) // used: keep it
	}
	return name, ok
}

// judge reads a name of a question. ok says that some port of it is allowed;
// otherwise reason says why not. host is the name as it is checked, or where
// it is none, a printable form of it.
func (l *List) judge(raw string) (host, reason string, ok bool) {
	if slices.ContainsFunc([]byte(raw), func(c byte) bool { return c <= ' ' || c >= 0x7f }) {
		// A resolver asks for the ASCII form; mapping these bytes here
		// would make two names of one.
		return strconv.QuoteToASCII(raw), egress.HostNotInAllowlist, false
	}
	host, addr, valid := egress.NormalHost(raw)
	if !valid {
		return strconv.QuoteToASCII(raw), egress.HostNotInAllowlist, false
	}
	if addr.IsValid() {
		// An address is no name, however it is written.
		return raw, egress.HostNotInAllowlist, false
	}
	reason = egress.HostNotInAllowlist
	for _, port := range l.ports {
		f := l.gate.Permits(host, port)
		if f == nil {
			return host, "", true
		}
		if f.Reason != egress.HostNotInAllowlist {
			reason = f.Reason
		}
	}
	return host, reason, false
}
