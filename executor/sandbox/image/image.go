// Package image turns the Image of a sandbox.Spec into a folder that can be
// the root of a sandbox. It owns the forms of the name, the reading of OCI
// layouts on disk, and the store of unpacked ones. It never fetches anything.
//
// Threat model: a layout is hostile. Whoever made it knows how it is unpacked
// and wants a file outside of the folder, a setuid program or a device on the
// host, another content than the digest that was asked for, or a full disk.
// So each blob is checked against its digest, a layer is written through
// os.Root after its links were resolved by us within the folder, devices are
// left out, setuid and setgid bits dropped, owners ignored, and the number of
// files and bytes is bounded. Nothing is put under its name in the store
// before all of it was checked.
//
// Of an image only its files count: its user, entry point and environment do
// not.
package image

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// A Kind is one of the forms of an image.
type Kind int

// The kinds.
const (
	Host   Kind = iota // "" or "host": the programs of the host, read-only
	Dir                // "dir:PATH": a folder that holds a root
	OCI                // "oci:PATH[:TAG]" or "oci:PATH@sha256:HEX": a layout
	Engine             // a name that an engine on this machine has
)

// A Ref is an image as a Spec names it.
type Ref struct {
	Kind   Kind
	Path   string // of Dir and OCI; absolute
	Tag    string // of OCI; "" = the only one, or latest
	Digest string // of OCI, instead of a tag: sha256:HEX
	Name   string // of Engine
}

var (
	tagForm    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	// nameForm has no blank and no leading dash: a name becomes an argument.
	nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,510}$`)
)

// Parse reads the Image of a Spec. It looks at nothing but the text. Errors:
// ErrSpec.
func Parse(name string) (Ref, error) {
	switch {
	case name == "" || name == "host":
		return Ref{Kind: Host}, nil
	case strings.HasPrefix(name, "dir:"):
		path := strings.TrimPrefix(name, "dir:")
		if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
			return Ref{}, wrong("the folder of an image must be absolute: %q", name)
		}
		return Ref{Kind: Dir, Path: filepath.Clean(path)}, nil
	case strings.HasPrefix(name, "oci:"):
		return parseLayout(name)
	case nameForm.MatchString(name):
		return Ref{Kind: Engine, Name: name}, nil
	}
	return Ref{}, wrong("this is no name of an image: %q; known are host, dir:PATH, oci:PATH[:TAG] and a name that a local engine has", name)
}

func parseLayout(name string) (Ref, error) {
	r := Ref{Kind: OCI, Path: strings.TrimPrefix(name, "oci:")}
	if path, digest, ok := strings.Cut(r.Path, "@"); ok {
		if r.Path, r.Digest = path, digest; !digestForm.MatchString(digest) {
			return Ref{}, wrong("the digest of an image must be sha256: and 64 hexadecimal digits: %q", name)
		}
	} else if i := strings.LastIndexByte(r.Path, ':'); i >= 0 && !strings.Contains(r.Path[i:], "/") {
		if r.Path, r.Tag = r.Path[:i], r.Path[i+1:]; !tagForm.MatchString(r.Tag) {
			return Ref{}, wrong("this is no tag of an image: %q", name)
		}
	}
	if !filepath.IsAbs(r.Path) || strings.ContainsRune(r.Path, 0) {
		return Ref{}, wrong("the layout of an image must be an absolute path: %q", name)
	}
	r.Path = filepath.Clean(r.Path)
	return r, nil
}

// A Root is an image that is here.
type Root struct {
	// Path is the folder, without symbolic links in it; "" for Host, whose
	// folders are the back end's to choose.
	Path string
	// Digest is that of the manifest, for OCI: what really runs.
	Digest string
}

// Resolve finds or unpacks what r names, all kinds but Engine, which only the
// engine can find. The folder stays when it returns, and is read-only for
// everyone who gets it. Errors: ErrImage, ErrSpec for Engine.
func (s *Store) Resolve(ctx context.Context, r Ref) (Root, error) {
	switch r.Kind {
	case Host:
		return Root{}, nil
	case Dir:
		path, err := filepath.EvalSymlinks(r.Path)
		if err != nil {
			return Root{}, missing("the folder of the image is not there: %v", err)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return Root{}, missing("the image is not a folder: %s", r.Path)
		}
		if path == "/" {
			return Root{}, missing("the root of the host is no image; use host, which has its programs only")
		}
		return Root{Path: path}, nil
	case OCI:
		return s.unpack(ctx, r)
	}
	return Root{}, wrong("an image of an engine, %q, exists for the back ends docker and podman only; others take host, dir:PATH and oci:PATH[:TAG]", r.Name)
}

func wrong(format string, args ...any) error {
	return sandbox.Errorf(sandbox.ErrSpec, format, args...).At("", "/image", 0, 0)
}

func missing(format string, args ...any) error {
	return sandbox.Errorf(sandbox.ErrImage, format, args...).At("", "/image", 0, 0)
}
