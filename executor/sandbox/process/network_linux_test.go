package process

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
)

// loopbackNames resolves names of the test to this machine.
type loopbackNames struct{}

func (loopbackNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "example.com" || strings.HasSuffix(host, ".test") {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	return nil, errors.New("no such name")
}

// allowed is a sandbox with servers that it may and may not reach.
type allowed struct {
	box               sandbox.Sandbox
	echo, web, secure string // ports
}

func newAllowed(t testing.TB) allowed {
	t.Helper()
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
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "served") })
	web, secure := httptest.NewServer(h), httptest.NewUnstartedServer(h)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(web.Close)
	t.Cleanup(secure.Close)
	port := func(a net.Addr) string { _, p, _ := net.SplitHostPort(a.String()); return p }
	a := allowed{echo: port(echo.Addr()), web: port(web.Listener.Addr()), secure: port(secure.Listener.Addr())}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), ca, 0o644); err != nil {
		t.Fatal(err)
	}
	s := spec()
	s.Mounts = []sandbox.Mount{{Source: dir, Target: "/ca"}}
	hosts := []string{"db.test:" + a.echo, "example.com:" + a.web, "example.com:" + a.secure}
	s.Network = sandbox.AllowList{Hosts: append(hosts, "private.test:"+a.echo), Private: hosts}
	f := factory(t, Options{Network: allow.Options{Egress: egress.Options{Resolver: loopbackNames{}}}})
	a.box = create(t, f, s)
	if a.box.Enforcement()[sandbox.NetAllowList].Level != sandbox.Full {
		t.Errorf("%+v", a.box.Enforcement())
	}
	return a
}

func (a allowed) run(t testing.TB, argv ...string) sandbox.Result {
	t.Helper()
	if _, err := os.Stat(argv[0]); err != nil {
		t.Skip(err)
	}
	r, err := a.box.Exec(context.Background(), sandbox.Command{Argv: argv})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAllowList reaches what is named, with programs that know nothing of it.
func TestAllowList(t *testing.T) {
	a := newAllowed(t)
	for _, tc := range []struct {
		name, host string
		argv       []string
	}{
		{"curl", "example.com", []string{"/usr/bin/curl", "-sS", "http://example.com:" + a.web}},
		{"curl, TLS", "example.com", []string{"/usr/bin/curl", "-sS", "--cacert", "/ca/ca.pem", "https://example.com:" + a.secure}},
		{"python", "example.com", []string{"/usr/bin/python3", "-c", `import urllib.request as u, ssl
print(u.urlopen("https://example.com:` + a.secure + `", context=ssl.create_default_context(cafile="/ca/ca.pem")).read().decode())`}},
		{"python, socket", "db.test", []string{"/usr/bin/python3", "-c", `import socket
s=socket.create_connection(("DB.test.",` + a.echo + `)); s.sendall(b"served"); s.shutdown(1); print(s.recv(9).decode())`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := a.run(t, tc.argv...)
			if out := strings.TrimSpace(string(r.Stdout)); r.ExitCode != 0 || out != "served" {
				t.Fatalf("%d %q %s", r.ExitCode, out, r.Stderr)
			}
			if len(r.Net) != 1 || r.Net[0].Host != tc.host || !r.Net[0].Allowed || r.Net[0].In == 0 || r.Usage.NetIn != r.Net[0].In || r.Usage.NetOut != r.Net[0].Out {
				t.Errorf("ledger %+v, usage %+v", r.Net, r.Usage)
			}
		})
	}
}

// TestAllowListHolds tries what is not named. Each line of the script says OUT
// when it got anywhere.
func TestAllowListHolds(t *testing.T) {
	a := newAllowed(t)
	r := a.run(t, "/usr/bin/python3", "-c", `
import socket as s
def say(host, port, family=s.AF_INET):
    c = s.socket(family, s.SOCK_STREAM); c.settimeout(3)
    c.connect((host, port)); c.sendall(b"x"); c.shutdown(1)
    if not c.recv(1): raise OSError("nothing")
def packet(host, port):
    c = s.socket(s.AF_INET, s.SOCK_DGRAM); c.settimeout(.3)
    c.sendto(b"x", (host, port)); c.recv(1)
def attempt(name, f, *args):
    try: f(*args)
    except OSError as e: return
    print("OUT", name)
echo = `+a.echo+`
for host in ["93.184.216.34", "169.254.169.254", "127.0.0.1", "127.9.9.9", "0.0.0.0", "198.19.1.1", "2130706433", "private.test", "denied.test", "evil-db.test", "db.test.evil.test", "example.com"]:
    attempt("TCP " + host, say, host, echo)
attempt("another port", say, "db.test", `+a.web+`)
for host in ["::1", "2606:4700::1111", "::ffff:169.254.169.254", "::ffff:127.0.0.1"]:
    attempt("TCP6 " + host, say, host, echo, s.AF_INET6)
for host, port in [("8.8.8.8", 53), ("93.184.216.34", 443), ("db.test", echo), ("127.0.0.1", echo)]:
    attempt("UDP " + host, packet, host, port)
attempt("name server", say, "8.8.8.8", 53)
attempt("raw", s.socket, s.AF_INET, s.SOCK_RAW, s.IPPROTO_ICMP)
attempt("ping", s.socket, s.AF_INET, s.SOCK_DGRAM, s.IPPROTO_ICMP)
attempt("packet", s.socket, s.AF_PACKET, s.SOCK_RAW, 768)
own = s.socket(); own.setsockopt(s.SOL_SOCKET, s.SO_REUSEADDR, 1); own.setsockopt(s.SOL_SOCKET, s.SO_REUSEPORT, 1)
attempt("own listener", own.bind, ("0.0.0.0", echo))
attempt("own listener at an address", own.bind, ("198.18.0.1", echo))
mine = s.socket(); mine.bind(("127.0.0.1", 0)); mine.listen()
c = s.create_connection(mine.getsockname()); c.sendall(b"x"); print("own server", mine.accept()[0].recv(1))
`)
	if out := strings.TrimSpace(string(r.Stdout)); r.ExitCode != 0 || out != "own server b'x'" {
		t.Fatalf("%d %s %s", r.ExitCode, out, r.Stderr)
	}
	asked := map[string]string{}
	for _, c := range r.Net {
		asked[fmt.Sprintf("%s:%d", c.Host, c.Port)] = c.Reason
		if c.Allowed {
			t.Errorf("%+v", c)
		}
	}
	for at, reason := range map[string]string{
		"127.0.0.1:" + a.echo: egress.HostNotInAllowlist, "::1:" + a.echo: egress.HostNotInAllowlist, "198.19.1.1:" + a.echo: allow.UnknownAddress,
		"private.test:" + a.echo: egress.ResolvedPrivateIP, "denied.test:0": egress.HostNotInAllowlist, "evil-db.test:0": egress.HostNotInAllowlist,
		"example.com:" + a.echo: egress.HostNotInAllowlist, "db.test:" + a.web: egress.HostNotInAllowlist,
	} {
		if asked[at] != reason {
			t.Errorf("%s: %q in the ledger, want %q", at, asked[at], reason)
		}
	}
	// What one command asked for is not the next one's.
	if r := a.run(t, "/bin/true"); len(r.Net) != 0 {
		t.Errorf("%+v", r.Net)
	}
}

// TestAllowListIsChecked refuses at Create what cannot be.
func TestAllowListIsChecked(t *testing.T) {
	f := factory(t, Options{})
	s := spec()
	s.Network = sandbox.AllowList{Hosts: []string{"a b"}}
	if _, err := f.Create(context.Background(), s); !errors.Is(err, sandbox.ErrSpec) {
		t.Errorf("%v", err)
	}
}

func BenchmarkAllowList(b *testing.B) {
	f := factory(b, Options{Agent: agentProgram(b)})
	for name, n := range map[string]sandbox.NetPolicy{"deny all": sandbox.DenyAll{}, "allow list": sandbox.AllowList{Hosts: []string{"example.com", "*.example.com:8443"}}} {
		s := spec()
		s.Network = n
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				box, err := f.Create(context.Background(), s)
				if err != nil {
					b.Fatal(err)
				}
				if err := box.Start(context.Background()); err != nil {
					b.Fatal(err)
				}
				_ = box.Close()
			}
		})
	}
}
