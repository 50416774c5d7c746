package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/internal/smalldisk"
)

// TestAppendToAFullDisk: the notes before and after hold, and nothing is left
// of the one in between.
func TestAppendToAFullDisk(t *testing.T) {
	disk := smalldisk.New(t, "64k")
	signer, verifier := keys(t)
	file := filepath.Join(disk.Dir, "checkpoints.txt")
	var want []int64
	var size int64
	add := func() error {
		size++
		err := Append(file, []byte(signedNotes(t, signer, size)[0]), 0o600)
		if err == nil {
			want = append(want, size)
		}
		return err
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	var err error
	for err == nil { // up to the end of the page that the file has
		err = add()
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	full, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, skipped := sizesIn(t, string(full), verifier); !slices.Equal(got, want) || skipped.Count > 0 {
		t.Errorf("while it is full: %v of %v, %+v", got, want, skipped)
	}
	disk.Empty()
	if err := add(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, skipped := sizesIn(t, string(data), verifier); !slices.Equal(got, want) || skipped.Count > 0 {
		t.Errorf("afterwards: %v of %v, %+v", got, want, skipped)
	}
}
