package audit

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestFilesAreListedOnce: a log without closed files that rotates between
// listing and reading is read as it was listed.
func TestFilesAreListedOnce(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{})
	for range 3 {
		must(t, w.Event(context.Background(), Event{Kind: "reload"}, nil))
	}
	set, err := expand(w.Path())
	must(t, err)
	defer set.close()
	if len(set) != 1 || set[0].held == nil || set.movedOn() {
		t.Fatalf("%d files, moved on: %t", len(set), set.movedOn())
	}
	was := filepath.Join(dir, "was")
	must(t, os.Rename(w.Path(), was)) // as a rotation does
	must(t, os.WriteFile(w.Path(), []byte("{}\n"), 0o600))
	if !set.movedOn() {
		t.Error("not moved on")
	}
	n := 0
	_, err = set[0].lines(context.Background(), 0, false, func(int, int64, rawLine) error { n++; return nil })
	if must(t, err); n != 3 {
		t.Errorf("%d lines", n)
	}
}
