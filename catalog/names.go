package catalog

import (
	"regexp"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// servableName is what MCP lets a tool be called. With anything else, such as
// spaces at the end, characters that show nothing and letters of other scripts,
// one tool could pass for another before a person and a model.
var servableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// NameServable refuses a document whose name no tool may be served under:
// SPEC_INVARIANT, reason name-not-servable. It loads all the same, as a draft.
func NameServable(s *spec.Spec) *fault.Error {
	if servableName.MatchString(s.Name) {
		return nil
	}
	return s.At(fault.New(fault.SpecInvariant, "name-not-servable",
		"no tool is served under the name %+q; rename it, with 1 to 128 of A-Z, a-z, 0-9, _, . and -", s.Name), "/name")
}
