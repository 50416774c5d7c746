package wasm

import (
	"bytes"
	"io"
	"time"
)

// sink keeps the beginning of a stream and passes it on as it comes.
type sink struct {
	most int64
	kept bytes.Buffer
	more bool
	live chan []byte
	done chan struct{}
}

// What a live writer may be behind, in writes, and in time at the end.
const (
	liveBehind = 64
	liveWait   = 200 * time.Millisecond
)

func newSink(most int64, live io.Writer) *sink {
	s := &sink{most: most, done: make(chan struct{})}
	if live == nil {
		close(s.done)
		return s
	}
	s.live = make(chan []byte, liveBehind)
	go func() {
		defer close(s.done)
		defer func() { // a writer that panics is one that failed
			if recover() != nil {
				for range s.live {
				}
			}
		}()
		failed := false
		for p := range s.live {
			if !failed {
				_, err := live.Write(p)
				failed = err != nil
			}
		}
	}()
	return s
}

// Write never fails and never waits.
func (s *sink) Write(p []byte) (int, error) {
	n := len(p)
	if room := s.most - int64(s.kept.Len()); int64(n) > room {
		p, s.more = p[:room], true
	}
	if len(p) == 0 {
		return n, nil
	}
	s.kept.Write(p)
	if s.live != nil {
		select {
		case s.live <- bytes.Clone(p):
		default: // it is too slow, and loses this
		}
	}
	return n, nil
}

// close gives a live writer a moment to take what is left.
func (s *sink) close() {
	if s.live == nil {
		return
	}
	close(s.live)
	select {
	case <-s.done:
	case <-time.After(liveWait):
	}
}
