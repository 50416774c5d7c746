// Package capture keeps the beginning of what a command writes and hands it,
// as it comes, to a writer of the caller's as well.
//
// What writes is hostile, and what is written to may be slow, fail or panic:
// none of them waits for the other, and no more is kept than was asked for.
package capture

import (
	"io"
	"time"
)

// chunks is how many writes a live writer may be behind. What it does not take
// in time is lost to it.
const chunks = 256

// A Writer is one stream. One goroutine writes and then calls Finish; the rest
// is for after that.
type Writer struct {
	limit int64
	kept  []byte
	cut   bool
	live  chan []byte
	done  chan struct{}
}

// New keeps limit bytes, and gives the same bytes to live if it is not nil.
func New(limit int64, live io.Writer) *Writer {
	w := &Writer{limit: limit}
	if live == nil {
		return w
	}
	w.live, w.done = make(chan []byte, chunks), make(chan struct{})
	go func() {
		defer close(w.done)
		defer func() { _ = recover() }() // a writer that panics is one that failed
		for b := range w.live {
			if _, err := live.Write(b); err != nil {
				return
			}
		}
	}()
	return w
}

// Write takes all of p. It never fails, never waits, and does not keep p.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	if room := w.limit - int64(len(w.kept)); int64(n) > room {
		p, w.cut = p[:room], true
	}
	if len(p) == 0 {
		return n, nil
	}
	w.kept = append(w.kept, p...)
	if w.live != nil {
		// What is kept is not changed afterwards, so it needs no copy.
		b := w.kept[len(w.kept)-len(p):]
		select {
		case w.live <- b[:len(b):len(b)]:
		default:
		}
	}
	return n, nil
}

// Finish waits until the live writer has taken the rest, or until grace. It is
// called once, after the last Write; the live writer may still be at work
// after grace.
func (w *Writer) Finish(grace <-chan time.Time) {
	if w.live == nil {
		return
	}
	close(w.live)
	select {
	case <-w.done:
	case <-grace:
	}
}

// Bytes is what was kept. It has room for nothing more, so that who appends
// to it does not write over what a live writer reads.
func (w *Writer) Bytes() []byte { return w.kept[:len(w.kept):len(w.kept)] }

// Truncated tells that there was more.
func (w *Writer) Truncated() bool { return w.cut }
