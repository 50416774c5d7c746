// Package sandbox runs commands and foreign code behind limits that are really
// enforced. It is the contract of its back ends (process, container, wasm,
// microVM) and what all of them share: the specification and its checks, the
// choice of a back end, the pool, the events.
//
// A back end says per dimension what it enforces (Enforcement). Create refuses
// a specification that asks for more, unless the caller sets
// Spec.AllowPartial; what is then weaker is in Sandbox.Enforcement and in every
// Event. Nothing is enforced by being logged.
//
// The package knows nothing of tools, decisions or records, and imports no
// back end. Package sandbox/backends has the list of all.
package sandbox

import (
	"context"
	"io"
	"time"
)

// A Factory makes the sandboxes of one back end. It is safe for concurrent
// use.
type Factory interface {
	// ID is the stable name of the back end: process, container, wasm, ...
	ID() string
	// Priority orders back ends for Preferred: the stronger the isolation the
	// higher. A negative one is never preferred, only used by its name.
	Priority() int
	// Probe tells whether the back end works here, by running something in
	// it. It ends soon after ctx does, never fails and never panics: what is
	// wrong is Availability.Reason. Results may be kept by the factory.
	Probe(ctx context.Context) Availability
	// Create checks spec against what the back end enforces and prepares a
	// sandbox. It may start nothing yet. Errors: ErrSpec, ErrUnenforceable,
	// ErrUnavailable, ErrImage.
	Create(ctx context.Context, spec Spec) (Sandbox, error)
}

// Availability is the outcome of a probe.
type Availability struct {
	OK          bool          `json:"ok"`
	Reason      string        `json:"reason,omitempty"` // why not, and what to do
	Enforcement Enforcement   `json:"enforcement"`      // what a sandbox with a default Spec would enforce here
	Took        time.Duration `json:"tookNs"`           // of the probe
}

// A Sandbox is one isolated place in which commands run one after another. All
// its methods are safe for concurrent use; a second command while one runs is
// ErrBusy.
type Sandbox interface {
	// ID names this sandbox in events; unique in the process and beyond it.
	ID() string
	// Backend is the ID of the factory.
	Backend() string
	// Enforcement is what holds for this very sandbox. It does not change.
	Enforcement() Enforcement
	// Start makes the sandbox ready. Exec and Attach do it when nobody has.
	Start(ctx context.Context) error
	// Exec runs c to its end. A command that fails, is killed or exceeds a
	// limit is a Result, not an error; an error means that there is none.
	// When it returns, no process of the command is left. The end of ctx ends
	// the command.
	Exec(ctx context.Context, c Command) (Result, error)
	// Attach starts a process that lives until it ends, is killed, or the
	// sandbox is closed, with streams of its own: a server on standard
	// streams. Command.Stdin is not used, and Limits.Timeout does not apply;
	// Command.Timeout does where it is set.
	Attach(ctx context.Context, c Command) (Process, error)
	// Reset ends what runs and removes what was left: processes, files of the
	// scratch space, environment. Writable mounts are not part of it.
	Reset(ctx context.Context) error
	// Stop ends the sandbox and gives its processes the time until ctx ends
	// (SIGTERM first). It can be started again.
	Stop(ctx context.Context) error
	// Terminate ends the sandbox now. It cannot be started again.
	Terminate() error
	// Close terminates, if need be, and gives back all that the sandbox
	// holds. It may be called more than once.
	Close() error
}

// A Command is what runs in a sandbox.
type Command struct {
	Argv []string // Argv[0] is looked up in the PATH of the sandbox when it has no slash
	// Env is added to Spec.Env, NAME=value; a later value of a name wins.
	Env     []string
	Dir     string        // absolute, in the sandbox; "" = Spec.WorkingDir
	Stdin   io.Reader     // nil = empty
	Timeout time.Duration // 0 = Limits.Timeout; never more than it
	// Stdout and Stderr receive output as it comes, within the cap of
	// MaxOutput, and may be nil. A slow or failing writer loses output and
	// delays nothing else.
	Stdout, Stderr io.Writer
	MaxOutput      int64 // bytes kept of each stream; 0 = DefaultMaxOutput
	CorrelationID  string
}

// DefaultMaxOutput is how much of each output stream is kept. The rest is
// read and dropped, so that a command does not block on it.
const DefaultMaxOutput = 1 << 20

// Shell is the command that runs script with the sandbox's /bin/sh.
func Shell(script string) Command { return Command{Argv: []string{"/bin/sh", "-c", script}} }

// A Process is one that Attach started. Its streams end with it.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	// Wait waits for the end and gives the Result, without output. It may be
	// called more than once.
	Wait() (Result, error)
	// Kill ends it and all that it started.
	Kill() error
}

// A Result is how a command ended.
type Result struct {
	ExitCode  int    `json:"exitCode"`         // as a shell reports it: 128+n for signal n, 126 and 127 when it could not start
	Signal    int    `json:"signal,omitempty"` // that ended it, or 0
	Stdout    []byte `json:"-"`
	Stderr    []byte `json:"-"`
	Truncated bool   `json:"truncated"` // more was written than MaxOutput
	TimedOut  bool   `json:"timedOut"`
	// LimitHit is the first limit that the command is known to have run into,
	// or "". Programs that handle the error of the system may still end well.
	LimitHit Dimension    `json:"limitHit,omitempty"`
	Usage    Usage        `json:"usage"`
	Net      []Connection `json:"net,omitempty"`
}

// Usage is what one command used. A figure that the back end cannot know is
// -1.
type Usage struct {
	Wall       time.Duration `json:"wallNs"`
	CPU        time.Duration `json:"cpuNs"`      // user and system
	PeakMemory int64         `json:"peakMemory"` // bytes
	NetIn      int64         `json:"netIn"`      // bytes
	NetOut     int64         `json:"netOut"`     // bytes
	Orphans    int           `json:"orphans"`    // processes that were left and killed
}

// A Connection is one that the command opened or asked for under an AllowList,
// or one name that it asked for and did not get.
type Connection struct {
	Host     string        `json:"host"` // as the command named it
	Port     int           `json:"port"` // 0 for a name
	Address  string        `json:"address,omitempty"`
	Allowed  bool          `json:"allowed"`
	Reason   string        `json:"reason,omitempty"` // slug, when not allowed or failed
	In       int64         `json:"in"`
	Out      int64         `json:"out"`
	Duration time.Duration `json:"durationNs"`
}
