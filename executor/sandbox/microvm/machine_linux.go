package microvm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/confine"
	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/capture"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/guest"
)

// A plan is what a monitor is to run.
type plan struct {
	monitor   string
	kernel    *os.File // sealed
	initrd    *os.File // sealed
	memoryMiB int      // of the machine
	memory    int64    // of commands, bytes
	processes int      // of commands; 0 = no limit
	cpus      int
	group     *cgroup.Group // for the monitor; nil where there is none
	folder    string        // for sockets
}

// A machine is one virtual machine and the process of its monitor.
type machine struct {
	stream  io.ReadWriteCloser // to the guest
	console *capture.Tail
	cmd     *exec.Cmd
	group   *cgroup.Group
	gone    chan struct{} // closed when the monitor has ended
	cleanup func()        // removes what is left on disk
}

// arguments is the kernel's command line.
func arguments(p plan, stream string) string {
	return fmt.Sprintf("console=ttyS0 quiet loglevel=3 panic=-1 reboot=k rdinit=%s %s=%s %s=%d %s=%d",
		guest.Program, guest.StreamVariable, stream,
		guest.MemoryVariable, p.memory, guest.ProcessesVariable, p.processes)
}

// starter starts all monitors; they die with its thread.
var starter = sync.OnceValue(func() *confine.Starter { return confine.NewStarter(nil) })

// run starts a monitor at the strongest level at which it starts at all.
// prepare makes the command anew for each, and rights adds to what a level
// gives it or refuses the level.
func run(ctx context.Context, p plan, prepare func() (*exec.Cmd, error), rights func(*syscall.SysProcAttr) error) (*machine, error) {
	var errs []error
	for _, level := range confine.Levels() {
		c, err := prepare()
		if err != nil {
			return nil, err
		}
		m := &machine{cmd: c, group: p.group, console: &capture.Tail{}, gone: make(chan struct{}), cleanup: func() {}}
		c.Stdout, c.Stderr, c.Env, c.WaitDelay = m.console, m.console, []string{}, time.Second
		if c.Dir == "" {
			c.Dir = "/"
		}
		level.Prepare(c)
		if err = rights(c.SysProcAttr); err == nil {
			err = starter().Do(ctx, c.Start)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", level.Name, err))
			if ctx.Err() != nil {
				break
			}
			continue
		}
		go func() {
			_ = c.Wait()
			close(m.gone)
		}()
		if p.group != nil {
			if err := p.group.Add(c.Process.Pid); err != nil {
				m.end()
				return nil, fmt.Errorf("the control group of the monitor: %w%s", err, m.said())
			}
		}
		return m, nil
	}
	return nil, errors.Join(errs...)
}

// end kills the machine, waits for its end and removes what it left.
func (m *machine) end() {
	_ = m.cmd.Process.Kill()
	if m.stream != nil {
		_ = m.stream.Close()
	}
	<-m.gone
	if m.group != nil {
		_ = m.group.Close()
	}
	m.cleanup()
}

// said is the end of what the guest and its monitor wrote, for an error.
func (m *machine) said() string {
	if s := m.console.String(); s != "" {
		return "; it said: " + s
	}
	return "; it said nothing"
}
