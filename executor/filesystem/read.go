package filesystem

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Stat describes a file or folder. Size is 0 for a folder.
type Stat struct {
	Size      int64 // bytes
	Mtime     int64 // milliseconds since 1970
	Directory bool
}

// ReadText gives the text of a file of at most MaxFile bytes, which has to be
// UTF-8.
func (f *FS) ReadText(ctx context.Context, path string) (string, *worker.Failure) {
	return f.text(ctx, "readText", path)
}

// ReadBytes gives the content of a file of at most MaxFile bytes.
func (f *FS) ReadBytes(ctx context.Context, path string) ([]byte, *worker.Failure) {
	root, name, fail := f.enterFile("readBytes", false, path, NotARegularFile)
	if fail != nil {
		return nil, fail
	}
	data, fail := readFile(ctx, root, name)
	f.record("readBytes", display(name), int64(len(data)))
	return data, fail
}

// Exists reports whether path is there. A path that the base refuses is not.
func (f *FS) Exists(_ context.Context, path string) (bool, *worker.Failure) {
	root, name, fail := f.enter("exists", false, path)
	if fail != nil {
		if fail.Reason == NotGranted {
			return false, fail
		}
		return false, nil
	}
	info, err := root.Stat(name)
	f.record("exists", display(name), 0)
	return err == nil && (info.IsDir() || !namesFolder(path)), nil
}

// Stat gives the size, time and kind of path.
func (f *FS) Stat(_ context.Context, path string) (Stat, *worker.Failure) {
	root, name, fail := f.enter("stat", false, path)
	if fail != nil {
		return Stat{}, fail
	}
	f.record("stat", display(name), 0)
	info, err := root.Stat(name)
	if err != nil {
		return Stat{}, systemFailure(name, err)
	}
	if !info.IsDir() && namesFolder(path) {
		return Stat{}, invalid(NotADirectory, "not a folder, though the path ends like that of one: "+show(path))
	}
	st := Stat{Size: info.Size(), Mtime: info.ModTime().UnixMilli(), Directory: info.IsDir()}
	if st.Directory {
		st.Size = 0
	}
	return st, nil
}

// text reads a whole file as UTF-8 for the helper op.
func (f *FS) text(ctx context.Context, op, path string) (string, *worker.Failure) {
	root, name, fail := f.enterFile(op, false, path, NotARegularFile)
	if fail != nil {
		return "", fail
	}
	data, fail := readFile(ctx, root, name)
	f.record(op, display(name), int64(len(data)))
	if fail != nil {
		return "", fail
	}
	if !utf8.Valid(data) {
		return "", failure(fault.HelperRuntime, InvalidUTF8, "not UTF-8 text: "+show(name))
	}
	return string(data), nil
}

// readFile reads a regular file of at most MaxFile bytes.
func readFile(ctx context.Context, root *os.Root, name string) ([]byte, *worker.Failure) {
	// The look before the opening spares devices the opening; the look at
	// the open handle is the one that counts.
	info, err := root.Stat(name)
	if err != nil {
		return nil, systemFailure(name, err)
	}
	if fail := regular(name, info.Mode()); fail != nil {
		return nil, fail
	}
	h, err := root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, systemFailure(name, err)
	}
	defer h.Close()
	if info, err = h.Stat(); err != nil {
		return nil, systemFailure(name, err)
	}
	if fail := regular(name, info.Mode()); fail != nil {
		return nil, fail
	}
	if info.Size() > MaxFile {
		return nil, tooLarge(name)
	}
	data := make([]byte, 0, info.Size()+512)
	for {
		if fail := over(ctx); fail != nil {
			return nil, fail
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := h.Read(data[len(data):min(cap(data), len(data)+1<<20)])
		data = data[:len(data)+n]
		if len(data) > MaxFile {
			return nil, tooLarge(name) // it grew
		}
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, systemFailure(name, err)
		}
	}
}

func tooLarge(name string) *worker.Failure {
	return invalid(FileTooLarge, "larger than 10 MiB: "+show(name))
}

// regular refuses what is not a plain file. Reading a pipe, a socket or a
// device acts on something beyond the folder.
func regular(name string, mode fs.FileMode) *worker.Failure {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return invalid(NotARegularFile, "a folder, not a file: "+show(name))
	}
	return failure(fault.Security, NotARegularFile, "denied: a device, pipe or socket: "+show(name))
}
