// Package plain is the back end that confines nothing: a command is a child
// process with the rights of its caller. It keeps the time, kills the group of
// the command at its end, and bounds the output; the environment is given and
// not inherited. It is never preferred and takes no specification that asks
// for more, unless the caller accepts that (AllowPartial).
package plain

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
	"github.com/toolwarrant/toolwarrant/fault"
)

// ID is that of the factory.
const ID = "plain"

// Factory makes the sandboxes, which are none.
type Factory struct{}

// ID is plain.
func (Factory) ID() string { return ID }

// Priority is below 0: it is used by its name only.
func (Factory) Priority() int { return -1 }

func enforcement() sandbox.Enforcement {
	e := sandbox.Enforcement{
		sandbox.WallClock:   {Level: sandbox.Partial, By: "kill of the process group; a process that leaves its group outlives it"},
		sandbox.Environment: {Level: sandbox.Full, By: "given, not inherited"},
		sandbox.Processes:   {Level: sandbox.None, By: "no bound"},
	}
	for _, d := range sandbox.Dimensions() {
		if _, ok := e[d]; !ok {
			e[d] = sandbox.Strength{Level: sandbox.None, By: "not confined"}
		}
	}
	return e
}

// Probe succeeds: there is nothing that could be missing.
func (Factory) Probe(context.Context) sandbox.Availability {
	return sandbox.Availability{OK: true, Enforcement: enforcement()}
}

// Create makes one for the programs of the host.
func (Factory) Create(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := spec.Admit(ID, enforcement()); err != nil {
		return nil, err
	}
	switch {
	case spec.Image != "" && spec.Image != "host":
		return nil, sandbox.Errorf(sandbox.ErrImage, "the sandbox %s has the host's programs only: %q", ID, spec.Image).At("", "/image", 0, 0)
	case len(spec.Mounts) > 0:
		return nil, sandbox.Errorf(sandbox.ErrSpec, "the sandbox %s mounts nothing: commands see the host's folders", ID).At("", "/mounts", 0, 0)
	}
	dir, err := os.MkdirTemp("", "toolwarrant-plain")
	if err != nil {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "no folder for the commands: %v", err).Because(err)
	}
	return &box{id: ID + "-" + strings.ToLower(rand.Text()[:16]), spec: spec, dir: dir}, nil
}

// box runs commands in a folder of its own.
type box struct {
	id   string
	spec sandbox.Spec
	dir  string

	mu   sync.Mutex
	kill func() // what runs; nil: nothing
	done chan struct{}
	over bool
}

func (b *box) ID() string                       { return b.id }
func (b *box) Backend() string                  { return ID }
func (b *box) Enforcement() sandbox.Enforcement { return enforcement() }
func (b *box) Start(context.Context) error      { return b.open() }

func (b *box) open() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return sandbox.Errorf(sandbox.ErrClosed, "the sandbox %s was closed", b.id)
	}
	return nil
}

// take claims the box for a command that kill ends.
func (b *box) take(kill func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.over:
		return sandbox.Errorf(sandbox.ErrClosed, "the sandbox %s was closed", b.id)
	case b.kill != nil:
		return sandbox.Errorf(sandbox.ErrBusy, "the sandbox %s runs a command; wait for its end, or use another sandbox", b.id)
	}
	b.kill, b.done = kill, make(chan struct{})
	return nil
}

func (b *box) give() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kill = nil
	close(b.done)
}

// Exec runs c.
func (b *box) Exec(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	var none sandbox.Result
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return none, sandbox.Errorf(sandbox.ErrSpec, "the command is empty; name a program").At("", "/argv", 0, 0)
	}
	timeout := b.spec.Limits.Timeout
	if c.Timeout > 0 {
		timeout = min(timeout, c.Timeout)
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := b.take(cancel); err != nil {
		return none, err
	}
	defer b.give()
	s, err := host.NewStreams(c)
	if err != nil {
		return none, sandbox.Errorf(sandbox.ErrFailed, "no pipes for a command: %v", err).Because(err)
	}
	began := time.Now()
	r := sandbox.Result{Usage: sandbox.Usage{PeakMemory: -1, NetIn: -1, NetOut: -1}}
	cmd, err := b.start(c, s.Child)
	if err != nil {
		s.Abandon()
		r.ExitCode, r.Stderr = 126, []byte("sandbox: "+err.Error()+"\n")
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			r.ExitCode = 127
		}
		return r, nil
	}
	for _, f := range s.Child {
		_ = f.Close()
	}
	s.Begin(c)
	stop := context.AfterFunc(bounded, func() { killGroup(cmd.Process) })
	_ = cmd.Wait()
	killGroup(cmd.Process)
	ended := !stop()
	fill(&r, cmd.ProcessState)
	s.Finish(&r)
	r.Usage.Wall = time.Since(began)
	switch {
	case ended && errors.Is(bounded.Err(), context.DeadlineExceeded):
		r.TimedOut, r.LimitHit = true, sandbox.WallClock
	case ended:
		return r, fault.New(fault.Interrupted, "cancelled", "the command was cancelled").Because(context.Cause(bounded))
	case r.Truncated:
		r.LimitHit = sandbox.Output
	}
	return r, nil
}

// start starts c with its three streams.
func (b *box) start(c sandbox.Command, files []*os.File) (*exec.Cmd, error) {
	env := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "LANG=C.UTF-8"}, b.spec.Env...)
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Env, cmd.Dir = append(env, c.Env...), b.dir
	if b.spec.WorkingDir != "" {
		cmd.Dir = b.spec.WorkingDir
	}
	if c.Dir != "" {
		cmd.Dir = c.Dir
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[2]
	ownGroup(cmd)
	return cmd, cmd.Start()
}

// Attach is not there: a server that nothing confines is started by whoever
// wants one.
func (b *box) Attach(context.Context, sandbox.Command) (sandbox.Process, error) {
	return nil, sandbox.Errorf(sandbox.ErrUnavailable, "the sandbox %s runs commands to their end only; use another back end for a server", ID)
}

// end ends what runs and waits for it.
func (b *box) end(over bool) {
	b.mu.Lock()
	b.over = b.over || over
	kill, done := b.kill, b.done
	b.mu.Unlock()
	if kill != nil {
		kill()
		<-done
	}
}

// Reset empties the folder.
func (b *box) Reset(context.Context) error {
	b.end(false)
	if err := b.open(); err != nil {
		return err
	}
	err := os.RemoveAll(b.dir)
	if err == nil {
		err = os.Mkdir(b.dir, 0o700)
	}
	if err != nil {
		return sandbox.Errorf(sandbox.ErrFailed, "the folder of the commands could not be emptied: %v", err).Because(err)
	}
	return nil
}

// Stop ends what runs.
func (b *box) Stop(context.Context) error {
	b.end(false)
	return nil
}

// Terminate ends what runs, for good.
func (b *box) Terminate() error {
	b.end(true)
	return nil
}

// Close removes the folder.
func (b *box) Close() error {
	b.end(true)
	return os.RemoveAll(b.dir)
}

// fill tells how a process ended.
func fill(r *sandbox.Result, state *os.ProcessState) {
	r.Usage.CPU = state.UserTime() + state.SystemTime()
	r.ExitCode = state.ExitCode()
	if signal := endedBy(state); signal != 0 {
		r.Signal, r.ExitCode = signal, 128+signal
	}
}
