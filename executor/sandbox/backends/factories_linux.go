package backends

import (
	"sync"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/container"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/microvm"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/plain"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm"
)

// makers are those of all back ends. Modules run inside of process sandboxes:
// the two share one factory, which each of them closes, and which a set with
// only one of them has too.
func makers(opts Options) []maker {
	processes := sync.OnceValue(func() *process.Factory { return process.New(opts.Process) })
	return []maker{
		{process.ID, func() sandbox.Factory { return processes() }},
		{container.RuncID, func() sandbox.Factory { return container.NewRunc(opts.Runc) }},
		{container.PodmanID, func() sandbox.Factory { return container.NewPodman(opts.Podman) }},
		{container.GVisorID, func() sandbox.Factory { return container.NewGVisor(opts.GVisor) }},
		{container.DockerID, func() sandbox.Factory { return container.NewDocker(opts.Docker) }},
		{microvm.Firecracker, func() sandbox.Factory { return microvm.NewFirecracker(opts.Firecracker) }},
		{microvm.QEMU, func() sandbox.Factory { return microvm.NewQEMU(opts.QEMU) }},
		{wasm.ID, func() sandbox.Factory { return wasm.New(processes(), opts.Wasm) }},
		{plain.ID, func() sandbox.Factory { return plain.Factory{} }},
	}
}
