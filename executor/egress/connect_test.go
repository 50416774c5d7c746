package egress

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/decision"
)

// TestConnect is the gate without a URL: it decides as Fetch does.
func TestConnect(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	at := func(host string) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
	names := newNames(map[string]string{"db.test": "127.0.0.1", "private.test": "127.0.0.1", "mixed.test": "93.184.216.34 127.0.0.1", "range.test": "10.1.2.3"})
	c := New(decision.Network{
		Mode:         "allowlist",
		Hosts:        []string{at("db.test"), "private.test", "mixed.test", "gone.test", "10.0.0.0/8", "127.0.0.1"},
		HostsDeny:    []string{"10.9.0.0/16"},
		PrivateHosts: []string{at("db.test"), at("127.0.0.1"), "10.9.1.1:80"},
	}, Options{Resolver: names, OwnAddresses: func() ([]netip.Addr, error) { return nil, nil }})
	for _, tc := range []struct {
		host   string
		port   int
		permit string // reason
		dial   string
	}{
		{"db.test", port, "", ""},
		{"DB.Test.", port, "", ""},
		{"127.0.0.1", port, "", ""},
		{"0x7f.1", port, "", ""},
		{"::ffff:127.0.0.1", port, "", ""},
		{"db.test", port - 1, HostNotInAllowlist, HostNotInAllowlist},
		{"other.test", port, HostNotInAllowlist, HostNotInAllowlist},
		{"private.test", port, "", ResolvedPrivateIP},
		{"mixed.test", port, "", ResolvedPrivateIP},
		{"gone.test", port, "", DNSResolutionFailed},
		{"range.test", port, HostNotInAllowlist, HostNotInAllowlist}, // a range names literals, and no name
		{"10.1.2.3", port, LiteralPrivateIP, LiteralPrivateIP},
		{"10.9.1.1", 80, HostInDenylist, HostInDenylist},
		{"db.test", 0, PortNotAllowed, PortNotAllowed},
		{"db.test", 65536, PortNotAllowed, PortNotAllowed},
		{"d b", port, InvalidURL, InvalidURL},
		{"", port, InvalidURL, InvalidURL},
	} {
		f := c.Permits(tc.host, tc.port)
		conn, g := c.Connect(context.Background(), tc.host, tc.port)
		if conn != nil {
			conn.Close()
		}
		switch {
		case f == nil != (tc.permit == "") || f != nil && f.Reason != tc.permit:
			t.Errorf("%s:%d: permitted %v, want %q", tc.host, tc.port, f, tc.permit)
		case g == nil != (tc.dial == "") || g != nil && g.Reason != tc.dial || g == nil == (conn == nil):
			t.Errorf("%s:%d: connected %v, want %q", tc.host, tc.port, g, tc.dial)
		case g != nil && (g.Helper != "" || strings.Contains(g.Message, "[fetch]")):
			t.Errorf("%s:%d: %+v names a helper that was not used", tc.host, tc.port, g)
		}
	}
	if entries := c.Ledger(); len(entries) != 0 {
		t.Errorf("the ledger of fetches has %v", entries)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, f := c.Connect(ctx, "db.test", port); f == nil || f.Reason != Interrupted {
		t.Errorf("after the end: %v", f)
	}
}

func TestParseHostEntry(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want HostEntry
		at   string // with port 7
	}{
		{"Example.com.", HostEntry{Host: "example.com"}, "example.com:7"},
		{"example.com:443", HostEntry{Host: "example.com", Port: 443}, "example.com:7"},
		{"*.Example.com:443", HostEntry{Host: "*.example.com", Port: 443}, "*.example.com:7"},
		{"*", HostEntry{Host: "*"}, "*:7"},
		{"*:80", HostEntry{Host: "*", Port: 80}, "*:7"},
		{"10.0.0.1:80", HostEntry{Host: "10.0.0.1", Port: 80, Prefix: netip.MustParsePrefix("10.0.0.1/32")}, "10.0.0.1:7"},
		{"0x0a.1", HostEntry{Host: "10.0.0.1", Prefix: netip.MustParsePrefix("10.0.0.1/32")}, "10.0.0.1:7"},
		{"::1", HostEntry{Host: "::1", Prefix: netip.MustParsePrefix("::1/128")}, "[::1]:7"},
		{"[::1]:80", HostEntry{Host: "::1", Port: 80, Prefix: netip.MustParsePrefix("::1/128")}, "[::1]:7"},
		{"10.1.2.3/8", HostEntry{Host: "10.0.0.0/8", Prefix: netip.MustParsePrefix("10.0.0.0/8")}, "10.0.0.0/8:7"},
		{"10.0.0.0/8:80", HostEntry{Host: "10.0.0.0/8", Port: 80, Prefix: netip.MustParsePrefix("10.0.0.0/8")}, "10.0.0.0/8:7"},
		{"2001:db8::/32", HostEntry{Host: "2001:db8::/32", Prefix: netip.MustParsePrefix("2001:db8::/32")}, "[2001:db8::/32]:7"},
		{"[2001:db8::/32]:80", HostEntry{Host: "2001:db8::/32", Port: 80, Prefix: netip.MustParsePrefix("2001:db8::/32")}, "[2001:db8::/32]:7"},
		{"::ffff:10.0.0.0/104", HostEntry{Host: "10.0.0.0/8", Prefix: netip.MustParsePrefix("10.0.0.0/8")}, "10.0.0.0/8:7"},
	} {
		got, ok := ParseHostEntry(tc.in)
		if !ok || got != tc.want || got.At(7) != tc.at {
			t.Errorf("%q: %+v %v, at 7 %s; want %+v, %s", tc.in, got, ok, got.At(7), tc.want, tc.at)
		}
		tc.want.Port = 7
		if again, ok := ParseHostEntry(got.At(7)); !ok || again != tc.want {
			t.Errorf("%q: comes back as %+v %v", got.At(7), again, ok)
		}
	}
	for _, in := range []string{"", "a b", "a/b", "10.0.0.0/33", "10.0.0.0/8:0", "10.0.0.0/8:x", "[10.0.0.0/8", "10.0.0.0]/8", "[2001:db8::/32:80", "2001:db8::/32:80", "::ffff:0:0/64", "*.*", "a.*", "*.10.0.0.1", "https://a", ":80", "a:0", "a:65536"} {
		if got, ok := ParseHostEntry(in); ok {
			t.Errorf("%q is read as %+v", in, got)
		}
	}
}
