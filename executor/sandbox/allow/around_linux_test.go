package allow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// table is a resolver; a name with several rows has another one each time.
type table struct {
	mu   sync.Mutex
	rows map[string][]string
	n    map[string]int
}

func (r *table) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := r.rows[host]
	if len(rows) == 0 {
		return nil, errors.New("no such name")
	}
	row := rows[min(r.n[host], len(rows)-1)]
	r.n[host]++
	var out []netip.Addr
	for _, s := range strings.Fields(row) {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

// outside is what can be reached from here, all of it on loopback.
type outside struct {
	echo, web, secure int // ports
	ca                string
	names             *table
	server            *httptest.Server
}

func portOf(a net.Addr) int { return a.(*net.TCPAddr).Port }

func newOutside(t testing.TB) *outside {
	t.Helper()
	o := &outside{names: &table{n: map[string]int{}, rows: map[string][]string{
		"example.com": {"127.0.0.1"}, "db.test": {"127.0.0.1"}, "a.wild.test": {"127.0.0.1"}, "a.b.wild.test": {"127.0.0.1"},
		"private.test": {"127.0.0.1"}, "mixed.test": {"93.184.216.34 127.0.0.1"}, "meta.test": {"169.254.169.254"}, "own.test": {"93.184.216.99"},
		"rebind.test": {"93.184.216.99", "127.0.0.1"}, "mapped.test": {"::ffff:127.0.0.1"},
	}}}
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { echo.Close() })
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/go" {
			http.Redirect(w, r, "http://denied.test/", http.StatusFound)
			return
		}
		fmt.Fprint(w, "served "+r.Host)
	})
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	o.server = httptest.NewUnstartedServer(h)
	o.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	o.server.StartTLS()
	t.Cleanup(o.server.Close)
	o.echo, o.web, o.secure = portOf(echo.Addr()), portOf(web.Listener.Addr()), portOf(o.server.Listener.Addr())
	o.ca = writeCA(t, o.server)
	return o
}

func (o *outside) list(t testing.TB, change func(*sandbox.AllowList, *Options)) *List {
	t.Helper()
	at := func(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
	policy := sandbox.AllowList{
		Hosts: []string{
			at("example.com", o.echo), at("example.com", o.web), at("example.com", o.secure), at("db.test", o.echo), at("*.wild.test", o.echo),
			at("private.test", o.echo), at("mixed.test", o.echo), at("meta.test", o.echo), at("own.test", o.echo), at("rebind.test", o.echo),
			at("mapped.test", o.echo), at("gone.test", o.echo), at("2001:db8::5", o.echo), at("192.0.2.7", o.echo),
		},
		Deny: []string{"denied.wild.test"},
		Private: []string{
			at("example.com", o.echo), at("example.com", o.web), at("example.com", o.secure), at("db.test", o.echo), at("a.wild.test", o.echo), at("a.b.wild.test", o.echo),
		},
	}
	opts := Options{Egress: egress.Options{
		Resolver: o.names,
		OwnAddresses: func() ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.99"), netip.MustParseAddr("127.0.0.1")}, nil
		},
	}}
	if change != nil {
		change(&policy, &opts)
	}
	l, err := New(policy, opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestReached is what works: raw TCP, HTTP, TLS; for this library, curl and
// Python; with no setting in any of them.
func TestReached(t *testing.T) {
	o := newOutside(t)
	j := newJail(t, o.list(t, nil))
	echo, web, secure := strconv.Itoa(o.echo), strconv.Itoa(o.web), strconv.Itoa(o.secure)
	python := func(code string) []string { return []string{"/usr/bin/python3", "-c", code} }
	for _, tc := range []struct {
		name, host string
		port       int
		probe      string
		args       []string
		want       string
	}{
		{"raw TCP", "db.test", o.echo, "say", []string{"db.test:" + echo, "select 1"}, "select 1"},
		{"name in capitals, with a dot", "db.test", o.echo, "say", []string{"DB.Test.:" + echo, "x"}, "x"},
		{"wildcard", "a.wild.test", o.echo, "say", []string{"a.wild.test:" + echo, "x"}, "x"},
		{"wildcard, deeper", "a.b.wild.test", o.echo, "say", []string{"a.b.wild.test:" + echo, "x"}, "x"},
		{"TLS", "example.com", o.secure, "tls", []string{"example.com:" + secure, "example.com"}, "shaken"},
		{"curl", "example.com", o.web, "run", []string{"/usr/bin/curl", "-sS", "http://example.com:" + web + "/"}, "served example.com:" + web},
		{"curl, TLS", "example.com", o.secure, "run", []string{"/usr/bin/curl", "-sS", "--cacert", o.ca, "https://example.com:" + secure + "/"}, "served example.com:" + secure},
		{"python", "example.com", o.web, "run", python(`import urllib.request as u; print(u.urlopen("http://example.com:` + web + `/").read().decode())`), "served example.com:" + web},
		{"python, TLS", "example.com", o.secure, "run", python(`import urllib.request as u, ssl; print(u.urlopen("https://example.com:` + secure + `/", context=ssl.create_default_context(cafile="` + o.ca + `")).read().decode())`), "served example.com:" + secure},
		{"python, socket", "db.test", o.echo, "run", python(`import socket; s=socket.create_connection(("db.test",` + echo + `)); s.send(b"hi"); s.shutdown(1); print(s.recv(9).decode())`), "hi"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.probe == "run" {
				if _, err := os.Stat(tc.args[0]); err != nil {
					t.Skip(err)
				}
			}
			log := j.proxy.Log()
			defer log.Close()
			r := j.try(tc.probe, tc.args...)
			if r.Err != "" || r.Out != tc.want {
				t.Errorf("%q, %s; want %q", r.Out, r.Err, tc.want)
			}
			j.proxy.Cut()
			list, _ := log.Connections()
			if len(list) != 1 || list[0].Host != tc.host || list[0].Port != tc.port || !list[0].Allowed || list[0].Address != "127.0.0.1" || list[0].Out == 0 || list[0].In == 0 || list[0].Duration == 0 {
				t.Errorf("ledger %+v", list)
			}
			in, out := log.Bytes()
			if len(list) == 1 && (in != list[0].In || out != list[0].Out) {
				t.Errorf("sums %d %d, ledger %+v", in, out, list)
			}
		})
	}
}

// hostAddress is an address of this machine that is not loopback, or "".
func hostAddress() string {
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return ""
}

// TestLiterals connects to addresses that an entry names, one by itself and
// one in a range.
func TestLiterals(t *testing.T) {
	o := newOutside(t)
	host := hostAddress()
	if host == "" {
		t.Skip("this machine has no address but loopback")
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "reached")
			c.Close()
		}
	}()
	port := strconv.Itoa(portOf(l.Addr()))
	for name, entry := range map[string]string{"address": host, "range": netip.PrefixFrom(netip.MustParseAddr(host), 24).Masked().String()} {
		for _, private := range []bool{true, false} {
			j := newJail(t, o.list(t, func(a *sandbox.AllowList, _ *Options) {
				a.Hosts, a.Private = []string{entry + ":" + port}, nil
				if private {
					a.Private = []string{host + ":" + port}
				}
			}))
			log := j.proxy.Log()
			r := j.try("say", host+":"+port, "")
			j.proxy.Cut()
			list, _ := log.Connections()
			if private != (r.Out == "reached") || len(list) != 1 || list[0].Host != host || list[0].Allowed != private {
				t.Errorf("%s, private %v: %+v, ledger %+v", name, private, r, list)
			}
			if r := j.try("say", "example.com:"+port, ""); r.Err == "" {
				t.Errorf("%s: a name that no entry names was reached", name)
			}
		}
	}
}

// TestWaysAround tries to get out. Each way fails, and where something was
// asked for, the ledger says what.
func TestWaysAround(t *testing.T) {
	o := newOutside(t)
	j := newJail(t, o.list(t, nil))
	host := hostAddress()
	if host == "" {
		host = "10.0.0.1"
	}
	abstract := "@toolwarrant-allow-test-" + strconv.Itoa(os.Getpid())
	if l, err := net.Listen("unix", abstract); err != nil {
		t.Fatal(err)
	} else {
		defer l.Close()
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	echo, web := strconv.Itoa(o.echo), strconv.Itoa(o.web)
	say := func(at string) []string { return []string{at, "x"} }
	long := strings.Repeat("c2vjcmv0", 7)
	for _, tc := range []struct {
		name  string
		probe string
		args  []string
		entry string // host:port reason, in the ledger; "" = nothing came out
	}{
		{"public literal", "say", say("93.184.216.34:" + echo), ""},
		{"metadata literal", "say", say("169.254.169.254:" + echo), ""},
		{"loopback of the host", "say", say("127.0.0.1:" + echo), "127.0.0.1:" + echo + " host-not-in-allowlist"},
		{"loopback of the host, IPv6", "say", say("[::1]:" + echo), "::1:" + echo + " host-not-in-allowlist"},
		{"another loopback", "say", say("127.9.9.9:" + echo), "127.9.9.9:" + echo + " host-not-in-allowlist"},
		{"loopback, without listener", "say", say("127.0.0.1:22"), ""},
		{"unspecified", "say", say("0.0.0.0:" + echo), "127.0.0.1:" + echo + " host-not-in-allowlist"},
		{"address of the host", "say", say(host + ":9"), ""},
		{"address never given", "say", say("198.19.255.1:" + echo), "198.19.255.1:" + echo + " unknown-address"},
		{"address never given, mapped", "say", say("[::ffff:198.19.255.2]:" + echo), "198.19.255.2:" + echo + " unknown-address"},
		{"metadata, mapped", "say", say("[::ffff:169.254.169.254]:" + echo), ""},
		{"public IPv6 literal", "say", say("[2606:4700::1111]:" + echo), ""},
		{"allowed literal that is not public", "say", say("192.0.2.7:" + echo), "192.0.2.7:" + echo + " literal-private-ip"},
		{"allowed IPv6 literal that is not public", "say", say("[2001:db8::5]:" + echo), "2001:db8::5:" + echo + " literal-private-ip"},
		{"right host, wrong port", "say", say("db.test:" + web), "db.test:" + web + " host-not-in-allowlist"},
		{"port without listener", "say", say("db.test:9"), ""},
		{"denied name", "say", say("denied.test:" + echo), "denied.test:0 host-not-in-allowlist"},
		{"denied below a wildcard", "say", say("denied.wild.test:" + echo), "denied.wild.test:0 host-in-denylist"},
		{"apex of a wildcard", "say", say("wild.test:" + echo), "wild.test:0 host-not-in-allowlist"},
		{"look-alike prefix", "say", say("evil-example.com:" + echo), "evil-example.com:0 host-not-in-allowlist"},
		{"look-alike suffix", "say", say("example.com.evil.test:" + echo), "example.com.evil.test:0 host-not-in-allowlist"},
		{"decimal host", "run", []string{"/usr/bin/curl", "-sS", "-m", "5", "http://2130706433:" + web}, "127.0.0.1:" + web + " host-not-in-allowlist"},
		{"octal host", "run", []string{"/usr/bin/curl", "-sS", "-m", "5", "http://0251.0376.0251.0376:" + web}, ""},
		{"decimal name", "ask", []string{"udp", "127.0.0.1:53", "2852039166.", "1"}, "2852039166.:0 host-not-in-allowlist"},
		{"name of a private address", "say", say("private.test:" + echo), "private.test:" + echo + " resolved-private-ip"},
		{"name of a public and a private address", "say", say("mixed.test:" + echo), "mixed.test:" + echo + " resolved-private-ip"},
		{"name of the metadata address", "say", say("meta.test:" + echo), "meta.test:" + echo + " resolved-private-ip"},
		{"name of a mapped address", "say", say("mapped.test:" + echo), "mapped.test:" + echo + " resolved-private-ip"},
		{"name of this machine", "say", say("own.test:" + echo), "own.test:" + echo + " resolved-private-ip"},
		{"name that changes", "say", say("rebind.test:" + echo), "rebind.test:" + echo + " resolved-private-ip"},
		{"name that changed", "say", say("rebind.test:" + echo), "rebind.test:" + echo + " resolved-private-ip"},
		{"name without address", "say", say("gone.test:" + echo), "gone.test:" + echo + " dns-resolution-failed"},
		{"UDP to the world", "udp", []string{"93.184.216.34:443"}, ""},
		{"UDP to the host", "udp", []string{udp.LocalAddr().String()}, ""},
		{"UDP to an allowed name (QUIC)", "udp", []string{"example.com:" + echo}, ""},
		{"another name server", "ask", []string{"udp", "8.8.8.8:53", "example.com.", "1"}, ""},
		{"another name server, TCP", "ask", []string{"tcp", "8.8.8.8:53", "example.com.", "1"}, ""},
		{"name server at an issued address", "ask", []string{"tcp", "198.18.0.1:53", "example.com.", "1"}, ""},
		{"tunnel in labels", "ask", []string{"udp", "127.0.0.1:53", long + "." + long + ".evil.test.", "1"}, long + "." + long + ".evil.test:0 host-not-in-allowlist"},
		{"tunnel below an allowed name", "ask", []string{"tcp", "127.0.0.1:53", long + ".example.com.", "16"}, long + ".example.com:0 host-not-in-allowlist"},
		{"redirect to a denied host", "run", []string{"/usr/bin/curl", "-sSfL", "-m", "5", "http://example.com:" + web + "/go"}, "denied.test:0 host-not-in-allowlist"},
		{"relay that is not allowed", "run", []string{"/usr/bin/curl", "-sS", "-m", "5", "-x", "http://127.0.0.1:" + web, "http://denied.test/"}, "127.0.0.1:" + web + " host-not-in-allowlist"},
		{"own server at an allowed port", "listen", []string{"127.0.0.1:" + echo, "tcp"}, ""},
		{"own server beside the listener", "reuse", []string{echo}, ""},
		{"abstract socket of the host", "unix", []string{abstract}, ""},
		{"raw socket", "socket", []string{"2", "3", "1"}, ""},
		{"raw socket, IPv6", "socket", []string{"10", "3", "58"}, ""},
		{"packet socket", "socket", []string{"17", "3", "768"}, ""},
		{"ICMP", "socket", []string{"2", "2", "1"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := j.proxy.Log()
			defer log.Close()
			r := j.try(tc.probe, tc.args...)
			if r.Err == "" && r.Out != "RCodeNameError" {
				t.Errorf("got out: %q", r.Out)
			}
			j.proxy.Cut()
			list, missed := log.Connections()
			found := tc.entry == ""
			for _, c := range list {
				found = found || fmt.Sprintf("%s:%d %s", c.Host, c.Port, c.Reason) == tc.entry
				if c.Allowed && tc.name != "redirect to a denied host" || tc.entry == "" {
					t.Errorf("in the ledger: %+v", c)
				}
			}
			if !found || missed != 0 {
				t.Errorf("ledger %+v, want %s", list, tc.entry)
			}
		})
	}
	t.Run("own server at another port", func(t *testing.T) {
		if r := j.try("listen", "127.0.0.1:0", "tcp"); r.Out != "mine" {
			t.Errorf("%+v", r)
		}
	})
}
