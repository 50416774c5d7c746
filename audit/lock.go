package audit

import (
	"context"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// lockName is the lock of a log, in the folder of its state.
const lockName = ".lock"

const (
	dirPerm  fs.FileMode = 0o700
	filePerm fs.FileMode = 0o600
)

// takeLock takes an exclusive lock between processes, and between writers of
// one process. It waits until ctx ends. The lock goes with the process.
func takeLock(ctx context.Context, path string) (unlock func(), err error) {
	l := flock.New(path, flock.SetPermissions(filePerm))
	ok, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if ok {
		return func() { _ = l.Unlock() }, nil
	}
	// Waiting in the kernel is fair and wakes at once; polling is neither.
	// It cannot be given up, so a waiter that is no longer wanted unlocks.
	got := make(chan error, 1)
	go func() {
		for {
			err := l.Lock()
			if err == nil || !isInterrupted(err) {
				got <- err
				return
			}
		}
	}()
	select {
	case err := <-got:
		if err != nil {
			return nil, err
		}
		return func() { _ = l.Unlock() }, nil
	case <-ctx.Done():
		go func() {
			if <-got == nil {
				_ = l.Unlock()
			}
		}()
		return nil, refuse(path, ReasonLock, "another process holds the lock of the audit log (%s) for too long; find the process and end it", path)
	}
}

// tryHeld takes the lock at path if nobody holds it. It never creates the
// file: ok is false when it does not exist.
func tryHeld(path string) (l *flock.Flock, ok bool, err error) {
	flag := os.O_RDONLY
	l = flock.New(path, flock.SetFlag(flag))
	ok, err = l.TryLock()
	if os.IsNotExist(err) {
		return nil, false, nil
	}
	return l, ok, err
}
