package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/fault"
)

// turned writes a log of n closed files, with two calls each, and a call in
// the one that grows.
func turned(t testing.TB, w *Writer, n int) {
	t.Helper()
	for i := range n {
		closes(t, w, fmt.Sprintf("c%d-1", i), fmt.Sprintf("c%d-2", i))
		turn(t, w)
	}
	closes(t, w, "young")
}

// segmentPaths are the closed files of a log, as they are on the disk.
func segmentPaths(t testing.TB, dir string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(dir, segmentsDir, "*.ndjson*"))
	must(t, err)
	return out
}

// TestVerifySegments names what became of the files of a log.
func TestVerifySegments(t *testing.T) {
	whole := t.TempDir()
	w := rotating(t, whole, Options{})
	turned(t, w, 3)
	must(t, w.keeper.compress(context.Background()))
	must(t, w.Shutdown(context.Background()))
	wantOK(t, logPath(whole))
	for name, c := range map[string]struct {
		harm func(dir string, files []string)
		kind string
		line int
		text string
	}{
		"the first removed":   {func(_ string, f []string) { must(t, os.Remove(f[0])) }, KindRemoved, 1, "records 1 to 2 are elsewhere or were removed"},
		"an inner one":        {func(_ string, f []string) { must(t, os.Remove(f[1])) }, KindRemoved, 1, "records 3 to 5 are missing"},
		"the last closed one": {func(_ string, f []string) { must(t, os.Remove(f[2])) }, KindRemoved, 1, "records 6 to 8 are missing"},
		"exchanged": {func(_ string, f []string) {
			must(t, os.Rename(f[0], f[0]+"x"))
			must(t, os.Rename(f[1], f[0]))
			must(t, os.Rename(f[0]+"x", f[1]))
		}, KindRemoved, 1, ""},
		"compressed and cut": {func(_ string, f []string) {
			b := readFile(t, f[1])
			must(t, os.WriteFile(f[1], b[:len(b)-30], filePerm))
		}, KindCompressed, 0, "damaged"},
		"compressed and altered": {func(_ string, f []string) {
			b := readFile(t, f[1])
			b[len(b)/2] ^= 0x10
			must(t, os.WriteFile(f[1], b, filePerm))
		}, "", 0, ""},
		"compressed and no file": {func(_ string, f []string) {
			must(t, os.WriteFile(f[1], []byte{0x1f, 0x8b, 0, 0}, filePerm))
		}, KindCompressed, 1, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyTree(t, whole, true)
			c.harm(dir, segmentPaths(t, dir))
			r := verify(t, logPath(dir))
			if r.OK || r.Removed != nil {
				t.Fatalf("%+v", r)
			}
			f := r.Findings[0]
			if c.kind != "" && f.Kind != c.kind || c.line != 0 && f.Line != c.line || !strings.Contains(f.Message, c.text) {
				t.Errorf("%+v", r.Findings)
			}
		})
	}
	// A closed file by itself begins in the middle of a chain.
	r := verify(t, segmentPaths(t, whole)[1])
	if len(r.Findings) != 1 || r.Findings[0].Kind != KindRemoved || r.Records != 3 {
		t.Errorf("%+v", r)
	}
}

// testKey is a key that signs checkpoints.
func testKey(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(nil, "acme.example/audit")
	must(t, err)
	s, err := note.NewSigner(private)
	must(t, err)
	v, err := note.NewVerifier(public)
	must(t, err)
	return s, v
}

// TestRetention: old files go, a record says which, signed, and what is left
// verifies, is proven and is signed on.
func TestRetention(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	key, public := testKey(t)
	w := rotating(t, dir, Options{Retain: Retention{Segments: 2},
		SignRemoval: func(r checkpoint.Removal) ([]byte, error) { return checkpoint.SignRemoval(r, key) }})
	var signed []checkpoint.Signed
	follower := w.Follow()
	sign := func(f *Follower) {
		t.Helper()
		c, err := f.Next(ctx)
		must(t, err)
		msg, err := checkpoint.Sign(c, key)
		must(t, err)
		c, err = checkpoint.Open(msg, public)
		must(t, err)
		signed = append(signed, checkpoint.Signed{Checkpoint: c, Note: string(msg)})
	}
	sign2 := func() { sign(follower); sign(Follow(w.Path())) } // also by one that begins anew
	policy := Object{Kind: "policy", Digest: digestOf([]byte("{}")), Content: []byte("{}")}
	must(t, w.Object(ctx, policy))
	turned(t, w, 1)
	sign2()
	turned2 := func(i int) {
		closes(t, w, fmt.Sprintf("d%d-1", i), fmt.Sprintf("d%d-2", i))
		turn(t, w)
	}
	for i := range 3 {
		turned2(i)
	}
	all := readAll(t, w.Path())
	late := Follow(w.Path())
	late.lines, late.offset = 1, 100 // in the middle of its first reading
	sign2()
	must(t, w.keeper.tidy(ctx))
	sign2()
	sign(late)
	closes(t, w, "end")
	sign2()
	if n := len(segmentPaths(t, dir)); n != 2 {
		t.Fatalf("%d closed files are left", n)
	}

	var checkpoints []checkpoint.Checkpoint
	for _, s := range signed {
		checkpoints = append(checkpoints, s.Checkpoint)
	}
	r, err := Verify(ctx, []string{w.Path()}, VerifyOptions{Checkpoints: checkpoints, Key: public})
	must(t, err)
	if !r.OK || r.Removed == nil || !r.Removed.Signed || r.Removed.Last != 7 {
		t.Fatalf("%+v %+v", r, r.Removed)
	}
	state, _, err := State(ctx, []string{w.Path()})
	must(t, err)
	if last := signed[len(signed)-1].Checkpoint; state.Root != last.Root || state.Size != last.Size {
		t.Error("the state of what is left is not that of the whole log")
	}

	// The record says what was removed, to the byte.
	var said tombstone
	for _, x := range records(t, w.Path()) {
		if x.Kind != nil && *x.Kind == kindRemoved {
			must(t, decode(x.Detail, &said))
		}
	}
	if len(said.Segments) != 2 || said.Segments[0].First != 1 || said.Segments[0].Last != 3 || said.Segments[1].Last != 7 {
		t.Fatalf("%+v", said)
	}
	at := int64(0)
	for _, s := range said.Segments {
		if got := digestOf(all[at : at+s.Bytes]); got != s.Digest {
			t.Errorf("%s has the digest %s, want %s", s.File, s.Digest, got)
		}
		at += s.Bytes
	}
	if got, err := RemovedPolicies(ctx, []string{w.Path()}); err != nil || len(got) != 1 || got[0] != policy.Digest {
		t.Errorf("removed policies %v, %v", got, err)
	}
	removal, err := checkpoint.OpenRemoval([]byte(*said.Note), public)
	must(t, err)
	if diff := cmp.Diff(said.Segments, removal.Segments); diff != "" {
		t.Error(diff)
	}

	// What is left is proven by each checkpoint that counts it; what is gone
	// cannot be.
	proven := 0
	for _, x := range records(t, w.Path()) {
		for _, s := range signed {
			if x.Phase != PhaseClose || uint64(s.Size) < x.Seq {
				continue
			}
			p, err := Prove(ctx, []string{w.Path()}, x.CallID, []checkpoint.Signed{s})
			must(t, err)
			doc, err := p.Encode()
			must(t, err)
			if _, _, err := checkpoint.OpenProof(doc, public); err != nil {
				t.Errorf("%s by the checkpoint of %d: %v", x.CallID, s.Size, err)
			}
			proven++
		}
	}
	if proven == 0 {
		t.Error("nothing was proven")
	}
	if _, err := Prove(ctx, []string{w.Path()}, "c0-1", signed); fault.From(err).Reason != ReasonNoRecord {
		t.Errorf("got %v", err)
	}
}

// readAll gives the bytes of a log, closed files included.
func readAll(t testing.TB, path string) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, Scan(context.Background(), []string{path}, func(l Line) error {
		b.Write(l.Raw)
		return b.WriteByte('\n')
	}))
	return b.Bytes()
}

// TestRetentionByAge: as old as the newest record of a file.
func TestRetentionByAge(t *testing.T) {
	clock := newHandClock()
	dir := t.TempDir()
	ctx := context.Background()
	w := rotating(t, dir, Options{Retain: Retention{Age: 24 * time.Hour}, Now: clock.now})
	for i := range 3 {
		closes(t, w, fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i))
		turn(t, w)
		clock.pass(10 * time.Hour)
	}
	for _, want := range []int{2, 1, 0} { // those of 30, 20 and 10 hours ago
		must(t, w.keeper.tidy(ctx))
		if n := len(segmentPaths(t, dir)); n != want {
			t.Errorf("%d files are left, want %d", n, want)
		}
		if r := wantOK(t, w.Path()); r.Removed == nil {
			t.Error("nothing is said to be removed")
		}
		clock.pass(10 * time.Hour)
	}
}
