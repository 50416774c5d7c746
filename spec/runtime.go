package spec

import (
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// Runtime is what a runtime offers to the tools it executes.
type Runtime struct {
	ID      string   // "toolwarrant/goja"
	Version string   // semantic version without "v"
	Helpers []string // helper groups in the namespaced spelling
}

// ThisRuntime is the runtime of this program.
func ThisRuntime() Runtime {
	return Runtime{ID: "toolwarrant/goja", Version: "0.1.0", Helpers: script.Groups()}
}

// CheckRuntime compares what the stored toolSafety block asks for with what rt
// offers: a helper group or version that it lacks, and a least version above
// its own. The least version of another runtime says nothing about this one
// and is not compared. Publishing and linting ask; loading does not, so that a
// foreign document stays readable (section 8.3).
func (s *Spec) CheckRuntime(rt Runtime) []*fault.Error {
	t := s.ToolSafety
	if t == nil {
		return nil
	}
	var out []*fault.Error
	for i, h := range t.Runtime.Helpers {
		if g := HelperGroup(h); !slices.Contains(rt.Helpers, g) {
			e := fault.New(fault.SpecInvariant, "helper-unavailable", "this runtime has no helper %s; it has %s", quote(h), strings.Join(rt.Helpers, ", "))
			out = append(out, s.At(e, index("/toolSafety/runtime/helpers", i)))
		}
	}
	if least := t.Runtime.MinVersion; t.Runtime.ID == rt.ID && least != "" {
		if !semver.IsValid("v"+least) || semver.Compare("v"+least, "v"+rt.Version) > 0 {
			e := fault.New(fault.SpecInvariant, "runtime-too-old", "the tool asks for %s %s, this is %s; update toolwarrant", rt.ID, quote(least), rt.Version)
			out = append(out, s.At(e, "/toolSafety/runtime/minVersion"))
		}
	}
	return out
}

// HelperGroup gives the namespaced spelling of a helper: the anchor-suffixed
// one, tool-safety-helpers/v1#crypto, names the same group as
// safety.crypto/v1. Any other text is returned as it is.
func HelperGroup(h string) string {
	bundle, group, ok := strings.Cut(h, "#")
	if !ok {
		return h
	}
	version, ok := strings.CutPrefix(bundle, "tool-safety-helpers/")
	if !ok {
		return h
	}
	switch group {
	case "parser", "crypto", "encoding":
		return "safety." + group + "/" + version
	}
	return h
}
