package filesystem

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// changing orders the helpers of this process that read a file and write it
// anew, so that of two calls neither loses what the other added.
var changing [64]sync.Mutex

var changingSeed = maphash.MakeSeed()

func (f *FS) lock(name string) *sync.Mutex {
	m := &changing[maphash.String(changingSeed, f.grant.BasePath+"\x00"+strings.ToLower(name))%uint64(len(changing))]
	m.Lock()
	return m
}

// AppendText adds content to the end of a file, which is made when it is
// missing, and returns the path relative to the base. The file changes at
// once or not at all; what it holds is not shown, so that writing is enough.
func (f *FS) AppendText(ctx context.Context, path, content string) (string, *worker.Failure) {
	root, name, fail := f.enterFile("appendText", true, path, NotARegularFile)
	if fail != nil {
		return "", fail
	}
	defer f.lock(name).Unlock()
	if fail = appendTo(ctx, root, name, content); fail != nil {
		f.record("appendText", display(name), 0)
		return "", fail
	}
	f.record("appendText", display(name), int64(len(content)))
	return display(name), nil
}

func appendTo(ctx context.Context, root *os.Root, name, content string) *worker.Failure {
	if len(content) > MaxFile {
		return tooLarge(name)
	}
	old, fail := readOwn(ctx, root, name)
	if fail != nil {
		return fail
	}
	return write(ctx, root, name, append(old, content...), true)
}

// readOwn reads a file that is to be written anew: not through a link, and
// nil when it is missing.
func readOwn(ctx context.Context, root *os.Root, name string) ([]byte, *worker.Failure) {
	if fail := noLinks(root, name); fail != nil && fail.Reason != NotADirectory {
		return nil, fail
	}
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	data, fail := readFile(ctx, root, name)
	if data == nil && fail == nil {
		data = []byte{}
	}
	return data, fail
}

// Edit is what EditText did.
type Edit struct {
	Path         string // relative to the base
	Replacements int
}

// EditText replaces old by text: its one occurrence, or with all every one.
// It tells what the file holds, so that it needs both grants.
func (f *FS) EditText(ctx context.Context, path, old, text string, all bool) (Edit, *worker.Failure) {
	root, name, fail := f.enterBoth("editText", path, NotARegularFile)
	if fail != nil {
		return Edit{}, fail
	}
	defer f.lock(name).Unlock()
	n, size, fail := edit(ctx, root, name, old, text, all)
	f.record("editText", display(name), int64(size))
	if fail != nil {
		return Edit{}, fail
	}
	return Edit{Path: display(name), Replacements: n}, nil
}

func edit(ctx context.Context, root *os.Root, name, old, text string, all bool) (n, size int, fail *worker.Failure) {
	if old == "" {
		return 0, 0, invalid(EditOldRequired, "the text to replace is required")
	}
	data, fail := readOwn(ctx, root, name)
	switch {
	case fail != nil:
		return 0, 0, fail
	case data == nil:
		return 0, 0, invalid(EditFileMissing, "no such file: "+show(name))
	case !utf8.Valid(data):
		return 0, 0, failure(fault.HelperRuntime, InvalidUTF8, "not UTF-8 text: "+show(name))
	}
	content := string(data)
	n = strings.Count(content, old)
	switch {
	case n == 0:
		return 0, 0, invalid(EditNoMatch, "the text to replace is not in the file: "+show(name))
	case n > 1 && !all:
		return 0, 0, invalid(EditAmbiguous, "the text to replace occurs more than once; give more of its surroundings or replace all: "+show(name))
	case len(content)+n*(len(text)-len(old)) > MaxFile:
		return 0, 0, tooLarge(name)
	}
	content = strings.ReplaceAll(content, old, text)
	if fail := write(ctx, root, name, []byte(content), true); fail != nil {
		return 0, 0, fail
	}
	return n, len(content), nil
}
