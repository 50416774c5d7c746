//go:build !linux

package process

import (
	"context"
	"runtime"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// Factory makes nothing on this system.
type Factory struct{}

// New makes the factory.
func New(Options) *Factory { return &Factory{} }

const reason = "this back end is made of what Linux has; on this system run toolwarrant in a Linux machine or container"

// ID is process.
func (*Factory) ID() string { return ID }

// TakesImage is for sandbox.ImageTaker.
func (*Factory) TakesImage(image string) bool { return takesImage(image) }

// Priority orders the factory among others.
func (*Factory) Priority() int { return Priority }

// Probe says why not.
func (*Factory) Probe(context.Context) sandbox.Availability {
	return sandbox.Availability{Reason: reason + " (" + runtime.GOOS + ")"}
}

// Create fails with ErrUnavailable.
func (*Factory) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, sandbox.Errorf(sandbox.ErrUnavailable, "no sandbox of kind %s on %s: %s", ID, runtime.GOOS, reason)
}

// Close gives nothing back.
func (*Factory) Close() error { return nil }
