package escape

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// refuses is whether a back end says that it cannot do this at all.
func refuses(err error) bool {
	return errors.Is(err, sandbox.ErrUnenforceable) || errors.Is(err, sandbox.ErrSpec)
}

func exec1(t *testing.T, sb sandbox.Sandbox, c sandbox.Command) sandbox.Result {
	t.Helper()
	res, err := sb.Exec(t.Context(), c)
	if err != nil {
		t.Fatalf("%v: %v", c.Argv[1:], err)
	}
	return res
}

func probeCommand(args ...string) sandbox.Command {
	return sandbox.Command{Argv: append([]string{"/probe/probe"}, args...)}
}

// marksOf reads what plant or look wrote: which marks have a state.
func marksOf(out []byte, state string) []string {
	var list []string
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutSuffix(strings.TrimSpace(line), " "+state); ok {
			list = append(list, name)
		}
	}
	return list
}

// TestNothingIsLeftByReset leaves whatever can be left, and looks for it after
// Reset: what the next user of the sandbox would find.
func TestNothingIsLeftByReset(t *testing.T) {
	r := newRig(t)
	each(t, r, func(t *testing.T, _ sandbox.Factory, sb sandbox.Sandbox) {
		planted := exec1(t, sb, probeCommand("plant", r.nonce))
		left := marksOf(planted.Stdout, "left")
		if len(left) < 8 {
			t.Fatalf("only %v could be left, so that nothing is shown: %s", left, planted.Stdout)
		}
		// It is found where there was no Reset, so that the look can fail.
		if found := marksOf(exec1(t, sb, probeCommand("look", r.nonce)).Stdout, "found"); len(found) < 5 {
			t.Errorf("without Reset only %v are found", found)
		}
		if n := running("leak" + r.nonce); n > 0 {
			t.Errorf("%d processes outlive the command that started them", n)
		}
		must(t, sb.Reset(t.Context()))
		looked := exec1(t, sb, probeCommand("look", r.nonce))
		if found := marksOf(looked.Stdout, "found"); len(found) > 0 || looked.ExitCode != 0 {
			t.Errorf("after Reset: %v of %v are found, code %d", found, left, looked.ExitCode)
		}
		t.Logf("%d marks were left, none is found after Reset", len(left))
	})
}

// TestNeighbours looks in one sandbox for the marks of another that runs.
func TestNeighbours(t *testing.T) {
	r := newRig(t)
	each(t, r, func(t *testing.T, f sandbox.Factory, sb sandbox.Sandbox) {
		p, err := sb.Attach(t.Context(), probeCommand("child", "hold", r.nonce))
		must(t, err)
		defer func() { _ = p.Kill() }()
		ready := make([]byte, 4096)
		out := ""
		for !strings.Contains(out, "holding") {
			n, err := p.Stdout().Read(ready)
			if out += string(ready[:n]); err != nil {
				t.Fatalf("%v after %q", err, out)
			}
		}
		other, err := f.Create(t.Context(), r.spec())
		must(t, err)
		defer other.Close()
		if found := marksOf(exec1(t, other, probeCommand("look", r.nonce)).Stdout, "found"); len(found) > 0 {
			t.Errorf("%v of the neighbour are found", found)
		}
	})
}

// TestTimeCannotBeEvaded lets a program run over its time that has many
// processes, each with a session of its own, deaf to signals, some stopped.
func TestTimeCannotBeEvaded(t *testing.T) {
	r := newRig(t)
	each(t, r, func(t *testing.T, _ sandbox.Factory, sb sandbox.Sandbox) {
		must(t, sb.Start(t.Context()))
		c := probeCommand("child", "evade", "evade"+r.nonce)
		c.Timeout = 500 * time.Millisecond
		if res := exec1(t, sb, c); !res.TimedOut || res.LimitHit != sandbox.WallClock {
			t.Errorf("timed out %v, limit %q, code %d: %s", res.TimedOut, res.LimitHit, res.ExitCode, res.Stderr)
		}
		gone(t, "evade"+r.nonce, 0)
		// The end of the caller's patience is an end as well.
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if res, err := sb.Exec(ctx, probeCommand("child", "evade", "evade"+r.nonce)); err == nil && res.ExitCode == 0 {
			t.Error("a command ended well whose context had ended")
		}
		gone(t, "evade"+r.nonce, time.Second)
		if res := exec1(t, sb, probeCommand("child", "exit")); res.ExitCode != 0 {
			t.Errorf("the next command: %d %s", res.ExitCode, res.Stderr)
		}
	})
}

// TestNothingOutlives closes a sandbox whose program resists.
func TestNothingOutlives(t *testing.T) {
	r := newRig(t)
	each(t, r, func(t *testing.T, _ sandbox.Factory, sb sandbox.Sandbox) {
		res := exec1(t, sb, sandbox.Shell("/probe/probe child sleep orphan"+r.nonce+" </dev/null >/dev/null 2>&1 & exit 7"))
		if res.ExitCode != 7 {
			t.Errorf("code %d: %s", res.ExitCode, res.Stderr)
		}
		gone(t, "orphan"+r.nonce, 0)
		_, err := sb.Attach(t.Context(), probeCommand("child", "evade", "close"+r.nonce))
		must(t, err)
		for range 200 {
			if running("close"+r.nonce) > 1 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		must(t, sb.Close())
		gone(t, "close"+r.nonce, time.Second)
	})
}

// TestKillAll signals whatever can be signalled from inside.
func TestKillAll(t *testing.T) {
	r := newRig(t)
	each(t, r, func(t *testing.T, _ sandbox.Factory, sb sandbox.Sandbox) {
		for _, who := range []string{"killall", "killgroup", "killparent"} {
			res, err := sb.Exec(t.Context(), probeCommand("child", who))
			t.Logf("%s: code %d, signal %d, %v", who, res.ExitCode, res.Signal, err)
			if res := exec1(t, sb, probeCommand("child", "exit")); res.ExitCode != 0 {
				t.Errorf("after %s: %d %s", who, res.ExitCode, res.Stderr)
			}
		}
		if err := r.victim.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("a process of the host is gone: %v", err)
		}
	})
}

// TestOutputFlood writes 64 MiB to both streams.
func TestOutputFlood(t *testing.T) {
	r := newRig(t)
	each(t, r, func(t *testing.T, _ sandbox.Factory, sb sandbox.Sandbox) {
		c := probeCommand("child", "flood", "64")
		c.MaxOutput = 64 << 10
		res := exec1(t, sb, c)
		if res.ExitCode != 0 || !res.Truncated || int64(len(res.Stdout)) != c.MaxOutput || int64(len(res.Stderr)) != c.MaxOutput {
			t.Errorf("code %d, truncated %v, %d and %d bytes", res.ExitCode, res.Truncated, len(res.Stdout), len(res.Stderr))
		}
	})
}
