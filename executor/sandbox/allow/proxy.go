package allow

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/fault"
)

// A Proxy is the list at work for one sandbox. It is safe for concurrent use.
type Proxy struct {
	list    *List
	names   *names
	closers []io.Closer
	work    sync.WaitGroup // accept loops and the name server
	places  chan struct{}  // one is taken by each connection
	dns     chan struct{}  // the same for connections to the name server

	mu     sync.Mutex
	closed bool
	flows  map[*flow]bool
	logs   map[*Log]bool
}

// A flow is one connection of the sandbox that is being served.
type flow struct {
	guest  net.Conn
	ctx    context.Context
	cancel context.CancelFunc
	place  chan struct{}
	done   chan struct{}
}

// Serve answers on the sockets of a sandbox until Close, which closes them:
// listeners for its ports, and udp and tcp for its name server. Each of the
// last two may be nil. The local address of an accepted connection has to be
// the *net.TCPAddr that the sandbox connected to.
func (l *List) Serve(listeners []net.Listener, udp net.PacketConn, tcp net.Listener) *Proxy {
	p := &Proxy{
		list: l, names: newNames(),
		places: make(chan struct{}, l.opts.MaxConnections), dns: make(chan struct{}, maxTCPDNS),
		flows: map[*flow]bool{}, logs: map[*Log]bool{},
	}
	for _, ln := range listeners {
		p.closers = append(p.closers, ln)
		p.work.Go(func() { p.accept(ln, p.begin) })
	}
	if udp != nil {
		p.closers = append(p.closers, udp)
		p.work.Go(func() { p.serveUDP(udp) })
	}
	if tcp != nil {
		p.closers = append(p.closers, tcp)
		p.work.Go(func() { p.accept(tcp, p.beginDNS) })
	}
	return p
}

// Close ends everything and waits for it. It may be called more than once.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for _, c := range p.closers {
		_ = c.Close()
	}
	p.Cut()
	p.work.Wait()
}

// Cut ends the connections that there are and waits for them, so that their
// figures are final: for when no process is left that could own one.
func (p *Proxy) Cut() {
	p.mu.Lock()
	flows := make([]*flow, 0, len(p.flows))
	for f := range p.flows {
		flows = append(flows, f)
	}
	p.mu.Unlock()
	for _, f := range flows {
		f.cancel()
	}
	for _, f := range flows {
		<-f.done
	}
}

// over reports whether a socket that failed with err is finished with. What
// passes, such as too many open files, is waited for.
func (p *Proxy) over(err error) bool {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed || errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, syscall.EINVAL) {
		return true
	}
	time.Sleep(20 * time.Millisecond)
	return false
}

func (p *Proxy) accept(l net.Listener, begin func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if err == nil {
			begin(conn)
		} else if p.over(err) {
			return
		}
	}
}

// enter makes a flow of a connection, if one of places is free.
func (p *Proxy) enter(conn net.Conn, places chan struct{}) (f *flow, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	select {
	case places <- struct{}{}:
	default:
		return nil, false
	}
	f = &flow{guest: conn, place: places, done: make(chan struct{})}
	f.ctx, f.cancel = context.WithTimeout(context.Background(), p.list.opts.Lifetime)
	p.flows[f] = true
	return f, true
}

func (p *Proxy) leave(f *flow) {
	f.cancel()
	p.mu.Lock()
	delete(p.flows, f)
	p.mu.Unlock()
	<-f.place
	close(f.done)
}

// begin serves one connection of the sandbox.
func (p *Proxy) begin(conn net.Conn) {
	f, ok := p.enter(conn, p.places)
	if !ok {
		host, port, _, _ := p.destination(conn)
		p.note(&record{entry: sandbox.Connection{Host: host, Port: port, Reason: TooMany}})
		reset(conn)
		return
	}
	go func() {
		defer p.leave(f)
		defer reset(conn) // after an orderly end it does nothing
		r := &record{began: time.Now()}
		defer func() {
			if recover() != nil {
				r.end(Failed)
			}
		}()
		p.connection(f, r)
	}()
}

// beginDNS serves one connection to the name server.
func (p *Proxy) beginDNS(conn net.Conn) {
	f, ok := p.enter(conn, p.dns)
	if !ok {
		reset(conn)
		return
	}
	go func() {
		defer p.leave(f)
		defer context.AfterFunc(f.ctx, func() { reset(conn) })()
		defer func() { _ = recover() }()
		p.serveTCPDNS(conn)
	}()
}

// destination says what the sandbox connected to. ok is false for an address
// that means nothing; host is then the address.
func (p *Proxy) destination(conn net.Conn) (host string, port int, literal, ok bool) {
	local, isTCP := conn.LocalAddr().(*net.TCPAddr)
	if !isTCP {
		return "", 0, false, false
	}
	a, valid := netip.AddrFromSlice(local.IP)
	a = a.Unmap()
	switch {
	case !valid:
		return "", local.Port, false, false
	case issued.Contains(a):
		if name, known := p.names.at(a); known {
			return name, local.Port, false, true
		}
		return a.String(), local.Port, false, false
	}
	return a.String(), local.Port, true, p.list.known(a)
}

// connection decides, dials, and carries. It makes exactly one entry.
func (p *Proxy) connection(f *flow, r *record) {
	host, port, literal, ok := p.destination(f.guest)
	r.entry.Host, r.entry.Port = host, port
	refuse := func(reason string) {
		r.end(reason)
		p.note(r)
	}
	switch denied := p.list.gate.Permits(host, port); {
	case !ok && literal:
		refuse(egress.HostNotInAllowlist)
		return
	case !ok:
		refuse(UnknownAddress)
		return
	case denied != nil:
		refuse(denied.Reason)
		return
	}
	// Where there has to be TLS, nobody is dialled before its first message
	// was seen. Elsewhere the server may be the one to speak first.
	var first []byte
	if p.list.sni && port == 443 {
		var reason string
		if first, reason = readFirst(f, host, literal, true); reason != "" {
			refuse(reason)
			return
		}
	}
	up, failed := p.list.gate.Connect(f.ctx, host, port)
	if failed != nil {
		// What was allowed and did not come about is no refusal.
		r.entry.Allowed = failed.Code != string(fault.Security)
		refuse(failed.Reason)
		return
	}
	defer reset(up)
	r.entry.Allowed = true
	if to, ok := up.RemoteAddr().(*net.TCPAddr); ok {
		r.entry.Address = to.IP.String()
	}
	p.note(r)
	c := &carrier{flow: f, record: r, up: up, idle: p.list.opts.Idle}
	if p.list.sni && port != 443 {
		c.look = func() ([]byte, string) { return readFirst(f, host, literal, false) }
	}
	c.run(first)
}

// readFirst reads the first message of the sandbox as far as it takes to judge
// it, and gives all that was read. With must, it has to be TLS.
func readFirst(f *flow, host string, literal, must bool) (read []byte, reason string) {
	defer context.AfterFunc(f.ctx, func() { reset(f.guest) })()
	if must {
		_ = f.guest.SetReadDeadline(time.Now().Add(helloTimeout))
		defer f.guest.SetReadDeadline(time.Time{})
	}
	buf := make([]byte, 0, 4096)
	for len(buf) < 2*maxHello {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.guest.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if n > 0 {
			if !looksTLS(buf) {
				if must {
					return buf, NotTLS
				}
				return buf, ""
			}
			h, bad := readHello(buf)
			if bad == nil {
				return buf, h.match(host, literal)
			}
			if !errors.Is(bad, errShort) {
				return buf, NotTLS
			}
			if !must {
				// From here on it is TLS that has begun.
				_ = f.guest.SetReadDeadline(time.Now().Add(helloTimeout))
				defer f.guest.SetReadDeadline(time.Time{})
				must = true
			}
		}
		if err != nil {
			if must || len(buf) > 0 {
				return buf, NotTLS
			}
			return buf, "" // it says nothing at all
		}
	}
	return buf, NotTLS
}
