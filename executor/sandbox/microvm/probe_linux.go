package microvm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/fault"
)

// probeSpec is the smallest machine that says something.
var probeSpec = sandbox.Spec{Limits: sandbox.Limits{CPUShares: 1, MemoryMB: 32, DiskMB: 1, Timeout: 20 * time.Second, MaxProcesses: 16}}

// Probe boots a machine and runs a command in it. Nothing less tells that
// processor, kernel and monitor fit together: KVM can open, and even run a
// few instructions, where no ordinary kernel boots.
func (f *factory) Probe(ctx context.Context) (a sandbox.Availability) {
	began := time.Now()
	a.Enforcement = f.enforcement(probeSpec.Limits)
	defer func() {
		if r := recover(); r != nil {
			a.OK, a.Reason = false, fmt.Sprintf("the probe panicked: %v at %.400s", r, debug.Stack())
		}
		a.Took = time.Since(began)
	}()
	if err := f.try(ctx); err != nil {
		a.Reason = err.Error()
		var said *fault.Error
		if errors.As(err, &said) {
			a.Reason = said.Message
		}
		return a
	}
	a.OK = true
	return a
}

func (f *factory) try(ctx context.Context) error {
	if f.id == Firecracker {
		if err := kvmThere(); err != nil {
			return err
		}
	}
	box, err := f.create(probeSpec, probeImage)
	if err != nil {
		return err
	}
	defer box.Close()
	r, err := box.Exec(ctx, sandbox.Command{Argv: []string{probeCommand, agent.AskVersion}})
	if err != nil {
		return err
	}
	if r.ExitCode != 0 || strings.TrimSpace(string(r.Stdout)) == "" {
		return fmt.Errorf("a command in the virtual machine ended with %d: %.200q", r.ExitCode, r.Stderr)
	}
	return nil
}

// kvmThere is whether KVM can be opened at all; only a boot tells more.
var kvmThere = func() error {
	d, err := os.OpenFile(kvm, os.O_RDWR, 0)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("there is no " + kvm + ": this system has no KVM, or lends none to this container")
	case err != nil:
		return fmt.Errorf("KVM cannot be used: %w; let a group that this program is in read and write %s", err, kvm)
	}
	return d.Close()
}
