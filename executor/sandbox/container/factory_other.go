//go:build !linux

package container

import (
	"context"
	"runtime"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// A Factory makes nothing on this system.
type Factory struct{ kind kind }

// NewRunc makes the factory.
func NewRunc(Options) *Factory { return &Factory{runc} }

// NewPodman makes the factory.
func NewPodman(Options) *Factory { return &Factory{podman} }

// NewGVisor makes the factory.
func NewGVisor(Options) *Factory { return &Factory{gvisor} }

// NewDocker makes the factory.
func NewDocker(Options) *Factory { return &Factory{docker} }

const reason = "containers are made of what Linux has; on this system run toolwarrant in a Linux machine"

// ID names the back end.
func (f *Factory) ID() string { return f.kind.id }

// Priority orders the factory among others.
func (f *Factory) Priority() int { return f.kind.priority }

// Probe says why not.
func (f *Factory) Probe(context.Context) sandbox.Availability {
	return sandbox.Availability{Reason: reason + " (" + runtime.GOOS + ")"}
}

// Create fails with ErrUnavailable.
func (f *Factory) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, sandbox.Errorf(sandbox.ErrUnavailable, "no sandbox of kind %s on %s: %s", f.kind.id, runtime.GOOS, reason)
}

// Close gives nothing back.
func (f *Factory) Close() error { return nil }
