package stdout

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

type failing struct {
	n   int
	err error
}

func (f failing) Write([]byte) (int, error) { return f.n, f.err }

// TestLines: the stream of a single writer is the log, byte for byte, and so
// verifies by itself.
func TestLines(t *testing.T) {
	var out bytes.Buffer
	w, err := audit.Open(t.TempDir(), audit.Options{Sinks: []audit.SinkOption{{Name: "stdout", Sink: New(&out), Required: true}}})
	if err != nil {
		t.Fatal(err)
	}
	ok := fault.OK
	for _, id := range []string{"a", "b"} {
		if err := w.Close(context.Background(), audit.Call{CallID: id, Origin: decision.OriginCLIRun, Outcome: &ok}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	report, err := audit.Verify(context.Background(), []string{w.Path()}, audit.VerifyOptions{})
	if err != nil || !report.OK || report.Records != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 2 || out.Bytes()[out.Len()-1] != '\n' {
		t.Errorf("%d lines: %q", n, out.Bytes())
	}
}

func TestFailures(t *testing.T) {
	lines := [][]byte{[]byte("x")}
	if err := New(failing{1, nil}).Write(context.Background(), lines, true); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("short write: %v", err)
	}
	if err := New(failing{0, io.ErrClosedPipe}).Write(context.Background(), lines, false); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("closed: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := New(io.Discard).Write(ctx, lines, false); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
