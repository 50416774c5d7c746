package allow

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

const (
	nameTTL     = 60   // seconds
	maxQuestion = 4096 // bytes of a message
	udpSize     = 1232 // that we say to take
	tcpIdle     = 10 * time.Second
	maxTCPDNS   = 16 // connections to the name server at one time
)

// answer gives the answer to one message, or nil where there is none to give.
// Nothing leaves this function but what is made in it.
func (p *Proxy) answer(query []byte) []byte {
	var parser dnsmessage.Parser
	in, err := parser.Start(query)
	if err != nil || in.Response {
		return nil // not a question; whoever sent it waits for nothing
	}
	out := dnsmessage.Header{ID: in.ID, Response: true, OpCode: in.OpCode, RecursionDesired: in.RecursionDesired, RecursionAvailable: true}
	if in.OpCode != 0 {
		out.RCode = dnsmessage.RCodeNotImplemented
		return build(out, nil, nil, false)
	}
	q, err := parser.Question()
	if err == nil {
		// One question is all that there ever is.
		if _, more := parser.Question(); !errors.Is(more, dnsmessage.ErrSectionDone) {
			err = errors.New("not one question")
		}
	}
	if err != nil {
		out.RCode = dnsmessage.RCodeFormatError
		return build(out, nil, nil, false)
	}
	host, reason, ok := p.list.judge(q.Name.String())
	edns := hasEDNS(&parser)
	switch {
	case q.Class != dnsmessage.ClassINET:
		out.RCode = dnsmessage.RCodeRefused
	case !ok:
		p.refusedName(host, reason)
		out.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		a := dnsmessage.AResource{A: p.names.of(host).As4()}
		return build(out, &q, &a, edns)
	}
	// Another type of an allowed name: it exists and has no such record.
	return build(out, &q, nil, edns)
}

// hasEDNS reports whether the additional section has an OPT record. What
// cannot be read there is as if it were not.
func hasEDNS(p *dnsmessage.Parser) bool {
	if p.SkipAllAnswers() != nil || p.SkipAllAuthorities() != nil {
		return false
	}
	for {
		h, err := p.AdditionalHeader()
		if err != nil {
			return false
		}
		if h.Type == dnsmessage.TypeOPT {
			return true
		}
		if p.SkipAdditional() != nil {
			return false
		}
	}
}

func build(h dnsmessage.Header, q *dnsmessage.Question, a *dnsmessage.AResource, edns bool) []byte {
	b := dnsmessage.NewBuilder(make([]byte, 0, 512), h)
	b.EnableCompression()
	err := b.StartQuestions()
	if q != nil {
		err = errors.Join(err, b.Question(*q))
	}
	err = errors.Join(err, b.StartAnswers())
	if a != nil {
		err = errors.Join(err, b.AResource(dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: nameTTL}, *a))
	}
	err = errors.Join(err, b.StartAdditionals())
	if edns {
		var opt dnsmessage.ResourceHeader
		err = errors.Join(err, opt.SetEDNS0(udpSize, dnsmessage.RCodeSuccess, false), b.OPTResource(opt, dnsmessage.OPTResource{}))
	}
	message, finish := b.Finish()
	if errors.Join(err, finish) != nil {
		return nil
	}
	return message
}

func (p *Proxy) refusedName(host, reason string) {
	p.note(&record{entry: sandbox.Connection{Host: host, Reason: reason}})
}

// serveUDP answers until the socket is closed.
func (p *Proxy) serveUDP(conn net.PacketConn) {
	buf := make([]byte, maxQuestion)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			if p.over(err) {
				return
			}
			continue
		}
		if a := p.answer(buf[:n]); a != nil {
			_, _ = conn.WriteTo(a, from)
		}
	}
}

// serveTCPDNS answers the questions of one connection.
func (p *Proxy) serveTCPDNS(conn net.Conn) {
	defer conn.Close()
	var size [2]byte
	for {
		_ = conn.SetDeadline(time.Now().Add(tcpIdle))
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint16(size[:]))
		if n > maxQuestion {
			return
		}
		query := make([]byte, n)
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		a := p.answer(query)
		if a == nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...)); err != nil {
			return
		}
	}
}
