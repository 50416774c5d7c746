package agent

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/confine/inherit"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// Exit codes, for the parent's log.
const (
	exitParentGone = 0
	exitUsage      = 64
	exitFailed     = 70
)

// An agent never reaches main: a program that embeds this package may do
// anything there.
func init() {
	if len(os.Args) == 0 || os.Args[0] != Name {
		return
	}
	go Main()
	select {} // the main goroutine is bound to its thread while packages start
}

// Main is the agent. It does not return.
func Main() {
	args := os.Args[min(1, len(os.Args)):]
	switch {
	case len(args) == 0:
		serve(parent)
	case args[0] == Stream:
		serve(overStream)
	case args[0] == Launch:
		launch()
	case args[0] == AskVersion:
		_, _ = os.Stdout.WriteString(strconv.Itoa(wire.Version) + "\n")
	case args[0] == Hold:
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		_, _ = os.Stderr.WriteString(Name + ": started by toolwarrant, not by hand\n")
		os.Exit(exitUsage)
	}
	os.Exit(0)
}

// control is the descriptor of the conversation.
const control = 3

func serve(open func() (conn *wire.Conn, leave func(code int), err error)) {
	os.Clearenv()
	surviveSignals()
	if err := closeOthers(); err != nil {
		os.Exit(exitUsage)
	}
	conn, leave, err := open()
	if err != nil {
		os.Exit(exitUsage)
	}
	a := &agent{conn: conn}
	if err := a.configure(); err != nil {
		_ = a.conn.Send(wire.Message{Kind: wire.KindReady, Ready: &wire.Ready{Version: wire.Version, Error: err.Error()}})
		leave(exitFailed)
	}
	leave(a.converse())
}

// parent is the conversation on a descriptor.
func parent() (*wire.Conn, func(int), error) {
	if err := unix.SetNonblock(control, true); err != nil { // a file asks for it when it is made
		return nil, nil, err
	}
	return wire.NewConn(os.NewFile(control, "parent")), os.Exit, nil
}

// closeOthers closes what the parent left open by mistake, or was itself given
// by one who did. Commands inherit nothing at all.
func closeOthers() error {
	if err := inherit.Close(control + 1); err != nil {
		return err
	}
	return unix.CloseRange(control, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}

// agent is the state of one sandbox.
type agent struct {
	conn    wire.Channel
	cfg     wire.Config
	scratch scratch
	forker  *forker
	warm    *warm // nil: none runs
	holds   []string
	missing []string

	// running has a token while a command runs; ends of commands and resets
	// take their turn by it.
	running sync.Mutex
	killed  atomic.Bool // the command that runs, or is about to, is to end
}

// configure receives the configuration and makes the sandbox.
func (a *agent) configure() error {
	spared := spareThreads()
	a.forker = a.newForker()
	m, files, err := a.conn.Receive()
	if err == io.EOF {
		os.Exit(exitParentGone)
	}
	if err != nil {
		return fmt.Errorf("no configuration: %w", err)
	}
	if m.Kind != wire.KindConfig || m.Config == nil {
		return fmt.Errorf("a message of kind %q in place of the configuration", m.Kind)
	}
	if m.Config.Version != wire.Version {
		return fmt.Errorf("the agent speaks version %d of the messages and the parent %d: put the two from one build together", wire.Version, m.Config.Version)
	}
	a.cfg = *m.Config
	close(a.forker.configured)
	// Nobody but the kernel's own root may look into this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("not dumpable: %w", err)
	}
	if a.cfg.Hostname != "" && a.cfg.Root != wire.RootReady {
		if err := unix.Sethostname([]byte(a.cfg.Hostname)); err != nil {
			return fmt.Errorf("the host name: %w", err)
		}
	}
	if a.cfg.Root != wire.RootReady || a.cfg.ScratchBytes >= 0 {
		switch err := watches(); {
		case err == nil:
			a.holds = append(a.holds, "watches")
		case errors.Is(err, errWritable):
			return err
		default:
			a.missing = append(a.missing, "watches")
		}
	}
	network := make(chan error, 1)
	var passed []*os.File
	go func() {
		var err error
		passed, err = a.network()
		network <- err
	}()
	if err := a.build(files); err != nil {
		return fmt.Errorf("the file system: %w", err)
	}
	if err := <-network; err != nil {
		return fmt.Errorf("the network: %w", err)
	}
	if err := a.limits(); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	<-spared
	if err := a.forker.finish(); err != nil {
		return err
	}
	a.holds, a.missing = append(a.holds, a.forker.holds...), append(a.missing, a.forker.missing...)
	a.warmUp()
	err = a.conn.Send(wire.Message{Kind: wire.KindReady, Ready: &wire.Ready{Version: wire.Version, Holds: a.holds, Missing: a.missing}}, passed...)
	for _, f := range passed {
		_ = f.Close()
	}
	if err == nil {
		err = a.limitFiles(0)
	}
	return err
}

// converse serves the parent until it is gone, and gives the exit code.
func (a *agent) converse() int {
	for {
		m, files, err := a.conn.Receive()
		if err == io.EOF {
			return exitParentGone
		}
		if err != nil {
			return exitFailed
		}
		switch {
		case m.Kind == wire.KindExec && m.Exec != nil && len(files) == 3:
			a.running.Lock()
			a.killed.Store(false)
			go func() {
				ended := a.run(*m.Exec, files)
				a.running.Unlock()
				a.tell(wire.Message{Kind: wire.KindExited, Exited: &ended})
				a.warmAgain()
			}()
		case m.Kind == wire.KindSignal:
			if m.Signal == int(unix.SIGKILL) {
				a.killed.Store(true)
			}
			_ = unix.Kill(-1, unix.Signal(m.Signal))
		case m.Kind == wire.KindReset:
			done := wire.Message{Kind: wire.KindDone}
			a.killed.Store(true)
			_ = unix.Kill(-1, unix.SIGKILL)
			a.running.Lock()
			if err := a.reset(); err != nil {
				done.Error = err.Error()
			}
			a.running.Unlock()
			a.tell(done)
		default:
			return exitFailed
		}
	}
}

// tell sends m. What cannot be told ends the sandbox: the parent would wait
// for ever.
func (a *agent) tell(m wire.Message) {
	if err := a.conn.Send(m); err != nil {
		os.Exit(exitFailed)
	}
}

// reset removes what the last user left.
func (a *agent) reset() error {
	a.cool()
	sweep()
	if err := a.scratch.renew(); err != nil {
		return fmt.Errorf("the scratch space: %w", err)
	}
	// The rules of the old thread name folders that are gone.
	f := a.newForker()
	close(f.configured)
	if err := f.finish(); err != nil {
		return err
	}
	a.forker.close()
	a.forker = f
	a.warmUp()
	return nil
}
