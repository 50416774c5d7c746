package audit

import (
	"maps"
	"sync"
	"time"
)

// closedMemory is how many closed calls a process remembers, at least, to
// refuse a second close of one.
const closedMemory = 1 << 15

// unwrittenMax and unwrittenBytes bound the closes that wait for the disk to
// come back. A call beyond that stays open until this process has ended.
const (
	unwrittenMax   = 1024
	unwrittenBytes = 16 << 20
)

// calls knows which calls this process has begun and not ended, and which it
// has closed lately. Safe for concurrent use.
type calls struct {
	mu       sync.Mutex
	begun    map[string]begun
	now, old map[string]struct{} // closed, in two generations

	unwritten map[string][]byte // closes of begun calls that did not get into the log
	size      int               // bytes of unwritten
}

// begun is a call with an ask or open record of this process.
type begun struct {
	offset  int64 // of its first record
	opened  bool
	expires time.Time // of its ask
}

func newCalls() *calls {
	return &calls{begun: map[string]begun{}, now: map[string]struct{}{}, unwritten: map[string][]byte{}}
}

// closing reserves the one close of a call; false means that it has one.
func (c *calls) closing(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.now[id]; ok {
		return false
	}
	if _, ok := c.old[id]; ok {
		return false
	}
	if len(c.now) >= closedMemory {
		c.now, c.old = make(map[string]struct{}, closedMemory), c.now
	}
	c.now[id] = struct{}{}
	return true
}

// notClosed gives a reservation back: the record did not get into the log.
func (c *calls) notClosed(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.now, id)
	delete(c.old, id)
}

// keep remembers the close of a begun call that did not get into the log.
func (c *calls) keep(id string, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.begun[id]; !ok {
		return
	}
	c.drop(id)
	if len(c.unwritten) < unwrittenMax && c.size+len(body) <= unwrittenBytes {
		c.unwritten[id] = body
		c.size += len(body)
	}
}

// drop forgets an unwritten close. The caller holds the lock.
func (c *calls) drop(id string) {
	c.size -= len(c.unwritten[id])
	delete(c.unwritten, id)
}

// late gives the unwritten closes, and the offset of the first record of
// their calls.
func (c *calls) late() (closes map[string][]byte, low int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	closes = maps.Clone(c.unwritten)
	first := true
	for id := range closes {
		if b := c.begun[id]; first || b.offset < low {
			low, first = b.offset, false
		}
	}
	return closes, low
}

// asked remembers a call that waits until expires, opened one that runs. The
// first of their records is written at offset.
func (c *calls) asked(id string, offset int64, expires time.Time) {
	c.remember(id, offset, func(b *begun) { b.expires = expires })
}

func (c *calls) opened(id string, offset int64) {
	c.remember(id, offset, func(b *begun) { b.opened = true })
}

func (c *calls) remember(id string, offset int64, note func(*begun)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.begun[id]
	if !ok {
		b.offset = offset
	}
	note(&b)
	c.begun[id] = b
}

// ended forgets a call that has its close.
func (c *calls) ended(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.begun, id)
	c.drop(id)
}

// low is the offset of the oldest record of a call in flight, or end if there
// is none; n is how many there are.
func (c *calls) low(end int64) (offset int64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.begun {
		end = min(end, b.offset)
	}
	return end, len(c.begun)
}

// expired gives the asks of this process that nobody took up by now, and the
// offset of the first of them.
func (c *calls) expired(now time.Time) (ids map[string]bool, low int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids = map[string]bool{}
	for id, b := range c.begun {
		if b.opened || b.expires.IsZero() || !now.After(b.expires.Add(ExpiryGrace)) {
			continue
		}
		if len(ids) == 0 || b.offset < low {
			low = b.offset
		}
		ids[id] = true
	}
	return ids, low
}
