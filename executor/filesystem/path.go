package filesystem

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
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
	if foreign(path) && !filepath.IsAbs(path) {
		return "", escape(path)
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
		if runtime.GOOS == "windows" && unportable(part) {
			return "", invalid(InvalidPath, "a part of the path names something else on this system: "+show(path))
		}
	}
	return name, nil
}

// foreign recognises the absolute paths of Windows: a drive letter, or a
// backslash at the start (UNC and device paths as well). They lead out of the
// base on the system that they are for, so they are refused on every system.
func foreign(path string) bool {
	if strings.HasPrefix(path, `\`) {
		return true
	}
	letter := path[0] | 0x20
	return len(path) > 1 && path[1] == ':' && letter >= 'a' && letter <= 'z'
}

// creatable refuses names that another system could not hold, or would read
// as something else, where a file or folder is made: a folder that is shared
// or copied must not change its meaning. What exists can be read under any
// name that the system itself takes.
func creatable(name string) *worker.Failure {
	for part := range strings.SplitSeq(name, string(filepath.Separator)) {
		if part != "." && unportable(part) {
			return invalid(InvalidPath, "a name that other systems read as something else (a device, a backslash, a dot or space at the end, a control character): "+show(name))
		}
	}
	return nil
}

// unportable reports whether one part of a path means something else on
// Windows: there a dot or space at the end is dropped, a backslash separates,
// and some names are devices with any extension.
func unportable(part string) bool {
	if part == "" || part == "." || part == ".." {
		return false
	}
	if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
		return true
	}
	for _, r := range part {
		if r == '\\' || unicode.IsControl(r) {
			return true
		}
	}
	stem, _, _ := strings.Cut(part, ".")
	stem, _, _ = strings.Cut(stem, ":")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	for _, port := range []string{"COM", "LPT"} {
		if number, ok := strings.CutPrefix(stem, port); ok && len([]rune(number)) == 1 && strings.Contains("0123456789\u00b9\u00b2\u00b3", number) {
			return true
		}
	}
	return false
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

// namesFolder reports whether a path can only be that of a folder. Every
// system refuses "x.txt/" and "x.txt/." of a file; cleaned to x.txt they would
// name it by an ending of which a rule about the argument has never heard.
func namesFolder(path string) bool {
	last := path
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' || os.IsPathSeparator(path[i]) {
			last = path[i+1:]
			break
		}
	}
	return last == "" || last == "." || last == ".."
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
