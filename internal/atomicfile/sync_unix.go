//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir makes durable what happened to the names in dir: a file made, linked,
// renamed or removed. A file system that cannot sync a folder says EINVAL or
// ENOTSUP; the change itself has happened, so that is no failure.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
