package audit

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestFsync: how many syncs a record costs under each choice, before its
// method returns.
func TestFsync(t *testing.T) {
	for _, c := range []struct {
		fsync       Fsync
		open, close int64
	}{
		{"", 0, 1},
		{SyncGroup, 0, 1},
		{SyncEvery, 1, 1},
		{SyncInterval, 0, 0},
	} {
		t.Run(string(c.fsync), func(t *testing.T) {
			f := &faults{}
			w := mustOpen(t, t.TempDir(), Options{open: f.open, Fsync: c.fsync, Interval: time.Hour})
			ctx := context.Background()
			must(t, w.Open(ctx, bareCall("a"), false, nil))
			if n := f.syncs.Swap(0); n != c.open {
				t.Errorf("an open took %d syncs, want %d", n, c.open)
			}
			must(t, w.Close(ctx, bareCall("a"), nil))
			if n := f.syncs.Load(); n != c.close {
				t.Errorf("a close took %d syncs, want %d", n, c.close)
			}
			must(t, w.Shutdown(ctx))
			if f.syncs.Load() == 0 {
				t.Error("nothing was synced by the end")
			}
			wantOK(t, w.Path())
		})
	}
	_, err := Open(t.TempDir(), Options{Fsync: "never"})
	wantReason(t, err, ReasonInvalid)
}

// TestFsyncEvery: callers that wait together share nothing.
func TestFsyncEvery(t *testing.T) {
	f := &faults{}
	w := mustOpen(t, t.TempDir(), Options{open: f.open, Fsync: SyncEvery})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { must(t, w.Close(context.Background(), bareCall(fmt.Sprint("c", i)), nil)) })
	}
	wg.Wait()
	if n := f.syncs.Load(); n != 50 {
		t.Errorf("%d syncs for 50 records", n)
	}
}

// TestFsyncInterval: the background sync comes by itself; one that fails
// refuses calls until the disk took all that was answered before.
func TestFsyncInterval(t *testing.T) {
	f := &faults{}
	w := mustOpen(t, t.TempDir(), Options{open: f.open, Fsync: SyncInterval, Interval: time.Millisecond})
	ctx := context.Background()
	must(t, w.Close(ctx, bareCall("a"), nil))
	for f.syncs.Load() == 0 {
		runtime.Gosched()
	}
	var rewritten atomic.Int64
	f.set(func(f *faults) {
		f.sync = func() error { return syscall.EIO }
		f.write = func(b []byte) (int, error) { rewritten.Store(int64(len(b))); return len(b), nil }
	})
	must(t, w.Close(ctx, bareCall("b"), nil)) // in the file; its sync comes later
	size := rewritten.Load()
	for w.last() == nil {
		time.Sleep(time.Millisecond)
	}
	wantReason(t, w.last(), ReasonIO)
	rewritten.Store(0)
	wantReason(t, w.Close(ctx, bareCall("c"), nil), ReasonIO)
	if got := rewritten.Load(); got != size {
		t.Errorf("%d bytes were written again, want those of the record that was not synced, %d", got, size)
	}
	f.set(func(f *faults) { f.sync = nil })
	must(t, w.Close(ctx, bareCall("c"), nil))
	must(t, w.Health(ctx))
	must(t, w.Shutdown(ctx))
	wantOK(t, w.Path())
	if got := phases(records(t, w.Path())); got != "close:a close:b event:audit.outage close:c" {
		t.Error(got)
	}
}
