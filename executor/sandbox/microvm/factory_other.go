//go:build !linux

package microvm

import (
	"context"
	"runtime"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// factory makes nothing on this system.
type factory struct {
	id       string
	priority int
}

func newFactory(id string, priority int, _ Options) sandbox.Factory { return factory{id, priority} }

const reason = "this back end runs on Linux"

func (f factory) ID() string    { return f.id }
func (f factory) Priority() int { return f.priority }

// Probe says why not.
func (factory) Probe(context.Context) sandbox.Availability {
	return sandbox.Availability{Reason: reason + ", not on " + runtime.GOOS}
}

// Create fails with ErrUnavailable.
func (f factory) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, sandbox.Errorf(sandbox.ErrUnavailable, "no sandbox of kind %s: %s, not on %s", f.id, reason, runtime.GOOS)
}
