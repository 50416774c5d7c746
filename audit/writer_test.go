package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/digest"
)

// countingFile counts syncs and can be told to fail.
type countingFile struct {
	logFile
	f *faults
}

// faults are the failures of a disk. Safe for concurrent use.
type faults struct {
	syncs atomic.Int64
	mu    sync.Mutex
	write func(b []byte) (int, error) // bytes to write in spite of the error
	sync  func() error
	trunc func() error
}

func (f *faults) set(change func(*faults)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *faults) open(path string, flag int) (logFile, error) {
	lf, err := openLogFile(path, flag)
	if err != nil {
		return nil, err
	}
	return countingFile{lf, f}, nil
}

func (c countingFile) WriteAt(b []byte, off int64) (int, error) {
	c.f.mu.Lock()
	fail := c.f.write
	c.f.mu.Unlock()
	if fail != nil {
		if n, err := fail(b); err != nil {
			_, _ = c.logFile.WriteAt(b[:n], off)
			return n, err
		}
	}
	return c.logFile.WriteAt(b, off)
}

func (c countingFile) Sync() error {
	c.f.syncs.Add(1)
	c.f.mu.Lock()
	fail := c.f.sync
	c.f.mu.Unlock()
	if fail != nil {
		if err := fail(); err != nil {
			return err
		}
	}
	return c.logFile.Sync()
}

func (c countingFile) Truncate(n int64) error {
	c.f.mu.Lock()
	fail := c.f.trunc
	c.f.mu.Unlock()
	if fail != nil {
		if err := fail(); err != nil {
			return err
		}
	}
	return c.logFile.Truncate(n)
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	home := t.TempDir()
	dir := filepath.Join(home, "audit")
	w := mustOpen(t, dir, Options{})
	must(t, w.Object(context.Background(), Object{Kind: "spec", Digest: digest.Bytes([]byte("{}")), Content: json.RawMessage("{}")}))
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		must(t, err)
		st, err := d.Info()
		must(t, err)
		want := filePerm
		if d.IsDir() {
			want = dirPerm
		}
		if st.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, st.Mode().Perm())
		}
		return nil
	}))
}

// TestManyWritersOneChain: goroutines of several writers append to one file.
func TestManyWritersOneChain(t *testing.T) {
	dir := t.TempDir()
	const writers, routines, each = 4, 8, 20
	var wg sync.WaitGroup
	for i := range writers {
		w := mustOpen(t, dir, Options{})
		for j := range routines {
			wg.Go(func() {
				for k := range each {
					id := fmt.Sprintf("c-%d-%d-%d", i, j, k)
					c := sampleCall(id)
					if err := w.Open(context.Background(), c, k%2 == 0, nil); err != nil {
						t.Error(err)
						return
					}
					if err := w.Close(context.Background(), c, nil); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	r := wantOK(t, logPath(dir))
	if want := uint64(writers * routines * each * 2); r.Records != want {
		t.Errorf("%d records, want %d", r.Records, want)
	}
	at := map[string]int{}
	for i, rec := range records(t, logPath(dir)) {
		if rec.Phase == PhaseOpen {
			at[rec.CallID] = i
		} else if o, ok := at[rec.CallID]; !ok || o > i {
			t.Fatalf("close of %s before its open", rec.CallID)
		}
	}
}

// TestGroupCommit: callers that wait together share a sync.
func TestGroupCommit(t *testing.T) {
	f := &faults{}
	w := mustOpen(t, t.TempDir(), Options{open: f.open})
	hold := make(chan struct{})
	var once sync.Once
	f.set(func(f *faults) { f.sync = func() error { once.Do(func() { <-hold }); return nil } })
	var wg sync.WaitGroup
	closeCall := func(id string) {
		wg.Go(func() {
			if err := w.Close(context.Background(), bareCall(id), nil); err != nil {
				t.Error(err)
			}
		})
	}
	closeCall("first")
	for f.syncs.Load() == 0 {
		runtime.Gosched()
	}
	const more = 100
	for i := range more {
		closeCall(fmt.Sprint("c", i))
	}
	for w.waiting() < more {
		runtime.Gosched()
	}
	close(hold)
	wg.Wait()
	if n := f.syncs.Load(); n != 2 {
		t.Errorf("%d syncs for 1 + %d records that waited together, want 2", n, more)
	}
	wantOK(t, w.Path())
}

// TestSyncWhereAsked: an open without sync costs none, everything else one.
func TestSyncWhereAsked(t *testing.T) {
	f := &faults{}
	w := mustOpen(t, t.TempDir(), Options{open: f.open})
	ctx := context.Background()
	for _, step := range []struct {
		name string
		do   func() error
		want int64
	}{
		{"open", func() error { return w.Open(ctx, bareCall("a"), false, nil) }, 0},
		{"open synced", func() error { return w.Open(ctx, bareCall("b"), true, nil) }, 1},
		{"ask", func() error { return w.Ask(ctx, bareCall("c"), nil) }, 1},
		{"close", func() error { return w.Close(ctx, bareCall("a"), nil) }, 1},
		{"event", func() error { return w.Event(ctx, Event{Kind: "reload"}, nil) }, 1},
	} {
		before := f.syncs.Load()
		must(t, step.do())
		if n := f.syncs.Load() - before; n != step.want {
			t.Errorf("%s: %d syncs, want %d", step.name, n, step.want)
		}
	}
}

func TestOneClosePerCall(t *testing.T) {
	w := mustOpen(t, t.TempDir(), Options{})
	ctx := context.Background()
	must(t, w.Close(ctx, bareCall("a"), nil))
	wantReason(t, w.Close(ctx, bareCall("a"), nil), ReasonTwice)
	must(t, w.Close(ctx, bareCall("b"), nil))
	if got := phases(records(t, w.Path())); got != "close:a close:b" {
		t.Error(got)
	}
}

func TestOneCloseMemoryIsBounded(t *testing.T) {
	c := newCalls()
	for i := range 5 * closedMemory {
		if !c.closing(fmt.Sprint(i)) {
			t.Fatal("refused a first close")
		}
	}
	if n := len(c.now) + len(c.old); n > 2*closedMemory {
		t.Errorf("remembers %d", n)
	}
	if c.closing(fmt.Sprint(4*closedMemory + 1)) {
		t.Error("forgot a recent close")
	}
}

// TestCloseOutlivesTheCaller: a client that is gone cannot suppress the record.
func TestCloseOutlivesTheCaller(t *testing.T) {
	w := mustOpen(t, t.TempDir(), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must(t, w.Close(ctx, bareCall("a"), nil))
	must(t, w.Event(ctx, Event{Kind: "reload"}, nil))
	if got := phases(records(t, w.Path())); got != "close:a event:reload" {
		t.Error(got)
	}
}

func TestShutdown(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{})
	ctx := context.Background()
	var wg sync.WaitGroup
	var wrote atomic.Int64
	for i := range 50 {
		wg.Go(func() {
			err := w.Close(ctx, bareCall(fmt.Sprint("c", i)), nil)
			if err == nil {
				wrote.Add(1)
				return
			}
			wantReason(t, err, ReasonClosed)
		})
	}
	must(t, w.Shutdown(ctx))
	wg.Wait()
	must(t, w.Shutdown(ctx))
	wantReason(t, w.Close(ctx, bareCall("late"), nil), ReasonClosed)
	if r := wantOK(t, w.Path()); r.Records != uint64(wrote.Load()) {
		t.Errorf("%d records, %d were acknowledged", r.Records, wrote.Load())
	}
	if left, _ := os.ReadDir(filepath.Join(dir, writersDir)); len(left) != 0 {
		t.Errorf("%d files of the writer are left", len(left))
	}
}

// TestFileElsewhere: homes that name the same file share one chain.
func TestFileElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shared.log")
	a := mustOpen(t, filepath.Join(t.TempDir(), "audit"), Options{File: file})
	b := mustOpen(t, filepath.Join(t.TempDir(), "audit"), Options{File: file})
	for i, w := range []*Writer{a, b, a, b} {
		must(t, w.Close(context.Background(), bareCall(fmt.Sprint("c", i)), nil))
	}
	if r := wantOK(t, file); r.Records != 4 {
		t.Errorf("%d records", r.Records)
	}
	must(t, a.Object(context.Background(), Object{Kind: "spec", Digest: digest.Bytes([]byte("{}")), Content: json.RawMessage("{}")}))
	if _, err := os.Stat(filepath.Join(a.objects, strings.TrimPrefix(digest.Bytes([]byte("{}")), "sha256:"))); err != nil {
		t.Error(err)
	}
}

func TestObject(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	content := json.RawMessage(`{"b": 1, "a": "x"}`)
	canonical := []byte(`{"a":"x","b":1}`)
	o := Object{Kind: "spec", Digest: digest.Bytes(canonical), Content: content}
	a, b := mustOpen(t, dir, Options{}), mustOpen(t, dir, Options{})
	var wg sync.WaitGroup
	for range 8 {
		for _, w := range []*Writer{a, b} {
			wg.Go(func() {
				if err := w.Object(ctx, o); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	must(t, mustOpen(t, dir, Options{}).Object(ctx, o))
	if got := phases(records(t, logPath(dir))); got != "object:spec" {
		t.Errorf("entered as %q", got)
	}
	got, err := ReadObject(dir, o.Digest)
	must(t, err)
	if string(got) != string(canonical) {
		t.Errorf("kept %s", got)
	}
	wantReason(t, a.Object(ctx, Object{Kind: "spec", Digest: digest.Bytes([]byte("other")), Content: content}), ReasonInvalid)
	wantReason(t, a.Object(ctx, Object{Kind: "spec", Digest: "sha256:../../x", Content: content}), ReasonInvalid)
	path := filepath.Join(dir, "objects", strings.TrimPrefix(o.Digest, "sha256:"))
	must(t, os.WriteFile(path, []byte("forged"), 0o600))
	_, err = ReadObject(dir, o.Digest)
	wantReason(t, err, ReasonIO)
}

// TestObjectTwiceInABatch: the mark of the first cannot be there yet when the
// second is looked at.
func TestObjectTwiceInABatch(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{})
	unlock, err := takeLock(context.Background(), filepath.Join(dir, ".lock"))
	must(t, err)
	var wg sync.WaitGroup
	for i := range 20 {
		content := []byte(strconv.Itoa(i % 2))
		wg.Go(func() {
			if err := w.Object(context.Background(), Object{Kind: "spec", Digest: digest.Bytes(content), Content: content}); err != nil {
				t.Error(err)
			}
		})
	}
	for w.waiting() < 20 {
		time.Sleep(time.Millisecond)
	}
	unlock()
	wg.Wait()
	if got := phases(records(t, w.Path())); got != "object:spec object:spec" {
		t.Errorf("entered as %q", got)
	}
	wantOK(t, w.Path())
}

// TestObjectWithoutMark: a writer that cannot make the mark still enters an
// artefact once.
func TestObjectWithoutMark(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{batch: 1})
	content := []byte("{}")
	sum := digest.Bytes(content)
	// A link that leads nowhere: not there for Stat, and not to be replaced.
	must(t, os.MkdirAll(w.objects, 0o700))
	mark := filepath.Join(w.objects, strings.TrimPrefix(sum, "sha256:")+loggedExt)
	if err := os.Symlink(filepath.Base(mark), mark); err != nil {
		t.Skip(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := w.Object(context.Background(), Object{Kind: "spec", Digest: sum, Content: content}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := phases(records(t, w.Path())); got != "object:spec" {
		t.Errorf("entered as %q", got)
	}
}

// TestObjectAfterACrash: content without its line, as a crash leaves it,
// still gets the line.
func TestObjectAfterACrash(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{})
	sum := digest.Bytes([]byte("{}"))
	must(t, os.MkdirAll(w.objects, 0o700))
	must(t, os.WriteFile(filepath.Join(w.objects, strings.TrimPrefix(sum, "sha256:")), []byte("{"), 0o600))
	must(t, w.Object(context.Background(), Object{Kind: "spec", Digest: sum, Content: json.RawMessage("{}")}))
	if got := phases(records(t, w.Path())); got != "object:spec" {
		t.Error(got)
	}
	if got, err := ReadObject(dir, sum); err != nil || string(got) != "{}" {
		t.Errorf("%s, %v", got, err)
	}
}
