package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// A tree is a folder that layers are put into. All paths are relative, clean
// and without links: resolve makes them so, within the folder, and os.Root
// refuses what would still lead out.
type tree struct {
	root      *os.Root
	bytesLeft int64
	filesLeft int
	own       map[string]bool        // what the layer that is being applied has put there
	modes     map[string]fs.FileMode // of folders, set when nothing is written any more
}

func openTree(dir string, b Bounds) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &tree{root: root, bytesLeft: b.Bytes, filesLeft: b.Files, modes: map[string]fs.FileMode{}}, nil
}

func (t *tree) close() { t.root.Close() }

// finish gives the folders their modes. The owner keeps the right to write:
// the store can be cleaned by whoever filled it.
func (t *tree) finish() error {
	for name, mode := range t.modes {
		if err := t.root.Chmod(name, mode|0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// apply puts one layer over what is there.
func (t *tree) apply(r *tar.Reader) error {
	t.own = map[string]bool{}
	for {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if t.filesLeft--; t.filesLeft < 0 {
			return errTooLarge
		}
		if err := t.entry(h, r); err != nil {
			return fmt.Errorf("%.200q: %w", h.Name, err)
		}
	}
}

const whiteout = ".wh."

func (t *tree) entry(h *tar.Header, content io.Reader) error {
	name, err := clean(h.Name)
	if err != nil || name == "." {
		return err
	}
	dir, err := t.resolve(path.Dir(name), true)
	if err != nil {
		return err
	}
	base := path.Base(name)
	if hidden, ok := strings.CutPrefix(base, whiteout); ok {
		return t.whiteout(dir, hidden)
	}
	at := path.Join(dir, base)
	t.mark(at)
	old, err := t.root.Lstat(at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Only a folder may stay below a folder of the same name.
	if old != nil && !(old.IsDir() && h.Typeflag == tar.TypeDir) {
		if err := t.remove(at); err != nil {
			return err
		}
		old = nil
	}
	mode := fs.FileMode(h.Mode) & 0o777
	switch h.Typeflag {
	case tar.TypeDir:
		if old == nil {
			if err := t.root.Mkdir(at, 0o700); err != nil {
				return err
			}
		}
		t.modes[at] = mode
		return nil
	case tar.TypeReg:
		return t.file(at, mode, h, content)
	case tar.TypeSymlink:
		if len(h.Linkname) == 0 || len(h.Linkname) > maxPath || strings.ContainsRune(h.Linkname, 0) {
			return errors.New("a link without a usable target")
		}
		// A link is text: whoever follows it does so in the sandbox.
		return t.root.Symlink(h.Linkname, at)
	case tar.TypeLink:
		return t.hardlink(at, h.Linkname)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return nil // a sandbox has its own devices
	}
	return fmt.Errorf("an entry of the type %q", h.Typeflag)
}

func (t *tree) file(at string, mode fs.FileMode, h *tar.Header, content io.Reader) error {
	if h.Size < 0 || h.Size > t.bytesLeft {
		return errTooLarge
	}
	t.bytesLeft -= h.Size
	f, err := t.root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	// Interpreters compare the times of sources and of what they compiled.
	return t.root.Chtimes(at, h.ModTime, h.ModTime)
}

// hardlink makes a second name of a file that an earlier entry made.
func (t *tree) hardlink(at, target string) error {
	name, err := clean(target)
	if err != nil {
		return err
	}
	dir, err := t.resolve(path.Dir(name), false)
	if err != nil {
		return err
	}
	from := path.Join(dir, path.Base(name))
	info, err := t.root.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("a hard link to something that is not a regular file")
	}
	return t.root.Link(from, at)
}

// whiteout removes what lower layers have: one name, or all of a folder.
func (t *tree) whiteout(dir, hidden string) error {
	switch {
	case hidden == ".wh..opq":
		return t.clear(dir)
	case strings.HasPrefix(hidden, whiteout):
		return nil // bookkeeping of a union file system
	case hidden == "" || hidden == "." || hidden == "..":
		return errors.New("a whiteout of no name")
	}
	at := path.Join(dir, hidden)
	info, err := t.root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case t.own[at] && info.IsDir():
		return t.clear(at)
	case t.own[at]:
		return nil
	}
	return t.remove(at)
}

// clear removes what is below dir and not of this layer.
func (t *tree) clear(dir string) error {
	f, err := t.root.Open(dir)
	if err != nil {
		return err
	}
	entries, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		switch {
		case !t.own[at]:
			err = t.remove(at)
		case e.IsDir():
			err = t.clear(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remove removes what is at a path, links as such, and forgets the modes of
// what was below it.
func (t *tree) remove(at string) error {
	for name := range t.modes {
		if name == at || strings.HasPrefix(name, at+"/") {
			delete(t.modes, name)
		}
	}
	return t.root.RemoveAll(at)
}

// mark says that at and the folders above it are of this layer.
func (t *tree) mark(at string) {
	for at != "." && !t.own[at] {
		t.own[at] = true
		at = path.Dir(at)
	}
}
