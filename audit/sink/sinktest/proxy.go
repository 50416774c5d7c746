// Package sinktest tries an audit sink against a destination that is dead,
// slow or flapping, required and of best effort, over a log and a spool as
// they are in an installation. It is for tests.
package sinktest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Mode is how the way to a destination behaves.
type Mode int

// The modes.
const (
	Up   Mode = iota // everything passes
	Dead             // connections are refused
	Slow             // connections are accepted, and nothing passes
	Flap             // each connection is cut after some of what it carries, up or down
)

// Proxy is a TCP proxy on 127.0.0.1 in front of a server. A change of its
// mode cuts what is open.
type Proxy struct {
	Addr string // host:port, the same over all modes

	t      testing.TB
	server string
	mu     sync.Mutex
	ln     net.Listener
	mode   Mode
	open   map[net.Conn]bool
	cuts   int64
}

// NewProxy begins in mode Up.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	p := &Proxy{t: t, server: server, open: map[net.Conn]bool{}, Addr: "127.0.0.1:0"}
	p.listen()
	p.Addr = p.ln.Addr().String()
	t.Cleanup(func() { p.Set(Dead) })
	return p
}

func (p *Proxy) listen() {
	ln, err := net.Listen("tcp", p.Addr)
	if err != nil {
		p.t.Errorf("the proxy cannot listen: %v", err)
		return
	}
	p.ln = ln
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go p.pass(c)
		}
	}()
}

// Set changes the mode.
func (p *Proxy) Set(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	for c := range p.open {
		_ = c.Close()
	}
	clear(p.open)
	switch {
	case m == Dead && p.ln != nil:
		_ = p.ln.Close()
		p.ln = nil
	case m != Dead && p.ln == nil:
		p.listen()
	}
}

// hold notes a connection, or closes it where the mode is another by now.
func (p *Proxy) hold(c net.Conn, m Mode) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode != m {
		_ = c.Close()
		return false
	}
	p.open[c] = true
	return true
}

func (p *Proxy) pass(c net.Conn) {
	p.mu.Lock()
	mode := p.mode
	p.cuts++
	cut := p.cuts
	p.mu.Unlock()
	if !p.hold(c, mode) || mode == Slow {
		return
	}
	up, err := net.Dial("tcp", p.server)
	if err != nil {
		_ = c.Close()
		return
	}
	if !p.hold(up, mode) {
		_ = c.Close()
		return
	}
	there, back := int64(1<<62), int64(1<<62)
	if mode == Flap {
		// Further each time, so that somebody who goes on gets through: first
		// in the request, then in the answer, when the lines have arrived.
		there = 300 * cut * cut
		if cut%2 == 0 {
			there, back = 1<<62, 100*cut*cut
		}
	}
	end := func() { _ = c.Close(); _ = up.Close() }
	go func() {
		_, _ = io.CopyN(up, c, there)
		end()
	}()
	_, _ = io.CopyN(c, up, back)
	end()
}
