package decision

import "slices"

// Sandbox is what commands are kept in that the code of a tool starts. The
// executor builds every sandbox from it and from nothing that the code says.
type Sandbox struct {
	Image string `json:"image"` // what a command sees as its root; "" = the programs of the host
	// Backends are the sandboxes that may be taken, by id. None is none: then
	// nothing starts.
	Backends []string `json:"backends"`
	// Require says by dimension (fs-read, memory, ...) how far it has to be
	// enforced: none, partial or full.
	Require      map[string]string `json:"require"`
	Limits       SandboxLimits     `json:"limits"`
	AllowPartial bool              `json:"allowPartial"` // whether less will do; the record says what
	Env          []string          `json:"env"`          // static variables that commands get as environment variables
	Warm         string            `json:"warm"`         // an interpreter that is kept loaded, or ""
}

// SandboxLimits are how much the commands of one call may use. What the call
// itself has left bounds them as well.
type SandboxLimits struct {
	CPUMillis    int64 `json:"cpuMillis"` // thousandths of a processor
	MemoryMB     int64 `json:"memoryMB"`
	DiskMB       int64 `json:"diskMB"`
	MaxProcesses int64 `json:"maxProcesses"`
}

// enforced orders how far a dimension is enforced. What is not known is more
// than anything.
func enforced(level string) int {
	switch level {
	case "", "none":
		return 0
	case "partial":
		return 1
	case "full":
		return 2
	}
	return 3
}

// within reports whether commands under s can do nothing that they could not
// do under o. Without a sandbox there are no commands.
func (s *Sandbox) within(o *Sandbox) (dimension string, ok bool) {
	switch {
	case s == nil:
		return "", true
	case o == nil:
		return "sandbox", false
	case !covered(s.Backends, o.Backends, equal):
		return "sandbox.backends", false
	case s.AllowPartial && !o.AllowPartial:
		return "sandbox.allowPartial", false
	case !covered(s.Env, o.Env, equal):
		return "sandbox.env", false
	case s.Image != o.Image:
		return "sandbox.image", false
	}
	for d, level := range o.Require {
		if enforced(s.Require[d]) < enforced(level) {
			return "sandbox.require", false
		}
	}
	l, m := s.Limits, o.Limits
	if l.CPUMillis > m.CPUMillis || l.MemoryMB > m.MemoryMB || l.DiskMB > m.DiskMB || l.MaxProcesses > m.MaxProcesses {
		return "sandbox.limits", false
	}
	return "", true
}

// Allows reports whether the sandbox with this id may be taken. A nil s allows
// none.
func (s *Sandbox) Allows(id string) bool { return s != nil && slices.Contains(s.Backends, id) }
