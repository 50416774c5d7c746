package image

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

const (
	maxPath  = 4096 // bytes of a path, as the kernel has it
	maxName  = 255  // bytes of one name
	maxLinks = 40   // symbolic links on one way, as the kernel has it
)

var (
	errLeadsOut = errors.New("the path leads out of the image")
	errBadPath  = errors.New("the path is empty, too long, or has a name that is")
	errLoop     = errors.New("too many symbolic links on the way")
	errNoFolder = errors.New("something on the way is not a folder")
)

// clean makes the name of an entry relative to the root of the image. One that
// climbs out of it is refused and not bent: no builder makes it.
func clean(name string) (string, error) {
	if name == "" || len(name) > maxPath || strings.ContainsRune(name, 0) {
		return "", errBadPath
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxName {
			return "", errBadPath
		}
		if part == ".." {
			return "", errLeadsOut
		}
	}
	return path.Clean(strings.TrimLeft(name, "/") + "/."), nil
}

// resolve follows the links of a folder's path as a process whose root is the
// image would, so that the result has none. With create, folders that are
// missing are made.
func (t *tree) resolve(dir string, create bool) (string, error) {
	todo := strings.Split(dir, "/")
	at, links := ".", 0
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		info, err := t.root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) && create:
			if t.filesLeft--; t.filesLeft < 0 {
				return "", errTooLarge
			}
			if err := t.root.Mkdir(next, 0o755); err != nil {
				return "", err
			}
			t.mark(next)
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", errLoop
			}
			target, err := t.root.Readlink(next)
			if err != nil {
				return "", err
			}
			if path.IsAbs(target) {
				at = "."
			}
			todo = append(strings.Split(target, "/"), todo...)
			continue
		case !info.IsDir():
			return "", errNoFolder
		}
		at = next
	}
	return at, nil
}
