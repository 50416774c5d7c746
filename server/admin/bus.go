package admin

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Topics of events.
const (
	topicApprovals = "approval"
	topicCatalog   = "catalog"
	topicPolicy    = "policy"
	topicJobs      = "job"
)

var topics = []string{topicApprovals, topicCatalog, topicPolicy, topicJobs}

// Bounds of the streams of events.
const (
	ringEvents    = 1024 // that a client which comes back can still get
	waitingEvents = 256  // for one client that reads slowly
)

// event is one thing that happened. Its data tell what to look at, not all
// that there is to see.
type event struct {
	id    string
	topic string
	data  []byte
}

// bus hands events to streams and keeps the last ones. Safe for concurrent
// use.
type bus struct {
	mu     sync.Mutex
	epoch  string // of the ring; ids of another one say nothing here
	last   uint64
	ring   []event // the last ones, oldest first
	subs   map[*subscription]struct{}
	closed bool
}

// subscription is one stream. events is closed when the stream has to end:
// the bus ends, or the client reads so slowly that events would be left out.
type subscription struct {
	events chan event
}

func newBus() *bus { return &bus{epoch: rand.Text()[:12], subs: map[*subscription]struct{}{}} }

// publish hands on an event; it never blocks.
func (b *bus) publish(topic string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	e := event{id: b.id(b.last), topic: topic, data: data}
	if len(b.ring) == ringEvents {
		b.ring = append(b.ring[:0:0], b.ring[1:]...)
	}
	b.ring = append(b.ring, e)
	for s := range b.subs {
		select {
		case s.events <- e:
		default:
			b.drop(s)
		}
	}
}

func (b *bus) id(n uint64) string { return b.epoch + "-" + strconv.FormatUint(n, 10) }

// subscribe begins a stream. lastID is the id of the last event that the
// client has, "" for a client that begins. resumed is false when what lies
// between is not known any more; at is the id that a stream without events
// begins with.
func (b *bus) subscribe(lastID string) (s *subscription, missed []event, at string, resumed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, "", false, fault.New(fault.Interrupted, "stopping", "the server is stopping")
	}
	missed, resumed = b.since(lastID)
	s = &subscription{events: make(chan event, waitingEvents)}
	b.subs[s] = struct{}{}
	return s, missed, b.id(b.last), resumed, nil
}

// since gives what came after an event; b.mu is held.
func (b *bus) since(lastID string) ([]event, bool) {
	if lastID == "" {
		return nil, true
	}
	number, ok := strings.CutPrefix(lastID, b.epoch+"-")
	n, err := strconv.ParseUint(number, 10, 64)
	oldest := b.last - uint64(len(b.ring)) // the event before the ring
	if !ok || err != nil || fmt.Sprint(n) != number || n < oldest || n > b.last {
		return nil, false
	}
	return append([]event(nil), b.ring[n-oldest:]...), true
}

func (b *bus) unsubscribe(s *subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(s)
}

// drop ends a stream; b.mu is held.
func (b *bus) drop(s *subscription) {
	if _, open := b.subs[s]; open {
		delete(b.subs, s)
		close(s.events)
	}
}

// renew forgets the events: nobody watched for a while, so that a client that
// comes back cannot be told what it missed.
func (b *bus) renew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.epoch, b.ring, b.last = rand.Text()[:12], nil, 0
}

// streams counts the open ones.
func (b *bus) streams() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.subs)
}

func (b *bus) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subs {
		b.drop(s)
	}
}
