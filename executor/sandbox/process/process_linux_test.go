package process

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// factory makes one for a test, with the agent in the test program.
func factory(t testing.TB, o Options) *Factory {
	t.Helper()
	f := New(o)
	t.Cleanup(func() { _ = f.Close() })
	if a := f.Probe(context.Background()); !a.OK {
		t.Skip("no sandbox here: " + a.Reason)
	}
	return f
}

// agentProgram builds the small agent.
func agentProgram(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "toolwarrant-agent")
	c := exec.Command("go", "build", "-o", path, "../../../cmd/toolwarrant-agent")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("the agent cannot be built here: %v\n%s", err, out)
	}
	return path
}

// spec is one whose bounds hold whatever the machine has.
func spec() sandbox.Spec {
	l := sandbox.Standard()
	l.Timeout = 20 * time.Second
	return sandbox.Spec{Limits: l, AllowPartial: true}
}

func create(t testing.TB, f *Factory, s sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	box, err := f.Create(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	return box
}

// sh runs a script and wants it to end well.
func sh(t testing.TB, box sandbox.Sandbox, script string) string {
	t.Helper()
	r, err := box.Exec(context.Background(), sandbox.Shell(script))
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%s: %v, %d %s %s", script, err, r.ExitCode, r.Stdout, r.Stderr)
	}
	return strings.TrimSpace(string(r.Stdout))
}

func TestCommands(t *testing.T) {
	box := create(t, factory(t, Options{}), spec())
	for _, c := range []struct {
		script, out string
		code        int
	}{
		{"echo hello", "hello", 0},
		{"exit 3", "", 3},
		{"kill -TERM $$", "", 143},
		{"grep -E '^Sig(Ign|Blk):' /proc/self/status | tr -d '\t\n'", "SigBlk:0000000000000000SigIgn:0000000000000000", 0},
		{"cat", "input", 0},
		{"pwd", "/scratch", 0},
		{"grep -c -E '^Cap(Inh|Prm|Eff|Bnd|Amb):\t0+$' /proc/self/status; grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\t\n'", "5\nNoNewPrivs:1Seccomp:2", 0},
		{"env | sort | tr '\n' ' '", "A=1 HOME=/scratch LANG=C.UTF-8 PATH=" + Path + " PWD=/scratch", 0},
		{"ls -d /etc/shadow /root /home /sys /var/log 2>/dev/null", "", 2},
		{"echo x >/usr/x || echo x >/etc/x || echo x >/x || echo x >/dev/x || echo x >/proc/self/comm", "", 2},
		{"ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3", 0}, // 3 is the folder that ls reads
	} {
		command := sandbox.Shell(c.script)
		command.Env, command.Stdin = []string{"A=1"}, strings.NewReader("input")
		r, err := box.Exec(context.Background(), command)
		if got := strings.TrimSpace(string(r.Stdout)); err != nil || got != c.out || r.ExitCode != c.code {
			t.Errorf("%s: %v, %d %q %q, want %d %q", c.script, err, r.ExitCode, got, r.Stderr, c.code, c.out)
		}
	}
	for name, code := range map[string]int{"no-such-program": 127, "/no/such": 127, "/usr": 126, "/etc/passwd": 126} {
		r, err := box.Exec(context.Background(), sandbox.Command{Argv: []string{name}})
		if err != nil || r.ExitCode != code || len(r.Stderr) == 0 {
			t.Errorf("%s: %v, %d %q, want %d", name, err, r.ExitCode, r.Stderr, code)
		}
	}
}

func TestTimeoutLeavesNothing(t *testing.T) {
	box := create(t, factory(t, Options{}), spec())
	c := sandbox.Shell("trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & (setsid setsid sleep 1000 &) ; while :; do sleep 1; done")
	c.Timeout = 300 * time.Millisecond
	r, err := box.Exec(context.Background(), c)
	if err != nil || !r.TimedOut || r.LimitHit != sandbox.WallClock {
		t.Fatalf("%v, %+v", err, r)
	}
	if got := sh(t, box, "set -- /proc/[0-9]*; echo $#"); got != "2" { // the agent and the shell
		t.Errorf("%s processes", got)
	}
}

func TestResetLeavesNothing(t *testing.T) {
	box := create(t, factory(t, Options{}), spec())
	sh(t, box, "for d in /scratch /tmp /var/tmp /dev/shm; do echo x >$d/x; mkdir -p $d/a/b; done; touch /scratch/.hidden")
	if got := sh(t, box, "cat /tmp/x /dev/shm/x"); got != "x\nx" {
		t.Errorf("files of one lease are lost: %q", got)
	}
	for range 3 {
		if err := box.Reset(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := sh(t, box, "find /scratch /tmp /var/tmp /dev/shm -mindepth 1; echo y >/tmp/y; cat /tmp/y"); got != "y" {
			t.Errorf("left: %s", got)
		}
	}
}
