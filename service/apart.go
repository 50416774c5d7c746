package service

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

// checkApart refuses a configuration by which something else writes to the
// log, or two things to one file: lines between the lines of the log would
// break its chain.
func checkApart(o Options) error {
	log, state := o.Config.Audit.File, filepath.Join(o.Home, "audit")
	if log == "" {
		log = filepath.Join(state, audit.FileName)
	} else {
		state = log + ".d"
	}
	type writer struct{ path, what string }
	var all []writer
	for _, c := range o.Config.Audit.Sinks {
		if c.Type == "file" && c.Path != "" {
			all = append(all, writer{c.Path, "the audit sink " + c.Name})
		}
	}
	if c := o.Config.Audit.Checkpoint; c.Key != "" && c.File != "" {
		all = append(all, writer{c.File, "audit.checkpoint.file"})
	}
	for i, w := range all {
		if oneFile(w.path, log) || within(w.path, state) {
			return fault.New(fault.Usage, "audit-path", "%s would write to %s, which belongs to the audit log itself; name another file", w.what, w.path)
		}
		for _, other := range all[:i] {
			if oneFile(w.path, other.path) {
				return fault.New(fault.Usage, "audit-path", "%s and %s would both write to %s; each needs a file of its own", other.what, w.what, w.path)
			}
		}
	}
	return nil
}

// within reports whether path is in what a log keeps beside it: its closed
// files, its index, and the like.
func within(path, state string) bool {
	for _, name := range []string{"segments", "objects", "writers", "sinks"} {
		rel, err := filepath.Rel(settled(filepath.Join(state, name)), settled(path))
		if err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	rel, err := filepath.Rel(settled(state), settled(path))
	return err == nil && (strings.HasPrefix(rel, "index.sqlite") || rel == ".lock" || rel == ".recover.lock")
}

// oneFile reports whether two paths are one file, which need not be there yet.
func oneFile(a, b string) bool {
	if x, err := os.Stat(a); err == nil {
		if y, err := os.Stat(b); err == nil {
			return os.SameFile(x, y)
		}
	}
	return settled(a) == settled(b)
}

// settled is an absolute path without symbolic links, as far as it exists.
func settled(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(settled(parent), filepath.Base(path))
}
