package egress

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/decision"
)

func TestParseTarget(t *testing.T) {
	tests := []struct{ url, host, reason string }{
		{"http://Example.COM/x", "example.com:80", ""},
		{"HTTPS://example.com.", "example.com:443", ""},
		{" https://example.com:8443/\n", "example.com:8443", ""},
		{"https://bücher.example/", "xn--bcher-kva.example:443", ""},
		{"https://BÜCHER.example/", "xn--bcher-kva.example:443", ""},
		{"https://ｅｘａｍｐｌｅ.com/", "example.com:443", ""},
		{"https://example。com/", "example.com:443", ""},
		{"https://my_service.r3---sn-x.example/", "my_service.r3---sn-x.example:443", ""},
		{"http://127.0.0.1/", "127.0.0.1:80", ""},
		{"http://127.1/", "127.0.0.1:80", ""},
		{"http://2130706433/", "127.0.0.1:80", ""},
		{"http://0x7f.1/", "127.0.0.1:80", ""},
		{"http://0x7F000001/", "127.0.0.1:80", ""},
		{"http://0177.0.0.1/", "127.0.0.1:80", ""},
		{"http://127.0.0.1./", "127.0.0.1:80", ""},
		{"http://１２７.０.０.１/", "127.0.0.1:80", ""},
		{"http://①②⑦.0.0.1/", "127.0.0.1:80", ""},
		{"http://0/", "0.0.0.0:80", ""},
		{"http://[::1]/", "[::1]:80", ""},
		{"http://[0:0:0:0:0:0:0:1]:81/", "[::1]:81", ""},
		{"http://[::ffff:127.0.0.1]/", "127.0.0.1:80", ""},
		{"http://[::FFFF:7f00:1]:81/", "127.0.0.1:81", ""},
		{"http://[::ffff:0:127.0.0.1]/", "127.0.0.1:80", ""},
		{"http://[::127.0.0.1]/", "127.0.0.1:80", ""},
		{"http://[64:ff9b::7f00:1]/", "127.0.0.1:80", ""},
		{"http://[64:ff9b:1::7f00:1]/", "127.0.0.1:80", ""},
		{"http://[64:ff9b::8.8.8.8]/", "8.8.8.8:80", ""},
		{"http://[64:ff9b:1:1::7f00:1]/", "[64:ff9b:1:1::7f00:1]:80", ""},
		{"http://[2002:7f00:1::]/", "[2002:7f00:1::]:80", ""},
		{"http://[::]/", "[::]:80", ""},
		{"http://[::2]/", "[::2]:80", ""},
		{"", "", MissingURL},
		{"  ", "", MissingURL},
		{"/relative", "", InvalidURL},
		{"example.com/x", "", InvalidURL},
		{"//example.com/x", "", InvalidURL},
		{"ftp://example.com", "", UnsupportedScheme},
		{"file:///etc/passwd", "", UnsupportedScheme},
		{"gopher://127.0.0.1:25/", "", UnsupportedScheme},
		{"javascript:alert(1)", "", UnsupportedScheme},
		{"http:///x", "", MissingHost},
		{"http:example.com", "", MissingHost},
		{"http://:80/", "", MissingHost},
		{"http://user@example.com/", "", InvalidURL},
		{"http://user:pw@example.com/", "", InvalidURL},
		{"http://@example.com/", "", InvalidURL},
		{"http://evil.example\\@good.example/", "", InvalidURL},
		{"http://good.example/\\evil", "", InvalidURL},
		{"http://exa mple.com/", "", InvalidURL},
		{"http://example.com:0/", "", InvalidURL},
		{"http://example.com:65536/", "", InvalidURL},
		{"http://example.com:-1/", "", InvalidURL},
		{"http://example..com/", "", InvalidURL},
		{"http://.example.com/", "", InvalidURL},
		{"http://example.com../", "", InvalidURL},
		{"http://%31%32%37.0.0.1/", "", InvalidURL},
		{"http://1000%8000", "", InvalidURL},
		{"https://AüAAAA.AüAAAA%8000", "", InvalidURL},
		{"http://b%C3%BCcher.example/", "xn--bcher-kva.example:80", ""},
		{"http://256.0.0.1/", "", InvalidURL},
		{"http://1.2.3.4.5/", "", InvalidURL},
		{"http://08.0.0.1/", "", InvalidURL},
		{"http://4294967296/", "", InvalidURL},
		{"http://foo.0x/", "", InvalidURL},
		{"http://a.b.123/", "", InvalidURL},
		{"http://[fe80::1%25eth0]/", "", InvalidURL},
		{"http://[1.2.3.4]/", "", InvalidURL},
		{"http://xn--a/", "", InvalidURL},
		{"http://" + strings.Repeat("a", 64) + ".example/", "", InvalidURL},
		{"http://example.com/" + strings.Repeat("a", maxURL), "", InvalidURL},
		{"http://example.com/\x00", "", InvalidURL},
		{"http://example.com/\r\nX: y", "", InvalidURL},
	}
	for _, tt := range tests {
		target, f := parseTarget(tt.url)
		switch {
		case f != nil && f.Reason != tt.reason:
			t.Errorf("%q: %s, want %s", tt.url, f.Reason, tt.reason)
		case f == nil && (tt.reason != "" || target.hostPort() != tt.host):
			t.Errorf("%q: host %s, want %s (reason %q)", tt.url, target.hostPort(), tt.host, tt.reason)
		}
	}
}

func TestQueryIsEscaped(t *testing.T) {
	target, f := parseTarget("http://example.com/가 나?q=가 \"x\"&r=%41#frag")
	if f != nil {
		t.Fatal(f)
	}
	want := "http://example.com/%EA%B0%80%20%EB%82%98?q=%EA%B0%80%20%22x%22&r=%41"
	if got := target.url.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestIsPublic(t *testing.T) {
	private := []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254",
		"172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
		"198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "::7f00:1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1",
		"2001:2::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1",
		"fe80::1%eth0", "fec0::1", "ff02::1", "4000::1",
	}
	public := []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "192.0.1.1", "198.17.0.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111", "2001:4860:4860::8888"}
	for _, s := range private {
		if isPublic(netip.MustParseAddr(s)) {
			t.Errorf("%s counts as public", s)
		}
	}
	for _, s := range public {
		if !isPublic(netip.MustParseAddr(s)) {
			t.Errorf("%s does not count as public", s)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address counts as public")
	}
}

func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern, url string
		want         bool
	}{
		{"example.com", "https://example.com/", true},
		{"EXAMPLE.com.", "https://example.com/", true},
		{"example.com", "https://www.example.com/", false},
		{"example.com", "https://example.com.evil.test/", false},
		{"example.com", "https://notexample.com/", false},
		{"*.example.com", "https://a.example.com/", true},
		{"*.example.com", "https://a.b.example.com/", true},
		{"*.example.com", "https://example.com/", false},
		{"*.example.com", "https://aexample.com/", false},
		{"*", "https://anything.test/", true},
		{"*:443", "https://anything.test/", true},
		{"*:443", "http://anything.test/", false},
		{"example.com:8443", "https://example.com:8443/", true},
		{"example.com:8443", "https://example.com/", false},
		{"bücher.example", "https://xn--bcher-kva.example/", true},
		{"1.2.3.4", "http://1.2.3.4/", true},
		{"1.2.3.4", "http://0x01020304/", true},
		{"*.3.4", "http://1.2.3.4/", false},
		{"[2606:4700::1111]:443", "https://[2606:4700:0::1111]/", true},
		{"2606:4700::1111", "https://[2606:4700::1111]/", true},
		{"", "https://example.com/", false},
		{"https://example.com", "https://example.com/", false},
		{"example.com/path", "https://example.com/", false},
		{"a.*.com", "https://a.b.com/", false},
		{"*example.com", "https://example.com/", false},
		{"**", "https://example.com/", false},
		{"example.com:0", "https://example.com/", false},
		{"example.com:", "https://example.com/", false},
	}
	for _, tt := range tests {
		target, f := parseTarget(tt.url)
		if f != nil {
			t.Fatal(tt.url, f)
		}
		if got := parsePattern(tt.pattern).matches(target); got != tt.want {
			t.Errorf("%q matches %q = %v", tt.pattern, tt.url, got)
		}
	}
}

func TestAdmit(t *testing.T) {
	tests := []struct {
		name    string
		network decision.Network
		url     string
		reason  string
	}{
		{"blocked", decision.Network{Mode: "blocked"}, "https://example.com", NotGranted},
		{"unknown mode", decision.Network{Mode: "permissive"}, "https://example.com", UnknownEgressLevel},
		{"no mode", decision.Network{}, "https://example.com", UnknownEgressLevel},
		{"allowlist without hosts", decision.Network{Mode: "allowlist"}, "https://example.com", HostNotInAllowlist},
		{"allowlist", decision.Network{Mode: "allowlist", Hosts: []string{"example.com"}}, "https://example.com", ""},
		{"allowlist, another host", decision.Network{Mode: "allowlist", Hosts: []string{"example.com"}}, "https://evil.test", HostNotInAllowlist},
		{"allowlist star", decision.Network{Mode: "allowlist", Hosts: []string{"*"}}, "https://example.com", ""},
		{"allowlist star, private", decision.Network{Mode: "allowlist", Hosts: []string{"*"}}, "http://169.254.169.254/", LiteralPrivateIP},
		{"allowlist names a private address", decision.Network{Mode: "allowlist", Hosts: []string{"10.0.0.1"}}, "http://10.0.0.1/", LiteralPrivateIP},
		{"deny beats allow", decision.Network{Mode: "allowlist", Hosts: []string{"*"}, HostsDeny: []string{"evil.test"}}, "https://evil.test", HostInDenylist},
		{"unreadable deny denies", decision.Network{Mode: "strict", HostsDeny: []string{"https://evil.test/"}}, "https://example.com", HostInDenylist},
		{"deny of a range", decision.Network{Mode: "open", HostsDeny: []string{"10.0.0.0/8"}}, "http://10.1.2.3", HostInDenylist},
		{"deny of a range, mapped", decision.Network{Mode: "open", HostsDeny: []string{"10.0.0.0/8"}}, "http://[::ffff:10.1.2.3]", HostInDenylist},
		{"strict", decision.Network{Mode: "strict"}, "https://anything.test", ""},
		{"strict ignores hosts", decision.Network{Mode: "strict", Hosts: []string{"example.com"}}, "https://anything.test", ""},
		{"strict, private", decision.Network{Mode: "strict"}, "http://[::1]", LiteralPrivateIP},
		{"strict, mapped", decision.Network{Mode: "strict"}, "http://[::ffff:127.0.0.1]", LiteralPrivateIP},
		{"strict, mapped, public", decision.Network{Mode: "strict"}, "http://[::ffff:8.8.8.8]", ""},
		{"strict, compatible", decision.Network{Mode: "strict"}, "http://[::127.0.0.1]", LiteralPrivateIP},
		{"strict, NAT64", decision.Network{Mode: "strict"}, "http://[64:ff9b::a9fe:a9fe]", LiteralPrivateIP},
		{"strict, local NAT64", decision.Network{Mode: "strict"}, "http://[64:ff9b:1::10.0.0.1]", LiteralPrivateIP},
		{"strict, local NAT64 of another length", decision.Network{Mode: "strict"}, "http://[64:ff9b:1:808:8:800::]", LiteralPrivateIP},
		{"strict, 6to4 of a public address", decision.Network{Mode: "strict"}, "http://[2002:808:808::]", LiteralPrivateIP},
		{"strict, Teredo", decision.Network{Mode: "strict"}, "http://[2001:0:808:808::]", LiteralPrivateIP},
		{"deny of a range, NAT64", decision.Network{Mode: "open", HostsDeny: []string{"8.8.8.0/24"}}, "http://[64:ff9b::8.8.8.8]", HostInDenylist},
		{"an allowed address in another spelling", decision.Network{Mode: "allowlist", Hosts: []string{"8.8.8.8"}}, "http://[64:ff9b::808:808]", ""},
		{"strict, odd spelling", decision.Network{Mode: "strict"}, "http://0x7f.1", LiteralPrivateIP},
		{"private host, exact port", decision.Network{Mode: "strict", PrivateHosts: []string{"10.0.0.1:8080"}}, "http://10.0.0.1:8080", ""},
		{"private host, another port", decision.Network{Mode: "strict", PrivateHosts: []string{"10.0.0.1:8080"}}, "http://10.0.0.1", LiteralPrivateIP},
		{"private host has to be allowed too", decision.Network{Mode: "allowlist", PrivateHosts: []string{"10.0.0.1:80"}}, "http://10.0.0.1", HostNotInAllowlist},
		{"private host without port opens nothing", decision.Network{Mode: "strict", PrivateHosts: []string{"10.0.0.1"}}, "http://10.0.0.1", LiteralPrivateIP},
		{"private star opens nothing", decision.Network{Mode: "strict", PrivateHosts: []string{"*:80"}}, "http://10.0.0.1", LiteralPrivateIP},
		{"open", decision.Network{Mode: "open"}, "http://127.0.0.1", ""},
		{"open keeps ports", decision.Network{Mode: "open", Ports: []int{443}}, "http://127.0.0.1", PortNotAllowed},
		{"open keeps denies", decision.Network{Mode: "open", HostsDeny: []string{"*"}}, "http://127.0.0.1", HostInDenylist},
		{"ports", decision.Network{Mode: "strict", Ports: []int{443}}, "https://example.com", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := New(tt.network, Options{})
			f := c.Admit(Request{URL: tt.url})
			got := ""
			if f != nil {
				got = f.Reason
				if f.Code != "SECURITY" || f.Helper != Helper {
					t.Errorf("failure %+v", f)
				}
				if len(c.Ledger()) != 1 {
					t.Error("the refusal is not in the ledger")
				}
			}
			if got != tt.reason {
				t.Errorf("reason %q, want %q", got, tt.reason)
			}
		})
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"http://0x7f.1/", "http://[::1]:80/", "https://bücher.example", "http://user@x/", "http://127。1/", "http://a\\b/", "http://1.2.3.4.5/?q='\"", "HTTP:x"} {
		f.Add(s)
	}
	c := New(decision.Network{Mode: "strict"}, Options{})
	f.Fuzz(func(t *testing.T, raw string) {
		target, fail := parseTarget(raw)
		if fail != nil {
			return
		}
		// What was read has one spelling, which reads as itself.
		again, fail := parseTarget(target.url.String())
		if fail != nil || again.hostPort() != target.hostPort() {
			t.Fatalf("%q became %q, which reads differently: %v", raw, target.url, fail)
		}
		if target.url.Hostname() != target.host {
			t.Fatalf("%q: matched as %q, dialled as %q", raw, target.host, target.url.Hostname())
		}
		if c.Admit(Request{URL: raw}) == nil {
			if a, err := netip.ParseAddr(target.host); err == nil && !isPublic(a) {
				t.Fatalf("%q passes and is %s", raw, a)
			}
		}
	})
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"example.com", "*.example.com:80", "[::1]:80", "10.0.0.0/8", "*", "a:b:c", ":"} {
		f.Add(s)
	}
	target, _ := parseTarget("https://victim.example/")
	f.Fuzz(func(t *testing.T, entry string) {
		p := parsePattern(entry)
		if p.matches(target) && p.kind == exact && p.host != "victim.example" {
			t.Fatalf("%q matches", entry)
		}
		compile(decision.Network{Mode: "strict", Hosts: []string{entry}, HostsDeny: []string{entry}, PrivateHosts: []string{entry}})
	})
}

// FuzzAnswer lets a server write anything: whatever it says, the exchange
// ends, keeps to the caps, and no private address is dialled.
func FuzzAnswer(f *testing.F) {
	const head = "HTTP/1.1 200 OK\r\n"
	for _, s := range []string{
		head + "Content-Length: 2\r\n\r\nok", head + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n", head + "\r\nok",
		head + "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", "HTTP/1.1 100 Continue\r\n\r\n" + head + "\r\n",
		"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", "HTTP/1.1 307 Found\r\nLocation: //[::ffff:10.0.0.1]:81/x\r\n\r\n",
		"HTTP/1.1 308 Found\r\nLocation: ../y?z\r\n\r\n", "HTTP/1.0 200 OK\nX: \xff\n\nbody", "HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
	} {
		f.Add(s)
	}
	resolver := newNames(map[string]string{"a.test": publicAddr.String()})
	f.Fuzz(func(t *testing.T, text string) {
		c := New(decision.Network{Mode: "strict"}, Options{Resolver: resolver, OwnAddresses: func() ([]netip.Addr, error) { return nil, nil }})
		dials := 0
		c.dial = func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
			if dials++; !isPublic(to.Addr()) || dials > MaxRedirects+1 {
				t.Errorf("dial %d goes to %s", dials, to)
			}
			here, there := net.Pipe()
			go func() {
				defer there.Close()
				_, _ = there.Read(make([]byte, 4096))
				_, _ = there.Write([]byte(text))
			}()
			return here, nil
		}
		resp, fail := c.Fetch(context.Background(), Request{URL: "http://a.test/", Method: "POST", Body: []byte("b")})
		if fail != nil {
			if fail.Reason == "" || fail.Helper != Helper || !utf8.ValidString(fail.Message) {
				t.Errorf("failure %+v", fail)
			}
			return
		}
		if len(resp.Body) > MaxBody || !utf8.ValidString(resp.StatusText) || !utf8.ValidString(resp.URL) {
			t.Errorf("response %+v", resp)
		}
		for _, h := range resp.Headers {
			if !utf8.ValidString(h.Name + h.Value) {
				t.Errorf("header %q", h)
			}
		}
	})
}
