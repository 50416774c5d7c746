package command

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// Work is where a command finds the base folder of the tool, and where it
// starts. Without the grant of files there is none, and for a command of the
// terminal neither.
const Work = "/work"

// spec makes the specification of the sandbox from the decision. It reads
// nothing that the code said.
func (r *Runner) spec(left time.Duration) (sandbox.Spec, error) {
	p, box := r.o.Policy, r.o.Policy.Sandbox
	s := sandbox.Spec{
		Image: box.Image, Require: sandbox.Enforcement{}, AllowPartial: box.AllowPartial, Warm: box.Warm,
		Limits: sandbox.Limits{
			CPUShares: float64(box.Limits.CPUMillis) / 1000, MemoryMB: memory(box.Limits.MemoryMB, p.MaxMemoryBytes),
			DiskMB: int(box.Limits.DiskMB), MaxProcesses: int(box.Limits.MaxProcesses), Timeout: left,
		},
	}
	for dimension, level := range box.Require {
		l, ok := levels[level]
		if !ok {
			return s, sandbox.Errorf(sandbox.ErrSpec, "the policy requires %q of %s, which is no level", level, dimension)
		}
		s.Require[sandbox.Dimension(dimension)] = sandbox.Strength{Level: l}
	}
	for _, name := range slices.Sorted(maps.Keys(r.o.Statics)) {
		if slices.Contains(box.Env, name) {
			s.Env = append(s.Env, name+"="+r.o.Statics[name])
		}
	}
	var err error
	if s.Network, err = network(p.Network); err != nil {
		return s, err
	}
	// What may not be read is not there: a mount that can be written can be read.
	// A command of the terminal has the folders that it names and no others.
	if p.FS.Read && r.o.Own == nil {
		base, err := r.base(p.FS.BasePath)
		if err != nil {
			return s, err
		}
		s.Mounts = []sandbox.Mount{{Source: base, Target: Work, Writable: p.FS.Write}}
		s.WorkingDir = Work
	}
	if err := r.o.Own.add(&s, p.FS); err != nil {
		return s, err
	}
	return s, s.Check()
}

var levels = map[string]sandbox.Level{"none": sandbox.None, "partial": sandbox.Partial, "full": sandbox.Full}

// memory is the smaller of the limit of commands and that of the call, in MiB.
func memory(limit, callBytes int64) int {
	if call := callBytes >> 20; call > 0 && call < limit {
		limit = call
	}
	return int(limit)
}

// network is what a decision about the network is for commands. Where it names
// no ports, commands reach 80 and 443.
func network(n decision.Network) (sandbox.NetPolicy, error) {
	list := sandbox.AllowList{Deny: n.HostsDeny, Private: n.PrivateHosts}
	if len(n.Ports) > 0 {
		list.Ports = n.Ports
	}
	switch n.Mode {
	case "blocked":
		return sandbox.DenyAll{}, nil
	case "allowlist":
		if list.Hosts = n.Hosts; len(n.Hosts) == 0 {
			return sandbox.DenyAll{}, nil
		}
		return list, nil
	case "strict":
		list.Hosts = []string{"*"}
		return list, nil
	case "open":
		return sandbox.Inherit{}, nil
	}
	return nil, sandbox.Errorf(sandbox.ErrSpec, "the network mode %q is not known", n.Mode)
}

// base is the folder behind Work: the one of the decision with every link
// followed, which has to lie below a root as the file helpers have it.
func (r *Runner) base(path string) (string, error) {
	if path != "" && path == r.o.Workspace {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return "", sandbox.Errorf(sandbox.ErrFailed, "the base folder cannot be made").Because(err)
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !filepath.IsAbs(real) {
		return "", sandbox.Errorf(sandbox.ErrSpec, "the base folder does not exist").Because(err)
	}
	if len(r.o.Roots) == 0 {
		return real, nil
	}
	for _, root := range r.o.Roots {
		if root, err := filepath.EvalSymlinks(root); err == nil && below(real, root) {
			return real, nil
		}
	}
	return "", sandbox.Errorf(sandbox.ErrSpec, "the base folder lies outside of the folders that tools may be given")
}

func below(path, root string) bool {
	sep := string(filepath.Separator)
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, sep)+sep)
}
