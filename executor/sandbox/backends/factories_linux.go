package backends

import (
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/container"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/microvm"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/plain"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm"
)

// factories makes all of them. One that has a need of its own in Options takes
// it from there.
func factories(opts Options) []sandbox.Factory {
	return []sandbox.Factory{
		process.New(opts.Process),
		container.NewRunc(opts.Runc),
		container.NewPodman(opts.Podman),
		microvm.NewFirecracker(opts.Firecracker),
		microvm.NewQEMU(opts.QEMU),
		// It has process sandboxes of its own, so that it can be had alone.
		wasm.New(process.New(opts.Process), opts.Wasm),
		plain.Factory{},
	}
}
