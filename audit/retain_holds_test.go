package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// TestRetentionHolds: what is still needed, or is evidence, stays.
func TestRetentionHolds(t *testing.T) {
	ctx := context.Background()
	t.Run("an unfinished call", func(t *testing.T) {
		dir := t.TempDir()
		w := rotating(t, dir, Options{Retain: Retention{Segments: 1}})
		idle := mustOpen(t, dir, Options{manual: true})
		closes(t, w, "a", "b")
		turn(t, w)
		must(t, w.Open(ctx, bareCall("x"), true, nil))
		turned(t, w, 2)
		must(t, w.keeper.tidy(ctx)) // the idle one may still need all
		if n := len(segmentPaths(t, dir)); n != 3 {
			t.Fatalf("%d files are left", n)
		}
		must(t, idle.keeper.tidy(ctx))
		must(t, w.keeper.tidy(ctx))
		if n := len(segmentPaths(t, dir)); n != 2 {
			t.Fatalf("%d files are left", n)
		}
		closes(t, w, "x")
		must(t, w.keeper.tidy(ctx))
		if n := len(segmentPaths(t, dir)); n != 1 {
			t.Errorf("%d files are left", n)
		}
		wantOK(t, w.Path())
	})
	t.Run("a follower that has not read", func(t *testing.T) {
		dir := t.TempDir()
		w := rotating(t, dir, Options{Retain: Retention{Segments: 1}})
		f := w.Follow()
		turned(t, w, 3)
		must(t, w.keeper.tidy(ctx))
		if n := len(segmentPaths(t, dir)); n != 3 {
			t.Errorf("%d files are left", n)
		}
		_, err := f.Next(ctx)
		must(t, err)
		other := Follow(w.Path())
		_, err = other.Next(ctx)
		must(t, err)
		must(t, w.keeper.tidy(ctx))
		if n := len(segmentPaths(t, dir)); n != 1 {
			t.Errorf("%d files are left", n)
		}
		_, err = other.Next(ctx)
		must(t, err)
		closes(t, w, "x1", "x2")
		turn(t, w)
		_, err = f.Next(ctx)
		must(t, err)
		closes(t, w, "x3", "x4")
		turn(t, w)
		_, err = f.Next(ctx)
		must(t, err)
		must(t, w.keeper.tidy(ctx)) // of which the other one read nothing
		_, err = other.Next(ctx)
		wantReason(t, err, ReasonReplaced)
	})
	t.Run("a damaged file", func(t *testing.T) {
		dir := t.TempDir()
		w := rotating(t, dir, Options{Retain: Retention{Segments: 1}})
		turned(t, w, 2)
		first := segmentPaths(t, dir)[0]
		b := readFile(t, first)
		b[len(b)-200] ^= 1
		must(t, os.WriteFile(first, b, filePerm))
		wantReason(t, w.keeper.tidy(ctx), ReasonIO)
		if n := len(segmentPaths(t, dir)); n != 2 {
			t.Errorf("%d files are left", n)
		}
	})
}

// TestRetentionOfMany: as many as one record holds at a time, and its note is
// whole.
func TestRetentionOfMany(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred rotations")
	}
	dir := t.TempDir()
	ctx := context.Background()
	key, public := testKey(t)
	w := rotating(t, dir, Options{SignRemoval: func(r checkpoint.Removal) ([]byte, error) { return checkpoint.SignRemoval(r, key) }})
	const n = maxRemoved + 10
	for i := range n {
		closes(t, w, fmt.Sprint("a", i), fmt.Sprint("b", i))
		turn(t, w)
	}
	w.keeper.retain.Segments = 1
	must(t, w.keeper.tidy(ctx))
	r, err := Verify(ctx, []string{w.Path()}, VerifyOptions{Key: public})
	must(t, err)
	if !r.OK || r.Removed == nil || !r.Removed.Signed || len(segmentPaths(t, dir)) != 1 {
		t.Fatalf("%+v", r)
	}
	counts := []int{}
	for _, x := range records(t, w.Path()) {
		if x.Kind != nil && *x.Kind == kindRemoved {
			var said tombstone
			must(t, decode(x.Detail, &said))
			removal, err := checkpoint.OpenRemoval([]byte(*said.Note), public)
			must(t, err)
			if len(removal.Segments) != len(said.Segments) {
				t.Error("the note was cut")
			}
			counts = append(counts, len(said.Segments))
		}
	}
	if diff := cmp.Diff([]int{maxRemoved, n - maxRemoved - 1}, counts); diff != "" {
		t.Error(diff)
	}
}

// TestTombstones: which record of a removal is taken for one.
func TestTombstones(t *testing.T) {
	ctx := context.Background()
	key, public := testKey(t)
	_, other := testKey(t)
	log := func(sign bool) (string, []checkpoint.Checkpoint) {
		dir := t.TempDir()
		o := Options{Retain: Retention{Segments: 1}}
		if sign {
			o.SignRemoval = func(r checkpoint.Removal) ([]byte, error) { return checkpoint.SignRemoval(r, key) }
		}
		w := rotating(t, dir, o)
		turned(t, w, 2)
		must(t, w.keeper.tidy(ctx))
		c, err := Follow(w.Path()).Next(ctx)
		must(t, err)
		must(t, w.Shutdown(ctx))
		return dir, []checkpoint.Checkpoint{c}
	}
	signed, _ := log(true)
	unsigned, covering := log(false)
	again := copyTree(t, signed, true)
	must(t, os.Remove(segmentPaths(t, again)[0]))
	for name, c := range map[string]struct {
		dir  string
		o    VerifyOptions
		kind string
	}{
		"signed":                             {signed, VerifyOptions{Key: public}, ""},
		"signed, nobody asks":                {signed, VerifyOptions{}, ""},
		"signed by another":                  {signed, VerifyOptions{Key: other}, KindRemoved},
		"unsigned":                           {unsigned, VerifyOptions{Key: public}, KindRemoved},
		"unsigned, nobody asks":              {unsigned, VerifyOptions{}, ""},
		"unsigned, under a checkpoint":       {unsigned, VerifyOptions{Key: public, Checkpoints: covering}, KindRemoved},
		"more is gone than is accounted for": {again, VerifyOptions{Key: public}, KindRemoved},
	} {
		r, err := Verify(ctx, []string{logPath(c.dir)}, c.o)
		must(t, err)
		if r.OK != (c.kind == "") || !r.OK && r.Findings[0].Kind != c.kind {
			t.Errorf("%s: %+v", name, r)
		}
		warning := ""
		if r.OK && r.Removed.Warning != nil {
			warning = *r.Removed.Warning
		}
		if want := map[string]string{"unsigned, nobody asks": notSigned, "signed, nobody asks": unchecked}[name]; warning != want {
			t.Errorf("%s: warning %q", name, warning)
		}
	}
}

// TestRemovedWhileRead: who reads a log while its oldest files go may still
// see the first of them and miss the next; the record accounts for both.
func TestRemovedWhileRead(t *testing.T) {
	ctx := context.Background()
	dir, between := t.TempDir(), ""
	w := rotating(t, dir, Options{Retain: Retention{Segments: 1}})
	turned(t, w, 4)
	w.keeper.step = func(step string) error {
		if step == "said" {
			between = copyTree(t, dir, true)
		}
		return nil
	}
	must(t, w.keeper.tidy(ctx))
	c, err := Follow(w.Path()).Next(ctx)
	must(t, err)
	files := segmentPaths(t, between) // of which the first three are to go
	for _, gone := range [][]int{{}, {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}, {0, 2}} {
		dir := copyTree(t, between, true)
		for _, i := range gone {
			must(t, os.Remove(filepath.Join(dir, segmentsDir, filepath.Base(files[i]))))
		}
		r, err := Verify(ctx, []string{logPath(dir)}, VerifyOptions{Checkpoints: []checkpoint.Checkpoint{c}})
		must(t, err)
		if !r.OK || (r.Removed != nil) != (len(gone) > 0) {
			t.Errorf("without %v: %+v", gone, r)
		}
	}
	dir = copyTree(t, between, true)
	must(t, os.Remove(segmentPaths(t, dir)[3]))
	if r := verify(t, logPath(dir)); len(r.Findings) != 1 || r.Findings[0].Kind != KindRemoved {
		t.Errorf("%+v", r)
	}
}

// TestForgedRemoval: who can write the files and has no key takes one away and
// says so in a record that is not signed. The next checkpoint covers that record
// and makes it no better.
func TestForgedRemoval(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	key, public := testKey(t)
	w := rotating(t, dir, Options{SignRemoval: func(r checkpoint.Removal) ([]byte, error) { return checkpoint.SignRemoval(r, key) }})
	follow := w.Follow()
	var signed []checkpoint.Checkpoint
	sign := func() {
		t.Helper()
		c, err := follow.Next(ctx)
		must(t, err)
		signed = append(signed, c)
	}
	for i := range 4 {
		closes(t, w, fmt.Sprint("a", i), fmt.Sprint("b", i))
		turn(t, w)
		sign()
	}
	holds := func(want bool) {
		t.Helper()
		r, err := Verify(ctx, []string{w.Path()}, VerifyOptions{Key: public, Checkpoints: signed})
		must(t, err)
		if r.OK != want || !want && r.Findings[0].Kind != KindRemoved {
			t.Errorf("%+v", r)
		}
	}
	holds(true)
	set, err := expand(w.Path())
	must(t, err)
	o, err := set[2].origin(ctx)
	must(t, err)
	set.close()
	p := o.opens.Previous
	must(t, os.Remove(segmentPaths(t, dir)[1]))
	holds(false)
	must(t, w.Event(ctx, tombstone{Policies: []string{}, Segments: []checkpoint.Segment{
		{File: p.File, First: p.First, Last: p.Last, Head: p.Head, Bytes: p.Bytes, Digest: "sha256:00"},
	}}.event(), nil))
	holds(false)
	sign()
	holds(false)
}

// TestRemovalInside: a record of a removal counts for a gap inside of a log when
// it names all that is missing.
func TestRemovalInside(t *testing.T) {
	seg := func(first, last uint64, head string) checkpoint.Segment {
		return checkpoint.Segment{First: first, Last: last, Head: head}
	}
	three := []checkpoint.Segment{seg(3, 5, "a"), seg(6, 9, "b"), seg(10, 12, "c")}
	for _, c := range []struct {
		from, seq uint64
		prev      string
		segments  []checkpoint.Segment
		want      bool
	}{
		{3, 13, "c", three, true}, {4, 13, "c", three, true}, {2, 13, "c", three, false}, {6, 10, "b", three, true},
		{3, 13, "c", three[2:], false}, {10, 13, "c", three[2:], true}, {3, 13, "c", []checkpoint.Segment{three[0], three[2]}, false},
		{10, 13, "x", three, false}, {10, 14, "c", three, false}, {1, 13, "c", three, true}, {1, 13, "c", nil, false},
	} {
		if got := (removal{tombstone: tombstone{Segments: c.segments}}).covers(beginning{from: c.from, seq: c.seq, prev: c.prev}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
