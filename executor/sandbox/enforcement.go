package sandbox

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// A Dimension is one thing that a sandbox keeps within bounds.
type Dimension string

// The dimensions. Each back end reports on all of them.
const (
	FSRead       Dimension = "fs-read"       // reads nothing of the host but the image and the mounts
	FSWrite      Dimension = "fs-write"      // writes nothing of the host but writable mounts
	NetDeny      Dimension = "net-deny"      // DenyAll
	NetAllowList Dimension = "net-allowlist" // AllowList
	CPU          Dimension = "cpu"           // Limits.CPUShares
	Memory       Dimension = "memory"        // Limits.MemoryMB
	Disk         Dimension = "disk"          // Limits.DiskMB
	WallClock    Dimension = "wallclock"     // Limits.Timeout
	Processes    Dimension = "processes"     // Limits.MaxProcesses, and nothing outlives the command
	Environment  Dimension = "env"           // sees Spec.Env and nothing of the host's
	Syscalls     Dimension = "syscalls"      // system calls that ordinary programs do not need are refused
	Kernel       Dimension = "kernel"        // a kernel of its own: a fault of the host's is out of reach
	Output       Dimension = "output"        // Command.MaxOutput; only as Result.LimitHit
)

// Dimensions are those of an Enforcement, in the order of tables.
func Dimensions() []Dimension {
	return []Dimension{FSRead, FSWrite, NetDeny, NetAllowList, CPU, Memory, Disk, WallClock, Processes, Environment, Syscalls, Kernel}
}

// A Level is how far a dimension is enforced.
type Level uint8

// None is not at all; Partial with a gap that Strength.By names; Full always.
const (
	None Level = iota
	Partial
	Full
)

// String is none, partial or full.
func (l Level) String() string {
	switch l {
	case None:
		return "none"
	case Partial:
		return "partial"
	case Full:
		return "full"
	}
	return "level(" + strconv.Itoa(int(l)) + ")"
}

// MarshalText is String.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Strength is a level and the mechanism behind it, in a few words; where it is
// Partial they say what is left open.
type Strength struct {
	Level Level  `json:"level"`
	By    string `json:"by,omitempty"`
}

// Enforcement says per dimension what holds. A dimension that is not in it is
// None.
type Enforcement map[Dimension]Strength

// MarshalJSON lists the dimensions that are there, in a stable order.
func (e Enforcement) MarshalJSON() ([]byte, error) {
	plain := make(map[string]Strength, len(e))
	for d, s := range e {
		plain[string(d)] = s
	}
	return json.Marshal(plain)
}

// Clone is a copy that its owner may change.
func (e Enforcement) Clone() Enforcement { return maps.Clone(e) }

// Needs gives the levels that s asks for: what Require says, and Full for each
// dimension that a field of s implies.
func (s Spec) Needs() map[Dimension]Level {
	needs := map[Dimension]Level{
		FSRead: Full, FSWrite: Full, CPU: Full, Memory: Full, Disk: Full, WallClock: Full, Environment: Full,
	}
	switch s.Net().(type) {
	case DenyAll:
		needs[NetDeny] = Full
	case AllowList:
		needs[NetAllowList] = Full
	}
	if s.Limits.MaxProcesses > 0 {
		needs[Processes] = Full
	}
	for d, r := range s.Require {
		needs[d] = max(needs[d], r.Level)
	}
	return needs
}

// Shortfall gives the dimensions in which have is less than s asks for.
func (s Spec) Shortfall(have Enforcement) []Dimension {
	var short []Dimension
	for d, level := range s.Needs() {
		if have[d].Level < level {
			short = append(short, d)
		}
	}
	slices.Sort(short)
	return short
}

// Admit is what Create of every back end asks: it checks s, and whether have is
// enough for it. Errors: ErrSpec, ErrUnenforceable.
func (s Spec) Admit(backend string, have Enforcement) error {
	if err := s.Check(); err != nil {
		return err
	}
	if short := s.Shortfall(have); len(short) > 0 && !s.AllowPartial {
		return unenforceable(backend, short, s, have)
	}
	return nil
}
