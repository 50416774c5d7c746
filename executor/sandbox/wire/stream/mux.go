// Package stream carries messages and byte channels over one stream of bytes,
// such as a serial port or a socket of a virtual machine, where descriptors
// cannot be passed: a message names channels where it would have descriptors.
//
// Threat model: the other end may be hostile. Everything it sends is bounded
// before memory is taken for it; what breaks the format ends the conversation
// with ErrFrame. A channel has a window: its writer waits for its own reader
// only, so one that nobody reads delays no other.
package stream

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrClosed is what the methods give after Close.
var ErrClosed = errors.New("the stream is closed")

// maxWaiting is how many messages may wait for Receive. The protocol above
// has one question under way at a time.
const maxWaiting = 64

// A Mux is one end of a conversation. Its methods are safe for concurrent use.
type Mux struct {
	rw io.ReadWriteCloser

	write sync.Mutex // one frame at a time
	frame []byte

	mu       sync.Mutex
	channels map[uint32]*Channel
	next     uint32 // number of the next channel that this end opens
	theirs   uint32 // last one that the other end opened
	messages []message
	news     chan struct{} // one token: messages or err changed
	err      error         // why it is over
	done     chan struct{}
}

type message struct {
	text     []byte
	channels []*Channel
}

// New makes one end over rw. One of the two ends is first.
func New(rw io.ReadWriteCloser, first bool) *Mux {
	m := &Mux{rw: rw, channels: map[uint32]*Channel{}, next: 2, theirs: 1, news: make(chan struct{}, 1), done: make(chan struct{})}
	if first {
		m.next, m.theirs = 3, 0
	}
	go m.read()
	return m
}

// Send sends a message that brings so many new channels with it, and gives
// this end of them.
func (m *Mux) Send(text []byte, channels int) ([]*Channel, error) {
	if len(text) > MaxMessage || channels < 0 || channels > maxInMessage {
		return nil, fmt.Errorf("a message of %d bytes and %d channels; at most %d and %d", len(text), channels, MaxMessage, maxInMessage)
	}
	// The numbers of channels rise from message to message, so they are given
	// and sent under one lock.
	m.write.Lock()
	defer m.write.Unlock()
	m.mu.Lock()
	if m.err != nil {
		defer m.mu.Unlock()
		return nil, m.err
	}
	if len(m.channels)+channels > maxChannels {
		m.mu.Unlock()
		return nil, fmt.Errorf("%d channels are open already; at most %d can be", len(m.channels), maxChannels)
	}
	opened := make([]*Channel, channels)
	for i := range opened {
		opened[i] = newChannel(m, m.next)
		m.channels[m.next] = opened[i]
		m.next += 2
	}
	m.mu.Unlock()
	if err := m.sendLocked(kindMessage, 0, packMessage(text, opened)); err != nil {
		return nil, err
	}
	return opened, nil
}

// Receive gives the next message, and the channels that it names. It belongs
// to one goroutine. After the end it gives what is left, and then io.EOF or
// why the conversation ended.
func (m *Mux) Receive() ([]byte, []*Channel, error) {
	for {
		m.mu.Lock()
		if len(m.messages) > 0 {
			next := m.messages[0]
			m.messages = m.messages[1:]
			m.mu.Unlock()
			return next.text, next.channels, nil
		}
		err := m.err
		m.mu.Unlock()
		if err != nil {
			return nil, nil, err
		}
		select {
		case <-m.news:
		case <-m.done:
		}
	}
}

// Done is closed when the conversation is over.
func (m *Mux) Done() <-chan struct{} { return m.done }

// Close ends the conversation and the stream below it. All channels end.
func (m *Mux) Close() error {
	m.end(ErrClosed)
	return nil
}

func (m *Mux) end(why error) {
	m.mu.Lock()
	if m.err != nil {
		m.mu.Unlock()
		return
	}
	m.err = why
	open := m.channels
	m.channels = map[uint32]*Channel{}
	close(m.done)
	m.mu.Unlock()
	if why == io.EOF {
		why = io.ErrUnexpectedEOF // of a channel that had no end of its own
	}
	for _, c := range open {
		c.abort(why)
	}
	_ = m.rw.Close()
}

func (m *Mux) send(k kind, channel uint32, body []byte) error {
	m.write.Lock()
	defer m.write.Unlock()
	return m.sendLocked(k, channel, body)
}

// sendLocked writes a frame; the caller holds m.write. It takes no other lock
// while it waits for the stream.
func (m *Mux) sendLocked(k kind, channel uint32, body []byte) error {
	select {
	case <-m.done:
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.err
	default:
	}
	m.frame = appendFrame(m.frame[:0], k, channel, body)
	_, err := m.rw.Write(m.frame)
	if cap(m.frame) > 4*maxData {
		m.frame = nil
	}
	if err != nil {
		m.end(err)
	}
	return err
}

// read takes frames until the stream ends. It never writes and never waits
// for a reader of a channel: what does not fit into a window is an error of
// the other end.
func (m *Mux) read() {
	in := bufio.NewReaderSize(m.rw, 4*maxData)
	for {
		k, id, body, err := readFrame(in)
		if err == nil {
			err = m.take(k, id, body)
		}
		if err != nil {
			m.end(err)
			return
		}
	}
}

func (m *Mux) take(k kind, id uint32, body []byte) error {
	if k == kindMessage {
		return m.takeMessage(body)
	}
	m.mu.Lock()
	c := m.channels[id]
	known := id < m.next
	if id%2 != m.next%2 {
		known = id <= m.theirs
	}
	m.mu.Unlock()
	if c == nil {
		// The other end may ask about a channel whose end it has not seen.
		if known && id > 1 && (k == kindCredit || k == kindRefuse) {
			return nil
		}
		return broken("a frame %q for channel %d, which is not open", byte(k), id)
	}
	switch k {
	case kindData:
		return c.takeData(body)
	case kindCredit:
		return c.takeCredit(binary.BigEndian.Uint32(body))
	case kindEnd:
		return c.takeEnd()
	default:
		c.takeRefuse()
		return nil
	}
}

func (m *Mux) takeMessage(body []byte) error {
	text, ids, err := unpackMessage(body)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if len(m.messages) >= maxWaiting || len(m.channels)+len(ids) > maxChannels {
		return broken("more messages or channels than there can be")
	}
	next := message{text: text}
	for _, id := range ids {
		if id <= m.theirs || id%2 == m.next%2 {
			return broken("channel %d after %d", id, m.theirs)
		}
		m.theirs = id
		c := newChannel(m, id)
		m.channels[id] = c
		next.channels = append(next.channels, c)
	}
	m.messages = append(m.messages, next)
	select {
	case m.news <- struct{}{}:
	default:
	}
	return nil
}

// forget removes a channel whose both directions have ended.
func (m *Mux) forget(id uint32) {
	m.mu.Lock()
	delete(m.channels, id)
	m.mu.Unlock()
}
