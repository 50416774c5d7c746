package worker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what a frame carries.
type Kind byte

// The frames. The worker sends Hello once, then Request and Reply; the parent
// sends Call, Cancel and Answer.
const (
	KindHello   Kind = 'H' // Hello
	KindCall    Kind = 'C' // Call without Args; the body is Args
	KindCancel  Kind = 'X' // nothing: the call is to end
	KindRequest Kind = 'Q' // BrokerRequest without Args; the body is Args
	KindAnswer  Kind = 'A' // BrokerReply without Result; the body is Result
	KindReply   Kind = 'R' // Reply without Result; the body is Result
)

// MaxFrame bounds one frame in either direction: the largest result of one
// brokered operation and room for what is around it.
const MaxFrame = 33 << 20

// headSize is the length of what stands before each frame: the length of all
// that follows, the kind, the number, the length of the header.
const headSize = 4 + 1 + 4 + 4

// Hello is the first frame of a worker.
type Hello struct {
	Build     string    `json:"build"` // BuildID of the worker
	PID       int       `json:"pid"`   // as the worker sees it
	Isolation Isolation `json:"isolation"`
}

// A Frame is one message as it was read. Body belongs to the reader.
type Frame struct {
	Kind   Kind
	ID     uint32 // pairs an Answer with its Request
	Header []byte // JSON
	Body   []byte // JSON text or nothing; not looked at
}

// Decode reads the header into v. Members that v lacks, doubled members and
// text that is not UTF-8 are errors: the sender is not trusted.
func (f Frame) Decode(v any) error {
	return json.Unmarshal(f.Header, v, json.RejectUnknownMembers(true))
}

// ErrFrame is what a frame that breaks the format gives.
var ErrFrame = errors.New("worker: a frame breaks the format")

// A Conn sends and receives frames over a stream. Send is safe for concurrent
// use; Receive belongs to one goroutine.
type Conn struct {
	in *bufio.Reader

	mu  sync.Mutex
	to  io.Writer
	out bytes.Buffer

	head [headSize]byte
}

// readBuffer takes most frames in one read.
const readBuffer = 16 << 10

// NewConn makes a Conn over rw.
func NewConn(rw io.ReadWriter) *Conn {
	return &Conn{in: bufio.NewReaderSize(rw, readBuffer), to: rw}
}

// keepBuffer is the largest buffer that a Conn holds on to between frames.
const keepBuffer = 1 << 20

// Send writes one frame in one piece. Text that is not UTF-8 is sent with
// replacement characters.
func (c *Conn) Send(kind Kind, id uint32, header any, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Reset()
	var head [headSize]byte
	c.out.Write(head[:])
	if header != nil {
		if err := json.MarshalWrite(&c.out, header, jsontext.AllowInvalidUTF8(true)); err != nil {
			return err
		}
	}
	headerLen := c.out.Len() - headSize
	size := c.out.Len() - 4 + len(body)
	if size > MaxFrame {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrFrame, size, MaxFrame)
	}
	c.out.Write(body)
	frame := c.out.Bytes()
	binary.BigEndian.PutUint32(frame, uint32(size))
	frame[4] = byte(kind)
	binary.BigEndian.PutUint32(frame[5:], id)
	binary.BigEndian.PutUint32(frame[9:], uint32(headerLen))
	_, err := c.to.Write(frame)
	if c.out.Cap() > keepBuffer {
		c.out = bytes.Buffer{}
	}
	return err
}

// Receive reads one frame. It holds memory for what has arrived only, not for
// what a length promises.
func (c *Conn) Receive() (Frame, error) {
	if _, err := io.ReadFull(c.in, c.head[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = fmt.Errorf("%w: it ends in its head", ErrFrame)
		}
		return Frame{}, err
	}
	size := int64(binary.BigEndian.Uint32(c.head[:])) - (headSize - 4)
	header := int64(binary.BigEndian.Uint32(c.head[9:]))
	if size < 0 || size > MaxFrame-(headSize-4) || header > size {
		return Frame{}, fmt.Errorf("%w: it says to have %d bytes, %d of them header", ErrFrame, size, header)
	}
	rest, err := readN(c.in, size)
	if err != nil {
		return Frame{}, err
	}
	return Frame{Kind: Kind(c.head[4]), ID: binary.BigEndian.Uint32(c.head[5:]), Header: rest[:header], Body: rest[header:]}, nil
}

// readN reads exactly n bytes. What is small is read at once.
func readN(r io.Reader, n int64) ([]byte, error) {
	if n <= 64<<10 {
		b := make([]byte, n)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, r, n)
	return b.Bytes(), err
}
