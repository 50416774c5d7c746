package checkpoint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAppend: a torn end is completed, at the start (nil) and before a note.
func TestAppend(t *testing.T) {
	signer, verifier := keys(t)
	n := signedNotes(t, signer, 1, 2, 3)
	for cut := range len(n[1]) {
		for _, start := range []bool{false, true} {
			file := filepath.Join(t.TempDir(), "checkpoints.txt")
			if err := os.WriteFile(file, []byte(n[0]+n[1][:cut]), 0o600); err != nil {
				t.Fatal(err)
			}
			if start {
				if err := Append(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := Append(file, []byte(n[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := []int64{1, 3}
			if cut == len(n[1])-1 {
				want = []int64{1, 2, 3}
			}
			if got, _ := sizesIn(t, string(data), verifier); !slices.Equal(got, want) {
				t.Errorf("cut at %d: %v", cut, got)
			}
		}
	}
}

func TestAppendMakesAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "checkpoints.txt")
	for _, msg := range []string{"", "a\n", "b\n", ""} {
		if err := Append(file, []byte(msg), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "a\nb\n" {
		t.Errorf("%q, %v", data, err)
	}
	if err := Append(filepath.Join(file, "none"), nil, 0o600); err == nil || strings.Contains(err.Error(), "close") {
		t.Errorf("got %v", err)
	}
}
