package process

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// median reports the middle of what each iteration took: the mean is that of
// the machine's other work.
func median(b *testing.B, f func(), before ...func()) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		for _, ready := range before {
			ready()
		}
		began := time.Now()
		f()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[0].Microseconds())/1000, "min-ms")
}

func once(b *testing.B, f *Factory) {
	box, err := f.Create(context.Background(), spec())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := box.Exec(context.Background(), sandbox.Shell("true")); err != nil {
		b.Fatal(err)
	}
	_ = box.Close()
}

// BenchmarkSandbox runs "sh -c true" in a sandbox of its own, by the small
// agent, by the program itself with and without agents in stash, in one that
// is there already, and, to compare, with bubblewrap and with nothing.
func BenchmarkSandbox(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		median(b, func() { _ = exec.Command("/bin/sh", "-c", "true").Run() })
	})
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		b.Run("bwrap", func(b *testing.B) {
			args := []string{"--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "/bin/sh", "-c", "true"}
			if out, err := exec.Command(bwrap, args...).CombinedOutput(); err != nil {
				b.Skipf("%v: %s", err, out)
			}
			median(b, func() { _ = exec.Command(bwrap, args...).Run() })
		})
	}
	small := factory(b, Options{Agent: agentProgram(b)})
	b.Run("cold/agent", func(b *testing.B) { median(b, func() { once(b, small) }) })
	alone := factory(b, Options{Stash: -1})
	b.Run("cold/program", func(b *testing.B) { median(b, func() { once(b, alone) }) })
	stashed := factory(b, Options{})
	b.Run("cold/stash", func(b *testing.B) {
		median(b, func() { once(b, stashed) }, stashed.stash.wait.Wait)
	})
	b.Run("warm", func(b *testing.B) {
		box := create(b, small, spec())
		if err := box.Start(context.Background()); err != nil {
			b.Fatal(err)
		}
		median(b, func() { _, _ = box.Exec(context.Background(), sandbox.Shell("true")) })
	})
}
