package filesystem

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// WriteText writes content to a file, making the folders above it, and
// returns the path relative to the base. The file changes at once or not at
// all: content is written beside it and renamed into its place. An existing
// file keeps its permission bits, a new one has mode 0600.
func (f *FS) WriteText(ctx context.Context, path, content string) (string, *worker.Failure) {
	return f.put(ctx, "writeText", path, []byte(content))
}

// WriteBytes is WriteText for bytes.
func (f *FS) WriteBytes(ctx context.Context, path string, content []byte) (string, *worker.Failure) {
	return f.put(ctx, "writeBytes", path, content)
}

func (f *FS) put(ctx context.Context, op, path string, content []byte) (string, *worker.Failure) {
	root, name, fail := f.enterFile(op, true, path, NotARegularFile)
	if fail != nil {
		return "", fail
	}
	if fail = write(ctx, root, name, content, true); fail != nil {
		f.record(op, display(name), 0)
		return "", fail
	}
	f.record(op, display(name), int64(len(content)))
	return display(name), nil
}

// write makes or, with replace, replaces a file.
func write(ctx context.Context, root *os.Root, name string, content []byte, replace bool) *worker.Failure {
	if len(content) > MaxFile {
		return invalid(FileTooLarge, "the content is larger than 10 MiB: "+show(name))
	}
	if fail := over(ctx); fail != nil {
		return fail
	}
	mode, fail := place(root, name, replace)
	if fail != nil {
		return fail
	}
	temp := filepath.Join(filepath.Dir(name), ".toolwarrant-"+rand.Text()+".tmp")
	if err := create(root, temp, content, mode); err != nil {
		_ = root.Remove(temp)
		return systemFailure(name, err)
	}
	// A link that took the place of the file meanwhile is replaced, not
	// written through.
	if err := root.Rename(temp, name); err != nil {
		_ = root.Remove(temp)
		return systemFailure(name, err)
	}
	return nil
}

// place prepares the place of a file: no link on the way, the folders above
// it made. It gives the permission bits that the file gets.
func place(root *os.Root, name string, replace bool) (fs.FileMode, *worker.Failure) {
	dir := filepath.Dir(name)
	if fail := noLinks(root, dir); fail != nil {
		return 0, fail
	}
	mode, exists, fail := target(root, name)
	switch {
	case fail != nil:
		return 0, fail
	case exists && !replace:
		return 0, invalid(TargetExists, "there is a file already; say {overwrite: true} to replace it: "+show(name))
	case !exists:
		if fail := creatable(name); fail != nil {
			return 0, fail
		}
	}
	if dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return 0, systemFailure(name, err)
		}
	}
	return mode, nil
}

// create writes a new file and brings it to the disk, so that the renaming
// that follows never puts a file in place whose content a power cut takes.
func create(root *os.Root, temp string, content []byte, mode fs.FileMode) (err error) {
	h, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if _, err = h.Write(content); err != nil {
		return err
	}
	if mode != 0o600 {
		if err = h.Chmod(mode); err != nil {
			return err
		}
	}
	return h.Sync()
}

// target looks at what stands where the file goes and gives the permission
// bits that the new one gets.
func target(root *os.Root, name string) (mode fs.FileMode, exists bool, fail *worker.Failure) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o600, false, nil
	case err != nil:
		return 0, false, systemFailure(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, true, throughLink(name)
	}
	if fail := regular(name, info.Mode()); fail != nil {
		return 0, true, fail
	}
	return info.Mode().Perm(), true, nil
}

// noLinks refuses a symbolic link among the folders above a file.
func noLinks(root *os.Root, dir string) *worker.Failure {
	if dir == "." {
		return nil
	}
	at := ""
	for part := range strings.SplitSeq(dir, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // made by the write
		case err != nil:
			return systemFailure(at, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return throughLink(at)
		case !info.IsDir():
			return invalid(NotADirectory, "not a folder: "+show(at))
		}
	}
	return nil
}

func throughLink(name string) *worker.Failure {
	return failure(fault.Security, WriteThroughSymlink, "denied: a symbolic link stands in the way: "+show(name))
}
