package decision

import "testing"

// wide is a policy that grants something in every dimension.
func wide() EffectivePolicy {
	return EffectivePolicy{
		AllowClasses:   []string{"java.util.*", "a.B"},
		DenyClasses:    []string{"java.lang.System"},
		Network:        Network{Mode: "allowlist", Hosts: []string{"*.example.com", "a.test"}, Ports: []int{80, 443}, PrivateHosts: []string{"10.0.0.5:80"}},
		FS:             FS{Read: true, BasePath: "/base"},
		Env:            []string{"KEY"},
		MaxStatements:  100,
		TimeoutSeconds: 10,
		MaxMemoryBytes: 1000,
		MaxOutputBytes: 1000,
		MaxLogLines:    10,
	}
}

func TestWithin(t *testing.T) {
	tests := []struct {
		name string
		edit func(*EffectivePolicy)
		want string // "" = within
	}{
		{"itself", func(*EffectivePolicy) {}, ""},
		{"fewer classes", func(p *EffectivePolicy) { p.AllowClasses = []string{"java.util.List"} }, ""},
		{"another class", func(p *EffectivePolicy) { p.AllowClasses = []string{"java.io.File"} }, "allowClasses"},
		{"a wider pattern", func(p *EffectivePolicy) { p.AllowClasses = []string{"java.*"} }, "allowClasses"},
		{"more denies", func(p *EffectivePolicy) { p.DenyClasses = append(p.DenyClasses, "x.Y") }, ""},
		{"a wider deny", func(p *EffectivePolicy) { p.DenyClasses = []string{"java.lang.*"} }, ""},
		{"no deny", func(p *EffectivePolicy) { p.DenyClasses = nil }, "denyClasses"},
		{"blocked", func(p *EffectivePolicy) { p.Network = Network{Mode: "blocked", Hosts: []string{"x.test"}} }, ""},
		{"strict", func(p *EffectivePolicy) { p.Network.Mode = "strict" }, "network.mode"},
		{"open", func(p *EffectivePolicy) { p.Network.Mode = "open" }, "network.mode"},
		{"unknown mode", func(p *EffectivePolicy) { p.Network.Mode = "custom" }, "network.mode"},
		{"a host below", func(p *EffectivePolicy) { p.Network.Hosts = []string{"x.example.com"} }, ""},
		{"the apex", func(p *EffectivePolicy) { p.Network.Hosts = []string{"example.com"} }, "network.hosts"},
		{"any host", func(p *EffectivePolicy) { p.Network.Hosts = []string{"*"} }, "network.hosts"},
		{"fewer ports", func(p *EffectivePolicy) { p.Network.Ports = []int{443} }, ""},
		{"any port", func(p *EffectivePolicy) { p.Network.Ports = nil }, "network.ports"},
		{"another port", func(p *EffectivePolicy) { p.Network.Ports = []int{22} }, "network.ports"},
		{"another private host", func(p *EffectivePolicy) { p.Network.PrivateHosts = []string{"10.0.0.6:80"} }, "network.privateHosts"},
		{"no reading", func(p *EffectivePolicy) { p.FS = FS{BasePath: "/etc"} }, ""},
		{"writing", func(p *EffectivePolicy) { p.FS.Write = true }, "fs.write"},
		{"a folder below", func(p *EffectivePolicy) { p.FS.BasePath = "/base/x" }, ""},
		{"a folder beside", func(p *EffectivePolicy) { p.FS.BasePath = "/based" }, "fs.basePath"},
		{"another name", func(p *EffectivePolicy) { p.Env = []string{"KEY", "OTHER"} }, "env"},
		{"less time", func(p *EffectivePolicy) { p.TimeoutSeconds = 1 }, ""},
		{"more time", func(p *EffectivePolicy) { p.TimeoutSeconds = 11 }, "timeoutSeconds"},
		{"no time limit", func(p *EffectivePolicy) { p.TimeoutSeconds = 0 }, "timeoutSeconds"},
		{"more statements", func(p *EffectivePolicy) { p.MaxStatements = 101 }, "maxStatements"},
		{"more memory", func(p *EffectivePolicy) { p.MaxMemoryBytes = 1001 }, "maxMemoryBytes"},
		{"more output", func(p *EffectivePolicy) { p.MaxOutputBytes = 1001 }, "maxOutputBytes"},
		{"more log lines", func(p *EffectivePolicy) { p.MaxLogLines = 11 }, "maxLogLines"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := wide()
			tt.edit(&p)
			got, ok := p.Within(wide())
			if got != tt.want || ok != (tt.want == "") {
				t.Errorf("Within = %q, %v; want %q", got, ok, tt.want)
			}
		})
	}
}

func TestWithinModes(t *testing.T) {
	hosts := func(mode string, h ...string) EffectivePolicy {
		return EffectivePolicy{Network: Network{Mode: mode, Hosts: h}}
	}
	tests := []struct {
		name     string
		p, o     EffectivePolicy
		isWithin bool
	}{
		{"allowlist in strict", hosts("allowlist", "a.test"), hosts("strict"), true},
		{"strict in allowlist", hosts("strict"), hosts("allowlist", "a.test"), false},
		{"strict in the wildcard", hosts("strict"), hosts("allowlist", "*"), true},
		{"strict in open", hosts("strict"), hosts("open"), true},
		{"open in strict", hosts("open"), hosts("strict"), false},
		{"open in open", hosts("open"), hosts("open"), true},
		{"allowlist in blocked", hosts("allowlist"), hosts("blocked", "a.test"), false},
	}
	for _, tt := range tests {
		if _, ok := tt.p.Within(tt.o); ok != tt.isWithin {
			t.Errorf("%s: within = %v", tt.name, ok)
		}
	}
	private := hosts("allowlist", "db.test")
	private.Network.PrivateHosts = []string{"db.test:80"}
	if dimension, ok := private.Within(hosts("strict")); ok || dimension != "network.privateHosts" {
		t.Errorf("a private host is within strict: %q, %v", dimension, ok)
	}
}
