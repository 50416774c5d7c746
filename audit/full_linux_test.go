package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRedWhileTheDiskIsFull: a real disk without a free page, whose last one
// still takes small records, is red until there is room.
func TestRedWhileTheDiskIsFull(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		t.Skipf("a small file system needs root and CAP_SYS_ADMIN: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ctx, now := context.Background(), newHandClock()
	w := mustOpen(t, t.TempDir(), Options{File: filepath.Join(disk, "audit.ndjson"), Now: now.now})
	must(t, w.Close(ctx, bareCall("first"), nil))
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	for chunk := make([]byte, os.Getpagesize()); err == nil; {
		_, err = f.Write(chunk)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	_ = f.Close()
	for i := range 3 {
		large := sampleCall(strconv.Itoa(i))
		large.Params = []byte(`"` + strings.Repeat("x", 20_000) + `"`)
		wantReason(t, w.Close(ctx, large, nil), ReasonDiskFull)
		must(t, w.Close(ctx, bareCall("small"+strconv.Itoa(i)), nil))
		now.pass(2 * probeEvery)
		wantReason(t, w.Health(ctx), ReasonDiskFull)
	}
	must(t, os.Remove(filler))
	now.pass(2 * probeEvery)
	must(t, w.Health(ctx))
	wantOK(t, w.Path())
}
