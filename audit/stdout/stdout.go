// Package stdout is the audit sink that writes the lines of this process to
// an io.Writer, one per line: for a container platform that collects standard
// output. It owns no format: lines come finished from package audit. A reader
// of standard output sees the lines of one process only, so the chain is
// verified on the file.
package stdout

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/toolwarrant/toolwarrant/audit"
)

// Sink writes lines to one writer. Safe for concurrent use.
type Sink struct {
	mu  sync.Mutex
	out io.Writer
	buf bytes.Buffer
}

var _ audit.Sink = (*Sink)(nil)

// New gives a sink for out, which stays the caller's to close.
func New(out io.Writer) *Sink { return &Sink{out: out} }

// Write hands over a batch in one write. A short write is an error. There is
// nothing to sync: whoever reads the stream keeps it.
func (s *Sink) Write(ctx context.Context, lines [][]byte, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.buf.Reset()
	for _, l := range lines {
		s.buf.Write(l)
		s.buf.WriteByte('\n')
	}
	want := s.buf.Len()
	n, err := s.out.Write(s.buf.Bytes())
	if err != nil {
		return err
	}
	if n < want {
		return io.ErrShortWrite
	}
	return nil
}

// Close does nothing: the writer is not ours.
func (s *Sink) Close() error { return nil }
