package audit

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/fault"
)

// notary signs, and knows its public key.
func notary(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "acme.example/audit")
	must(t, err)
	s, err := note.NewSigner(private)
	must(t, err)
	v, err := note.NewVerifier(public)
	must(t, err)
	return s, v
}

// logOf writes n calls, of each a close, and gives the lines.
func logOf(t testing.TB, n int) (path string, lines [][]byte) {
	t.Helper()
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{})
	for i := range n {
		must(t, w.Close(context.Background(), bareCall(fmt.Sprint("call-", i)), nil))
	}
	must(t, w.Shutdown(context.Background()))
	path = logPath(dir)
	return path, slices.Collect(bytes.Lines(readFile(t, path)))
}

// TestCheckpointFindsCuts cuts a log after every line, and replaces it by
// another one that is whole in itself: without a checkpoint neither shows.
func TestCheckpointFindsCuts(t *testing.T) {
	path, lines := logOf(t, 20)
	c, _, err := State(t.Context(), []string{path})
	must(t, err)
	kinds := func(path string) string {
		t.Helper()
		r, err := Verify(t.Context(), []string{path}, VerifyOptions{Checkpoints: []checkpoint.Checkpoint{c}})
		must(t, err)
		var out []string
		for _, f := range r.Findings {
			out = append(out, fmt.Sprint(f.Kind, "@", f.Line))
		}
		return strings.Join(out, " ")
	}
	if got := kinds(path); got != "" {
		t.Errorf("the log itself: %s", got)
	}
	cut := filepath.Join(t.TempDir(), "cut.ndjson")
	for n := range lines {
		must(t, os.WriteFile(cut, bytes.Join(lines[:n], nil), 0o600))
		if r := verify(t, cut); !r.OK {
			t.Fatalf("%d lines: %+v", n, r.Findings)
		}
		if got, want := kinds(cut), fmt.Sprint(KindCut, "@", n+1); got != want {
			t.Errorf("cut after %d lines: %q, want %q", n, got, want)
		}
	}
	other, _ := logOf(t, 25)
	wantOK(t, other)
	if got, want := kinds(other), fmt.Sprint(KindCheckpoint, "@", c.Size); got != want {
		t.Errorf("another log: %q, want %q", got, want)
	}
	grown, more := logOf(t, 3)
	c, _, err = State(t.Context(), []string{grown})
	must(t, err)
	must(t, os.WriteFile(cut, bytes.Join(more, nil), 0o600))
	if got := kinds(grown); got != "" {
		t.Errorf("a log as long as its checkpoint: %s", got)
	}
}

// TestProve gives for every record of a log a proof that holds with the public
// key alone, and no other record's.
func TestProve(t *testing.T) {
	signer, verifier := notary(t)
	path, lines := logOf(t, 23)
	var file bytes.Buffer
	for _, n := range []int{5, 9, len(lines)} {
		part := filepath.Join(t.TempDir(), "part.ndjson")
		must(t, os.WriteFile(part, bytes.Join(lines[:n], nil), 0o600))
		c, _, err := State(t.Context(), []string{part})
		must(t, err)
		msg, err := checkpoint.Sign(c, signer)
		must(t, err)
		file.Write(msg)
	}
	signed, _, err := checkpoint.OpenAll(&file, verifier)
	must(t, err)
	if len(signed) != 3 {
		t.Fatalf("%d checkpoints", len(signed))
	}
	closes := 0
	must(t, Scan(t.Context(), []string{path}, func(l Line) error {
		if l.Head.Phase != PhaseClose {
			return nil
		}
		closes++
		p, err := Prove(t.Context(), []string{path}, l.Head.CallID, signed)
		must(t, err)
		doc, err := p.Encode()
		must(t, err)
		got, c, err := checkpoint.OpenProof(doc, verifier)
		must(t, err)
		if got.Record != string(l.Raw) || c.Size < int64(l.Head.Seq) {
			t.Errorf("call %s: proven is %s", l.Head.CallID, got.Record)
		}
		for name, other := range map[string]func(*checkpoint.Proof){
			"a changed record":   func(p *checkpoint.Proof) { p.Record = strings.Replace(p.Record, "call-", "cal1-", 1) },
			"another place":      func(p *checkpoint.Proof) { p.Index++ },
			"a negative place":   func(p *checkpoint.Proof) { p.Index = -1 },
			"another path":       func(p *checkpoint.Proof) { p.Path = p.Path[1:] },
			"another size":       func(p *checkpoint.Proof) { p.Checkpoint = strings.Replace(p.Checkpoint, "\n", "\n1", 1) },
			"another checkpoint": func(p *checkpoint.Proof) { p.Checkpoint = signed[len(signed)-1].Note + "x" },
		} {
			q := p
			other(&q)
			doc, err := q.Encode()
			must(t, err)
			if _, _, err := checkpoint.OpenProof(doc, verifier); err == nil {
				t.Errorf("call %s: %s is proven", l.Head.CallID, name)
			}
		}
		return nil
	}))
	if closes != 23 {
		t.Errorf("%d closes", closes)
	}
	_, err = Prove(t.Context(), []string{path}, "nobody", signed)
	wantUsage(t, err, ReasonNoRecord)
	_, err = Prove(t.Context(), []string{path}, "call-22", signed[:1])
	wantUsage(t, err, ReasonNoCheckpoint)
	other, _ := logOf(t, 23)
	_, err = Prove(t.Context(), []string{other}, "call-2", signed)
	wantUsage(t, err, ReasonOtherLog)
	must(t, os.WriteFile(path, bytes.Join(lines[1:], nil), 0o600))
	_, _, err = State(t.Context(), []string{path})
	wantUsage(t, err, ReasonNotWhole)
}

func wantUsage(t testing.TB, err error, reason string) {
	t.Helper()
	if f := fault.From(err); err == nil || f.Code != fault.Usage || f.Reason != reason {
		t.Errorf("got %v, want USAGE (%s)", err, reason)
	}
}

// TestFollow follows a log that two writers extend, and one that somebody cuts
// or replaces.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	path := logPath(dir)
	f := Follow(path)
	if c, err := f.Next(t.Context()); err != nil || c.Size != 0 || c.Head != "" {
		t.Fatalf("a log that is not there: %+v, %v", c, err)
	}
	first, second := mustOpen(t, dir, Options{}), mustOpen(t, dir, Options{})
	defer first.Shutdown(context.Background())
	defer second.Shutdown(context.Background())
	for i := range 30 {
		must(t, first.Close(t.Context(), bareCall(fmt.Sprint("a-", i)), nil))
		must(t, second.Close(t.Context(), bareCall(fmt.Sprint("b-", i)), nil))
		if i%7 != 0 {
			continue
		}
		got, err := f.Next(t.Context())
		must(t, err)
		want, _, err := State(t.Context(), []string{path})
		must(t, err)
		if got.Size != want.Size || got.Root != want.Root || got.Head != want.Head {
			t.Fatalf("followed to %+v, the log is at %+v", got, want)
		}
	}
	whole := readFile(t, path)
	torn := append(bytes.Clone(whole), `{"time":"20`...)
	must(t, os.WriteFile(path, torn, 0o600))
	before, err := f.Next(t.Context())
	must(t, err)
	must(t, os.WriteFile(path, whole, 0o600)) // as a start sets a torn tail aside
	if after, err := f.Next(t.Context()); err != nil || after.Size != before.Size {
		t.Errorf("without its torn tail: %+v, %v", after, err)
	}

	must(t, os.WriteFile(path, whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1], 0o600))
	for range 2 {
		_, err = f.Next(t.Context())
		wantReason(t, err, ReasonReplaced)
	}
	must(t, os.WriteFile(path, whole, 0o600))
	if _, err = f.Next(t.Context()); err == nil {
		t.Error("a log that was cut, and grew again, is signed")
	}
	other, _ := logOf(t, 80)
	g := Follow(path)
	_, err = g.Next(t.Context())
	must(t, err)
	must(t, os.WriteFile(path, readFile(t, other), 0o600))
	_, err = g.Next(t.Context())
	wantReason(t, err, ReasonReplaced)
}
