package audit

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// objectsOf is the folder of the objects of the log at path, which a log that is
// not in its home does not have.
func objectsOf(path string) string { return filepath.Join(filepath.Dir(path), objectsDir) }

// objectDigest gives the digest that an object record names.
func objectDigest(line []byte) string {
	var r struct {
		Digest string `json:"digest"`
	}
	if json.Unmarshal(line, &r) != nil {
		return ""
	}
	if _, ok := parseHash([]byte(r.Digest)); !ok {
		return ""
	}
	return r.Digest
}

// objects are those that a verifier has to look at.
type objects struct {
	wanted  bool
	dir     string // of the file that is read; "" where there is none
	dirs    []string
	records map[string]objectRecord // that enter them, by file, of those that are there
	gone    []objectRecord          // of those that are not
}

type objectRecord struct {
	spot
	seq  uint64
	file string
}

// enter goes on with a file of a log, whose objects are in dir if that is there.
func (o *objects) enter(dir string) {
	o.dir = ""
	if st, err := os.Stat(dir); !o.wanted || err != nil || !st.IsDir() {
		return
	}
	if o.dir = dir; !slices.Contains(o.dirs, dir) {
		o.dirs = append(o.dirs, dir)
	}
}

// named takes in a record that enters an object. What is kept is bounded by how
// many there are, and by how many findings are told of.
func (o *objects) named(e *entrant) {
	r := objectRecord{e.spot, e.head.Seq, e.object}
	if _, err := os.Lstat(e.object); err != nil {
		if len(o.gone) <= maxFindings {
			o.gone = append(o.gone, r)
		}
		return
	}
	if o.records == nil {
		o.records = map[string]objectRecord{}
	}
	if _, ok := o.records[e.object]; !ok {
		o.records[e.object] = r
	}
}

// checkObjects holds each object against its name: also those that were entered
// by records which are not there any more, and are named by calls.
func (v *verifier) checkObjects(ctx context.Context) error {
	for _, r := range v.objects.gone {
		v.add(r.spot, &r.seq, KindObject, "the object "+filepath.Base(r.file)+" that this record entered is gone")
	}
	for _, dir := range v.objects.dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			return unreadable(dir, err)
		}
		for _, f := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			want, ok := parseHash([]byte(hashPrefix + f.Name()))
			if !ok {
				continue // a mark, or what a crash left
			}
			path := filepath.Join(dir, f.Name())
			r, entered := v.objects.records[path]
			have, err := hashFile(path)
			switch {
			case err == nil && have == want:
				continue
			case errors.Is(err, fs.ErrNotExist) && !entered:
				continue
			case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNoFile):
				return unreadable(path, err)
			}
			message := "the object " + f.Name() + " was altered: its content has another digest"
			if entered {
				v.add(r.spot, &r.seq, KindObject, message)
				continue
			}
			v.nth++
			v.add(spot{path, 1, v.nth}, nil, KindObject, message)
		}
	}
	return nil
}

// errNoFile says that something else stands in the place of an object.
var errNoFile = errors.New("audit: no regular file")

func hashFile(path string) (out [sha256.Size]byte, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return out, err
	}
	if !st.Mode().IsRegular() { // a pipe would be read for ever
		return out, errNoFile
	}
	f, err := os.Open(path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return out, err
	}
	h.Sum(out[:0])
	return out, nil
}
