package microvm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// kernelVariable names a bzImage for the tests that boot it in an emulator.
const kernelVariable = "TOOLWARRANT_TEST_KERNEL"

// emulated gives options with which QEMU boots a real kernel.
func emulated(t *testing.T) Options {
	t.Helper()
	kernel := os.Getenv(kernelVariable)
	if kernel == "" {
		t.Skip("no kernel to boot: name a bzImage in " + kernelVariable)
	}
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		t.Skip("qemu-system-x86_64 is not installed")
	}
	o := options(t, "")
	o.Kernel, o.Monitor, o.BootTimeout = kernel, "", 2*time.Minute
	return o
}

func TestEmulatedMachine(t *testing.T) {
	o := emulated(t)
	given := t.TempDir()
	if err := os.WriteFile(filepath.Join(given, "file"), []byte("given\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := testSpec()
	spec.Env = []string{"A=1"}
	spec.Mounts = []sandbox.Mount{{Source: given, Target: "/data"}, {Source: filepath.Join(given, "file"), Target: "/one"}}
	box := create(t, NewQEMU(o), spec)
	began := time.Now()
	if err := box.Start(noContext); err != nil {
		t.Fatal(err)
	}
	t.Logf("booted in %v", time.Since(began).Round(time.Millisecond))
	t.Logf("the monitor: %s", monitorState(t))
	var took []time.Duration
	for range 11 {
		began := time.Now()
		run1(t, box, shell("true"))
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("a command: p50 %v, least %v", took[5].Round(time.Millisecond), took[0].Round(time.Millisecond))
	usable(t, box)
	t.Run("limits", func(t *testing.T) { limited(t, box) })
	t.Run("what there is", func(t *testing.T) { confined(t, box) })
}

// limited tries the limits that only a real machine has.
func limited(t *testing.T, box sandbox.Sandbox) {
	r := run1(t, box, shell("i=0; while [ $i -lt 100 ]; do sleep 100 & i=$((i+1)); done; wait"))
	if r.LimitHit != sandbox.Processes || r.Usage.Orphans > 40 {
		t.Errorf("100 processes of 32: %+v", r)
	}
	if r = run1(t, box, shell("head -c 50000000 /dev/zero >/scratch/big; ls -l /scratch/big")); !strings.Contains(string(r.Stdout), " 8388608 ") {
		t.Errorf("50 MB in 8 MiB: %q %q", r.Stdout, r.Stderr)
	}
	// More than the command may have and less than the machine has.
	r, err := box.Exec(noContext, shell("rm -f /scratch/big; dd if=/dev/zero of=/dev/null bs=100000000 count=1"))
	if err != nil || r.ExitCode == 0 && r.LimitHit == "" || !r.TimedOut && r.LimitHit != sandbox.Memory {
		t.Errorf("100 MB in 64 MiB: %+v, %v", r, err)
	}
	if r := run1(t, box, shell("echo alive")); string(r.Stdout) != "alive\n" {
		t.Errorf("after that: %+v", r)
	}
}

// confined looks at what a command finds.
func confined(t *testing.T, box sandbox.Sandbox) {
	r := run1(t, box, shell("cat /proc/self/status; echo; cat /proc/net/dev; ls /proc /sys"))
	text := string(r.Stdout)
	for _, want := range []string{"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "eth") || strings.Contains(text, "ens") {
		t.Errorf("there is a network device:\n%s", text)
	}
}

// monitorState is what the host knows of the emulator that this test started.
func monitorState(t *testing.T) string {
	t.Helper()
	list, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, p := range list {
		status, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(status, fmt.Appendf(nil, "\nPPid:\t%d\n", os.Getpid())) || !bytes.HasPrefix(status, []byte("Name:\tqemu")) {
			continue
		}
		var said []string
		for line := range bytes.Lines(status) {
			for _, key := range []string{"Uid:", "VmRSS:", "CapEff:", "NoNewPrivs:", "Seccomp:"} {
				if bytes.HasPrefix(line, []byte(key)) {
					said = append(said, strings.Join(strings.Fields(string(line)), " "))
				}
			}
		}
		if os.Geteuid() == 0 && bytes.Contains(status, []byte("\nUid:\t0\t")) {
			t.Error("the emulator has the rights of root")
		}
		return strings.Join(said, ", ")
	}
	t.Error("the emulator is not there")
	return ""
}

func TestEmulatorProbe(t *testing.T) {
	f := NewQEMU(emulated(t))
	defer f.(io.Closer).Close()
	a := f.Probe(noContext)
	if !a.OK || a.Enforcement[sandbox.Kernel].Level != sandbox.Partial {
		t.Errorf("%+v", a)
	}
	t.Logf("%v", a.Took.Round(time.Millisecond))
}

// TestKernelThatDoesNotBoot gives the emulator what is no kernel.
func TestKernelThatDoesNotBoot(t *testing.T) {
	o := emulated(t)
	o.Kernel = filepath.Join(t.TempDir(), "kernel")
	if err := os.WriteFile(o.Kernel, bytes.Repeat([]byte("no kernel"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	o.BootTimeout = 20 * time.Second
	err := create(t, NewQEMU(o), testSpec()).Start(noContext)
	if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "it said") {
		t.Error(err)
	}
}

// TestArgumentsOfQEMU keeps the machine without devices.
func TestArgumentsOfQEMU(t *testing.T) {
	all := strings.Join(qemuArguments(plan{monitor: "q", memoryMiB: 200, cpus: 2}), " ")
	for _, want := range []string{"-nodefaults", "-no-user-config", "-sandbox on,", "-m 200", "-smp 2", "-no-reboot"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	for _, device := range []string{"-net ", "-netdev", "-drive", "-virtfs", "-usb", "-device", "-monitor stdio", "-qmp"} {
		if strings.Contains(all, device) {
			t.Errorf("the machine has %s", device)
		}
	}
}
