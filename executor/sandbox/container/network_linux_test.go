package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
)

// names resolves example.test to this machine and nothing else.
type names struct{}

func (names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "example.test" {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	return nil, errors.New("no such name")
}

// TestNetworks asks for a server of this machine under each policy.
func TestNetworks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served ", r.Host) }))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	allowed := fmt.Sprintf("example.test:%d", port)
	ask := "curl -s -m 3 http://%s/; true"
	for name, factory := range map[string]func(Options) *Factory{"container": NewRunc, "podman": NewPodman} {
		t.Run(name, func(t *testing.T) {
			f := working(t, func(o Options) *Factory {
				o.Network = allow.Options{}
				o.Network.Egress.Resolver = names{}
				return factory(o)
			})
			local := fmt.Sprintf("127.0.0.1:%d", port)
			s := create(t, f, sandbox.Spec{Network: sandbox.AllowList{Hosts: []string{allowed}, Private: []string{allowed}}})
			for range 2 {
				r := sh(t, s, "command -v curl >/dev/null || exit 9; "+fmt.Sprintf(ask, allowed))
				if r.ExitCode == 9 {
					t.Skip("no curl is here to ask with")
				}
				if got := string(r.Stdout); got != "served "+allowed {
					t.Errorf("an allowed name: %q %s", got, r.Stderr)
				}
				if len(r.Net) != 1 || !r.Net[0].Allowed || r.Net[0].Host != "example.test" || r.Usage.NetIn == 0 {
					t.Errorf("the ledger: %+v", r.Net)
				}
				if err := s.Reset(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, other := range []string{local, fmt.Sprintf("other.test:%d", port), "example.test:81", "169.254.169.254"} {
				if r := sh(t, s, fmt.Sprintf(ask, other)); len(r.Stdout) > 0 {
					t.Errorf("%s: %q", other, r.Stdout)
				}
			}
			s = create(t, f, sandbox.Spec{})
			for _, other := range []string{local, allowed} {
				if r := sh(t, s, fmt.Sprintf(ask, other)); len(r.Stdout) > 0 {
					t.Errorf("without a network, %s: %q", other, r.Stdout)
				}
			}
			s = create(t, f, sandbox.Spec{Network: sandbox.Inherit{}})
			if r := sh(t, s, fmt.Sprintf(ask, local)); !strings.HasPrefix(string(r.Stdout), "served") {
				t.Errorf("the network of the host: %q %s", r.Stdout, r.Stderr)
			}
			if s.Enforcement()[sandbox.NetDeny].Level != sandbox.None {
				t.Error("the network of the host is told to be none")
			}
		})
	}
}
