package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckAll: lines come in their order, however long they are, and who
// stops early is not kept waiting.
func TestCheckAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.ndjson")
	c := &chain{hash: newHasher(), now: clock()}
	const n = 3000
	for i := range n {
		call := bareCall("c")
		call.Phase = PhaseClose
		if i%500 == 7 {
			call.Params = []byte(`"` + strings.Repeat("x", 300<<10) + `"`)
		}
		body, err := encodeCall("w1", &call)
		must(t, err)
		c.layOut(&entry{body: body})
	}
	must(t, os.WriteFile(path, c.buf, filePerm))
	s := &source{path: path}
	want := uint64(0)
	got, err := s.checkAll(context.Background(), func(line int, l *checked) error {
		want++
		if uint64(line) != want || l.head.Seq != want || !l.sum || !l.json || !l.isHead {
			t.Fatalf("line %d: %+v", line, l.head)
		}
		return nil
	})
	must(t, err)
	if got != n {
		t.Errorf("%d lines, want %d", got, n)
	}
	enough := errors.New("enough")
	if _, err := s.checkAll(context.Background(), func(int, *checked) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.checkAll(ctx, func(int, *checked) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
