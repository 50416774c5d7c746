package egress

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// localNames resolves every name to a public address, but for the names of
// this machine.
type localNames struct{}

func (localNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

func readList(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "ssrfcheck", name))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// judge is all of the gate up to the socket.
func judge(raw string) *worker.Failure {
	c := New(decision.Network{Mode: "strict"}, Options{Resolver: localNames{}, OwnAddresses: func() ([]netip.Addr, error) { return nil, nil }})
	target, f := parseTarget(raw)
	if f != nil {
		return f
	}
	guarded, f := c.policy.admit(target)
	if f != nil {
		return f
	}
	_, f = c.resolve(context.Background(), target, guarded)
	return f
}

// withScheme is how ssrfcheck reads an entry that is no absolute URL.
func withScheme(raw string) string {
	if strings.Contains(raw, ":/") || strings.HasPrefix(raw, "https:") {
		return raw
	}
	return "http://" + strings.TrimLeft(raw, "/")
}

// TestPublishedLists runs the lists of another checker: nothing that it calls
// bad passes, as it stands or with a scheme put in front, and nothing that it
// calls good is refused for where it leads.
func TestPublishedLists(t *testing.T) {
	bad, good, addresses := readList(t, "bad.json"), readList(t, "good.json"), readList(t, "addresses.json")
	if len(bad) != 217 || len(good) != 68 || len(addresses) != 69 {
		t.Fatalf("lists of %d, %d and %d", len(bad), len(good), len(addresses))
	}
	reasons := map[string]int{}
	for _, entry := range bad {
		for _, raw := range []string{entry, withScheme(entry)} {
			f := judge(raw)
			if f == nil {
				t.Errorf("%q of the bad ones passes as %q", entry, raw)
				continue
			}
			reasons[f.Reason]++
		}
	}
	t.Logf("bad entries are refused as %v", reasons)
	for _, entry := range append(good, addresses...) {
		if f := judge(entry); f != nil && f.Code != "INVALID_INPUT" {
			t.Errorf("%q of the good ones: %s", entry, f.Reason)
		}
		if f := judge(withScheme(entry)); f != nil {
			t.Errorf("%q of the good ones, as %q: %s", entry, withScheme(entry), f.Reason)
		}
	}
}
