// Package filesystem is safety.fs: the files of one base folder, and the gate
// in front of them (Safe Tool Spec section 10.5).
//
// It owns how a path of the code becomes a name below the base (path.go), how
// a file is opened and read (read.go), the line helpers (lines.go), listing
// and finding (walk.go, glob.go, search.go), writing (write.go, edit.go),
// moving (move.go) and deleting (delete.go). The base and the two grants come
// from one decision; nothing else is read.
//
// Threat model: paths, patterns and contents are written by hostile code, and
// another process may change the folder between a check and its use. So every
// access goes through one os.Root handle, which refuses to leave the folder by
// ".." or by a symbolic link at the moment of the access itself; only regular
// files and folders are opened, without waiting for a named pipe; sizes,
// counts and depths are bounded; patterns run on RE2, which does not backtrack;
// files are written beside their place and renamed into it, never through a
// link, so that a crash leaves the old file or the new one and a hard link
// elsewhere keeps its content. No failure shows where the base lies on the machine: paths are shown
// relative to it, with slashes.
package filesystem

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Helper is the helper name in the failures of this gate.
const Helper = "safety.fs"

// Reasons of the failures: code SECURITY, INVALID_INPUT and HELPER_RUNTIME.
const (
	NotGranted          = "not-granted"
	PathEscapesBase     = "path-escapes-base"
	WriteThroughSymlink = "write-through-symlink"

	PathRequired        = "path-required"
	InvalidPath         = "invalid-path"
	NotADirectory       = "not-a-directory"
	NotARegularFile     = "not-a-regular-file" // SECURITY for devices, pipes and sockets
	FileTooLarge        = "file-too-large"
	TooManyEntries      = "too-many-entries"
	GrepPatternRequired = "grep-pattern-required"
	GrepInvalidPattern  = "grep-invalid-pattern"
	CutFieldsRequired   = "cut-fields-required"
	CutInvalidDelimiter = "cut-invalid-delimiter"
	FindNotADirectory   = "find-not-a-directory"
	FindInvalidGlob     = "find-invalid-glob"
	FindInvalidType     = "find-invalid-type"
	EditOldRequired     = "edit-old-required"
	EditFileMissing     = "edit-file-missing"
	EditNoMatch         = "edit-no-match"
	EditAmbiguous       = "edit-ambiguous"
	CopySourceNotFile   = "copy-source-not-file"
	MoveSourceMissing   = "move-source-missing"
	MoveIntoItself      = "move-into-itself"
	TargetExists        = "target-exists"
	DeleteIsDirectory   = "delete-is-directory"
	DeleteBase          = "delete-base"

	InvalidUTF8 = "invalid-utf8"
	IO          = "io"
	Interrupted = "interrupted"
)

// Limits of the helpers. They are not policy: no document can raise them.
const (
	MaxFile    = 10 << 20 // bytes read from or written to one file
	MaxEntries = 10_000   // of list, find and grep
	maxVisited = 200_000  // entries looked at by one find
	maxDepth   = 128      // folders below the start of a find
)

// Entry is one file operation, refused ones included (with 0 bytes).
type Entry struct {
	Op    string
	Path  string // relative to the base; of an escaping path, what was asked
	Bytes int64  // read or written
}

// Options are what the operator sets.
type Options struct {
	// Create makes a missing base folder (mode 0700): for the default
	// workspace. Without it a missing base is a failure.
	Create bool
	// Roots are the absolute folders under which a base may lie. A base below
	// one of them is opened from there, so that no link on the way leads out
	// of it; a base that is below none is not opened. Empty means that the
	// base itself is the root.
	Roots []string
}

// FS serves the file helpers of one call. It is safe for concurrent use.
type FS struct {
	grant      decision.FS
	opts       Options
	maxEntries int // MaxEntries; less in tests

	mu      sync.Mutex
	root    *os.Root
	aliases []string // spellings of the base under which absolute paths are taken
	closed  bool
	ledger  []Entry
}

// New makes the FS of one call under the file part of its decision. The base
// is opened when it is first needed.
func New(grant decision.FS, opts Options) *FS {
	return &FS{grant: grant, opts: opts, maxEntries: MaxEntries}
}

// Close gives the folder back. Helpers called later fail.
func (f *FS) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.root == nil {
		return nil
	}
	return f.root.Close()
}

// Ledger gives what happened so far, in order.
func (f *FS) Ledger() []Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Entry(nil), f.ledger...)
}

func (f *FS) record(op, path string, bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ledger = append(f.ledger, Entry{Op: op, Path: clip(path), Bytes: bytes})
}

// open gives the handle of the base folder.
func (f *FS) open() (*os.Root, *worker.Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, failure(fault.HelperRuntime, Interrupted, "the call has ended")
	}
	if f.root != nil {
		return f.root, nil
	}
	base := filepath.Clean(f.grant.BasePath)
	if f.grant.BasePath == "" || !filepath.IsAbs(base) {
		return nil, failure(fault.Security, NotGranted, "denied: the policy names no base folder")
	}
	if f.opts.Create {
		if err := os.MkdirAll(base, 0o700); err != nil {
			return nil, failure(fault.HelperRuntime, IO, "the base folder of this tool cannot be made")
		}
	}
	root, err := f.openBase(base)
	if errors.Is(err, errOutside) {
		return nil, failure(fault.Security, PathEscapesBase, "denied: the base folder of this tool leads out of the folders that the operator listed")
	}
	if err != nil {
		return nil, failure(fault.HelperRuntime, IO, "the base folder of this tool does not exist or cannot be opened; its operator has to make it")
	}
	f.root, f.aliases = root, []string{base}
	if real, err := filepath.EvalSymlinks(base); err == nil && real != base {
		f.aliases = append(f.aliases, real)
	}
	return root, nil
}

// errOutside: the base is not inside any root, as the file system has it.
var errOutside = errors.New("filesystem: the base is outside of every root")

// openBase opens the base from the root that holds it.
func (f *FS) openBase(base string) (*os.Root, error) {
	if len(f.opts.Roots) == 0 {
		return os.OpenRoot(base)
	}
	for _, r := range f.opts.Roots {
		rel, err := filepath.Rel(filepath.Clean(r), base)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		root, err := os.OpenRoot(r)
		if err != nil || rel == "." {
			return root, err
		}
		defer root.Close()
		if _, err := root.Stat(rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errOutside
		}
		return root.OpenRoot(rel)
	}
	return nil, errOutside
}

// enter is the start of every helper: the grant, then the path.
func (f *FS) enter(op string, write bool, path string) (*os.Root, string, *worker.Failure) {
	root, name, fail := f.resolve(write, path)
	if fail != nil {
		f.record(op, path, 0)
	}
	return root, name, fail
}

// enterFile is the start of a helper for which path can only be a file: what
// the system reads as a folder is refused with the reason of the helper.
func (f *FS) enterFile(op string, write bool, path, reason string) (*os.Root, string, *worker.Failure) {
	root, name, fail := f.enter(op, write, path)
	if fail == nil && namesFolder(path) {
		f.record(op, path, 0)
		return nil, "", invalid(reason, "a folder, not a file: a path that ends in a slash, in . or in .. names a folder: "+show(path))
	}
	return root, name, fail
}

// enterBoth is enterFile of a helper that reads what it writes.
func (f *FS) enterBoth(op, path, reason string) (*os.Root, string, *worker.Failure) {
	if !f.grant.Read {
		f.record(op, path, 0)
		return nil, "", failure(fault.Security, NotGranted, "denied: this tool may not read files")
	}
	return f.enterFile(op, true, path, reason)
}

func (f *FS) resolve(write bool, path string) (*os.Root, string, *worker.Failure) {
	if write && !f.grant.Write {
		return nil, "", failure(fault.Security, NotGranted, "denied: this tool may not write files")
	}
	if !write && !f.grant.Read {
		return nil, "", failure(fault.Security, NotGranted, "denied: this tool may not read files")
	}
	root, fail := f.open()
	if fail != nil {
		return nil, "", fail
	}
	name, fail := f.localName(path)
	return root, name, fail
}

// Workspace names the base as the code may see it: ".", since paths are
// relative to it.
func (f *FS) Workspace() (string, *worker.Failure) {
	if !f.grant.Read {
		return "", failure(fault.Security, NotGranted, "denied: this tool may not read files")
	}
	return ".", nil
}

// ReadRoots names the folders that may be read: the base alone.
func (f *FS) ReadRoots() ([]string, *worker.Failure) {
	w, fail := f.Workspace()
	if fail != nil {
		return nil, fail
	}
	return []string{w}, nil
}

func failure(code fault.Code, reason, message string) *worker.Failure {
	return &worker.Failure{Code: string(code), Reason: reason, Helper: Helper, Message: "[safety.fs] " + message}
}

func invalid(reason, message string) *worker.Failure {
	return failure(fault.InvalidInput, reason, message)
}

// over is the failure of a helper whose call has ended, or nil.
func over(ctx context.Context) *worker.Failure {
	if ctx.Err() == nil {
		return nil
	}
	return failure(fault.HelperRuntime, Interrupted, "the call has ended")
}

// systemFailure names an error of the operating system without its text,
// which holds paths of the machine.
func systemFailure(name string, err error) *worker.Failure {
	switch {
	case escapes(err):
		return failure(fault.Security, PathEscapesBase, "denied: path escapes the base: "+show(name))
	case errors.Is(err, fs.ErrNotExist):
		return failure(fault.HelperRuntime, IO, "no such file or folder: "+show(name))
	case errors.Is(err, fs.ErrPermission):
		return failure(fault.HelperRuntime, IO, "the system does not permit it: "+show(name))
	}
	return failure(fault.HelperRuntime, IO, "cannot be read or written: "+show(name))
}
