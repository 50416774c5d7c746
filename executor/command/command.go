package command

import (
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// maxKept is how many commands one call may run: as many as its record has
// room for. One that would not be on record does not run.
const maxKept = 100

// Options are what the executor knows of a call.
type Options struct {
	Sandboxes *Sandboxes // nil = there are none, and nothing starts
	Policy    decision.EffectivePolicy
	CallID    string
	Ends      time.Time // of the time that the call has
	Statics   map[string]string
	Mask      *mask.Set
	Own       *Own
	// Workspace is a base folder that is made when missing, Roots those under
	// which a base folder may lie; as broker.Options has them.
	Workspace string
	Roots     []string
	Logger    zerolog.Logger
}

// Runner runs the commands of one call, one after another, in one sandbox: what
// a command leaves in the scratch space the next one finds. It is safe for
// concurrent use.
type Runner struct {
	o    Options
	turn chan struct{} // held by the command that runs

	mu     sync.Mutex
	events []sandbox.Event
	box    sandbox.Sandbox // nil until the first command, and after a failure
	closed bool
}

// New makes the Runner of a call. It starts nothing.
func New(o Options) *Runner { return &Runner{o: o, turn: make(chan struct{}, 1)} }

// Run runs one command to its end. A command that fails, is killed or meets a
// limit has a result; a failure means that it did not run, or not to its end.
func (r *Runner) Run(ctx context.Context, c worker.Command) (worker.CommandResult, *worker.Failure) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return worker.CommandResult{}, interrupted()
	}
	if ctx.Err() != nil {
		return worker.CommandResult{}, interrupted()
	}
	if r.full() {
		return worker.CommandResult{}, fail(fault.Security, "too-many-commands", "denied: the call has run as many commands as its record holds; do the rest in one script, or in another call")
	}
	if refused := r.check(c); refused != nil {
		r.keep(r.refusal(c, refused.Reason))
		return worker.CommandResult{}, refused
	}
	res, err := r.exec(ctx, c)
	if err != nil {
		f := failure(ctx, err, r.o.Policy.Sandbox, r.o.Own)
		if f.Reason != "interrupted" {
			r.o.Logger.Warn().Str("error", r.o.Mask.Clipped(err.Error())).Str("callId", r.o.CallID).Msg("a command did not run in its sandbox")
		}
		return worker.CommandResult{}, f
	}
	return r.result(res), nil
}

// exec runs a command in the sandbox of the call, which is made for the first.
func (r *Runner) exec(ctx context.Context, c worker.Command) (sandbox.Result, error) {
	left := time.Until(r.o.Ends)
	box, err := r.sandbox(ctx, left)
	if err != nil {
		r.keep(r.refusal(c, reasonOf(ctx, err)))
		return sandbox.Result{}, err
	}
	cmd := sandbox.Command{
		Argv: c.Argv, Dir: r.dir(c.Dir), Stdin: strings.NewReader(c.Input), Timeout: left,
		MaxOutput: min(max(r.o.Policy.MaxOutputBytes, 1), sandbox.DefaultMaxOutput), CorrelationID: r.o.CallID,
	}
	if c.MergeOutput {
		cmd.Argv = append([]string{"/bin/sh", "-c", `exec "$@" 2>&1`, "sh"}, c.Argv...)
	}
	if asked := time.Duration(c.TimeoutMillis) * time.Millisecond; asked > 0 && asked < left {
		cmd.Timeout = asked
	}
	for _, e := range c.Env {
		cmd.Env = append(cmd.Env, e[0]+"="+e[1])
	}
	if own := r.o.Own; own != nil {
		var done func()
		cmd.Stdout, cmd.Stderr, done = r.live(own)
		defer done()
	}
	res, err := box.Exec(ctx, cmd)
	if err != nil {
		r.drop()
	}
	return res, err
}

// live are the writers of an own command, masked.
func (r *Runner) live(own *Own) (out, errs io.Writer, done func()) {
	var open []*mask.Writer
	writer := func(w io.Writer) io.Writer {
		if w == nil {
			return nil
		}
		m := r.o.Mask.Writer(w)
		open = append(open, m)
		return m
	}
	out, errs = writer(own.Stdout), writer(own.Stderr)
	return out, errs, func() {
		for _, m := range open {
			_ = m.Close() // who does not read loses output and nothing else
		}
	}
}

// sandbox gives the sandbox of the call.
func (r *Runner) sandbox(ctx context.Context, left time.Duration) (sandbox.Sandbox, error) {
	r.mu.Lock()
	box, closed := r.box, r.closed
	r.mu.Unlock()
	switch {
	case closed:
		return nil, sandbox.Errorf(sandbox.ErrClosed, "the call has ended")
	case left <= 0:
		return nil, errTime
	case box != nil:
		return box, nil
	}
	spec, err := r.spec(left)
	if err != nil {
		return nil, err
	}
	made, err := r.o.Sandboxes.create(ctx, r.o.Policy.Sandbox, r.o.Own.backend(), spec)
	if err != nil {
		return nil, err
	}
	box = sandbox.Observe(made, spec, r.keep)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = box.Close()
		return nil, sandbox.Errorf(sandbox.ErrClosed, "the call has ended")
	}
	r.box = box
	return box, nil
}

// drop gives a sandbox up that broke: the next command gets a new one.
func (r *Runner) drop() {
	r.mu.Lock()
	box := r.box
	r.box = nil
	r.mu.Unlock()
	if box != nil {
		_ = box.Close()
	}
}

// dir is a folder in the sandbox; "" stays, and means where commands start.
func (r *Runner) dir(dir string) string {
	if dir == "" || path.IsAbs(dir) {
		return dir
	}
	if r.o.Policy.FS.Read {
		return path.Join(Work, dir)
	}
	return path.Join("/", dir)
}

func (r *Runner) keep(e sandbox.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.events) < maxKept {
		r.events = append(r.events, e)
	}
}

func (r *Runner) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events) >= maxKept
}

// refusal is the event of a command that was not started.
func (r *Runner) refusal(c worker.Command, reason string) sandbox.Event {
	e := sandbox.Event{Argv: slices.Clone(c.Argv), ExitCode: -1, Error: reason, Image: "host", CorrelationID: r.o.CallID, Began: time.Now()}
	e.Usage = sandbox.Usage{CPU: -1, PeakMemory: -1, NetIn: -1, NetOut: -1}
	if box := r.o.Policy.Sandbox; box != nil && box.Image != "" {
		e.Image = box.Image
	}
	if n, err := network(r.o.Policy.Network); err == nil {
		e.Network = n.Name()
	}
	return e
}

// Events are the commands so far, in order.
func (r *Runner) Events() []sandbox.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Close ends the sandbox of the call with all that is in it. Commands that are
// asked for later fail.
func (r *Runner) Close() error {
	r.mu.Lock()
	box := r.box
	r.box, r.closed = nil, true
	r.mu.Unlock()
	if box == nil {
		return nil
	}
	return box.Close()
}
