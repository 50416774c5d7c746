package spec

import (
	"slices"
	"sync"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// Spec is one valid document. Defaults are applied; Draft is true when absent.
// A nil pointer, slice or empty string is an absent or null member.
type Spec struct {
	ToolID          string
	Name            string
	Description     string
	Category        string
	Tags            []string
	Params          []Param
	StaticVariables []StaticVariable
	Code            string
	CodeType        string
	Overrides       *Overrides // nil when absent, null or empty, which mean the same
	ToolSafety      *ToolSafety
	HumanInTheLoop  *HumanInTheLoop
	Draft           bool
	CreateTimestamp int64
	UpdateTimestamp int64
	Extra           []Field // unknown members, in their order

	src    *source // nil for a Spec that was not parsed from text
	act    *action // the file of the code in the folder form, else nil
	loaded []byte  // the text before any edit, nil when there was none

	digestOnce sync.Once
	digest     string
	resultOnce sync.Once
	result     *resultSchema
	codeOnce   sync.Once
	facts      script.Facts
	problems   []script.Problem
}

// File is the name under which the document was loaded: the file, also for a
// member of a bundle, or spec.json of a folder. "" for a Spec without text.
func (s *Spec) File() string {
	if s.src == nil {
		return ""
	}
	return s.src.file
}

// Pointer is where the document stands inside File: "" for the whole file,
// "/toolSpecs/3" for a member of a bundle.
func (s *Spec) Pointer() string {
	if s.src == nil {
		return ""
	}
	return s.src.prefix
}

// Position is where the value at pointer, which is relative to the document,
// stands in File. It reads the text again, so it is for findings, not for
// every call.
func (s *Spec) Position(pointer string) (Position, bool) {
	if s.src == nil {
		return Position{}, false
	}
	root, _ := readTree(s.src.data)
	n := root.find(pointer)
	if n == nil {
		return Position{}, false
	}
	return s.src.position(n.start), true
}

// At gives a copy of e that points at pointer, which is relative to the
// document: file, full pointer, line and column. A value that is not written
// takes the place of the closest block around it. Where the code stands in a
// file of its own, a pointer to it names that file.
func (s *Spec) At(e *fault.Error, pointer string) *fault.Error {
	if s.src == nil {
		return e.At("", pointer, 0, 0)
	}
	if s.act != nil && pointer == "/code" {
		return e.At(s.act.file, pointer, 1, 1)
	}
	root, _ := readTree(s.src.data)
	p := &parsing{src: s.src, root: root}
	return s.src.at(e, pointer, p.offset(pointer, false))
}

// Placeholders are the distinct ${NAME} names of the static variables, sorted.
// An entry that a later one of the same key replaces counts as well.
func (s *Spec) Placeholders() []string {
	var names []string
	for _, sv := range s.StaticVariables {
		names = placeholderNames(sv.Value, names)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Profile is the value of x-toolwarrant-profile, or "".
func (s *Spec) Profile() string {
	for _, f := range s.Extra {
		if f.Name == "x-toolwarrant-profile" {
			n, errs := readTree(f.Value)
			if len(errs) > 0 {
				return ""
			}
			return n.text()
		}
	}
	return ""
}

// Suppression is one entry of x-toolwarrant-lint: a finding of the linter that
// the author accepts.
type Suppression struct {
	ID      string
	Reason  string
	Expires string // the last day, 2006-01-02 in UTC, or "" for no end
}

// SuppressionsPointer is where the accepted findings stand.
const SuppressionsPointer = "/x-toolwarrant-lint"

// Suppressions are the accepted findings, in their order.
func (s *Spec) Suppressions() []Suppression {
	var out []Suppression
	for _, f := range s.Extra {
		if f.Name != SuppressionsPointer[1:] {
			continue
		}
		n, errs := readTree(f.Value)
		if len(errs) > 0 {
			return nil
		}
		for i := range n.elems {
			e := &n.elems[i]
			out = append(out, Suppression{e.get("id").text(), e.get("reason").text(), e.get("expires").text()})
		}
	}
	return out
}
