package impact

import (
	"strconv"

	"github.com/toolwarrant/toolwarrant/decision"
)

type effective = decision.EffectivePolicy

// egress is true where code reaches the network at all: without it, the lists
// of the network grant nothing.
func egress(d *decision.Decision) bool { return d.EffectivePolicy.Network.Mode != "blocked" }

// guarded is true where addresses are checked: open reaches private ones
// without a list.
func guarded(d *decision.Decision) bool { return egress(d) && d.EffectivePolicy.Network.Mode != "open" }

// files is true where code reaches files: without it, the base grants nothing.
func files(d *decision.Decision) bool {
	return d.EffectivePolicy.FS.Read || d.EffectivePolicy.FS.Write
}

func network(n decision.Network) effective { return effective{Network: n} }

// networkDimensions compare egress. Mode and hosts are one question: "*" in
// mode allowlist reaches what strict reaches. The others are compared with the
// mode left out, which is reported by itself.
var networkDimensions = []dimension{
	grant("network.mode", func(p effective) any { return p.Network.Mode }, reach),
	grantList("network.hosts", func(p effective) []string { return p.Network.Hosts }, reachOf, false),
	grantList("network.hostsDeny", func(p effective) []string { return p.Network.HostsDeny },
		func(_ effective, e []string) effective { return network(decision.Network{Mode: "open", HostsDeny: e}) }, true).when(egress),
	grantList("network.ports", ports,
		func(_ effective, e []string) effective {
			return network(decision.Network{Mode: "open", Ports: numbers(e)})
		}, false).
		when(egress).shown(func(d *decision.Decision) any { return d.EffectivePolicy.Network.Ports }),
	grantList("network.privateHosts", func(p effective) []string { return p.Network.PrivateHosts },
		func(_ effective, e []string) effective {
			return network(decision.Network{Mode: "strict", PrivateHosts: e})
		}, false).when(guarded),
}

func reach(p effective) effective { return reachOf(p, p.Network.Hosts) }

func reachOf(p effective, hosts []string) effective {
	return network(decision.Network{Mode: p.Network.Mode, Hosts: hosts})
}

func ports(p effective) []string {
	out := make([]string, len(p.Network.Ports))
	for i, n := range p.Network.Ports {
		out[i] = strconv.Itoa(n)
	}
	return out
}

func numbers(ports []string) []int {
	out := make([]int, len(ports))
	for i, s := range ports {
		out[i], _ = strconv.Atoi(s) // written by ports
	}
	return out
}

// blocked is a network part that no other part can be confused by.
var blocked = decision.Network{Mode: "blocked"}

var grantDimensions = []dimension{
	grant("fs.read", func(p effective) any { return p.FS.Read },
		func(p effective) effective { return effective{Network: blocked, FS: decision.FS{Read: p.FS.Read}} }),
	grant("fs.write", func(p effective) any { return p.FS.Write },
		func(p effective) effective { return effective{Network: blocked, FS: decision.FS{Write: p.FS.Write}} }),
	grantList("fs.basePath", func(p effective) []string { return []string{p.FS.BasePath} },
		func(_ effective, e []string) effective {
			return effective{Network: blocked, FS: decision.FS{Read: true, BasePath: e[0]}}
		}, false).when(files).shown(func(d *decision.Decision) any { return d.EffectivePolicy.FS.BasePath }),
	grantList("allowClasses", func(p effective) []string { return p.AllowClasses },
		func(_ effective, e []string) effective { return effective{Network: blocked, AllowClasses: e} }, false),
	grantList("denyClasses", func(p effective) []string { return p.DenyClasses },
		func(_ effective, e []string) effective { return effective{Network: blocked, DenyClasses: e} }, true),
	grantList("env", func(p effective) []string { return p.Env },
		func(_ effective, e []string) effective { return effective{Network: blocked, Env: e} }, false),
	grant("sandbox", func(p effective) any { return p.Sandbox },
		func(p effective) effective { return effective{Network: blocked, Sandbox: p.Sandbox} }),
	bound("maxStatements", func(p *effective) *int64 { return &p.MaxStatements }),
	bound("timeoutSeconds", func(p *effective) *int64 { return &p.TimeoutSeconds }),
	bound("maxMemoryBytes", func(p *effective) *int64 { return &p.MaxMemoryBytes }),
	bound("maxOutputBytes", func(p *effective) *int64 { return &p.MaxOutputBytes }),
	bound("maxLogLines", func(p *effective) *int64 { return &p.MaxLogLines }),
}

// bound makes the dimension of a limit.
func bound(path string, of func(*effective) *int64) dimension {
	return grant(path, func(p effective) any { return *of(&p) }, func(p effective) effective {
		kept := effective{Network: blocked}
		*of(&kept) = *of(&p)
		return kept
	})
}
