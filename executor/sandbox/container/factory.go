package container

import (
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/image"
)

// Options configure a factory. The zero value works without configuration.
type Options struct {
	// Program is the runtime or engine, by its path; "" = looked up in PATH
	// by the name that the back end has.
	Program string
	// Agent is the path of the toolwarrant-agent, a program that needs no
	// library of its system; "" = the one beside this program, or this
	// program if it is such a one.
	Agent string
	// Dir is where bundles are; "" = a folder below /run for root, and below
	// XDG_RUNTIME_DIR or the temporary folder for others. The user that
	// containers have must be able to pass through the folders above it.
	Dir string
	// Images is where layouts are unpacked; nil = a store with the defaults.
	Images *image.Store
	// Network is how an AllowList is served.
	Network allow.Options
}

// The names of the back ends.
const (
	RuncID   = "container"
	PodmanID = "podman"
	GVisorID = "gvisor"
	DockerID = "docker"
)

// A kind is one runtime or engine.
type kind struct {
	id       string
	program  string
	priority int
	engine   bool // a command line that makes the bundle itself, and has images
	// stream: no descriptor can be passed to its containers. The conversation
	// goes over the standard streams of the first process, and the runtime
	// itself makes all mounts.
	stream bool
	kernel bool // its containers have a kernel of their own, a process of the host
}

var (
	runc   = kind{id: RuncID, program: "runc", priority: 50}
	podman = kind{id: PodmanID, program: "podman", priority: 45, engine: true}
	gvisor = kind{id: GVisorID, program: "runsc", priority: 80, stream: true, kernel: true}
	docker = kind{id: DockerID, program: "docker", priority: 30, engine: true, stream: true}
)

// TakesImage is for sandbox.ImageTaker.
func (f *Factory) TakesImage(name string) bool {
	r, err := image.Parse(name)
	switch {
	case err != nil || sandbox.IsModule(name):
		return false
	case r.Kind == image.Engine:
		return f.kind.engine
	}
	return !f.kind.engine || r.Kind == image.Host || f.kind == docker
}
