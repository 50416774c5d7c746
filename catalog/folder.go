package catalog

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// stateFile and passesFile are the JSON files of a catalog folder that are not
// tools.
const stateFile = "state.json"

// readDir reads every tool of a folder: each *.json file, and each folder
// with a spec.json. Names that begin with a dot are skipped. A folder that an
// operator names may itself be the folder of one tool. What cannot be read becomes a finding, and so
// does what a document breaks that can be shown; the rest still loads; an error says that dir itself cannot be read.
func readDir(ctx context.Context, dir string, of document) (docs []document, findings []*fault.Error, err error) {
	paths := []string{dir}
	if of.home || !isFile(filepath.Join(dir, "spec.json")) {
		if paths, err = toolPaths(dir); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		loaded, err := spec.Load(path)
		if err != nil {
			findings = append(findings, fault.From(err))
			continue
		}
		for _, l := range loaded {
			findings = append(findings, l.Errors...)
			if s := cmp.Or(l.Spec, l.Broken); s != nil {
				d := of
				d.spec, d.source, d.path, d.broken = s, SourceUser, path, l.Errors
				docs = append(docs, d)
			}
		}
	}
	if of.home || of.trusted {
		return docs, findings, nil
	}
	return docs, append(findings, addPasses(docs)...), nil
}

// addPasses tells each document what passed.json beside it says of it. A file
// that cannot be read is a finding, and its tools are drafts.
func addPasses(docs []document) (findings []*fault.Error) {
	files := map[string]passes{}
	for i := range docs {
		file := passesPath(docs[i].path)
		p, read := files[file]
		if !read {
			var err error
			if p, err = readPasses(file); err != nil {
				findings = append(findings, fault.From(err))
			}
			files[file] = p
		}
		if pass, is := p.Tools[docs[i].spec.ToolID]; is && pass.Exposure == ExposureExposed {
			docs[i].passed = pass.PassedDigest
		}
	}
	return findings
}

// toolPaths lists what in dir looks like a tool, sorted.
func toolPaths(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") || e.Name() == stateFile || e.Name() == passesFile {
			continue
		}
		if strings.HasSuffix(e.Name(), ".json") && isFile(path) || isFile(filepath.Join(path, "spec.json")) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// isFile follows links: a mounted configuration folder is made of them.
func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// readFolders reads the operator's folders and then the user's. Only the
// user's may be missing: nothing was saved there yet.
func readFolders(ctx context.Context, o Options) (docs []document, findings []*fault.Error, err error) {
	add := func(dir string, of document) error {
		d, f, err := readDir(ctx, dir, of)
		docs, findings = append(docs, d...), append(findings, f...)
		return err
	}
	for _, dir := range o.Dirs {
		if err := add(dir, document{trusted: o.TrustDirs}); err != nil {
			return nil, nil, dirFault(dir, err)
		}
	}
	if o.Home == "" {
		return docs, findings, nil
	}
	home := userDir(o.Home)
	if err := add(home, document{home: true}); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, dirFault(home, err)
	}
	return docs, findings, nil
}

func userDir(home string) string { return filepath.Join(home, "catalog") }

func dirFault(dir string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.Usage, "unreadable", "the catalog folder %s cannot be read: %v", dir, err).
		At(dir, "", 0, 0).Because(err)
}
