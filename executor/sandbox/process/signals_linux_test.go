package process

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// No signal ends the agent or makes it deaf but the two that the kernel keeps
// for itself, and those that stop a process from outside of its namespace.
func TestAgentSurvivesSignals(t *testing.T) {
	before := children()
	f := factory(t, Options{Agent: agentProgram(t), Stash: -1})
	b, err := f.Create(t.Context(), spec())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var agents []int
	for range 500 { // those that were tried before may take a moment to end
		agents = slices.DeleteFunc(children(), func(pid int) bool { return slices.Contains(before, pid) })
		if len(agents) == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(agents) != 1 {
		t.Fatalf("%d agents", len(agents))
	}
	kept := []syscall.Signal{unix.SIGKILL, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU}
	for n := syscall.Signal(1); n <= 64; n++ {
		if slices.Contains(kept, n) || n == 32 || n == 33 { // those two are the C library's
			continue
		}
		if err := unix.Kill(agents[0], n); err != nil {
			t.Fatalf("signal %d: %v", n, err)
		}
		r, err := b.Exec(t.Context(), sandbox.Shell("echo well"))
		if err != nil || string(r.Stdout) != "well\n" {
			t.Fatalf("after signal %d: %+v, %v", n, r, err)
		}
	}
}
