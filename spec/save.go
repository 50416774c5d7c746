package spec

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

// Standalone is the document with its code inside, also for one that was
// loaded from a folder.
func (s *Spec) Standalone() []byte {
	if s.act == nil || s.src == nil {
		return s.Bytes()
	}
	return setMember(s.src.data, "code", func(string) []byte { return encodeText(s.Code) })
}

// Save writes the document to path, each file in one atomic step (section
// 12.2) and with the permission that the file has; a new one gets 0600.
//
// A path that is a folder gets spec.json, and action.js when the code stands
// apart. A member of a bundle that is saved to its bundle replaces itself
// there and nothing else, provided that it still stands in the file as it was
// loaded. A failure is a USAGE fault.
func (s *Spec) Save(path string) error {
	if s.src == nil {
		return fault.New(fault.Internal, "no-text", "a tool without a document cannot be saved")
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return s.saveFolder(path)
	}
	if s.act != nil && filepath.Clean(path) == filepath.Clean(s.src.file) {
		return s.saveFolder(filepath.Dir(path))
	}
	data := s.Standalone()
	if s.src.bundled && filepath.Clean(path) == filepath.Clean(s.src.file) {
		var err error
		if data, err = s.intoBundle(path); err != nil {
			return err
		}
	}
	return write(path, data)
}

// saveFolder writes the code first: a crash between the two files leaves a
// spec.json whose draft and posture are older than the code, never newer.
func (s *Spec) saveFolder(dir string) error {
	if s.act != nil {
		if err := write(filepath.Join(dir, actionFile), []byte(s.Code)); err != nil {
			return err
		}
	}
	return write(filepath.Join(dir, specFile), s.src.data)
}

// intoBundle is the bundle file with this member in place of the loaded one.
func (s *Spec) intoBundle(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	old := s.loaded
	if old == nil {
		old = s.src.data
	}
	root, problems := readTree(data)
	n := root.find(s.src.prefix)
	if len(problems) > 0 || n == nil || !bytes.Equal(data[n.start:n.end], old) && !bytes.Equal(data[n.start:n.end], s.src.data) {
		return nil, fault.New(fault.Usage, "changed-on-disk", "%s changed since it was loaded; load it again", path).At(path, s.src.prefix, 0, 0)
	}
	return splice(data, n.start, n.end, s.src.data), nil
}

func write(path string, data []byte) error {
	if err := atomicfile.WriteFile(path, data, 0o600); err != nil {
		return fault.New(fault.Usage, "unwritable", "cannot write %s: %v", path, err).Because(err).At(path, "", 0, 0)
	}
	return nil
}
