package wasm

import (
	"os"
	"strconv"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

// Where things are in the process sandbox. The module sees none of these
// names, and its mounts have others than it sees.
const (
	home       = "/.wasm"
	atRunner   = home + "/" + runner.Name
	atModule   = home + "/module.wasm"
	atCache    = home + "/cache"
	atMount    = home + "/mount/"
	scratch    = "/scratch"
	temporary  = "/tmp"
	pageBytes  = 64 << 10
	reservedMB = 2048 // of addresses, that the runner reserves and does not use
	overheadMB = 96   // of the runner: its heap, and code
)

// checkSpec refuses what a module cannot have.
func checkSpec(spec sandbox.Spec) error {
	switch spec.Net().(type) {
	case sandbox.AllowList, sandbox.Inherit:
		return sandbox.Errorf(sandbox.ErrUnenforceable, "a WebAssembly module has no network: the policy %s cannot be had; use DenyAll or another back end", spec.Net().Name()).
			Because(&sandbox.Unenforceable{Backend: ID, Dimensions: []sandbox.Dimension{sandbox.NetAllowList}})
	}
	if spec.Warm != "" {
		return wrong("/warm", "no interpreter is kept for a module; the module itself stays loaded")
	}
	for i, m := range spec.Mounts {
		at := "/mounts/" + strconv.Itoa(i)
		st, err := os.Stat(m.Source)
		if err != nil {
			return wrong(at+"/source", "the folder cannot be mounted: %v", err)
		}
		if !st.IsDir() {
			return wrong(at+"/source", "a module is given folders, and this is a file; mount the folder that it is in: %q", m.Source)
		}
	}
	return nil
}

func wrong(pointer, format string, args ...any) error {
	return sandbox.Errorf(sandbox.ErrSpec, format, args...).At("", pointer, 0, 0)
}

// innerSpec is the process sandbox for spec. What it is short of is judged by
// enforcement, not by it.
func innerSpec(spec sandbox.Spec, m module, p *program, e entry) sandbox.Spec {
	limits := spec.Limits
	limits.MemoryMB += overheadMB + int(m.size>>20)*8
	limits.MaxProcesses = 0 // of a module: none; the runner's threads are its own
	inner := sandbox.Spec{
		Limits:       limits,
		AllowPartial: true,
		Mounts: []sandbox.Mount{
			{Source: p.path, Target: atRunner},
			{Source: m.path, Target: atModule},
			{Source: e.dir, Target: atCache},
		},
	}
	for i, mount := range spec.Mounts {
		inner.Mounts = append(inner.Mounts, sandbox.Mount{Source: mount.Source, Target: atMount + strconv.Itoa(i), Writable: mount.Writable})
	}
	return inner
}

// config is what the runner is told about spec.
func config(spec sandbox.Spec) runner.Config {
	c := runner.Config{
		Version:     runner.Version,
		Module:      atModule,
		Cache:       atCache,
		MemoryBytes: min(uint64(spec.Limits.MemoryMB)<<20, 4<<30) / pageBytes * pageBytes,
	}
	if spec.Limits.DiskMB > 0 {
		for _, dir := range []string{scratch, temporary} {
			c.Mounts = append(c.Mounts, runner.Mount{Dir: dir, Guest: dir, Writable: true})
		}
	}
	for i, m := range spec.Mounts {
		c.Mounts = append(c.Mounts, runner.Mount{Dir: atMount + strconv.Itoa(i), Guest: m.Target, Writable: m.Writable})
	}
	return c
}

// environment is what a module sees: what other back ends fix as well, the
// folder that it starts in, which has no other way to it, and what spec and
// command say.
func environment(spec sandbox.Spec, c sandbox.Command) []string {
	dir := c.Dir
	if dir == "" {
		dir = spec.WorkingDir
	}
	if dir == "" {
		dir = "/"
		if spec.Limits.DiskMB > 0 {
			dir = scratch
		}
	}
	return append(append([]string{"PATH=/", "HOME=" + scratch, "LANG=C.UTF-8", "PWD=" + dir}, spec.Env...), c.Env...)
}

// enforcement is what holds for a module, by what holds for the process that
// runs it.
func enforcement(process sandbox.Enforcement) sandbox.Enforcement {
	full := func(by string) sandbox.Strength { return sandbox.Strength{Level: sandbox.Full, By: by} }
	e := sandbox.Enforcement{
		sandbox.FSRead:       full("a module has no call but for its folders, each an os.Root"),
		sandbox.FSWrite:      full("a module has no call but for its folders, each an os.Root"),
		sandbox.NetDeny:      full("a module has no socket"),
		sandbox.NetAllowList: {By: "a module has no network"},
		sandbox.Processes:    full("a module starts no process"),
		sandbox.Environment:  full("a module is given its environment"),
		sandbox.Syscalls:     full("a module makes no system call; the runtime's: " + process[sandbox.Syscalls].By),
		sandbox.Kernel:       {Level: sandbox.Partial, By: "a module makes no system call itself, but a fault of the runtime leads into a process sandbox on the kernel of the host"},
		sandbox.CPU:          process[sandbox.CPU],
		sandbox.Disk:         process[sandbox.Disk],
		sandbox.WallClock:    process[sandbox.WallClock],
		sandbox.Memory:       full("linear memory by the runtime; tables and code: " + process[sandbox.Memory].By),
	}
	if process[sandbox.Memory].Level < sandbox.Full {
		e[sandbox.Memory] = sandbox.Strength{Level: sandbox.Partial, By: "linear memory by the runtime; tables and code are not bounded fully: " + process[sandbox.Memory].By}
	}
	return e
}
