// Package frame is what the WebAssembly back end and the runner inside its
// sandbox say to each other, over the runner's standard input and output.
//
// A frame is one byte of kind, four bytes of length (big endian) and a body.
// The conversation, begun by the runner:
//
//	runner  Hello   once, when the module is ready, or Done with an error
//	parent  Run     a Request: one instance of the module, from start to end
//	runner  Out, Err, Need, in any order
//	parent  In      the answer to each Need; an empty one is the end
//	runner  Done    a Report
//
// and so on from Run. The runner reads its input only when it asked for
// something, so nothing of one run is left for the next.
//
// # Threat model
//
// The runner is our code but runs what is hostile: whoever broke out of the
// runtime speaks as the runner. Therefore the parent bounds each length before
// it reads, takes no kind that it does not expect, and believes of a Report no
// more than it would of any program about itself.
package frame

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// A Kind is the first byte of a frame.
type Kind byte

// The kinds.
const (
	Hello Kind = 'H'
	Run   Kind = 'R'
	Out   Kind = 'O'
	Err   Kind = 'E'
	Need  Kind = 'N'
	In    Kind = 'I'
	Done  Kind = 'D'
)

// MaxBody bounds what a frame from the runner, and In, may carry.
const MaxBody = 64 << 10

// MaxRequest bounds the body of Run: arguments and environment.
const MaxRequest = 8 << 20

// Request is one run.
type Request struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	// MaxOutput is how much of each stream is wanted, in bytes. One byte more
	// shows that there was more.
	MaxOutput int64 `json:"maxOutput"`
	// Timeout is after how long a run is ended from outside. What can end
	// itself does so soon after; 0 = never.
	Timeout time.Duration `json:"timeoutNs,omitempty"`
}

// Report is the end of one.
type Report struct {
	Code int `json:"code"`
	// Error says that the module did not end by itself: it trapped, could not
	// be started, or the runner gave up. Code is 2, 126, 134
	// or 137 then.
	Error string `json:"error,omitempty"`
	// Memory is the size of the linear memory at the end, in bytes, which is
	// its largest.
	Memory int64 `json:"memory"`
	// MemoryHit: growth was refused at the limit.
	MemoryHit bool `json:"memoryHit,omitempty"`
	// TimedOut: it was ended after Request.Timeout from within.
	TimedOut bool          `json:"timedOut,omitempty"`
	CPU      time.Duration `json:"cpuNs"`
}

// A Writer writes frames. It is safe for concurrent use.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// NewWriter writes frames to w, each with one Write.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write sends one frame. A body of Out and Err that is too long is sent as
// several.
func (w *Writer) Write(k Kind, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		part := body
		if (k == Out || k == Err) && len(part) > MaxBody {
			part = part[:MaxBody]
		}
		w.buf = append(w.buf[:0], byte(k), 0, 0, 0, 0)
		binary.BigEndian.PutUint32(w.buf[1:], uint32(len(part)))
		w.buf = append(w.buf, part...)
		if _, err := w.w.Write(w.buf); err != nil {
			return err
		}
		if body = body[len(part):]; len(body) == 0 {
			return nil
		}
	}
}

// WriteJSON sends a document.
func (w *Writer) WriteJSON(k Kind, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.Write(k, body)
}

// A Reader reads frames.
type Reader struct {
	r   *bufio.Reader
	max uint32
	buf []byte
}

// NewReader reads frames from r whose bodies are at most max bytes.
func NewReader(r io.Reader, max int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 32<<10), max: uint32(max)}
}

// Read gives the next frame. Its body is valid until the next call.
func (r *Reader) Read() (Kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > r.max {
		return 0, nil, fmt.Errorf("a frame of %d bytes, where %d are the most", n, r.max)
	}
	if uint32(cap(r.buf)) < n {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	if _, err := io.ReadFull(r.r, r.buf); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return Kind(head[0]), r.buf, nil
}
