package filesystem

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// Delete removes a file and reports whether it was there. Of a symbolic link
// the link goes and not what it leads to; folders need DeleteDir.
func (f *FS) Delete(ctx context.Context, path string) (bool, *worker.Failure) {
	root, name, fail := f.enterFile("delete", true, path, DeleteIsDirectory)
	if fail != nil {
		return false, fail
	}
	f.record("delete", display(name), 0)
	if fail := over(ctx); fail != nil {
		return false, fail
	}
	if fail := noLinks(root, filepath.Dir(name)); fail != nil {
		return false, fail
	}
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, systemFailure(name, err)
	case info.IsDir():
		return false, invalid(DeleteIsDirectory, "a folder, not a file; use deleteDir: "+show(name))
	case info.Mode()&fs.ModeSymlink == 0:
		if fail := regular(name, info.Mode()); fail != nil {
			return false, fail
		}
	}
	if err := root.Remove(name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, systemFailure(name, err)
	}
	return true, nil
}

// DeleteDir removes a folder with all that it holds and returns how many
// files, links and folders went; 0 when it was missing. Links are removed and
// not followed. A folder that holds more than MaxEntries, or nests deeper
// than a find goes, is left as it is.
func (f *FS) DeleteDir(ctx context.Context, path string) (int, *worker.Failure) {
	root, name, fail := f.enter("deleteDir", true, path)
	if fail != nil {
		return 0, fail
	}
	f.record("deleteDir", display(name), 0)
	if name == "." {
		return 0, invalid(DeleteBase, "the base itself cannot be deleted")
	}
	if fail := noLinks(root, filepath.Dir(name)); fail != nil {
		return 0, fail
	}
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, systemFailure(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, throughLink(name)
	case !info.IsDir():
		return 0, invalid(NotADirectory, "not a folder: "+show(name))
	}
	// All of it is looked at before anything goes, so that a refusal leaves
	// the folder whole.
	var doomed []string
	if fail := f.collect(ctx, root, name, 1, &doomed); fail != nil {
		return 0, fail
	}
	for i, n := range doomed {
		if fail := over(ctx); fail != nil {
			return i, fail
		}
		if err := root.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return i, systemFailure(n, err)
		}
	}
	return len(doomed), nil
}

// collect lists a folder and what it holds, from the leaves up.
func (f *FS) collect(ctx context.Context, root *os.Root, dir string, depth int, into *[]string) *worker.Failure {
	if depth > maxDepth {
		return invalid(TooManyEntries, "folders nest deeper than 128: "+show(dir))
	}
	entries, fail := readDir(ctx, root, dir, f.maxEntries, NotADirectory)
	if fail != nil {
		return fail
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			if fail := f.collect(ctx, root, path, depth+1, into); fail != nil {
				return fail
			}
			continue
		}
		if *into = append(*into, path); len(*into) > f.maxEntries {
			return tooMany()
		}
	}
	if *into = append(*into, dir); len(*into) > f.maxEntries {
		return tooMany()
	}
	return nil
}
