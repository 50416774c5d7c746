package allow

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func testProxy(t testing.TB, policy sandbox.AllowList) *Proxy {
	t.Helper()
	l, err := New(policy, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := l.Serve(nil, nil, nil)
	t.Cleanup(p.Close)
	return p
}

func question(t testing.TB, name string, kind dnsmessage.Type, class dnsmessage.Class, edns bool) []byte {
	t.Helper()
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 4711, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: class}},
	}
	if edns {
		var h dnsmessage.ResourceHeader
		if err := h.SetEDNS0(4096, 0, true); err != nil {
			t.Fatal(err)
		}
		m.Additionals = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{Options: []dnsmessage.Option{{Code: 10, Data: []byte("cookie00")}}}}}
	}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAnswer(t *testing.T) {
	p := testProxy(t, sandbox.AllowList{Hosts: []string{"example.com", "*.api.example"}})
	log := p.Log()
	const in, chaos = dnsmessage.ClassINET, dnsmessage.ClassCHAOS
	for _, tc := range []struct {
		name  string
		kind  dnsmessage.Type
		class dnsmessage.Class
		edns  bool
		code  dnsmessage.RCode
		found bool
	}{
		{"example.com.", dnsmessage.TypeA, in, false, dnsmessage.RCodeSuccess, true},
		{"EXAMPLE.com.", dnsmessage.TypeA, in, true, dnsmessage.RCodeSuccess, true},
		{"x.api.example.", dnsmessage.TypeA, in, false, dnsmessage.RCodeSuccess, true},
		{"example.com.", dnsmessage.TypeAAAA, in, false, dnsmessage.RCodeSuccess, false},
		{"example.com.", dnsmessage.TypeTXT, in, true, dnsmessage.RCodeSuccess, false},
		{"example.com.", 65, in, false, dnsmessage.RCodeSuccess, false},
		{"example.com.", dnsmessage.TypeALL, in, false, dnsmessage.RCodeSuccess, false},
		{"secret-data.example.com.", dnsmessage.TypeTXT, in, false, dnsmessage.RCodeNameError, false},
		{strings.Repeat("a", 63) + ".evil.example.", dnsmessage.TypeA, in, true, dnsmessage.RCodeNameError, false},
		{"api.example.", dnsmessage.TypeA, in, false, dnsmessage.RCodeNameError, false},
		{"1.0.0.127.in-addr.arpa.", dnsmessage.TypePTR, in, false, dnsmessage.RCodeNameError, false},
		{".", dnsmessage.TypeNS, in, false, dnsmessage.RCodeNameError, false},
		{"example.com.", dnsmessage.TypeA, chaos, false, dnsmessage.RCodeRefused, false},
	} {
		var m dnsmessage.Message
		if err := m.Unpack(p.answer(question(t, tc.name, tc.kind, tc.class, tc.edns))); err != nil {
			t.Fatal(tc.name, err)
		}
		if m.ID != 4711 || !m.Response || m.RCode != tc.code || len(m.Answers) == 1 != tc.found || len(m.Additionals) == 1 != tc.edns {
			t.Errorf("%s %v: %+v", tc.name, tc.kind, m)
		}
		if len(m.Questions) != 1 || m.Questions[0].Name.String() != tc.name {
			t.Errorf("%s: the question came back as %v", tc.name, m.Questions)
		}
	}
	list, missed := log.Connections()
	var asked []string
	for _, c := range list {
		if c.Allowed || c.Port != 0 || c.Reason != egress.HostNotInAllowlist {
			t.Errorf("%+v", c)
		}
		asked = append(asked, c.Host)
	}
	want := `secret-data.example.com ` + strings.Repeat("a", 63) + `.evil.example api.example 1.0.0.127.in-addr.arpa "."`
	if got := strings.Join(asked, " "); got != want || missed != 0 {
		t.Errorf("refused %s, want %s; %d missed", got, want, missed)
	}
}

func TestNoAnswer(t *testing.T) {
	p := testProxy(t, sandbox.AllowList{Hosts: []string{"*"}})
	good := question(t, "example.com.", dnsmessage.TypeA, dnsmessage.ClassINET, false)
	edit := func(f func([]byte) []byte) []byte { return f(bytes.Clone(good)) }
	for name, q := range map[string][]byte{
		"empty":     nil,
		"short":     good[:11],
		"an answer": edit(func(b []byte) []byte { b[2] |= 0x80; return b }),
	} {
		if a := p.answer(q); a != nil {
			t.Errorf("%s: answered % x", name, a)
		}
	}
	for name, tc := range map[string]struct {
		q    []byte
		code dnsmessage.RCode
	}{
		"no question":    {edit(func(b []byte) []byte { b[5] = 0; return b[:12] }), dnsmessage.RCodeFormatError},
		"two questions":  {edit(func(b []byte) []byte { b[5] = 2; return append(b, b[12:]...) }), dnsmessage.RCodeFormatError},
		"cut off":        {good[:len(good)-3], dnsmessage.RCodeFormatError},
		"name in a loop": {edit(func(b []byte) []byte { return append(b[:12], 0xc0, 12, 0, 1, 0, 1) }), dnsmessage.RCodeFormatError},
		"an update":      {edit(func(b []byte) []byte { b[2] |= 5 << 3; return b }), dnsmessage.RCodeNotImplemented},
	} {
		var m dnsmessage.Message
		if err := m.Unpack(p.answer(tc.q)); err != nil || m.RCode != tc.code || len(m.Answers) != 0 {
			t.Errorf("%s: %v %+v", name, err, m)
		}
	}
}

// TestFlood asks for more names than there are addresses kept: memory and
// ledger stay within their bounds, and what was allowed stays in the ledger.
func TestFlood(t *testing.T) {
	p := testProxy(t, sandbox.AllowList{Hosts: []string{"*.example"}})
	log := p.Log()
	p.note(&record{entry: sandbox.Connection{Host: "reached.example", Allowed: true}})
	for i := range 10_000 {
		label := string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26))
		for _, name := range []string{label + ".example.", label + ".evil."} {
			if p.answer(question(t, name, dnsmessage.TypeA, dnsmessage.ClassINET, false)) == nil {
				t.Fatal(name)
			}
		}
	}
	list, missed := log.Connections()
	if len(list) != MaxRefused+1 || missed != 10_000-MaxRefused || list[0].Host != "reached.example" || len(p.names.name) != maxNames {
		t.Errorf("%d entries, %d missed, %d names", len(list), missed, len(p.names.name))
	}
}

// TestNameServerOverTCP asks twice on one connection, and then nonsense.
func TestNameServerOverTCP(t *testing.T) {
	l, err := New(sandbox.AllowList{Hosts: []string{"example.com"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := l.Serve(nil, nil, ln)
	defer p.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q := question(t, "example.com.", dnsmessage.TypeA, dnsmessage.ClassINET, false)
	for range 2 {
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(q))), q...)); err != nil {
			t.Fatal(err)
		}
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			t.Fatal(err)
		}
		a := make([]byte, binary.BigEndian.Uint16(size[:]))
		var m dnsmessage.Message
		if _, err := io.ReadFull(c, a); err != nil || m.Unpack(a) != nil || len(m.Answers) != 1 {
			t.Fatalf("%v %+v", err, m)
		}
	}
	if _, err := c.Write([]byte{0xff, 0xff}); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes for a message that is too long", n)
	}
}

func FuzzAnswer(f *testing.F) {
	p := testProxy(f, sandbox.AllowList{Hosts: []string{"example.com", "*.api.example"}})
	f.Add(question(f, "example.com.", dnsmessage.TypeA, dnsmessage.ClassINET, true))
	f.Add(question(f, "x.api.example.", dnsmessage.TypeTXT, dnsmessage.ClassINET, false))
	f.Add(question(f, "evil.example.", dnsmessage.TypeA, dnsmessage.ClassANY, false))
	f.Fuzz(func(t *testing.T, q []byte) {
		a := p.answer(q)
		if a == nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(a); err != nil || !m.Response || m.ID != binary.BigEndian.Uint16(q) || len(a) > 512 {
			t.Fatalf("%v %+v in %d bytes", err, m, len(a))
		}
		for _, r := range m.Answers {
			name := strings.ToLower(r.Header.Name.String())
			addr := r.Body.(*dnsmessage.AResource).A
			if name != "example.com." && !strings.HasSuffix(name, ".api.example.") || addr[0] != 198 || addr[1]&^1 != 18 {
				t.Fatalf("%s has %v", name, addr)
			}
		}
	})
}
