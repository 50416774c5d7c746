package catalog

import (
	"embed"
	"io/fs"
	"path"
	"slices"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// extraFiles holds tools that come with the program and are in no preset, one
// folder each as those of tools/. They are no bundled tools: nobody is served
// one who did not import and publish it.
//
//go:embed extras/*/spec.json extras/*/action.js extras/*/cases.json
var extraFiles embed.FS

// Extras lists the tools of the pack of extras.
func Extras() []string {
	dirs, err := fs.ReadDir(extraFiles, "extras")
	if err != nil {
		return nil // cannot happen: the folder is part of the program
	}
	names := make([]string, len(dirs))
	for i, d := range dirs {
		names[i] = d.Name()
	}
	return slices.Sorted(slices.Values(names))
}

// Extra reads one tool of the pack of extras: its document and its folder, for
// ImportDraft.
func Extra(name string) (*spec.Spec, fs.FS, error) {
	if !slices.Contains(Extras(), name) {
		return nil, nil, unknown("extra", name, Extras())
	}
	dir := path.Join("extras", name)
	s, errs := readFolder(extraFiles, dir)
	if len(errs) > 0 {
		return nil, nil, errs[0]
	}
	beside, err := fs.Sub(extraFiles, dir)
	if err != nil {
		return nil, nil, fault.New(fault.Internal, "catalog-data", "the extra %q cannot be read", name).Because(err)
	}
	return s, beside, nil
}
