package catalog

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// bundle is the embedded catalog, parsed. Its content never changes, so one
// is shared by every Catalog of the process.
type bundle struct {
	docs       []document // by folder name
	names      []string   // that the manifest lists, readable or not
	presets    presetFile
	vocabulary Vocabulary
	findings   []*fault.Error
}

// document is one spec with where it comes from, before anything is known
// about its state.
type document struct {
	spec     *spec.Spec
	source   Source
	path     string // "" for a bundled one
	home     bool   // of the folder under the home
	trusted  bool   // ACTIVE needs no pass: the operator vouches for its folder
	passed   string // the digest that passed.json beside it says has passed
	env      []string
	listed   string         // the digest that the manifest has for a bundled one
	broken   []*fault.Error // rules between its fields that it breaks
	tampered string         // why a bundled document is not what the manifest says
}

var builtins = sync.OnceValues(func() (*bundle, error) { return readBundle(bundledFiles) })

// readBundle parses the bundled catalog. A tool that cannot be read or that
// differs from its manifest becomes a finding; broken data files are errors.
func readBundle(fsys fs.FS) (*bundle, error) {
	b := &bundle{}
	var m manifest
	if err := readData(fsys, "manifest.json", &m, func() int { return m.Version }); err != nil {
		return nil, err
	}
	if err := readData(fsys, "presets.json", &b.presets, func() int { return b.presets.Version }); err != nil {
		return nil, err
	}
	if err := readData(fsys, "vocabulary.json", &b.vocabulary, func() int { return b.vocabulary.Version }); err != nil {
		return nil, err
	}
	for name := range m.Tools {
		b.names = append(b.names, name)
	}
	dirs, err := fs.ReadDir(fsys, "tools")
	if err != nil {
		return nil, fault.New(fault.Internal, "catalog-data", "the bundled catalog has no tools").Because(err)
	}
	for _, dir := range dirs {
		s, errs := readFolder(fsys, path.Join("tools", dir.Name()))
		if len(errs) > 0 {
			b.findings = append(b.findings, errs...)
			continue
		}
		entry, listed := m.Tools[s.Name]
		d := document{spec: s, source: SourceBuiltin, listed: cmp.Or(entry.Digest, noDigest)}
		switch {
		case s.Name != dir.Name():
			d.tampered = "its folder is called " + dir.Name()
		case !listed:
			d.tampered = "the manifest does not list it"
		case entry.Digest != s.Digest():
			d.tampered = "its digest is " + s.Digest() + ", the manifest says " + entry.Digest
		default:
			d.env = slices.Clone(entry.Env)
		}
		if d.tampered != "" {
			b.findings = append(b.findings, fault.New(fault.Security, "manifest-mismatch",
				"the bundled tool %q is not served: %s; install toolwarrant anew from a trusted source", s.Name, d.tampered).
				At(path.Join("tools", dir.Name(), "spec.json"), "", 0, 0))
		}
		b.docs = append(b.docs, d)
	}
	return b, nil
}

// Shipped reports whether s is a bundled tool word for word, wherever it was
// read from, and which placeholder names the manifest grants it. It is safe for
// concurrent use.
func Shipped(s *spec.Spec) (env []string, ok bool) {
	b, err := builtins()
	if err != nil {
		return nil, false // the catalog itself says so when it is opened
	}
	digest := s.Digest()
	for _, d := range b.docs {
		if d.tampered == "" && d.spec.ToolID == s.ToolID && d.spec.Digest() == digest {
			return slices.Clone(d.env), true
		}
	}
	return nil, false
}

// readFolder reads spec.json and action.js of one folder of fsys as the
// document that the pair stands for.
func readFolder(fsys fs.FS, dir string) (*spec.Spec, []*fault.Error) {
	file := path.Join(dir, "spec.json")
	raw, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, []*fault.Error{unreadable(file, err)}
	}
	code, err := fs.ReadFile(fsys, path.Join(dir, "action.js"))
	if err != nil {
		return nil, []*fault.Error{unreadable(path.Join(dir, "action.js"), err)}
	}
	return spec.Parse(file, joinCode(raw, string(code)))
}

// joinCode puts code into a spec object as its last member, so that every
// position in the object stays what it was. What is not an object comes back
// as it is, for the parser to refuse.
func joinCode(object []byte, code string) []byte {
	end := len(object) - 1
	for end >= 0 && object[end] != '}' {
		end--
	}
	if end < 0 {
		return object
	}
	encoded, err := json.Marshal(code)
	if err != nil {
		return object // cannot happen: a string always has a JSON form
	}
	joined := append(slices.Clone(object[:end]), `,"code":`...)
	return append(append(joined, encoded...), '}')
}

func unreadable(file string, err error) *fault.Error {
	return fault.New(fault.Usage, "unreadable", "%s cannot be read", file).At(file, "", 0, 0).Because(err)
}
