package allow

import (
	"encoding/binary"
	"errors"
	"strings"
)

// The first message of a TLS connection, as far as it says which host is
// meant. It is read strictly: what two readers could read in two ways is
// refused.

const (
	maxHello       = 16 << 10 // bytes of a first message
	recordHeader   = 5
	recordTypeTLS  = 22 // handshake
	clientHello    = 1
	maxRecord      = 16 << 10
	extServerName  = 0
	extEncrypted   = 0xfe0d // encrypted_client_hello
	extEncryptedV0 = 0xffce // its first drafts
)

var (
	errNotTLS = errors.New("not a TLS ClientHello")
	// errShort asks for more bytes.
	errShort = errors.New("the ClientHello is not complete")
)

// A hello is what a ClientHello says about the host.
type hello struct {
	name      string // "" = none
	encrypted bool   // there is a second, encrypted one
}

// looksTLS reports whether a connection that begins with b, which is not
// empty, begins like one of TLS.
func looksTLS(b []byte) bool {
	return b[0] == recordTypeTLS && (len(b) == 1 || b[1] == 3)
}

// readHello reads the ClientHello that b begins with. The error is errShort
// where more bytes may complete it, or errNotTLS.
func readHello(b []byte) (hello, error) {
	var message []byte
	for {
		if len(b) > 0 && !looksTLS(b) {
			return hello{}, errNotTLS
		}
		if len(b) < recordHeader {
			return hello{}, errShort
		}
		n := int(binary.BigEndian.Uint16(b[3:]))
		if n == 0 || n > maxRecord || len(message)+n > maxHello {
			return hello{}, errNotTLS
		}
		rest := b[recordHeader:]
		message = append(message, rest[:min(n, len(rest))]...)
		if len(message) > 0 && message[0] != clientHello {
			return hello{}, errNotTLS
		}
		if len(message) >= 4 {
			size := int(message[1])<<16 | int(binary.BigEndian.Uint16(message[2:]))
			if size > maxHello || len(message) > 4+size {
				return hello{}, errNotTLS // nothing may follow it in its record
			}
			if len(message) == 4+size && len(rest) >= n {
				return parseHello(message[4:])
			}
		}
		if len(rest) < n {
			return hello{}, errShort
		}
		b = rest[n:]
	}
}

// cut is a reader of the length-prefixed parts of a message.
type cut struct {
	b   []byte
	bad bool
}

// take gives the next n bytes.
func (c *cut) take(n int) []byte {
	if c.bad || n > len(c.b) {
		c.bad = true
		return nil
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

// number reads n bytes, at most 2.
func (c *cut) number(n int) (v int) {
	for _, x := range c.take(n) {
		v = v<<8 | int(x)
	}
	return v
}

// part reads a length of n bytes and gives what it counts.
func (c *cut) part(n int) cut { return cut{b: c.take(c.number(n)), bad: c.bad} }

func parseHello(message []byte) (hello, error) {
	c := cut{b: message}
	if c.number(2)>>8 != 3 {
		return hello{}, errNotTLS
	}
	c.take(32) // random
	session, suites, compression := c.part(1), c.part(2), c.part(1)
	if c.bad || len(session.b) > 32 || len(suites.b) == 0 || len(suites.b)%2 != 0 || len(compression.b) == 0 {
		return hello{}, errNotTLS
	}
	if len(c.b) == 0 {
		return hello{}, nil // no extensions: an old client
	}
	list := c.part(2)
	if c.bad || len(c.b) != 0 {
		return hello{}, errNotTLS
	}
	var h hello
	seen := map[int]bool{}
	for len(list.b) > 0 {
		kind, data := list.number(2), list.part(2)
		if list.bad || seen[kind] {
			return hello{}, errNotTLS
		}
		seen[kind] = true
		switch kind {
		case extServerName:
			name, ok := serverName(data)
			if !ok {
				return hello{}, errNotTLS
			}
			h.name = name
		case extEncrypted, extEncryptedV0:
			h.encrypted = true
		}
	}
	return h, nil
}

// serverName reads a server_name extension: a list of exactly one host name.
func serverName(data cut) (string, bool) {
	list := data.part(2)
	if data.bad || len(data.b) != 0 || list.number(1) != 0 {
		return "", false
	}
	name := list.part(2)
	if list.bad || len(list.b) != 0 || len(name.b) == 0 || len(name.b) > 253 {
		return "", false
	}
	for _, x := range name.b {
		if x <= ' ' || x >= 0x7f {
			return "", false
		}
	}
	return strings.ToLower(string(name.b)), true
}

// match says why a connection with h does not lead to host, or "". literal
// says that host is an address, which h must not name.
func (h hello) match(host string, literal bool) string {
	switch {
	case h.encrypted:
		return SNIEncrypted
	case literal && h.name == "":
		return ""
	case h.name == "":
		return SNIMissing
	case literal || h.name != host:
		return SNIMismatch
	}
	return ""
}
