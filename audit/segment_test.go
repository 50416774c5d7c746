package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// always rotates whatever has a second record.
var always = Rotation{Bytes: 1}

// rotating opens a writer that rotates when the test says so.
func rotating(t testing.TB, dir string, o Options) *Writer {
	t.Helper()
	o.Rotate, o.manual = always, true
	return mustOpen(t, dir, o)
}

// turn closes the file that grows.
func turn(t testing.TB, w *Writer) {
	t.Helper()
	before := w.keeper.began.Load()
	if before == 0 {
		t.Fatal("the file has no second record")
	}
	must(t, w.keeper.close(context.Background()))
	if w.keeper.began.Load() != 0 {
		t.Fatal("the log was not rotated")
	}
}

func closes(t testing.TB, w *Writer, ids ...string) {
	t.Helper()
	for _, id := range ids {
		must(t, w.Close(context.Background(), bareCall(id), nil))
	}
}

// segmentFiles names the closed files of a log as they are on the disk.
func segmentFiles(t testing.TB, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, segmentsDir))
	must(t, err)
	for _, e := range entries {
		out = append(out, strings.TrimLeft(e.Name(), "0"))
	}
	return out
}

// TestRotate: the chain goes through all files, plain and compressed, and
// every reader sees one log.
func TestRotate(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	w := rotating(t, dir, Options{})
	closes(t, w, "a", "b")
	turn(t, w)
	must(t, w.keeper.tidy(ctx))
	closes(t, w, "c", "d")
	turn(t, w)
	closes(t, w, "e")
	if diff := cmp.Diff([]string{"1.ndjson.gz", "3.ndjson"}, segmentFiles(t, dir)); diff != "" {
		t.Fatal(diff)
	}
	rs := records(t, w.Path())
	if got := phases(rs); got != "close:a close:b event:segment close:c close:d event:segment close:e" {
		t.Error(got)
	}
	for i, r := range rs {
		if r.Seq != uint64(i+1) {
			t.Errorf("record %d has seq %d", i+1, r.Seq)
		}
	}
	if r := wantOK(t, w.Path()); r.Records != 7 || r.Removed != nil {
		t.Errorf("%+v", r)
	}
	for _, f := range []string{"00000000000000000001.ndjson.gz", "00000000000000000003.ndjson"} {
		st, err := os.Stat(filepath.Join(dir, segmentsDir, f))
		must(t, err)
		if st.Mode().Perm() != filePerm {
			t.Errorf("%s has mode %o", f, st.Mode().Perm())
		}
	}
	// A place in the log stays what it is when the log is rotated.
	var at []int64
	next, err := ScanFrom(ctx, w.Path(), 0, func(l Line) error { at = append(at, l.Offset); return nil })
	must(t, err)
	closes(t, w, "f")
	turn(t, w)
	must(t, w.keeper.tidy(ctx))
	for i, from := range append(at, next) {
		var got []string
		end, err := ScanFrom(ctx, w.Path(), from, func(l Line) error { got = append(got, fmt.Sprint(l.Head.Seq)); return nil })
		must(t, err)
		if len(got) != 9-i || got[0] != fmt.Sprint(i+1) || end <= next {
			t.Errorf("from record %d: %v", i+1, got)
		}
	}
	must(t, w.Shutdown(ctx))
	again := mustOpen(t, dir, Options{})
	closes(t, again, "g")
	if r := wantOK(t, w.Path()); r.Records != 10 {
		t.Errorf("%+v", r)
	}
	// The files in any order, and each of them once.
	paths, err := filepath.Glob(filepath.Join(dir, segmentsDir, "*.ndjson*"))
	must(t, err)
	slices.Reverse(paths)
	if r := wantOK(t, append([]string{w.Path()}, paths...)...); r.Records != 10 {
		t.Errorf("%+v", r)
	}
}

// TestRotateByItself: by size, by age, never without need, and with several
// writers of one chain.
func TestRotateByItself(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	var writers []*Writer
	for i := range 3 {
		w := mustOpen(t, dir, Options{Rotate: Rotation{Bytes: 64 << 10}})
		writers = append(writers, w)
		for j := range 4 {
			wg.Go(func() {
				for k := range 50 {
					c := sampleCall(fmt.Sprintf("c-%d-%d-%d", i, j, k))
					if err := errors.Join(w.Open(context.Background(), c, false, nil), w.Close(context.Background(), c, nil)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	wantOK(t, logPath(dir)) // while it may still be rotated
	for _, w := range writers {
		must(t, w.Shutdown(context.Background()))
	}
	r := wantOK(t, logPath(dir))
	turns := 0
	must(t, Scan(context.Background(), []string{logPath(dir)}, func(l Line) error {
		if l.Head.Phase == PhaseEvent {
			turns++
		}
		return nil
	}))
	if turns == 0 || r.Records != uint64(3*4*50*2+turns) {
		t.Errorf("%d records, %d rotations", r.Records, turns)
	}
}

func TestRotateByAge(t *testing.T) {
	clock := newHandClock()
	w := mustOpen(t, t.TempDir(), Options{Rotate: Rotation{After: time.Hour}, manual: true, Now: clock.now})
	ctx := context.Background()
	must(t, w.keeper.round(ctx))
	closes(t, w, "a", "b")
	clock.pass(59 * time.Minute)
	must(t, w.keeper.round(ctx))
	if w.keeper.began.Load() == 0 {
		t.Error("rotated too early")
	}
	clock.pass(time.Minute)
	must(t, w.keeper.round(ctx))
	clock.pass(24 * time.Hour)
	must(t, w.keeper.round(ctx)) // nothing came since
	if got := phases(records(t, w.Path())); got != "close:a close:b event:segment" {
		t.Error(got)
	}
}

// TestRotatedByAnother: a process that did nothing while others rotated goes
// on in the right file, however often they did and whatever became of the file
// that it has open.
func TestRotatedByAnother(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	idle, w := mustOpen(t, dir, Options{manual: true}), rotating(t, dir, Options{})
	closes(t, idle, "a")
	for i := range 4 {
		for j := range i {
			closes(t, w, fmt.Sprintf("b%d-%d-x", i, j), fmt.Sprintf("b%d-%d-y", i, j))
			turn(t, w)
			if i == 3 {
				must(t, w.keeper.compress(ctx))
			}
		}
		closes(t, idle, fmt.Sprint("i", i))
	}
	wantOK(t, w.Path())

	// A file that is put in place of the log is not taken for a rotation.
	closes(t, w, "x", "y")
	log := readFile(t, w.Path())
	turn(t, w)
	last := readFile(t, w.Path())
	closed, err := closedSegments(dir, w.Path())
	must(t, err)
	newest := closed[len(closed)-1].path
	must(t, os.Rename(newest, newest+".away"))
	wantReason(t, idle.Close(ctx, bareCall("z"), nil), ReasonFileGone)
	must(t, os.Rename(newest+".away", newest))
	if !bytes.Equal(readFile(t, newest), log) || !bytes.Equal(readFile(t, w.Path()), last) {
		t.Error("a file was changed")
	}
	closes(t, idle, "z")
}

// TestRotateFails: an error at any step refuses no call, is shown, and the
// next try succeeds.
func TestRotateFails(t *testing.T) {
	for _, step := range []string{"written", "linked", "renamed"} {
		t.Run(step, func(t *testing.T) {
			w := rotating(t, t.TempDir(), Options{})
			closes(t, w, "a", "b")
			w.chain.step = func(at string) error {
				if at == step {
					return errors.New("no")
				}
				return nil
			}
			ctx := context.Background()
			w.keeper.note(w.keeper.round(ctx))
			wantReason(t, w.Upkeep(), ReasonIO)
			w.chain.step = nil
			closes(t, w, "c", "d")
			must(t, w.Health(ctx))
			w.keeper.note(w.keeper.round(ctx))
			must(t, w.Upkeep())
			closes(t, w, "e")
			wantOK(t, w.Path())
			if got := strings.ReplaceAll(phases(records(t, w.Path())), "event:segment ", ""); got != "close:a close:b close:c close:d close:e" {
				t.Error(got)
			}
		})
	}
}

// TestGrowingFileLost: a log whose file is gone at a start goes on behind its
// closed segments, and says for good that records may be missing.
func TestGrowingFileLost(t *testing.T) {
	dir := t.TempDir()
	w := rotating(t, dir, Options{})
	closes(t, w, "a", "b")
	turn(t, w)
	closes(t, w, "lost")
	must(t, w.Shutdown(context.Background()))
	for _, how := range []string{"removed", "emptied"} {
		dir := copyTree(t, dir, true)
		must(t, os.Remove(logPath(dir)))
		if how == "emptied" {
			must(t, os.WriteFile(logPath(dir), nil, filePerm))
		}
		w := rotating(t, dir, Options{})
		closes(t, w, "c")
		turn(t, w)
		r := verify(t, w.Path())
		if len(r.Findings) != 1 || r.Findings[0].Kind != KindCut || r.Records != 5 {
			t.Errorf("%s: %+v", how, r)
		}
		if got := phases(records(t, w.Path())); got != "close:a close:b event:segment close:c event:segment" {
			t.Error(got)
		}
	}
}

// TestRecoverAcrossSegments: a call whose open record is in a closed,
// compressed file is closed as interrupted.
func TestRecoverAcrossSegments(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	dead := rotating(t, dir, Options{})
	closes(t, dead, "before", "first")
	turn(t, dead)
	must(t, dead.Open(ctx, sampleCall("x"), true, nil))
	turn(t, dead)
	closes(t, dead, "after")
	turn(t, dead)
	must(t, dead.keeper.compress(ctx))
	closes(t, dead, "end")
	vanish(t, dead)
	w := mustOpen(t, dir, Options{})
	if got := w.Recovered().Interrupted; len(got) != 1 || got[0] != "x" {
		t.Fatalf("got %v", got)
	}
	rs := records(t, w.Path())
	if last := rs[len(rs)-1]; last.CallID != "x" || last.Tool == nil || last.Tool.Name != "fetch_page" {
		t.Errorf("%+v", last)
	}
	wantOK(t, w.Path())
}
