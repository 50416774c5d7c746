// Package host is the parent's side of a sandbox that has an agent in it
// (package wire): it starts commands, carries their streams, keeps their time
// and their output within bounds, and tells how they ended. A back end says
// how an agent comes to life and ends (Options.Start); everything that a user
// of a sandbox sees is here, so that it is the same for all back ends.
//
// What comes from the agent is believed as far as it concerns the sandbox
// itself. The time, the end of everything and the bounds of output do not
// depend on it: an agent that does not answer is killed.
package host

import (
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// An Instance is one agent that is ready for commands.
type Instance struct {
	Conn wire.Channel
	// Kill ends process 1 of the sandbox, and with it all others. It may be
	// called more than once and from any goroutine, and does not wait.
	Kill func()
	// Gone is closed when nothing of the instance is left.
	Gone <-chan struct{}
	// Meter measures commands; nil where nothing is known.
	Meter Meter
	// Network is that of an AllowList, at work; nil without one.
	Network *allow.Proxy
}

// A Meter measures one command at a time.
type Meter interface {
	// Begin is called before a command starts.
	Begin()
	// End fills in what is known of the command since: Usage.CPU,
	// Usage.PeakMemory, LimitHit. It is called also when the agent died.
	End(r *sandbox.Result)
}

// Options say what a sandbox is.
type Options struct {
	ID          string // unique beyond the process
	Backend     string
	Spec        sandbox.Spec
	Enforcement sandbox.Enforcement
	// Start makes an instance. Its errors are those of sandbox.Sandbox.Start.
	// It is not called again before the last instance is gone.
	Start func(ctx context.Context) (*Instance, error)
	// Closed is called once, when the sandbox was closed and nothing is left.
	Closed func()
}

// How long the parent waits for what should take no time.
const (
	killPatience   = 500 * time.Millisecond // for an agent to end a command
	drainPatience  = time.Second            // for streams to end after the last process
	writerPatience = 250 * time.Millisecond // for a live writer to take the rest
	stopPatience   = 10 * time.Second       // of Stop, without a deadline
	resetPatience  = 10 * time.Second
)
