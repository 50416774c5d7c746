package filesystem

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// List gives the entries of a folder ("" = the base) as sorted paths relative
// to the base. A folder that is missing has none.
func (f *FS) List(ctx context.Context, dir string) ([]string, *worker.Failure) {
	if dir == "" {
		dir = "."
	}
	root, name, fail := f.enter("list", false, dir)
	if fail != nil {
		return nil, fail
	}
	f.record("list", display(name), 0)
	entries, fail := readDir(ctx, root, name, f.maxEntries, NotADirectory)
	if fail != nil {
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return []string{}, nil
		}
		return nil, fail
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = display(filepath.Join(name, e.Name()))
	}
	return out, nil
}

// FindOptions are the options of Find.
type FindOptions struct {
	MaxDepth int64  // folders to go down; 1 = the start alone, <= 0 = all
	Type     string // "file", "dir", "" = everything
}

// Find gives what lies below dir ("" = the base) and whose name matches glob
// ("" = *), as sorted paths relative to the base. Symbolic links are not
// followed and are neither files nor folders.
func (f *FS) Find(ctx context.Context, dir, glob string, opts FindOptions) ([]string, *worker.Failure) {
	if dir == "" {
		dir = "."
	}
	if glob == "" {
		glob = "*"
	}
	re, ok := compileGlob(glob)
	if !ok {
		return nil, invalid(FindInvalidGlob, "the glob is not valid: "+clip(glob))
	}
	if opts.Type != "" && opts.Type != "file" && opts.Type != "dir" {
		return nil, invalid(FindInvalidType, `type is "file" or "dir"`)
	}
	root, name, fail := f.enter("find", false, dir)
	if fail != nil {
		return nil, fail
	}
	f.record("find", display(name), 0)
	out := []string{}
	fail = walk(ctx, root, name, opts.MaxDepth, func(path string, e fs.DirEntry) *worker.Failure {
		wanted := opts.Type == "" || opts.Type == "dir" && e.IsDir() || opts.Type == "file" && e.Type().IsRegular()
		if !wanted || !re.MatchString(e.Name()) {
			return nil
		}
		if len(out) == f.maxEntries {
			return tooMany()
		}
		out = append(out, display(path))
		return nil
	})
	if fail != nil {
		return nil, fail
	}
	slices.Sort(out)
	return out, nil
}

// walk visits what lies below a folder, each folder before what it holds and
// in the order of the names. Symbolic links are visited and not followed.
// maxLevels <= 0 is all levels.
func walk(ctx context.Context, root *os.Root, start string, maxLevels int64, visit func(path string, e fs.DirEntry) *worker.Failure) *worker.Failure {
	visited := 0
	var into func(dir string, depth int64) *worker.Failure
	into = func(dir string, depth int64) *worker.Failure {
		if depth > maxDepth {
			return invalid(TooManyEntries, "folders nest deeper than 128; set maxDepth")
		}
		entries, fail := readDir(ctx, root, dir, maxVisited-visited, FindNotADirectory)
		if fail != nil {
			if depth > 1 && fail.Reason == IO {
				return nil // it went away, or the system keeps it closed
			}
			return fail
		}
		visited += len(entries)
		for i, e := range entries {
			if i%64 == 0 {
				if fail := over(ctx); fail != nil {
					return fail
				}
			}
			path := filepath.Join(dir, e.Name())
			if fail := visit(path, e); fail != nil {
				return fail
			}
			if e.IsDir() && (maxLevels <= 0 || depth < maxLevels) {
				if fail := into(path, depth+1); fail != nil {
					return fail
				}
			}
		}
		return nil
	}
	return into(start, 1)
}

func tooMany() *worker.Failure {
	return invalid(TooManyEntries, "more entries than a helper returns or looks at; name a deeper folder or a narrower glob")
}

// readDir reads a folder in the order of its names.
func readDir(ctx context.Context, root *os.Root, name string, limit int, notDir string) ([]fs.DirEntry, *worker.Failure) {
	h, err := root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		if info, statErr := root.Stat(name); statErr == nil && !info.IsDir() {
			return nil, invalid(notDir, "not a folder: "+show(name))
		}
		return nil, systemFailure(name, err)
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, systemFailure(name, err)
	}
	if !info.IsDir() {
		return nil, invalid(notDir, "not a folder: "+show(name))
	}
	var out []fs.DirEntry
	for {
		if fail := over(ctx); fail != nil {
			return nil, fail
		}
		batch, err := h.ReadDir(1024)
		out = append(out, batch...)
		if len(out) > limit {
			return nil, tooMany()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, failure(fault.HelperRuntime, IO, "the folder cannot be read: "+show(name))
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}
