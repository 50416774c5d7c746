package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
)

// find gives the documents that a path names, as paths for spec.Load: the path
// itself, or for a folder without spec.json everything below that looks like a
// document. Hidden files and folders are left out, links are not followed.
func find(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !st.IsDir() {
		return []string{whole(path)}, nil
	}
	if hasSpec(path) {
		return []string{path}, nil
	}
	var out []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(p, err)
		}
		hidden := p != path && strings.HasPrefix(d.Name(), ".")
		switch {
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden:
		case d.IsDir() && hasSpec(p):
			out = append(out, p)
			return fs.SkipDir
		case d.Name() == "passed.json": // says which tools beside it passed
		case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(p), ".json"):
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Usage, "no-documents", "%s holds no spec.json and no other JSON file", path).At(path, "", 0, 0)
	}
	return out, nil
}

// whole is the folder of a tool for one of its two files: hooks name the files
// that changed, and neither is a document without the other.
func whole(path string) string {
	dir, name := filepath.Split(path)
	other := map[string]string{"spec.json": "action.js", "action.js": "spec.json"}[name]
	if other == "" {
		return path
	}
	if st, err := os.Lstat(filepath.Join(dir, other)); err != nil || !st.Mode().IsRegular() {
		return path
	}
	return filepath.Clean(dir)
}

func hasSpec(dir string) bool {
	st, err := os.Lstat(filepath.Join(dir, "spec.json"))
	return err == nil && !st.IsDir()
}

func unreadable(path string, err error) *fault.Error {
	return fault.New(fault.Usage, "unreadable", "cannot read %s", path).Because(err).At(path, "", 0, 0)
}
