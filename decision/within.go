package decision

import (
	"path/filepath"
	"slices"
	"strings"
)

// Within reports whether p permits nothing that o does not permit. When it
// does not hold, dimension names the first field of p that is wider.
//
// It is the check behind "a narrowing may only intersect": the resolver holds
// every decision against the policy of the layers, and a profile that a
// document names against the policy without it.
func (p EffectivePolicy) Within(o EffectivePolicy) (dimension string, ok bool) {
	for _, c := range []struct {
		dimension string
		ok        bool
	}{
		{"allowClasses", covered(p.AllowClasses, o.AllowClasses, patternCovers)},
		{"denyClasses", covered(o.DenyClasses, p.DenyClasses, patternCovers)},
		{"env", covered(p.Env, o.Env, equal)},
		{"maxStatements", tighter(p.MaxStatements, o.MaxStatements)},
		{"timeoutSeconds", tighter(p.TimeoutSeconds, o.TimeoutSeconds)},
		{"maxMemoryBytes", tighter(p.MaxMemoryBytes, o.MaxMemoryBytes)},
		{"maxOutputBytes", tighter(p.MaxOutputBytes, o.MaxOutputBytes)},
		{"maxLogLines", tighter(p.MaxLogLines, o.MaxLogLines)},
	} {
		if !c.ok {
			return c.dimension, false
		}
	}
	if dimension, ok := p.FS.within(o.FS); !ok {
		return dimension, false
	}
	if dimension, ok := p.Sandbox.within(o.Sandbox); !ok {
		return dimension, false
	}
	return networkWithin(p.Network, o.Network)
}

// within compares file access. Without access the base folder grants nothing.
func (f FS) within(o FS) (string, bool) {
	switch {
	case f.Read && !o.Read:
		return "fs.read", false
	case f.Write && !o.Write:
		return "fs.write", false
	case (f.Read || f.Write) && !below(f.BasePath, o.BasePath):
		return "fs.basePath", false
	}
	return "", true
}

// networkWithin compares egress. A blocked network grants nothing, whatever its
// lists say.
func networkWithin(n, o Network) (string, bool) {
	if n.Mode == "blocked" {
		return "", true
	}
	everyPublicHost := func(o Network) bool {
		return o.Mode == "strict" || o.Mode == "open" || (o.Mode == "allowlist" && slices.Contains(o.Hosts, "*"))
	}
	switch n.Mode {
	case "allowlist":
		if o.Mode != "allowlist" && !everyPublicHost(o) {
			return "network.mode", false
		}
		if o.Mode == "allowlist" && !covered(n.Hosts, o.Hosts, hostCovers) {
			return "network.hosts", false
		}
	case "strict":
		if !everyPublicHost(o) {
			return "network.mode", false
		}
	default:
		if n.Mode != "open" || o.Mode != "open" {
			return "network.mode", false
		}
	}
	if !covered(o.HostsDeny, n.HostsDeny, hostCovers) {
		return "network.hostsDeny", false
	}
	if len(o.Ports) > 0 {
		if len(n.Ports) == 0 {
			return "network.ports", false
		}
		for _, port := range n.Ports {
			if !slices.Contains(o.Ports, port) {
				return "network.ports", false
			}
		}
	}
	if o.Mode != "open" && !covered(n.PrivateHosts, o.PrivateHosts, equal) {
		return "network.privateHosts", false
	}
	return "", true
}

// covered reports whether covers(b, a) holds for some b of by, for each a.
func covered(all, by []string, covers func(b, a string) bool) bool {
	exact := make(map[string]bool, len(by))
	for _, b := range by {
		exact[b] = true
	}
	for _, a := range all {
		if !exact[a] && !slices.ContainsFunc(by, func(b string) bool { return covers(b, a) }) {
			return false
		}
	}
	return true
}

func equal(b, a string) bool { return b == a }

// patternCovers: "x.*" covers everything that begins with "x.".
func patternCovers(b, a string) bool {
	stem, ok := strings.CutSuffix(b, "*")
	return ok && strings.HasPrefix(a, stem)
}

// hostCovers: "*" covers any host, "*.x" every host below x.
func hostCovers(b, a string) bool {
	if b == "*" {
		return true
	}
	suffix, ok := strings.CutPrefix(b, "*")
	return ok && strings.HasSuffix(a, suffix) && len(a) > len(suffix)
}

// Within reports whether l lets no more calls through than o.
func (l Limits) Within(o Limits) (dimension string, ok bool) {
	if !tighter(l.RatePerMinute, o.RatePerMinute) {
		return "ratePerMinute", false
	}
	if !tighter(l.Concurrency, o.Concurrency) {
		return "concurrency", false
	}
	if dimension, ok := l.Principal.within(o.Principal); !ok {
		return "principal." + dimension, false
	}
	if dimension, ok := l.Tool.within(o.Tool); !ok {
		return "tool." + dimension, false
	}
	return "", true
}

func (r Rates) within(o Rates) (dimension string, ok bool) {
	if !tighter(r.RatePerMinute, o.RatePerMinute) {
		return "ratePerMinute", false
	}
	return "concurrency", tighter(r.Concurrency, o.Concurrency)
}

// isolationRank orders what a policy can demand, weakest first.
var isolationRank = map[string]int{"": 0, "none": 0, "in-process": 1, "process": 2, "locked": 3}

// Rank is the place of m among what a policy can demand, weakest first. A
// name that is not known is stronger than anything that a runtime has.
func (m IsolationMinimum) Rank() (rank int, known bool) {
	if rank, known = isolationRank[m.Minimum]; !known {
		return len(isolationRank), false
	}
	return rank, true
}

// tighter: 0 stands for no limit.
func tighter(p, o int64) bool { return o <= 0 || (p > 0 && p <= o) }

// below reports whether path is root or lies under it, by text.
func below(path, root string) bool {
	if path == root {
		return true
	}
	separator := string(filepath.Separator)
	return root != "" && strings.HasPrefix(path, strings.TrimSuffix(root, separator)+separator)
}
