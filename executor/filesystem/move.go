package filesystem

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// MoveOptions are the options of Copy and Move.
type MoveOptions struct {
	Overwrite bool // replace a file that stands at the target
}

// Copy copies the content of one file to another place, making the folders
// above it, and returns the new path. The copy appears at once or not at all,
// with mode 0600, or the bits of the file that it replaces. It needs both
// grants.
func (f *FS) Copy(ctx context.Context, from, to string, opts MoveOptions) (string, *worker.Failure) {
	root, source, fail := f.enterBoth("copy", from, CopySourceNotFile)
	if fail != nil {
		return "", fail
	}
	_, dest, fail := f.enterFile("copy", true, to, NotARegularFile)
	if fail != nil {
		return "", fail
	}
	data, fail := copyFile(ctx, root, source, dest, opts)
	f.record("copy", display(source), int64(len(data)))
	f.record("copy", display(dest), int64(len(data)))
	if fail != nil {
		return "", fail
	}
	return display(dest), nil
}

func copyFile(ctx context.Context, root *os.Root, source, dest string, opts MoveOptions) ([]byte, *worker.Failure) {
	info, err := root.Stat(source)
	if err != nil && (escapes(err) || !errors.Is(err, fs.ErrNotExist)) {
		return nil, systemFailure(source, err)
	}
	if err != nil || info.IsDir() {
		return nil, invalid(CopySourceNotFile, "there is no such file to copy: "+show(source))
	}
	data, fail := readFile(ctx, root, source)
	if fail == nil {
		fail = write(ctx, root, dest, data, opts.Overwrite)
	}
	if fail != nil {
		return nil, fail
	}
	return data, nil
}

// Move renames a file or a folder, making the folders above the new place,
// and returns the new path. A file may replace a file with Overwrite; a
// folder replaces nothing. A link is not followed and not moved.
func (f *FS) Move(ctx context.Context, from, to string, opts MoveOptions) (string, *worker.Failure) {
	root, source, fail := f.enter("move", true, from)
	if fail != nil {
		return "", fail
	}
	_, dest, fail := f.enter("move", true, to)
	if fail != nil {
		return "", fail
	}
	f.record("move", display(source), 0)
	f.record("move", display(dest), 0)
	if fail := over(ctx); fail != nil {
		return "", fail
	}
	if fail := fits(root, source, from, to); fail != nil {
		return "", fail
	}
	if fail := move(root, source, dest, opts); fail != nil {
		return "", fail
	}
	return display(dest), nil
}

// fits refuses the path of a folder for what is not one, on either side.
func fits(root *os.Root, source, from, to string) *worker.Failure {
	info, err := root.Lstat(source)
	if err != nil || info.IsDir() {
		return nil // move says what is wrong
	}
	for _, path := range []string{from, to} {
		if namesFolder(path) {
			return invalid(NotADirectory, "not a folder, though the path ends like that of one: "+show(path))
		}
	}
	return nil
}

func move(root *os.Root, source, dest string, opts MoveOptions) *worker.Failure {
	if source == "." || dest == "." {
		return invalid(InvalidPath, "the base itself cannot be moved or replaced")
	}
	if fail := noLinks(root, filepath.Dir(source)); fail != nil && fail.Reason != NotADirectory {
		return fail
	}
	info, err := root.Lstat(source)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return invalid(MoveSourceMissing, "there is nothing to move: "+show(source))
	case err != nil:
		return systemFailure(source, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return throughLink(source)
	case !info.IsDir():
		if fail := regular(source, info.Mode()); fail != nil {
			return fail
		}
	}
	if info.IsDir() && (source == dest || strings.HasPrefix(dest, source+string(filepath.Separator))) {
		return invalid(MoveIntoItself, "a folder cannot be moved into itself: "+show(source))
	}
	if source == dest {
		return nil
	}
	there, err := root.Lstat(dest)
	same := err == nil && os.SameFile(info, there)
	// The same entry under a name that differs in letter case or in how an
	// accent is written: the renaming changes its spelling.
	respelled := same && sameEntry(root, source, dest)
	switch {
	case respelled:
	case err == nil && (info.IsDir() || there.IsDir()):
		return invalid(TargetExists, "something is at the target already: "+show(dest))
	default:
		if _, fail := place(root, dest, opts.Overwrite); fail != nil {
			return fail
		}
		if same {
			// Two hard links to one file: renaming one onto the other does
			// nothing, so that the source would stay.
			if err := root.Remove(source); err != nil {
				return systemFailure(source, err)
			}
			return nil
		}
	}
	if fail := creatable(dest); fail != nil {
		return fail
	}
	if err := root.Rename(source, dest); err != nil {
		return systemFailure(dest, err)
	}
	return nil
}

// sameEntry reports whether two names that lead to one file are one entry of
// one folder: no second name of it is listed.
func sameEntry(root *os.Root, a, b string) bool {
	if !strings.EqualFold(filepath.Dir(a), filepath.Dir(b)) {
		return false
	}
	h, err := root.OpenFile(filepath.Dir(a), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return false
	}
	defer h.Close()
	names, _ := h.Readdirnames(-1)
	found := 0
	for _, n := range names {
		if n == filepath.Base(a) || n == filepath.Base(b) {
			found++
		}
	}
	return found == 1
}
