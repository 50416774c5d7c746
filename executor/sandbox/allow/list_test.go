package allow

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/fault"
)

func TestNew(t *testing.T) {
	many := make([]string, MaxEntries+1)
	for i := range many {
		many[i] = "a.example"
	}
	ports := make([]int, MaxPorts+1)
	for i := range ports {
		ports[i] = 1000 + i
	}
	for _, tc := range []struct {
		name     string
		policy   sandbox.AllowList
		ports    []int
		prefixes []string
		pointer  string // of the error
	}{
		{"name", sandbox.AllowList{Hosts: []string{"Example.com."}}, []int{80, 443}, []string{"198.18.0.0/15"}, ""},
		{"name and port", sandbox.AllowList{Hosts: []string{"db.example:5432"}}, []int{5432}, []string{"198.18.0.0/15"}, ""},
		{"own ports", sandbox.AllowList{Hosts: []string{"a.example", "b.example:22"}, Ports: []int{8443}}, []int{22, 8443}, []string{"198.18.0.0/15"}, ""},
		{"any name", sandbox.AllowList{Hosts: []string{"*"}}, []int{80, 443}, []string{"198.18.0.0/15"}, ""},
		{"address", sandbox.AllowList{Hosts: []string{"93.184.216.34:443"}}, []int{443}, []string{"93.184.216.34/32"}, ""},
		{"address, another spelling", sandbox.AllowList{Hosts: []string{"0x5db8d822:443"}}, []int{443}, []string{"93.184.216.34/32"}, ""},
		{"range", sandbox.AllowList{Hosts: []string{"93.184.216.0/24:443"}}, []int{443}, []string{"93.184.216.0/24"}, ""},
		{"range of IPv6", sandbox.AllowList{Hosts: []string{"[2606:4700::/32]:443", "2606:4800::1"}}, []int{80, 443}, []string{"2606:4700::/32", "2606:4800::1/128"}, ""},
		{"loopback is local anyhow", sandbox.AllowList{Hosts: []string{"127.0.0.1:5432", "[::1]:5432"}}, []int{5432}, nil, ""},

		{"unreadable", sandbox.AllowList{Hosts: []string{"a.example", "a b"}}, nil, nil, "/network/hosts/1"},
		{"URL", sandbox.AllowList{Hosts: []string{"https://a.example"}}, nil, nil, "/network/hosts/0"},
		{"wildcard inside", sandbox.AllowList{Hosts: []string{"a.*.example"}}, nil, nil, "/network/hosts/0"},
		{"empty", sandbox.AllowList{Hosts: []string{""}}, nil, nil, "/network/hosts/0"},
		{"port 0", sandbox.AllowList{Hosts: []string{"a.example:0"}}, nil, nil, "/network/hosts/0"},
		{"port of names", sandbox.AllowList{Hosts: []string{"a.example:53"}}, nil, nil, "/network/hosts/0"},
		{"port of names, by default", sandbox.AllowList{Hosts: []string{"a.example"}, Ports: []int{80, 53}}, nil, nil, "/network/hosts/0"},
		{"port too high", sandbox.AllowList{Hosts: []string{"a.example"}, Ports: []int{65536}}, nil, nil, "/network/hosts/0"},
		{"too many ports", sandbox.AllowList{Hosts: []string{"a.example"}, Ports: ports}, nil, nil, "/network/hosts/0"},
		{"too many entries", sandbox.AllowList{Hosts: many}, nil, nil, "/network/hosts"},
		{"an address of ours", sandbox.AllowList{Hosts: []string{"198.18.3.4"}}, nil, nil, "/network/hosts/0"},
		{"range of half a spelling", sandbox.AllowList{Hosts: []string{"::ffff:0:0/64"}}, nil, nil, "/network/hosts/0"},
		{"unreadable deny", sandbox.AllowList{Hosts: []string{"*"}, Deny: []string{"a b"}}, nil, nil, "/network/deny/0"},
		{"private without port", sandbox.AllowList{Hosts: []string{"*"}, Private: []string{"db.example"}}, nil, nil, "/network/private/0"},
		{"private wildcard", sandbox.AllowList{Hosts: []string{"*"}, Private: []string{"*.example:80"}}, nil, nil, "/network/private/0"},
		{"private range", sandbox.AllowList{Hosts: []string{"*"}, Private: []string{"10.0.0.0/8:80"}}, nil, nil, "/network/private/0"},
	} {
		l, err := New(tc.policy, Options{})
		if tc.pointer != "" {
			var f *fault.Error
			if !errors.Is(err, sandbox.ErrSpec) || !errors.As(err, &f) || f.Pointer != tc.pointer {
				t.Errorf("%s: %v, want an error at %s", tc.name, err, tc.pointer)
			}
			continue
		}
		if err != nil || !slices.Equal(l.Ports(), tc.ports) || !slices.Equal(l.Prefixes(), tc.prefixes) {
			t.Errorf("%s: %v, ports %v, prefixes %v", tc.name, err, l.Ports(), l.Prefixes())
		}
	}
}

// TestJudge is what the name server says of names.
func TestJudge(t *testing.T) {
	l, err := New(sandbox.AllowList{
		Hosts: []string{"example.com", "*.api.example", "db.example:5432", "93.184.216.34", "xn--bcher-kva.example"},
		Deny:  []string{"secret.api.example", "half.api.example:80"},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, host, reason string
	}{
		{"example.com.", "example.com", ""},
		{"EXAMPLE.com.", "example.com", ""},
		{"example.com", "example.com", ""},
		{"a.api.example.", "a.api.example", ""},
		{"a.b.api.example.", "a.b.api.example", ""},
		{"half.api.example.", "half.api.example", ""},
		{"db.example.", "db.example", ""},
		{"xn--bcher-kva.example.", "xn--bcher-kva.example", ""},
		{"api.example.", "api.example", egress.HostNotInAllowlist},
		{"evil-example.com.", "evil-example.com", egress.HostNotInAllowlist},
		{"example.com.evil.", "example.com.evil", egress.HostNotInAllowlist},
		{"sub.example.com.", "sub.example.com", egress.HostNotInAllowlist},
		{"xapi.example.", "xapi.example", egress.HostNotInAllowlist},
		{"secret.api.example.", "secret.api.example", egress.HostInDenylist},
		{"SECRET.api.example.", "secret.api.example", egress.HostInDenylist},
		{"localhost.", "localhost", egress.HostNotInAllowlist},
		{"93.184.216.34.", "93.184.216.34.", egress.HostNotInAllowlist},
		{"2130706433.", "2130706433.", egress.HostNotInAllowlist},
		{"0x7f.1.", "0x7f.1.", egress.HostNotInAllowlist},
		{"bücher.example.", `"b\u00fccher.example."`, egress.HostNotInAllowlist},
		{"ex\u00adample.com.", `"ex\u00adample.com."`, egress.HostNotInAllowlist},
		{"exa mple.com.", `"exa mple.com."`, egress.HostNotInAllowlist},
		{".", `"."`, egress.HostNotInAllowlist},
		{strings.Repeat("a", 64) + ".api.example.", `"` + strings.Repeat("a", 64) + `.api.example."`, egress.HostNotInAllowlist},
	} {
		host, reason, ok := l.judge(tc.name)
		if host != tc.host || reason != tc.reason || ok != (tc.reason == "") {
			t.Errorf("%q: %q %q %v, want %q %q", tc.name, host, reason, ok, tc.host, tc.reason)
		}
	}
}

// TestNames holds the promises about addresses: one name, one address; no
// address means a second name soon; the number is bounded.
func TestNames(t *testing.T) {
	n := newNames()
	first := n.of("first.example")
	if again := n.of("first.example"); again != first || !issued.Contains(first) {
		t.Errorf("%v, then %v", first, again)
	}
	kept := n.of("kept.example")
	seen := map[string]bool{}
	for i := range 10_000 {
		name := "n" + strings.Repeat("x", i%7) + "." + string(rune('a'+i%26)) + "." + strings.Repeat("y", i/26%60) + "." + strings.Repeat("z", i/1560) + ".example"
		a := n.of(name).String()
		if !seen[name] && seen[a] {
			t.Fatalf("%s was given twice", a)
		}
		seen[name], seen[a] = true, true
		if got, ok := n.at(kept); !ok || got != "kept.example" {
			t.Fatalf("a name in use lost its address after %d others", i)
		}
	}
	if len(n.name) > maxNames || n.address.Len() != len(n.name) {
		t.Errorf("%d addresses, %d names", len(n.name), n.address.Len())
	}
	if name, ok := n.at(first); ok {
		t.Errorf("the address of a forgotten name means %q", name)
	}
	// All around: what is in use is stepped over.
	for range 1 << 17 {
		n.last = n.last.Next()
		if !issued.Contains(n.last) {
			n.last = issued.Addr()
		}
	}
	n.last = kept.Prev()
	if a := n.of("after.example"); a == kept {
		t.Error("an address in use was given to another name")
	}
}

func FuzzHosts(f *testing.F) {
	for _, s := range []string{"example.com", "*.example.com:443", "10.0.0.0/8:1", "[::1]:80", "*", "0x7f.1", "a:b", "[::/0]:9", "::ffff:1.2.3.4/120"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := New(sandbox.AllowList{Hosts: []string{s}}, Options{})
		if err != nil {
			if !errors.Is(err, sandbox.ErrSpec) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if len(l.Ports()) == 0 || slices.Contains(l.Ports(), 53) || !l.names && len(l.prefixes) == 0 {
			t.Errorf("%q: ports %v, prefixes %v", s, l.Ports(), l.Prefixes())
		}
		e, ok := egress.ParseHostEntry(s)
		if again, same := egress.ParseHostEntry(e.At(l.ports[0])); !ok || !same || again.Host != e.Host || again.Prefix != e.Prefix || again.Port != l.ports[0] {
			t.Errorf("%q is %+v, and with a port %+v", s, e, again)
		}
	})
}
