package spec

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// MaxBundleBytes bounds a file with many documents.
	MaxBundleBytes = 64 << 20

	specFile   = "spec.json"
	actionFile = "action.js"
)

// Loaded is one document of a path with what is wrong with it.
type Loaded struct {
	Spec *Spec // nil when Errors has one
	// Broken is the document where Errors are only of rules between its fields
	// (SPEC_INVARIANT), so that it can be shown and mended. It must not run.
	Broken *Spec
	File   string
	Errors []*fault.Error
}

// Load reads the spec documents at path: a JSON file with one document, a
// bundle (an array of documents, or an object with toolSpecs), a folder with
// spec.json and action.js, or "-" for the standard input.
//
// The error is a USAGE fault for a path that cannot be read. What is wrong
// with a document is in its Loaded, so that one bad document hides no other.
func Load(path string) ([]Loaded, error) {
	if path == "-" {
		return LoadReader("<stdin>", os.Stdin)
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if st.IsDir() {
		return loadFolder(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	return LoadReader(path, f)
}

// LoadReader is Load for an open stream; name is what findings call it.
func LoadReader(name string, r io.Reader) ([]Loaded, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBundleBytes+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	return LoadBytes(name, data), nil
}

// LoadBytes is Load for a file that was read already. data is kept.
func LoadBytes(name string, data []byte) []Loaded {
	if len(data) > MaxBundleBytes {
		e := fault.New(fault.SpecParse, "too-large", "the file has more than %d bytes, which is the most that is read", MaxBundleBytes)
		return []Loaded{{File: name, Errors: []*fault.Error{e.At(name, "", 1, 1)}}}
	}
	if !maybeBundle(data) {
		return []Loaded{parseOne(name, data)}
	}
	root, problems := readTree(data)
	docs, prefix := bundleMembers(root)
	if len(problems) > 0 || docs == nil {
		return []Loaded{parseOne(name, data)} // one document, or one that says what is wrong
	}
	return loadBundle(name, data, docs, prefix)
}

func parseOne(name string, data []byte) Loaded {
	return parseSource(&source{file: name, data: data, line: 1, column: 1}, nil)
}

// maybeBundle spares a single document the second reading: a bundle starts
// with a bracket or names its list.
func maybeBundle(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("[")) || bytes.Contains(data, []byte(`"toolSpecs"`))
}

// bundleMembers gives the documents of a bundle and the pointer of their list;
// nil when root is something else. An object that has a name of its own is a
// document with an unknown member toolSpecs.
func bundleMembers(root *node) ([]node, string) {
	switch {
	case root == nil:
	case root.kind == '[':
		return notNil(root.elems), ""
	case root.kind == '{' && root.get("name") == nil && root.get("code") == nil:
		if list := root.get("toolSpecs"); list != nil && list.kind == '[' {
			return notNil(list.elems), "/toolSpecs"
		}
	}
	return nil, ""
}

func notNil(n []node) []node {
	if n == nil {
		return []node{}
	}
	return n
}

func loadBundle(name string, data []byte, docs []node, prefix string) []Loaded {
	out := make([]Loaded, 0, len(docs))
	whole := source{line: 1, column: 1}
	from, at := 0, Position{1, 1} // positions advance, so that the file is counted once
	names, ids := map[string]string{}, map[string]string{}
	for i := range docs {
		whole.data, whole.line, whole.column = data[from:docs[i].start], at.Line, at.Column
		at, from = whole.position(len(whole.data)), docs[i].start
		src := &source{
			file: name, data: data[docs[i].start:docs[i].end:docs[i].end],
			prefix: index(prefix, i), line: at.Line, column: at.Column, bundled: true,
		}
		l := parseSource(src, nil)
		if s := cmp.Or(l.Spec, l.Broken); s != nil {
			if e := s.unique(names, ids); e != nil {
				l = Loaded{File: name, Errors: append(l.Errors, e)}
			}
		}
		out = append(out, l)
	}
	return out
}

// unique refuses a second document of one name or toolId in a bundle.
func (s *Spec) unique(names, ids map[string]string) *fault.Error {
	if first, dup := names[s.Name]; dup {
		return s.At(fault.New(fault.SpecInvariant, "duplicate-tool-name", "the bundle has two tools named %s, the first at %s; rename one", quote(s.Name), first), "/name")
	}
	if first, dup := ids[s.ToolID]; dup {
		return s.At(fault.New(fault.SpecInvariant, "duplicate-tool-id", "the bundle has two tools with the toolId %s, the first at %s", quote(s.ToolID), first), "/toolId")
	}
	names[s.Name], ids[s.ToolID] = fault.Dotted(s.src.prefix), fault.Dotted(s.src.prefix)
	return nil
}

// loadFolder reads spec.json and action.js. The folder is opened as a root, so
// that a symbolic link in it cannot bring in a file from elsewhere.
func loadFolder(dir string) ([]Loaded, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	defer func() { _ = root.Close() }()

	name := filepath.Join(dir, specFile)
	data, err := ReadMember(root, specFile, MaxDocumentBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Usage, "no-spec-json", "the folder %s has no %s; name a JSON file, or a folder with %s and %s", dir, specFile, specFile, actionFile).At(dir, "", 0, 0)
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	act := &action{file: filepath.Join(dir, actionFile)}
	code, err := ReadMember(root, actionFile, MaxCodeBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		act = nil // the schema says that the code is missing, if it is
	case err != nil:
		return nil, unreadable(act.file, err)
	case !utf8.Valid(code):
		e := fault.New(fault.SpecParse, "invalid-utf8", "the code is not valid UTF-8")
		return []Loaded{{File: name, Errors: []*fault.Error{e.At(act.file, "/code", 1, 1)}}}, nil
	default:
		act.code = string(code)
	}
	return []Loaded{parseSource(&source{file: name, data: data, line: 1, column: 1}, act)}, nil
}

// ReadMember reads a file of a tool's folder: a regular one that is in it, also
// by a symbolic link, and at most one byte more than limit, so that the caller
// sees that there is more. What came with a tool must not read what lies
// elsewhere, nor wait for a device or a pipe. Errors are those of os.Root, and
// one that says that the file is no regular one.
func ReadMember(root *os.Root, name string, limit int64) ([]byte, error) {
	st, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

func unreadable(path string, err error) *fault.Error {
	var pe *fs.PathError
	why := err
	if errors.As(err, &pe) {
		why = pe.Err
	}
	return fault.New(fault.Usage, "unreadable", "cannot read %s: %v", path, why).Because(err).At(path, "", 0, 0)
}
