package catalog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// besideNames are what belongs to a tool beside its document: files and one
// folder, for its Local Pass.
var besideNames = []string{fixtureFile, casesFile, workspaceDir}

// maxBesideBytes bounds what comes into the home beside one document.
const maxBesideBytes = 64 << 20

// place writes a new document into dir, under a name made from its id, and
// gives the path: a file, or a folder if something belongs beside it. It is
// there whole or not at all. A path that exists is refused.
func place(dir, id string, doc *spec.Spec, beside fs.FS) (string, error) {
	folder := filepath.Join(dir, "tool-"+id)
	for _, p := range []string{folder, folder + ".json"} {
		if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			return "", fault.New(fault.SpecInvariant, "name-conflict", "there is a file for the toolId %q already", id)
		}
	}
	some, err := hasBeside(beside)
	if err != nil {
		return "", err
	}
	if !some {
		return folder + ".json", doc.Save(folder + ".json")
	}
	// The name begins with a dot, which the catalog does not read.
	half, err := os.MkdirTemp(dir, ".draft-")
	if err != nil {
		return "", unplaced(doc, err)
	}
	defer os.RemoveAll(half)
	if err := doc.Save(half); err != nil {
		return "", err
	}
	if err := copyBeside(half, beside); err != nil {
		return "", unplaced(doc, err)
	}
	if err := os.Rename(half, folder); err != nil {
		return "", unplaced(doc, err)
	}
	return folder, nil
}

func unplaced(doc *spec.Spec, err error) error {
	return fault.New(fault.Usage, "beside", "the files beside the document of %q cannot be taken over: %v", doc.Name, err).Because(err)
}

// maxBeside bounds a file of data that is read from beside a document.
const maxBeside = 8 << 20

// readBeside reads a file that belongs to t. It is fs.ErrNotExist that there is
// none; wrong says in words what any other error is.
func readBeside(t *Tool, name string) (data []byte, wrong string, err error) {
	files := Beside(t)
	if files == nil {
		return nil, "", fs.ErrNotExist
	}
	if t.Source == SourceBuiltin && t.Path == "" {
		data, err = fs.ReadFile(files, name)
	} else {
		data, err = readInside(t.Path, name)
	}
	if err == nil && len(data) > maxBeside {
		return nil, "larger than 8 MiB", errors.New("the file is too large")
	}
	return data, "not readable", err
}

func readInside(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return spec.ReadMember(root, name, maxBeside)
}

// besidePath is what a message calls a file that belongs to t.
func besidePath(t *Tool, name string) string {
	if t.Source == SourceBuiltin && t.Path == "" {
		return path.Join("tools", t.Spec.Name, name)
	}
	return filepath.Join(t.Path, name)
}

// Beside gives the files that belong to t beside its document, nil = none.
func Beside(t *Tool) fs.FS {
	if t.Source == SourceBuiltin && t.Path == "" {
		sub, err := fs.Sub(bundledFiles, path.Join("tools", t.Spec.Name))
		if err != nil {
			return nil
		}
		return sub
	}
	if st, err := os.Stat(t.Path); err != nil || !st.IsDir() {
		return nil
	}
	return os.DirFS(t.Path)
}

func hasBeside(beside fs.FS) (bool, error) {
	if beside == nil {
		return false, nil
	}
	for _, name := range besideNames {
		switch st, err := fs.Lstat(beside, name); {
		case err == nil && !st.IsDir() && !st.Mode().IsRegular():
			return false, fault.New(fault.Usage, "beside", "%s beside the document is neither a file nor a folder; links are not followed", name)
		case err == nil:
			return true, nil
		case !errors.Is(err, fs.ErrNotExist):
			return false, fault.New(fault.Usage, "beside", "%s beside the document cannot be read", name).Because(err)
		}
	}
	return false, nil
}

// copyBeside copies besideNames into dir. Links are refused:
// they would bring in files that did not come with the tool.
func copyBeside(dir string, beside fs.FS) error {
	left := int64(maxBesideBytes)
	for _, top := range besideNames {
		err := fs.WalkDir(beside, top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && name == top:
				return nil
			case err != nil:
				return err
			case d.IsDir():
				return os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o700)
			case !d.Type().IsRegular():
				return errors.New(name + " is not a regular file")
			}
			return copyFile(filepath.Join(dir, filepath.FromSlash(name)), beside, name, &left)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(to string, from fs.FS, name string, left *int64) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, *left+1))
	if *left -= n; err == nil && *left < 0 {
		err = errors.New("they have more than 64 MiB")
	}
	return errors.Join(err, out.Close())
}
