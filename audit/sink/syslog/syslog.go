// Package syslog is the audit sink that sends lines as syslog messages (RFC
// 5424) over TLS (RFC 5425), facility 13 (log audit).
//
// Syslog has no acknowledgement: that a message was written says that it is
// on its way. So what was written lately is kept, and when the connection
// ends before it was old enough to have arrived, it is sent again over the
// next one, in its order, before anything new. The receiver may get a line
// twice; its seq tells. What a receiver drops while the connection stays is
// not found out; where that matters, use another sink.
package syslog

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
)

const (
	// ackWithin is how long the other machine may leave data unacknowledged
	// until the connection counts as dead; settled is when what was written
	// over a connection that still lives has arrived.
	ackWithin = 10 * time.Second
	settled   = 15 * time.Second
	// recentMax bounds what is kept, in bytes; the oldest goes first.
	recentMax = 8 << 20
	// probation is how long the first batch over a new connection waits for
	// the other side to end it: with TLS 1.3 a certificate that is refused
	// shows only after the handshake.
	probation = 200 * time.Millisecond
	// farewell bounds how long Close waits for the other side to end.
	farewell = time.Second
)

// Options say where to.
type Options struct {
	Address string // host:port
	TLS     remote.TLS
}

// Sink sends over one connection. Safe for concurrent use.
type Sink struct {
	address string
	config  *tls.Config
	from    source
	now     func() time.Time

	mu     sync.Mutex
	conn   *tls.Conn
	gone   chan struct{} // closed when the other side ended conn
	recent [][]byte      // lines that may not have arrived
	size   int
	last   time.Time // of the last write
	buf    []byte
}

var _ audit.Sink = (*Sink)(nil)

// New makes a sink; it connects with the first batch. Errors are USAGE.
func New(o Options) (*Sink, error) {
	if err := remote.CheckAddress(o.Address); err != nil {
		return nil, err
	}
	config, err := o.TLS.Config()
	if err != nil {
		return nil, err
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(o.Address)
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return &Sink{address: o.Address, config: config, from: newSource(host, os.Getpid()), now: time.Now}, nil
}

// Write sends a batch. After an error none, some or all of it arrived, and
// the caller sends it again.
func (s *Sink) Write(ctx context.Context, lines [][]byte, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.send(ctx, lines); err != nil {
		return err
	}
	s.recent = append(s.recent, lines...)
	for _, l := range lines {
		s.size += len(l)
	}
	for s.size > recentMax && len(s.recent) > 1 {
		s.size -= len(s.recent[0])
		s.recent = s.recent[1:]
	}
	s.last = s.now()
	return nil
}

// Settle forgets what has arrived, and sends again what has not.
func (s *Sink) Settle(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) == 0 {
		return nil
	}
	if s.conn == nil || s.ended() {
		if err := s.send(ctx, nil); err != nil {
			return err
		}
		s.last = s.now()
		return nil
	}
	if s.now().Sub(s.last) > settled {
		s.recent, s.size = nil, 0
	}
	return nil
}

func (s *Sink) ended() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// send writes lines. An old connection that turns out to be dead is no
// failure: a new one is tried.
func (s *Sink) send(ctx context.Context, lines [][]byte) error {
	if s.conn != nil && s.ended() {
		s.drop()
	}
	if s.conn != nil && s.write(ctx, lines, false) == nil {
		return nil
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	// What may not have arrived goes first.
	return s.write(ctx, append(s.recent[:len(s.recent):len(s.recent)], lines...), true)
}

// write puts lines into the connection; after an error there is none.
func (s *Sink) write(ctx context.Context, lines [][]byte, fresh bool) error {
	s.buf = s.buf[:0]
	for _, l := range lines {
		s.buf = s.from.frame(s.buf, l)
	}
	deadline, _ := ctx.Deadline()
	err := s.conn.SetWriteDeadline(deadline)
	if err == nil {
		_, err = s.conn.Write(s.buf)
	}
	if cap(s.buf) > recentMax {
		s.buf = nil
	}
	if err == nil && fresh {
		timer := time.NewTimer(probation)
		defer timer.Stop()
		select {
		case <-s.gone:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if err == nil && s.ended() {
		err = errors.New("the other side ended the connection")
	}
	if err != nil {
		s.drop()
		return fmt.Errorf("%s: %w", s.address, err)
	}
	return nil
}

// connect opens a connection and listens to its end: a receiver of syslog
// says nothing else.
func (s *Sink) connect(ctx context.Context) error {
	d := tls.Dialer{NetDialer: &net.Dialer{Control: bound}, Config: s.config}
	c, err := d.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("%s: %w", s.address, err)
	}
	conn, gone := c.(*tls.Conn), make(chan struct{})
	s.conn, s.gone = conn, gone
	go func() {
		defer close(gone)
		var b [512]byte
		for {
			if _, err := conn.Read(b[:]); err != nil {
				return
			}
		}
	}()
	return nil
}

func (s *Sink) drop() {
	_ = s.conn.Close()
	s.conn = nil
}

// Close says that it ends, and gives the other side a second to have read
// everything.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil
	}
	if s.conn.CloseWrite() == nil {
		timer := time.NewTimer(farewell)
		defer timer.Stop()
		select {
		case <-s.gone:
		case <-timer.C:
		}
	}
	s.drop()
	return nil
}
