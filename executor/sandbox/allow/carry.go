package allow

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// chunk is how much is carried between two looks at the clock and the figures.
const chunk = 1 << 20

// A carrier moves the bytes of one connection, both ways.
type carrier struct {
	flow   *flow
	record *record
	up     net.Conn
	idle   time.Duration
	last   atomic.Int64 // when something was moved; nanoseconds since began
	// look, if there is one, judges the first bytes of the sandbox before
	// they go out.
	look func() (read []byte, reason string)
}

// run carries until both ends are done, or one broke off. first is sent ahead.
func (c *carrier) run(first []byte) {
	guest := c.flow.guest
	stop := func() { reset(guest); reset(c.up) }
	defer context.AfterFunc(c.flow.ctx, func() {
		c.record.end(Ended)
		stop()
	})()
	in := make(chan bool)
	go func() {
		ok := false
		defer func() {
			_ = recover()
			if !ok {
				stop() // the other direction must not wait for this one
			}
			in <- ok
		}()
		ok = c.pump(guest, c.up, func(n int64) { c.record.moved(n, 0) })
	}()
	out := c.ahead(first) && c.pump(c.up, guest, func(n int64) { c.record.moved(0, n) })
	if !out {
		stop()
	}
	if <-in && out {
		_ = guest.Close() // in order: both sides have said their end
		_ = c.up.Close()
	}
	c.record.end("")
}

// ahead sends what was read before, and judges what has to be.
func (c *carrier) ahead(first []byte) bool {
	if c.look != nil {
		var reason string
		if first, reason = c.look(); reason != "" {
			c.record.refuse(reason)
			return false
		}
	}
	n, err := c.up.Write(first)
	c.record.moved(0, int64(n))
	if err != nil {
		c.record.end(Failed)
	}
	return err == nil
}

// pump carries one direction to its end and closes that half. Between two TCP
// sockets the kernel moves the bytes (splice). It reports false when the
// connection is to be broken off.
func (c *carrier) pump(dst, src net.Conn, moved func(int64)) bool {
	step := max(c.idle/4, time.Millisecond)
	for {
		_ = src.SetReadDeadline(time.Now().Add(step))
		n, err := io.Copy(dst, io.LimitReader(src, chunk))
		now := time.Since(c.record.began)
		if n > 0 {
			moved(n)
			c.last.Store(int64(now))
		}
		switch {
		case err == nil && n == chunk:
		case err == nil:
			half, ok := dst.(interface{ CloseWrite() error })
			return ok && half.CloseWrite() == nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			// The other direction may be the one that is at work.
			if now-time.Duration(c.last.Load()) >= c.idle {
				c.record.end(Idle)
				return false
			}
		default:
			c.record.end(Failed)
			return false
		}
	}
}

// reset breaks a connection off, so that the other side sees an error and no
// end. On a closed one it does nothing.
func reset(conn net.Conn) {
	if l, ok := conn.(interface{ SetLinger(int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = conn.Close()
}
