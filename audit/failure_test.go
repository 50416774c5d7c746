package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/toolwarrant/toolwarrant/fault"
)

// TestDiskFailures: whatever the disk does, the call is refused, no byte of
// the record stays, the log says so and goes on by itself when it is over.
func TestDiskFailures(t *testing.T) {
	disk := func(err error) func([]byte) (int, error) {
		return func(b []byte) (int, error) { return len(b) / 2, err }
	}
	for name, c := range map[string]struct {
		fault  func(*faults)
		reason string
	}{
		"full":            {func(f *faults) { f.write = disk(syscall.ENOSPC) }, ReasonDiskFull},
		"full at once":    {func(f *faults) { f.write = func([]byte) (int, error) { return 0, syscall.ENOSPC } }, ReasonDiskFull},
		"read-only":       {func(f *faults) { f.write = disk(syscall.EROFS) }, ReasonReadOnly},
		"permission":      {func(f *faults) { f.write = disk(syscall.EACCES) }, ReasonPermission},
		"error":           {func(f *faults) { f.write = disk(syscall.EIO) }, ReasonIO},
		"sync":            {func(f *faults) { f.sync = func() error { return syscall.EIO } }, ReasonIO},
		"cannot cut back": {func(f *faults) { f.write, f.trunc = disk(syscall.EIO), func() error { return syscall.EIO } }, ReasonIO},
	} {
		t.Run(name, func(t *testing.T) {
			f := &faults{}
			dir := t.TempDir()
			w := mustOpen(t, dir, Options{open: f.open})
			ctx := context.Background()
			must(t, w.Close(ctx, sampleCall("before"), nil))
			good := readFile(t, w.Path())
			f.set(c.fault)
			for range 3 {
				wantReason(t, w.Close(ctx, sampleCall("during"), nil), c.reason)
			}
			wantReason(t, w.last(), c.reason)
			if got := readFile(t, w.Path()); name != "cannot cut back" && !bytes.Equal(got, good) {
				t.Errorf("%d bytes are left of a refused record", len(got)-len(good))
			}
			f.set(func(f *faults) { f.write, f.sync, f.trunc = nil, nil, nil })
			must(t, w.Close(ctx, sampleCall("during"), nil))
			must(t, w.Health(ctx))
			wantOK(t, w.Path())
			want := "close:before event:audit.outage close:during"
			if name == "cannot cut back" {
				want = "close:before event:torn event:audit.outage close:during"
			}
			if got := phases(records(t, w.Path())); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestCloseAfterTheDiskIsBack: a call whose close failed ends as it did, once
// the disk is back, and once only.
func TestCloseAfterTheDiskIsBack(t *testing.T) {
	f := &faults{}
	w := mustOpen(t, t.TempDir(), Options{open: f.open})
	ctx := context.Background()
	for _, id := range []string{"a", "b", "c"} {
		must(t, w.Open(ctx, sampleCall(id), false, nil))
	}
	f.set(func(f *faults) { f.write = func([]byte) (int, error) { return 0, syscall.ENOSPC } })
	for _, id := range []string{"a", "b", "never-opened"} {
		wantReason(t, w.Close(ctx, sampleCall(id), nil), ReasonDiskFull)
	}
	_, err := w.CloseAbandoned(ctx, time.Now())
	wantReason(t, err, ReasonDiskFull)
	f.set(func(f *faults) { f.write = nil })
	must(t, w.Close(ctx, sampleCall("b"), nil)) // its caller tried again
	r, err := w.CloseAbandoned(ctx, time.Now())
	must(t, err)
	if !slices.Equal(r.Late, []string{"a"}) || len(r.Interrupted) > 0 {
		t.Errorf("got %+v", r)
	}
	r, err = w.CloseAbandoned(ctx, time.Now())
	must(t, err)
	if len(r.Late) > 0 {
		t.Errorf("again %+v", r)
	}
	wantReason(t, w.Close(ctx, sampleCall("a"), nil), ReasonTwice)
	all := records(t, w.Path())
	if got := phases(all); got != "open:a open:b open:c event:audit.outage close:b close:a" {
		t.Fatalf("got %q", got)
	}
	if last := all[len(all)-1]; *last.Outcome != fault.Failed || last.Error.Message != sampleCall("a").Error.Message {
		t.Errorf("closed as %+v", last)
	}
	if len(w.calls.unwritten) > 0 || w.calls.size != 0 {
		t.Errorf("%d bytes are kept", w.calls.size)
	}
	wantOK(t, w.Path())
}

// TestUnwrittenIsBounded: an outage does not fill the memory.
func TestUnwrittenIsBounded(t *testing.T) {
	c := newCalls()
	for i := range unwrittenMax + 10 {
		id := strconv.Itoa(i)
		c.opened(id, 7)
		c.keep(id, make([]byte, unwrittenBytes/512))
		c.keep(id, make([]byte, unwrittenBytes/512))
	}
	if got, low := c.late(); len(got) != 512 || c.size != unwrittenBytes || low != 7 {
		t.Errorf("%d closes, %d bytes, from %d", len(got), c.size, low)
	}
}

func (w *Writer) last() error { return w.health.last() }

// TestSyncFailureKeepsWhatWasWritten: an open that was answered before the
// sync of its batch failed stays in the file.
func TestSyncFailureKeepsWhatWasWritten(t *testing.T) {
	f := &faults{}
	w := mustOpen(t, t.TempDir(), Options{open: f.open})
	ctx := context.Background()
	hold := make(chan struct{})
	f.set(func(f *faults) { f.sync = func() error { <-hold; return syscall.EIO } })
	var wg sync.WaitGroup
	do := func(name string, wantErr bool, call func() error) {
		wg.Go(func() {
			if err := call(); (err != nil) != wantErr {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	do("first", true, func() error { return w.Close(ctx, bareCall("first"), nil) })
	for f.syncs.Load() == 0 {
		runtime.Gosched()
	}
	do("close", true, func() error { return w.Close(ctx, bareCall("closed"), nil) })
	do("open", false, func() error { return w.Open(ctx, bareCall("opened"), false, nil) })
	for w.waiting() < 2 {
		runtime.Gosched()
	}
	close(hold)
	wg.Wait()
	f.set(func(f *faults) { f.sync = nil })
	must(t, w.Close(ctx, bareCall("closed"), nil))
	wantOK(t, w.Path())
	got := phases(records(t, w.Path()))
	if strings.Contains(got, "first") || !strings.Contains(got, "open:opened") || strings.Count(got, "close:closed") != 1 {
		t.Error(got)
	}
}

// TestHealthRecoversWithoutTraffic: Health itself tries.
func TestHealthRecoversWithoutTraffic(t *testing.T) {
	f := &faults{}
	var mu sync.Mutex
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := func() { mu.Lock(); now = now.Add(time.Minute); mu.Unlock() }
	w := mustOpen(t, t.TempDir(), Options{open: f.open, Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	ctx := context.Background()
	must(t, w.Health(ctx))
	f.set(func(f *faults) { f.write = func([]byte) (int, error) { return 0, syscall.ENOSPC } })
	wantReason(t, w.Close(ctx, bareCall("a"), nil), ReasonDiskFull)
	wantReason(t, w.Health(ctx), ReasonDiskFull)
	later()
	wantReason(t, w.Health(ctx), ReasonDiskFull)
	f.set(func(f *faults) { f.write = nil })
	later()
	must(t, w.Health(ctx))
	if got := phases(records(t, w.Path())); got != "event:audit.outage" {
		t.Error(got)
	}
}

// TestRemovedOrReplaced: a log that disappears is never silently begun anew.
func TestRemovedOrReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	ctx := context.Background()
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{})
	must(t, w.Close(ctx, bareCall("a"), nil))
	aside := filepath.Join(dir, "aside")
	must(t, os.Rename(w.Path(), aside))
	wantReason(t, w.Close(ctx, bareCall("b"), nil), ReasonFileGone)
	if _, err := os.Stat(w.Path()); err == nil {
		t.Fatal("a new log was begun")
	}
	must(t, os.WriteFile(w.Path(), sampleLog(t), 0o600))
	wantReason(t, w.Close(ctx, bareCall("b"), nil), ReasonFileGone)
	must(t, os.WriteFile(w.Path(), nil, 0o600))
	wantReason(t, w.Close(ctx, bareCall("b"), nil), ReasonFileGone)

	// A copy that holds our last line is the same log.
	must(t, os.Remove(w.Path()))
	must(t, os.WriteFile(w.Path(), readFile(t, aside), 0o600))
	must(t, w.Close(ctx, bareCall("b"), nil))
	wantOK(t, w.Path())
	if got := phases(records(t, w.Path())); got != "close:a event:audit.outage close:b" {
		t.Error(got)
	}

	must(t, os.Truncate(w.Path(), 10))
	wantReason(t, w.Close(ctx, bareCall("c"), nil), ReasonFileCut)
}

func TestNotALog(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"other text": func(p string) error { return os.WriteFile(p, []byte("hello\n"), 0o600) },
		"binary":     func(p string) error { return os.WriteFile(p, []byte{1, 2, 3}, 0o600) },
		"folder":     func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			must(t, make(path))
			_, err := Open(t.TempDir(), Options{File: path})
			wantReason(t, err, ReasonNotALog)
		})
	}
}

func TestNoPermission(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("permission bits do not bind this user")
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o500))
	_, err := Open(filepath.Join(dir, "audit"), Options{})
	wantReason(t, err, ReasonPermission)
}

// TestLockHeld: another process that never lets go refuses calls, and only
// as long as it does.
func TestLockHeld(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{})
	l := flock.New(w.chain.lockPath)
	must(t, l.Lock())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- w.Open(ctx, bareCall("a"), true, nil) }()
	for w.waiting() == 0 {
		runtime.Gosched()
	}
	cancel()
	wantReason(t, <-done, ReasonCancelled)

	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := takeLock(short, w.chain.lockPath)
	wantReason(t, err, ReasonLock)

	must(t, l.Unlock())
	must(t, w.Open(context.Background(), bareCall("b"), true, nil))
	if got := phases(records(t, w.Path())); got != "open:b" {
		t.Errorf("got %q: what was given up must not be written", got)
	}
}

type fakeSink struct {
	mu    sync.Mutex
	lines []string
	err   error
	panic bool
	wait  chan struct{}
}

func (s *fakeSink) Write(_ context.Context, lines [][]byte, _ bool) error {
	if s.wait != nil {
		<-s.wait
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panic {
		panic("sink")
	}
	if s.err == nil {
		for _, l := range lines {
			s.lines = append(s.lines, string(l))
		}
	}
	return s.err
}

func (s *fakeSink) Close() error { return nil }

func (s *fakeSink) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n") + "\n"
}

func TestSinks(t *testing.T) {
	must1, best := &fakeSink{}, &fakeSink{}
	w := mustOpen(t, t.TempDir(), Options{Sinks: []SinkOption{{"must", must1, true}, {"best", best, false}}})
	ctx := context.Background()
	for i := range 20 {
		must(t, w.Open(ctx, bareCall(fmt.Sprint("c", i)), i%2 == 0, nil))
		must(t, w.Close(ctx, bareCall(fmt.Sprint("c", i)), nil))
	}
	if got := must1.text(); got != string(readFile(t, w.Path())) {
		t.Error("the required sink has other lines than the file")
	}
	must1.set(errors.New("down"), false)
	wantReason(t, w.Close(ctx, bareCall("x"), nil), ReasonSink)
	wantReason(t, w.Close(ctx, bareCall("x"), nil), ReasonTwice) // the file has it
	wantReason(t, w.last(), ReasonSink)
	must1.set(nil, true)
	wantReason(t, w.Close(ctx, bareCall("y"), nil), ReasonSink)
	must1.set(nil, false)
	must(t, w.Close(ctx, bareCall("z"), nil))
	must(t, w.Shutdown(ctx))
	wantOK(t, w.Path())
	if got := best.text(); got != string(readFile(t, w.Path())) {
		t.Error("the best-effort sink has other lines than the file")
	}
}

func (s *fakeSink) set(err error, panics bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.panic = err, panics
}

// TestSlowBestEffortSink: it neither delays nor refuses a call, and what it
// misses is counted.
func TestSlowBestEffortSink(t *testing.T) {
	s := &fakeSink{wait: make(chan struct{})}
	w := mustOpen(t, t.TempDir(), Options{Sinks: []SinkOption{{"slow", s, false}}})
	const n = sinkQueue + 50
	for i := range n {
		must(t, w.Open(context.Background(), bareCall(fmt.Sprint("c", i)), false, nil))
	}
	// A call is answered before its line reaches a best-effort sink.
	lost := func() int64 { return w.LostLines()["slow"] }
	for end := time.Now().Add(time.Minute); lost() < n-sinkQueue-1 && time.Now().Before(end); {
		runtime.Gosched()
	}
	if lost() < n-sinkQueue-1 {
		t.Errorf("%d lines counted as lost", lost())
	}
	close(s.wait)
}

// TestRedUntilCallsFit: a disk that takes small records and not those of calls
// leaves the log red. It turns green when a call is recorded, or would be.
func TestRedUntilCallsFit(t *testing.T) {
	ctx := context.Background()
	large := func(id string) Call {
		c := sampleCall(id)
		c.Params = []byte(`"` + strings.Repeat("x", 100_000) + `"`)
		return c
	}
	for name, c := range map[string]struct {
		refused Call
		room    int // that the disk has while it is nearly full
		free    int // and that it has then
		end     func(w *Writer) error
		want    string
	}{
		"by itself":      {sampleCall("a"), 2000, 1 << 20, func(*Writer) error { return nil }, "close:small event:audit.outage"},
		"by a call":      {sampleCall("a"), 2000, 1 << 20, func(w *Writer) error { return w.Close(ctx, sampleCall("b"), nil) }, "close:small event:audit.outage close:b"},
		"a large one":    {large("a"), 50_000, 1 << 20, func(*Writer) error { return nil }, "close:small event:audit.outage"},
		"not yet":        {large("a"), 2000, 50_000, func(*Writer) error { return nil }, ""},
		"by a large one": {large("a"), 50_000, 1 << 20, func(w *Writer) error { return w.Close(ctx, large("b"), nil) }, "close:small event:audit.outage close:b"},
	} {
		t.Run(name, func(t *testing.T) {
			f, now := &faults{}, newHandClock()
			w := mustOpen(t, t.TempDir(), Options{open: f.open, Now: now.now})
			room := func(n int) {
				f.set(func(f *faults) {
					f.write = func(b []byte) (int, error) {
						if len(b) > n {
							return 0, syscall.ENOSPC
						}
						return len(b), nil
					}
				})
			}
			room(c.room)
			wantReason(t, w.Close(ctx, c.refused, nil), ReasonDiskFull)
			for range 3 { // each asks the disk
				now.pass(2 * probeEvery)
				wantReason(t, w.Health(ctx), ReasonDiskFull)
			}
			must(t, w.Close(ctx, bareCall("small"), nil)) // which fits, and is let through
			now.pass(2 * probeEvery)
			wantReason(t, w.Health(ctx), ReasonDiskFull)
			if got := phases(records(t, w.Path())); got != "close:small" {
				t.Errorf("while it is full: %q", got)
			}
			room(c.free)
			must(t, c.end(w))
			now.pass(2 * probeEvery)
			if c.want == "" {
				wantReason(t, w.Health(ctx), ReasonDiskFull)
				return
			}
			must(t, w.Health(ctx))
			if got := phases(records(t, w.Path())); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			wantOK(t, w.Path())
		})
	}
}
