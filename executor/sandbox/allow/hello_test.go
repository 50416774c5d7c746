package allow

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
)

// realHello is the first message of this library's own client.
func realHello(t testing.TB, c *tls.Config) []byte {
	t.Helper()
	client, server := net.Pipe()
	go func() {
		_ = tls.Client(client, c).Handshake()
		client.Close()
	}()
	header := make([]byte, recordHeader)
	if _, err := io.ReadFull(server, header); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint16(header[3:]))
	if _, err := io.ReadFull(server, body); err != nil {
		t.Fatal(err)
	}
	server.Close()
	return append(header, body...)
}

// records wraps a message into records of at most n bytes.
func records(message []byte, n int) []byte {
	var out []byte
	for len(message) > 0 {
		part := message[:min(n, len(message))]
		out = append(out, recordTypeTLS, 3, 1, byte(len(part)>>8), byte(len(part)))
		out = append(out, part...)
		message = message[len(part):]
	}
	return out
}

type extension struct {
	kind int
	data []byte
}

func sni(names ...string) extension {
	var list []byte
	for _, n := range names {
		list = append(list, 0, byte(len(n)>>8), byte(len(n)))
		list = append(list, n...)
	}
	return extension{extServerName, append([]byte{byte(len(list) >> 8), byte(len(list))}, list...)}
}

// madeHello is a message with these extensions; none at all without any.
func madeHello(list ...extension) []byte {
	body := append([]byte{3, 3}, make([]byte, 32)...)
	body = append(body, 0, 0, 2, 0x13, 0x01, 1, 0)
	if list != nil {
		var all []byte
		for _, e := range list {
			all = append(all, byte(e.kind>>8), byte(e.kind), byte(len(e.data)>>8), byte(len(e.data)))
			all = append(all, e.data...)
		}
		body = append(append(body, byte(len(all)>>8), byte(len(all))), all...)
	}
	return append([]byte{clientHello, 0, byte(len(body) >> 8), byte(len(body))}, body...)
}

func TestReadHello(t *testing.T) {
	real := realHello(t, &tls.Config{ServerName: "Good.example"})
	longer := append(madeHello(sni("good.example")), 0)
	badLength := madeHello(sni("good.example"))
	badLength[3]--
	changed := func(b []byte, at int, v byte) []byte {
		b = bytes.Clone(b)
		b[at] = v
		return b
	}
	for _, tc := range []struct {
		name string
		in   []byte
		want hello
		err  error
	}{
		{"real", real, hello{name: "good.example"}, nil},
		{"real, then more", append(bytes.Clone(real), 20, 3, 3, 0, 1, 1), hello{name: "good.example"}, nil},
		{"real, in small records", records(real[recordHeader:], 7), hello{name: "good.example"}, nil},
		{"real, TLS 1.2", realHello(t, &tls.Config{ServerName: "good.example", MaxVersion: tls.VersionTLS12}), hello{name: "good.example"}, nil},
		{"no name", realHello(t, &tls.Config{InsecureSkipVerify: true}), hello{}, nil},
		{"no extensions", records(madeHello(), 9999), hello{}, nil},
		{"empty extensions", records(madeHello([]extension{}...), 9999), hello{}, nil},
		{"two extensions", records(madeHello(extension{9, nil}, sni("good.example")), 9999), hello{name: "good.example"}, nil},
		{"encrypted too", records(madeHello(sni("good.example"), extension{extEncrypted, []byte{0}}), 9999), hello{name: "good.example", encrypted: true}, nil},

		{"two names", records(madeHello(sni("good.example", "evil.example")), 9999), hello{}, errNotTLS},
		{"two name extensions", records(madeHello(sni("good.example"), sni("evil.example")), 9999), hello{}, errNotTLS},
		{"extension twice", records(madeHello(extension{9, nil}, extension{9, nil}), 9999), hello{}, errNotTLS},
		{"empty name", records(madeHello(sni("")), 9999), hello{}, errNotTLS},
		{"no names in the list", records(madeHello(sni()), 9999), hello{}, errNotTLS},
		{"zero byte in the name", records(madeHello(sni("good.example\x00.evil.example")), 9999), hello{}, errNotTLS},
		{"bytes after the extension's list", records(madeHello(extension{extServerName, append(sni("a").data, 1)}), 9999), hello{}, errNotTLS},
		{"another name type", records(madeHello(extension{extServerName, changed(sni("a").data, 2, 1)}), 9999), hello{}, errNotTLS},
		{"bytes after the message", records(longer, 9999), hello{}, errNotTLS},
		{"message shorter than it is", records(badLength, 9999), hello{}, errNotTLS},
		{"HTTP", []byte("GET / HTTP/1.1\r\n"), hello{}, errNotTLS},
		{"SSL 2", []byte{0x80, 0x2e, 1, 3, 1, 0, 0x15}, hello{}, errNotTLS},
		{"another record type", changed(real, 0, 23), hello{}, errNotTLS},
		{"another version", changed(real, 1, 2), hello{}, errNotTLS},
		{"another message", changed(real, recordHeader, 2), hello{}, errNotTLS},
		{"another version inside", changed(real, recordHeader+4, 2), hello{}, errNotTLS},
		{"empty record", append([]byte{recordTypeTLS, 3, 1, 0, 0}, real...), hello{}, errNotTLS},
		{"record too long", changed(real, 3, 0xff), hello{}, errNotTLS},
		{"message too long", records([]byte{clientHello, 0xff, 0, 0}, 9), hello{}, errNotTLS},
		{"alert in between", append(records(real[recordHeader:recordHeader+50], 99), 21, 3, 1, 0, 2, 1, 0), hello{}, errNotTLS},
		{"nothing", nil, hello{}, errShort},
		{"one byte", real[:1], hello{}, errShort},
		{"half", real[:len(real)/2], hello{}, errShort},
		{"half in small records", records(real[recordHeader:len(real)/2], 7), hello{}, errShort},
	} {
		got, err := readHello(tc.in)
		if !errors.Is(err, tc.err) || err == nil && got != tc.want {
			t.Errorf("%s: %+v %v, want %+v %v", tc.name, got, err, tc.want, tc.err)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		h       hello
		host    string
		literal bool
		want    string
	}{
		{hello{name: "a.example"}, "a.example", false, ""},
		{hello{name: "b.example"}, "a.example", false, SNIMismatch},
		{hello{name: "a.example."}, "a.example", false, SNIMismatch},
		{hello{}, "a.example", false, SNIMissing},
		{hello{name: "a.example", encrypted: true}, "a.example", false, SNIEncrypted},
		{hello{}, "93.184.216.34", true, ""},
		{hello{name: "a.example"}, "93.184.216.34", true, SNIMismatch},
		{hello{encrypted: true}, "93.184.216.34", true, SNIEncrypted},
	} {
		if got := tc.h.match(tc.host, tc.literal); got != tc.want {
			t.Errorf("%+v for %s: %q, want %q", tc.h, tc.host, got, tc.want)
		}
	}
}

// FuzzReadHello holds that a ClientHello is read as this library's server
// reads it, and that more bytes never change what was read.
func FuzzReadHello(f *testing.F) {
	f.Add(realHello(f, &tls.Config{ServerName: "good.example"}))
	f.Add(records(madeHello(sni("a.example"), extension{9, nil}), 9))
	f.Add([]byte{recordTypeTLS, 3, 1, 0, 1, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := readHello(in)
		if more, again := readHello(append(bytes.Clone(in), 1, 2, 3)); err == nil && (again != nil || more != h) || errors.Is(err, errNotTLS) && !errors.Is(again, errNotTLS) {
			t.Fatalf("%+v %v, with more bytes %+v %v", h, err, more, again)
		}
		if err != nil {
			return
		}
		var seen string
		got := false
		server := tls.Server(conn{Reader: bytes.NewReader(in)}, &tls.Config{GetConfigForClient: func(i *tls.ClientHelloInfo) (*tls.Config, error) {
			seen, got = i.ServerName, true
			return nil, errors.New("enough")
		}})
		_ = server.Handshake()
		if got && !bytes.EqualFold([]byte(seen), []byte(h.name)) {
			t.Fatalf("read as %q, a server reads %q", h.name, seen)
		}
	})
}

// conn is a connection that only says something.
type conn struct {
	net.Conn
	io.Reader
}

func (c conn) Read(b []byte) (int, error)  { return c.Reader.Read(b) }
func (c conn) Write(b []byte) (int, error) { return len(b), nil }
func (c conn) Close() error                { return nil }
