package process

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// No signal ends the agent or makes it deaf but the two that the kernel keeps
// for itself, and those that stop a process from outside of its namespace.
func TestAgentSurvivesSignals(t *testing.T) {
	f := factory(t, Options{Agent: agentProgram(t), Stash: -1})
	b, err := f.Create(t.Context(), spec())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	one := children(strconv.Itoa(f.launches.proc.Pid)) // the probe's may take a moment to end
	for range 500 {
		if len(one) == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
		one = children(strconv.Itoa(f.launches.proc.Pid))
	}
	if len(one) != 1 {
		t.Fatalf("%d agents", len(one))
	}
	// What ends the launcher ends all agents, so that it is as deaf as they are.
	both := []int{one[0], f.launches.proc.Pid}
	kept := []syscall.Signal{unix.SIGKILL, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU}
	for n := syscall.Signal(1); n <= 64; n++ {
		if slices.Contains(kept, n) || n == 32 || n == 33 { // those two are the C library's
			continue
		}
		for _, pid := range both {
			if n == 34 && pid != one[0] {
				continue // a C library's too; the kernel keeps it from process 1 alone
			}
			if err := unix.Kill(pid, n); err != nil {
				t.Fatalf("signal %d to %d: %v", n, pid, err)
			}
		}
		r, err := b.Exec(t.Context(), sandbox.Shell("echo well"))
		if err != nil || string(r.Stdout) != "well\n" {
			t.Fatalf("after signal %d: %+v, %v", n, r, err)
		}
	}
}

// TestSignalsIgnoredBefore starts all from a shell that ignores signals, as
// nohup does. Commands begin like any.
func TestSignalsIgnoredBefore(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/bin/sh", "-c", `trap "" HUP INT; exec "$0" -test.run '^TestCommands$' -test.v`, self)
	out, err := c.CombinedOutput()
	switch {
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	case err != nil || !strings.Contains(string(out), "--- PASS: TestCommands"):
		t.Errorf("%v\n%s", err, out)
	}
}
