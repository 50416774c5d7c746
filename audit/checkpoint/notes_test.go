package checkpoint

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
)

func signedNotes(t testing.TB, signer note.Signer, sizes ...int64) []string {
	t.Helper()
	var out []string
	for _, size := range sizes {
		msg, err := Sign(sample(size), signer)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(msg))
	}
	return out
}

// sizesIn gives the sizes of all checkpoints of a file; -1 stands for the last
// one where Last finds another.
func sizesIn(t testing.TB, file string, key note.Verifier) (out []int64, skipped Skipped) {
	t.Helper()
	list, skipped, err := OpenAll(strings.NewReader(file), key)
	if err != nil {
		t.Fatalf("%q: %v", file, err)
	}
	for _, s := range list {
		out = append(out, s.Size)
	}
	last, _, err := Last(strings.NewReader(file), int64(len(file)), key)
	if err != nil || last == nil || last.Size != out[len(out)-1] {
		out = append(out, -1)
	}
	return out, skipped
}

// TestTornNote: whatever a full disk leaves of a note, those before it and
// those that begin on a line of their own hold.
func TestTornNote(t *testing.T) {
	signer, verifier := keys(t)
	n := signedNotes(t, signer, 1, 2, 3)
	for cut := range len(n[1]) {
		torn := n[0] + n[1][:cut]
		got, skipped := sizesIn(t, torn, verifier)
		want := []int64{1}
		if cut == len(n[1])-1 { // all but the newline
			want = append(want, 2)
		}
		if !slices.Equal(got, want) || (skipped.Count == 0) != (cut == 0 || len(want) == 2) {
			t.Errorf("cut at %d: %v, %+v", cut, got, skipped)
		}
		if got, _ := sizesIn(t, torn+"\n"+n[2], verifier); !slices.Equal(got, append(want, 3)) {
			t.Errorf("cut at %d and gone on: %v", cut, got)
		}
	}
}

func TestSkipped(t *testing.T) {
	signer, verifier := keys(t)
	stranger, _ := keys(t)
	n := signedNotes(t, signer, 1, 2, 3)
	other := signedNotes(t, stranger, 7)[0]
	long := strings.Repeat("x", 3*maxNoteLine)
	both, err := note.Sign(&note.Note{Text: strings.SplitAfter(n[1], "\n\n")[0][:strings.Index(n[1], "\n\n")+1]}, stranger, signer)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file  string
		want  []int64
		count int
		line  int64
	}{
		"nothing":              {n[0] + n[1] + n[2], []int64{1, 2, 3}, 0, 0},
		"blank lines":          {"\n\n" + n[0] + "\n" + n[1] + "\n\n", []int64{1, 2}, 0, 0},
		"lines of Windows":     {strings.ReplaceAll(n[0]+n[1], "\n", "\r\n"), []int64{1, 2}, 0, 0},
		"two signatures":       {n[0] + string(both) + n[2], []int64{1, 2, 3}, 0, 0},
		"garbage first":        {"x\ny\n" + n[0], []int64{1}, 1, 1},
		"garbage in between":   {n[0] + "x\n\ny\n" + n[1] + n[2], []int64{1, 2, 3}, 1, 8},
		"garbage at the end":   {n[0] + n[1] + "\x00\x00\x00", []int64{1, 2}, 1, 15},
		"a long line":          {n[0] + long + "\n" + n[1], []int64{1, 2}, 1, 8},
		"a long line at last":  {n[0] + long, []int64{1}, 1, 8},
		"a signature alone":    {n[0] + "\u2014 x y\n" + n[1], []int64{1, 2}, 0, 0}, // for one of the note
		"too many signatures":  {n[0] + strings.Repeat("\u2014 x y\n", 2*maxSignatures) + n[1], []int64{1, 2}, 2, 107},
		"of another key":       {n[0] + other + n[1], []int64{1, 2}, 1, 8},
		"of another key, last": {n[0] + other, []int64{1}, 1, 8},
		"altered":              {n[0] + strings.Replace(n[1], "\n2\n", "\n9\n", 1) + n[2], []int64{1, 3}, 1, 8},
		"much behind":          {n[0] + strings.Repeat(other, 2000), []int64{1}, 2000, 8},
	} {
		t.Run(name, func(t *testing.T) {
			got, skipped := sizesIn(t, c.file, verifier)
			if !slices.Equal(got, c.want) || skipped.Count != c.count || skipped.Line != c.line || (skipped.Err == nil) != (c.count == 0) {
				t.Errorf("got %v, %+v", got, skipped)
			}
		})
	}
}

// TestLastOfNone: a file of another key has no last checkpoint, and says that
// it has others.
func TestLastOfNone(t *testing.T) {
	signer, _ := keys(t)
	_, verifier := keys(t)
	file := strings.Join(signedNotes(t, signer, 1, 2), "")
	for _, c := range []struct {
		file   string
		behind int
	}{{"", 0}, {file, 2}, {"x", 1}} {
		last, behind, err := Last(strings.NewReader(c.file), int64(len(c.file)), verifier)
		if err != nil || last != nil || behind != c.behind {
			t.Errorf("%q: %+v, %d, %v", c.file, last, behind, err)
		}
	}
	if last, behind, err := lastOf(strings.NewReader(file+"x"), verifier, true); last != nil || behind != 3 || err != nil {
		t.Errorf("of a large one: %+v, %d, %v", last, behind, err)
	}
}

// TestManyNotes: many are read in little time, and the last one of a file in
// next to none.
func TestManyNotes(t *testing.T) {
	signer, verifier := keys(t)
	one := signedNotes(t, signer, 3)[0]
	n := 20_000
	began := time.Now()
	list, skipped, err := OpenAll(strings.NewReader(strings.Repeat(one, n)), verifier)
	if err != nil || len(list) != n || skipped.Count > 0 {
		t.Fatalf("%d of %d, %+v, %v", len(list), n, skipped, err)
	}
	t.Logf("%d notes in %v", n, time.Since(began))
	began = time.Now()
	file := strings.Repeat(one, 10*n)
	if last, _, err := Last(strings.NewReader(file), int64(len(file)), verifier); err != nil || last == nil || time.Since(began) > 5*time.Second {
		t.Errorf("%+v, %v in %v", last, err, time.Since(began))
	}
}
