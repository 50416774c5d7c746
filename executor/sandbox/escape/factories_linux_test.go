package escape

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/backends"
)

var only = flag.String("backends", "", "names of back ends, with commas between; without it, process, and with -matrix all that run commands of the host")

// factories gives the back ends whose probe works here, and logs why others
// do not. The set is closed with the test.
func factories(t *testing.T) []sandbox.Factory {
	t.Helper()
	names := []string{"process"}
	if *only != "" {
		names = strings.Split(*only, ",")
	}
	opts := backends.Options{}
	if *only != "" || *matrixDir == "" {
		opts.Only = names
	}
	if *matrixDir != "" || *only != "" {
		// Containers run no other; elsewhere the agent is this program.
		opts.Process.Agent = agentProgram(t)
	}
	opts.Set.ProbeTimeout = 30 * time.Second
	if kernel := os.Getenv(kernelVariable); kernel != "" {
		opts.QEMU.Kernel, opts.QEMU.Image, opts.QEMU.BootTimeout = kernel, machineImage(t), bootPatience
		opts.Set.ProbeTimeout = bootPatience
	}
	set := backends.All(opts)
	t.Cleanup(func() { _ = set.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), bootPatience+time.Minute)
	defer cancel()
	var list []sandbox.Factory
	for _, p := range set.Probe(ctx) {
		f, err := set.ByID(p.ID)
		must(t, err)
		taker, ok := f.(sandbox.ImageTaker)
		switch {
		case !p.OK:
			t.Logf("%s does not work here: %s", p.ID, p.Reason)
		case p.Enforcement[sandbox.FSRead].Level == sandbox.None:
			t.Logf("%s confines nothing and says so; attempts would hit this machine", p.ID)
		case ok && !taker.TakesImage(""):
			t.Logf("%s does not run programs of the host; it has probes of its own", p.ID)
		default:
			list = append(list, f)
		}
	}
	if *only != "" && len(list) < len(names) {
		t.Errorf("of %s only %d work here", *only, len(list))
	}
	if len(list) == 0 && *matrixDir == "" {
		t.Skip("no sandbox works here; the log says why")
	}
	return list
}

// kernelVariable names a bzImage that QEMU boots. Without one no virtual machine
// works here.
const kernelVariable = "TOOLWARRANT_TEST_KERNEL"

// bootPatience is for an emulated processor.
const bootPatience = 2 * time.Minute

// machineImage is the root of a virtual machine, which has nothing of the host:
// a shell.
func machineImage(t *testing.T) string {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("a virtual machine needs busybox")
	}
	text, err := os.ReadFile(busybox)
	must(t, err)
	image := t.TempDir()
	must(t, os.Mkdir(filepath.Join(image, "bin"), 0o755))
	must(t, os.WriteFile(filepath.Join(image, "bin/sh"), text, 0o755))
	return image
}

// each runs a test in a new sandbox of every back end.
func each(t *testing.T, r *rig, test func(t *testing.T, f sandbox.Factory, sb sandbox.Sandbox)) {
	t.Helper()
	for _, f := range factories(t) {
		t.Run(f.ID(), func(t *testing.T) {
			sb, err := f.Create(t.Context(), r.spec())
			if refuses(err) {
				t.Skipf("it refuses: %v", err)
			}
			must(t, err)
			t.Cleanup(func() { _ = sb.Close() })
			test(t, f, sb)
		})
	}
}

// running counts the processes of the host that have text in their arguments.
func running(text string) int {
	n := 0
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && slices.Contains(strings.Split(string(line), "\x00"), text) {
			n++
		}
	}
	return n
}

// gone waits until no process of the host has text in its arguments.
func gone(t *testing.T, text string, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		n := running(text)
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d processes are left after %v", n, within)
		}
	}
}
