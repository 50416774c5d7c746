// Package smalldisk gives a test a file system that it can fill: what a full
// disk does to a writer is seen on a real one. Tests import it.
package smalldisk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Disk is a small file system in memory, for one test.
type Disk struct {
	Dir string // where it is mounted, empty at first

	t testing.TB
}

// New mounts a file system of the given size, as mount(8) writes it ("64k"),
// until the test ends. It skips a test that may not mount.
func New(t testing.TB, size string) Disk {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=700"); err != nil {
		t.Skipf("a small file system needs root and CAP_SYS_ADMIN: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return Disk{dir, t}
}

// Fill writes until there is not a page left. What a file has of its last page
// can still be written. It may be called by one goroutine at a time.
func (d Disk) Fill() {
	d.t.Helper()
	f, err := os.Create(d.filler())
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, os.Getpagesize()); err == nil; {
		_, err = f.Write(chunk)
	}
	if !errors.Is(err, unix.ENOSPC) {
		d.t.Fatal(err)
	}
}

// Empty takes away what Fill wrote.
func (d Disk) Empty() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.t.Fatal(err)
	}
}

func (d Disk) filler() string { return filepath.Join(d.Dir, "filler") }
