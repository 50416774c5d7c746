// Package atomicfile replaces a file so that a reader, or a crash at any
// moment, sees the whole old content or the whole new one.
//
// It is a leaf: any package may import it and it imports nothing of ours. It
// follows the atomic write contract of the Safe Tool Spec, section 12.2, and
// adds what that contract leaves open: the bytes are synced before the rename
// and the folder after it, so that the rename also survives a power cut. It
// does not lock; two writers of one path leave the content of one of them.
//
// SyncDir is for files that come to be in another way: made and grown, or linked
// to their place.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile puts data at path. An existing file keeps its permission bits; a
// new one gets perm. A path that is a symbolic link is followed, so that the
// link stays and its target is replaced. On error the old file is untouched
// and no temporary file is left behind.
func WriteFile(path string, data []byte, perm fs.FileMode) (err error) {
	target, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		path = target
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if st, err := os.Stat(path); err == nil {
		if !st.Mode().IsRegular() {
			return &fs.PathError{Op: "replace", Path: path, Err: errors.New("not a regular file")}
		}
		perm = st.Mode().Perm()
	}

	// CreateTemp makes the file 0600: the content is never readable by more
	// people than the final permission allows, not even for a moment.
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		return err
	}
	if err = tmp.Chmod(perm); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return SyncDir(dir)
}
