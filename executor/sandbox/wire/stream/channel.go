package stream

import (
	"encoding/binary"
	"io"
	"sync"
	"syscall"
)

// A Channel is a stream of bytes in each direction. One goroutine may read
// while another writes.
type Channel struct {
	m  *Mux
	id uint32

	mu      sync.Mutex
	changed *sync.Cond
	err     error // of the whole conversation

	arrived  []byte // not read yet
	taken    int    // read, and not given back as credit yet
	theirEnd bool   // the other end writes no more
	refused  bool   // this end reads no more

	credit  int  // what may be written
	ourEnd  bool // this end writes no more
	refuses bool // the other end reads no more
}

func newChannel(m *Mux, id uint32) *Channel {
	c := &Channel{m: m, id: id, credit: window}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// Read gives what the other end wrote, io.EOF after its end, and the reason
// where the conversation broke off.
func (c *Channel) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.mu.Lock()
	for len(c.arrived) == 0 && !c.theirEnd && !c.refused && c.err == nil {
		c.changed.Wait()
	}
	switch {
	case c.refused:
		c.mu.Unlock()
		return 0, io.ErrClosedPipe
	case len(c.arrived) > 0:
	case c.theirEnd:
		c.mu.Unlock()
		return 0, io.EOF
	default:
		defer c.mu.Unlock()
		return 0, c.err
	}
	n := copy(p, c.arrived)
	c.arrived = c.arrived[n:]
	c.taken += n
	back := 0
	if c.taken >= window/2 && !c.theirEnd {
		back, c.taken = c.taken, 0
	}
	c.mu.Unlock()
	if back > 0 {
		_ = c.m.send(kindCredit, c.id, binary.BigEndian.AppendUint32(nil, uint32(back)))
	}
	return n, nil
}

// Write sends p, as fast as the other end reads. EPIPE says that it reads no
// more.
func (c *Channel) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		c.mu.Lock()
		for c.credit == 0 && !c.refuses && !c.ourEnd && c.err == nil {
			c.changed.Wait()
		}
		switch {
		case c.err != nil:
			defer c.mu.Unlock()
			return done, c.err
		case c.ourEnd:
			c.mu.Unlock()
			return done, io.ErrClosedPipe
		case c.refuses:
			c.mu.Unlock()
			return done, syscall.EPIPE
		}
		n := min(len(p)-done, c.credit, maxData)
		c.credit -= n
		c.mu.Unlock()
		if err := c.m.send(kindData, c.id, p[done:done+n]); err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// CloseWrite says that nothing more is written. It must not be called while a
// Write runs.
func (c *Channel) CloseWrite() error {
	c.mu.Lock()
	if c.ourEnd || c.err != nil {
		c.mu.Unlock()
		return nil
	}
	c.ourEnd = true
	c.changed.Broadcast()
	over := c.theirEnd
	c.mu.Unlock()
	err := c.m.send(kindEnd, c.id, nil)
	if over {
		c.m.forget(c.id)
	}
	return err
}

// CloseRead says that nothing more is read: the writer of the other end gets
// EPIPE.
func (c *Channel) CloseRead() error {
	c.mu.Lock()
	if c.refused || c.err != nil {
		c.mu.Unlock()
		return nil
	}
	c.refused = true
	c.arrived = nil
	c.changed.Broadcast()
	over := c.theirEnd
	c.mu.Unlock()
	if over {
		return nil
	}
	return c.m.send(kindRefuse, c.id, nil)
}

// Close ends both directions.
func (c *Channel) Close() error {
	err := c.CloseRead()
	if e := c.CloseWrite(); err == nil {
		err = e
	}
	return err
}

func (c *Channel) abort(why error) {
	c.mu.Lock()
	c.err = why
	c.changed.Broadcast()
	c.mu.Unlock()
}

func (c *Channel) takeData(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.theirEnd {
		return broken("data of channel %d after its end", c.id)
	}
	if c.refused {
		return nil // it was under way; the writer gets no credit for it
	}
	if len(c.arrived)+c.taken+len(b) > window {
		return broken("more data of channel %d than its window", c.id)
	}
	c.arrived = append(c.arrived, b...)
	c.changed.Broadcast()
	return nil
}

func (c *Channel) takeCredit(n uint32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > window || c.credit+int(n) > window {
		return broken("more credit for channel %d than was used", c.id)
	}
	c.credit += int(n)
	c.changed.Broadcast()
	return nil
}

func (c *Channel) takeEnd() error {
	c.mu.Lock()
	if c.theirEnd {
		c.mu.Unlock()
		return broken("a second end of channel %d", c.id)
	}
	c.theirEnd = true
	c.changed.Broadcast()
	over := c.ourEnd
	c.mu.Unlock()
	if over {
		c.m.forget(c.id)
	}
	return nil
}

func (c *Channel) takeRefuse() {
	c.mu.Lock()
	c.refuses = true
	c.changed.Broadcast()
	c.mu.Unlock()
}
