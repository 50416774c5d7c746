package filesystem

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	maxPath = 4096 // bytes of a path
	maxName = 255  // bytes of one part of it
)

// localName turns a path of the code into a clean name below the base. It is
// a first check that gives clear refusals; that nothing leaves the base is
// kept by os.Root at each access.
func (f *FS) localName(path string) (string, *worker.Failure) {
	if strings.TrimSpace(path) == "" {
		return "", invalid(PathRequired, "a path is required")
	}
	if len(path) > maxPath || !utf8.ValidString(path) || strings.IndexByte(path, 0) >= 0 {
		return "", invalid(InvalidPath, "the path is too long or has characters that no path may have")
	}
	name := filepath.FromSlash(path)
	if filepath.IsAbs(name) {
		rel, ok := f.below(filepath.Clean(name))
		if !ok {
			return "", escape(path)
		}
		name = rel
	}
	// A backslash is a letter on some systems and a separator on others: a
	// path that leaves the base under either reading is refused.
	if climbs(strings.ReplaceAll(path, `\`, "/")) && !filepath.IsAbs(filepath.FromSlash(path)) {
		return "", escape(path)
	}
	name = filepath.Clean(name)
	if !filepath.IsLocal(name) {
		if name == ".." || strings.HasPrefix(name, ".."+string(filepath.Separator)) || filepath.VolumeName(name) != "" {
			return "", escape(path)
		}
		return "", invalid(InvalidPath, "the path is not valid: "+show(path))
	}
	for part := range strings.SplitSeq(name, string(filepath.Separator)) {
		if len(part) > maxName {
			return "", invalid(InvalidPath, "a part of the path is too long")
		}
	}
	return name, nil
}

// below cuts the base off an absolute path.
func (f *FS) below(abs string) (string, bool) {
	for _, base := range f.aliases {
		if rel, err := filepath.Rel(base, abs); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// climbs reports whether a relative path with slashes goes above its start.
func climbs(path string) bool {
	depth := 0
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

func escape(path string) *worker.Failure {
	return failure(fault.Security, PathEscapesBase, "denied: path escapes the base: "+show(path))
}

// escapes recognises the refusal of os.Root, which has no exported value.
func escapes(err error) bool {
	return err != nil && strings.Contains(err.Error(), "path escapes from parent")
}

// display is how a name below the base is shown.
func display(name string) string { return filepath.ToSlash(name) }

// show puts a path into a message.
func show(path string) string { return clip(display(path)) }

// clip bounds what the code wrote before it enters a message or the ledger. A
// path that is accepted is never cut: the record masks it first.
func clip(s string) string { return mask.Clip(s, maxPath) }
