package sandbox

import "time"

// An Event is one command that ran, or that could not. It has nothing of what
// the command read or wrote.
type Event struct {
	SandboxID     string            `json:"sandboxId"`
	Backend       string            `json:"backend"`
	Image         string            `json:"image"`            // "host" for ""
	Argv          []string          `json:"argv"`             // as given; whoever writes it masks it
	Mounts        []Mount           `json:"mounts,omitempty"` // of the host, that it saw
	ExitCode      int               `json:"exitCode"`
	TimedOut      bool              `json:"timedOut"`
	LimitHit      Dimension         `json:"limitHit,omitempty"`
	Error         string            `json:"error,omitempty"` // reason of the error of Exec, or ""
	Usage         Usage             `json:"usage"`
	Network       string            `json:"network"` // DenyAll, AllowList or Inherit
	Connections   []Connection      `json:"connections,omitempty"`
	Partial       map[string]string `json:"partial,omitempty"` // what is weaker than asked for, by dimension
	Began         time.Time         `json:"began"`
	CorrelationID string            `json:"correlationId,omitempty"`
}

// A Listener is told of each Event, in the goroutine of the command and after
// its end. What it does, panics included, changes nothing for the command, but
// it is waited for: one that may block belongs behind a Queue.
type Listener func(Event)
