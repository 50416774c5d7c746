// Package backends is the list of all sandbox back ends that this program has
// for this system. A program that wants fewer makes its own sandbox.NewSet;
// what it does not import it does not contain.
package backends

import (
	"cmp"
	"slices"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/container"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/microvm"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm"
)

// Options configure the back ends. The zero value is one that works without
// any configuration.
type Options struct {
	// Only names the back ends to have; nil = all. A name that there is not
	// is left out: Set.ByID then tells which there are.
	Only []string
	// Set is how they are probed.
	Set sandbox.SetOptions
	// What follows are the options of the back ends process, container,
	// podman, gvisor, docker, wasm, firecracker and qemu. The agent of the
	// first is that of all where they name none. The last two are not
	// available without a kernel image that an operator names.
	Process     process.Options
	Runc        container.Options
	Podman      container.Options
	GVisor      container.Options
	Docker      container.Options
	Wasm        wasm.Options
	Firecracker microvm.Options
	QEMU        microvm.Options
}

// A maker makes one back end, which then has to be closed.
type maker struct {
	id   string
	make func() sandbox.Factory
}

// All makes the set of the back ends for this system. It starts nothing; the
// caller closes the set. On a system without any it has only the one that
// confines nothing, which is never preferred.
func All(opts Options) *sandbox.Set {
	opts.Runc.Agent = cmp.Or(opts.Runc.Agent, opts.Process.Agent)
	opts.Podman.Agent = cmp.Or(opts.Podman.Agent, opts.Process.Agent)
	opts.GVisor.Agent = cmp.Or(opts.GVisor.Agent, opts.Process.Agent)
	opts.Docker.Agent = cmp.Or(opts.Docker.Agent, opts.Process.Agent)
	opts.Firecracker.Agent = cmp.Or(opts.Firecracker.Agent, opts.Process.Agent)
	opts.QEMU.Agent = cmp.Or(opts.QEMU.Agent, opts.Process.Agent)
	var list []sandbox.Factory
	for _, m := range makers(opts) {
		if opts.Only == nil || slices.Contains(opts.Only, m.id) {
			list = append(list, m.make())
		}
	}
	return sandbox.NewSet(opts.Set, list...)
}
