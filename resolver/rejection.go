package resolver

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Rejection says that the layers forbid a document. It unwraps to the first
// of its faults; All has every one, sorted by pointer, and last a level that is
// too high, unless the member that raised it is refused for itself. Each is of
// code RESOLVER_REJECT and points into the document. Resolve alone says Hidden.
type Rejection struct {
	All []*fault.Error

	// Hidden is set where the caller could not see the tool if the layers took
	// it: it learns nothing of the rejection either.
	Hidden bool
}

// Error is the text of the first fault.
func (r *Rejection) Error() string { return r.All[0].Error() }

// Unwrap gives the first fault to errors.As.
func (r *Rejection) Unwrap() error { return r.All[0] }

// violation is what a rule of package toolwarrant.effective refuses.
type violation struct {
	ID, Message, Pointer, Value string

	derived bool // from what other members ask for
}

// rejection turns violations into faults. It has no positions yet: the same
// content may stand in several files.
func rejection(violations []violation) *Rejection {
	said := map[string]bool{}
	for _, v := range violations {
		said[v.Pointer] = said[v.Pointer] || !v.derived
	}
	violations = slices.DeleteFunc(violations, func(v violation) bool { return v.derived && said[v.Pointer] })
	slices.SortStableFunc(violations, func(a, b violation) int {
		switch {
		case a.derived != b.derived && a.derived:
			return 1
		case a.derived != b.derived:
			return -1
		}
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.ID+a.Message, b.ID+b.Message))
	})
	r := &Rejection{}
	for _, v := range violations {
		r.All = append(r.All, reject(v.ID, v.Pointer, "%s", v.Message))
	}
	return r
}

// refine points at the list entry that carries the value of a violation.
func refine(v violation, s *spec.Spec) violation {
	if s.Overrides == nil {
		return v
	}
	list := map[string][]string{
		"/sandboxOverrides/addAllowClasses":    s.Overrides.AddAllowClasses,
		"/sandboxOverrides/removeAllowClasses": s.Overrides.RemoveAllowClasses,
		"/sandboxOverrides/addDenyClasses":     s.Overrides.AddDenyClasses,
		"/sandboxOverrides/removeDenyClasses":  s.Overrides.RemoveDenyClasses,
		"/sandboxOverrides/hostsAllow":         s.Overrides.HostsAllow,
	}[v.Pointer]
	if i := slices.Index(list, v.Value); i >= 0 {
		v.Pointer += "/" + strconv.Itoa(i)
	}
	return v
}

// at gives the rejection its place in one file. A pointer without text of its
// own stands at the nearest parent that has some. What no member of the
// sandbox caused comes from a profile, and is at the member that put the tool
// under it.
func (r *Rejection) at(s *spec.Spec) *Rejection {
	placed := &Rejection{All: make([]*fault.Error, len(r.All))}
	for i, f := range r.All {
		line, column, place := 0, 0, f.Pointer
		if place == "" {
			place = boundBy(s)
		}
		for pointer := place; ; pointer = pointer[:strings.LastIndexByte(pointer, '/')] {
			if pos, ok := s.Position(pointer); ok {
				line, column = pos.Line, pos.Column
				break
			}
			if !strings.Contains(pointer, "/") {
				break
			}
		}
		placed.All[i] = f.At(s.File(), place, line, column)
	}
	return placed
}

// boundBy is the member that says under which profiles a tool runs: the
// profile that it names, else what it is called, which the operator's mapping
// goes by.
func boundBy(s *spec.Spec) string {
	if s.Profile() != "" {
		return profilePointer
	}
	return namePointer
}
