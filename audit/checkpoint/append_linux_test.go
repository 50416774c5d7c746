package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAppendToAFullDisk: the notes before and after hold, and nothing is left
// of the one in between.
func TestAppendToAFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Skipf("a small file system needs root and CAP_SYS_ADMIN: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	signer, verifier := keys(t)
	file, filler := filepath.Join(disk, "checkpoints.txt"), filepath.Join(disk, "filler")
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
	f, err := os.Create(filler)
	for chunk := make([]byte, os.Getpagesize()); err == nil; {
		_, err = f.Write(chunk)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	_ = f.Close()
	for err = nil; err == nil; { // up to the end of the page that the file has
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
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
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
