package sandbox

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// A Spec says what a sandbox is. The zero value, with Limits, is one that
// reaches nothing: no network, no folder of the host but its programs.
type Spec struct {
	// Image is what the sandbox sees as its root: "" or "host" for the
	// programs and libraries of the host, read-only; "dir:PATH" for a folder
	// that holds a root; "oci:PATH[:TAG]" for an OCI layout; for the
	// container back end also the name of an image that a local engine has;
	// for wasm the path of a module. Nothing is ever fetched.
	Image string
	// Env is all the environment that commands see, besides a fixed PATH,
	// HOME and LANG. NAME=value.
	Env     []string
	Mounts  []Mount
	Network NetPolicy // nil = DenyAll
	Limits  Limits
	// WorkingDir is where commands start; absolute, in the sandbox. "" = the
	// scratch folder.
	WorkingDir string
	// Warmable marks a specification whose sandboxes may be kept and used
	// again, after Reset, by a Pool.
	Warmable bool
	// Require is what must be enforced, beyond what the other fields imply.
	Require Enforcement
	// AllowPartial lets Create go on where the back end enforces less than
	// asked.
	AllowPartial bool
	// Warm names an interpreter that is kept loaded for commands that use it:
	// "" or "python". With python, python3 -c CODE and python3 FILE.py run in
	// a fork of it: common modules are imported already, the seed of hashes is
	// that of the other commands until the next Reset, the parent process is
	// not process 1, and at the end files are written but modules not taken
	// apart. Other options of python3, and environment entries that it reads
	// when it starts, get a new interpreter. The loaded one counts in MemoryMB
	// with some 15 MiB, and its end, by a command or a limit, ends the command
	// that runs in it.
	Warm string
}

// A Mount is a folder or file of the host in the sandbox.
type Mount struct {
	Source   string `json:"source"` // on the host; absolute
	Target   string `json:"target"` // in the sandbox; absolute and clean
	Writable bool   `json:"writable"`
}

// NetPolicy is one of DenyAll, AllowList and Inherit.
type NetPolicy interface {
	// Name is DenyAll, AllowList or Inherit, as events and records have it.
	Name() string
	sealed()
}

// DenyAll is a network of its own with nothing but a loopback device.
type DenyAll struct{}

// AllowList lets a sandbox open TCP connections to what Hosts names, by name,
// through a check outside of it. Everything else does not exist: UDP, other
// ports, literal addresses that no entry names, any other name.
type AllowList struct {
	// Hosts are names (example.com), wildcards (*.example.com, which is not
	// example.com itself; * for any name), addresses, or prefixes
	// (192.0.2.0/24), each with an optional :port. Without one, Ports.
	Hosts []string
	// Deny is taken away from Hosts, in the same form.
	Deny []string
	// Ports are those of entries without one. nil = 80 and 443.
	Ports []int
	// Private are host:port pairs that may resolve to an address that is not
	// public. Only an operator sets them.
	Private []string
	// SNI demands that a TLS connection names, in its first message, the host
	// that was allowed.
	SNI bool
}

// Inherit is the network of the host. Only an explicit choice of an operator
// leads to it.
type Inherit struct{}

// Name is the policy in events and records.
func (DenyAll) Name() string { return "DenyAll" }

// Name is the policy in events and records.
func (AllowList) Name() string { return "AllowList" }

// Name is the policy in events and records.
func (Inherit) Name() string { return "Inherit" }

func (DenyAll) sealed()   {}
func (AllowList) sealed() {}
func (Inherit) sealed()   {}

// Net gives the policy of s; nil is DenyAll.
func (s Spec) Net() NetPolicy {
	if s.Network == nil {
		return DenyAll{}
	}
	return s.Network
}

// Limits bound one sandbox, and Timeout each command in it.
type Limits struct {
	CPUShares    float64       // processors; 1 = one full core
	MemoryMB     int           // MiB, of all processes together
	DiskMB       int           // MiB of scratch space; 0 = none
	Timeout      time.Duration // wall clock of one command
	MaxProcesses int           // processes and threads; 0 = no limit
}

// Minimal are limits for a short check: a quarter of a core, 64 MiB, 16 MiB of
// scratch, 5 seconds, 32 processes.
func Minimal() Limits { return Limits{0.25, 64, 16, 5 * time.Second, 32} }

// Standard are limits for a typical run of code: one core, 256 MiB, 256 MiB of
// scratch, 30 seconds, 64 processes.
func Standard() Limits { return Limits{1, 256, 256, 30 * time.Second, 64} }

// Of are the limits of Standard with other processors, memory (MiB) and
// timeout.
func Of(cpu float64, memoryMB int, timeout time.Duration) Limits {
	l := Standard()
	l.CPUShares, l.MemoryMB, l.Timeout = cpu, memoryMB, timeout
	return l
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Check tells what is wrong with s itself, whatever the back end: an ErrSpec
// with a pointer to the field, or nil.
func (s Spec) Check() error {
	if err := s.Limits.check(); err != nil {
		return err
	}
	for i, e := range s.Env {
		if err := CheckEnv(e); err != nil {
			return specError("/env/"+itoa(i), "%v", err)
		}
	}
	for i, m := range s.Mounts {
		at := "/mounts/" + itoa(i)
		switch {
		case !filepath.IsAbs(m.Source):
			return specError(at+"/source", "the folder of the host must be absolute: %q", m.Source)
		case !path.IsAbs(m.Target) || path.Clean(m.Target) != m.Target || m.Target == "/" || strings.ContainsRune(m.Target, 0):
			return specError(at+"/target", "the place in the sandbox must be an absolute, clean path below /: %q", m.Target)
		}
		for _, own := range []string{"/proc", "/dev", "/sys"} {
			if m.Target == own || strings.HasPrefix(m.Target, own+"/") {
				return specError(at+"/target", "nothing can be mounted in %s", own)
			}
		}
		for j := range i {
			if s.Mounts[j].Target == m.Target {
				return specError(at+"/target", "two mounts have one place: %q", m.Target)
			}
		}
	}
	if s.WorkingDir != "" && !path.IsAbs(s.WorkingDir) {
		return specError("/workingDir", "the working directory must be absolute: %q", s.WorkingDir)
	}
	if s.Warm != "" && s.Warm != "python" {
		return specError("/warm", "no interpreter of this name is kept warm: %q; python is", s.Warm)
	}
	if a, ok := s.Network.(AllowList); ok && len(a.Hosts) == 0 {
		return specError("/network/hosts", "an allow-list without hosts; use DenyAll")
	}
	return nil
}

// CheckEnv tells what is wrong with one NAME=value, or nil.
func CheckEnv(entry string) error {
	name, value, ok := strings.Cut(entry, "=")
	switch {
	case !ok || !envName.MatchString(name):
		return fault.New(fault.InvalidInput, reasonSpec, "an environment entry must be NAME=value: %q", entry)
	case strings.ContainsRune(value, 0):
		return fault.New(fault.InvalidInput, reasonSpec, "the value of %s has a zero byte", name)
	}
	return nil
}

func (l Limits) check() error {
	switch {
	case !(l.CPUShares > 0) || l.CPUShares > 1<<20:
		return specError("/limits/cpuShares", "must be above 0 processors: %v", l.CPUShares)
	case l.MemoryMB <= 0:
		return specError("/limits/memoryMB", "must be above 0 MiB: %d", l.MemoryMB)
	case l.DiskMB < 0:
		return specError("/limits/diskMB", "must not be below 0 MiB: %d", l.DiskMB)
	case l.Timeout <= 0:
		return specError("/limits/timeout", "must be above 0; a sandbox without a deadline is none: %v", l.Timeout)
	case l.MaxProcesses < 0:
		return specError("/limits/maxProcesses", "must not be below 0: %d", l.MaxProcesses)
	}
	return nil
}
