package resolver

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/spec"
)

// sandboxMember is where a document says what the sandbox of its commands has
// to be. Its shape is checked when the document is read.
const sandboxMember = "x-toolwarrant-sandbox"

// sandboxAsked is input.tool.sandbox, nil where the document does not say it.
func sandboxAsked(s *spec.Spec) *ast.Term {
	text := sandboxText(s)
	if text == "" {
		return nil
	}
	v, err := jsonTerm([]byte(text))
	if err != nil {
		return nil
	}
	return v
}

// sandboxText is that in JSON, or "".
func sandboxText(s *spec.Spec) string {
	for _, f := range s.Extra {
		if f.Name == sandboxMember && string(f.Value) != "null" {
			return string(f.Value)
		}
	}
	return ""
}

// sandboxDimensions are those that a policy may require.
var sandboxDimensions = []string{
	"fs-read", "fs-write", "net-deny", "net-allowlist", "cpu", "memory", "disk", "wallclock", "processes", "env", "syscalls", "kernel",
}

// sandbox reads what commands are kept in. A requirement that is not known is
// refused: what it asks for could not be held.
func (r *reader) sandbox(t *ast.Term) *decision.Sandbox {
	s := &decision.Sandbox{
		Image: r.str(t, "image"), Backends: r.sorted(t, "backends"), Require: map[string]string{},
		AllowPartial: r.boolean(t, "allowPartial"), Env: r.sorted(t, "env"), Warm: r.str(t, "warm"),
	}
	limits := r.get(t, "limits")
	s.Limits = decision.SandboxLimits{
		CPUMillis: r.number(limits, "cpuMillis"), MemoryMB: r.number(limits, "memoryMB"),
		DiskMB: r.number(limits, "diskMB"), MaxProcesses: r.number(limits, "maxProcesses"),
	}
	require := r.get(t, "require")
	if require == nil {
		return s
	}
	o, ok := require.Value.(ast.Object)
	if !ok {
		r.fail("sandbox.require is not an object")
		return s
	}
	known := 0
	for _, d := range sandboxDimensions {
		if o.Get(ast.InternedTerm(d)) == nil {
			continue
		}
		known++
		s.Require[d] = r.str(require, d)
		if level := s.Require[d]; level != "none" && level != "partial" && level != "full" {
			r.fail("sandbox.require says %q of %s; it is none, partial or full", level, d)
		}
	}
	if known != o.Len() {
		r.fail("sandbox.require names a dimension that there is not; there are %v", sandboxDimensions)
	}
	return s
}
