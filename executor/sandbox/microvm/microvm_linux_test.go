package microvm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

var noContext = context.Background()

func shell(script string) sandbox.Command {
	return sandbox.Command{Argv: []string{"/bin/sh", "-c", script}}
}

func testSpec() sandbox.Spec {
	return sandbox.Spec{Limits: sandbox.Limits{CPUShares: 1, MemoryMB: 64, DiskMB: 8, Timeout: 30 * time.Second, MaxProcesses: 32}}
}

// worldFolder is removed at the end.
var worldFolder = ""

// world is what all tests share: a folder that also other users can enter,
// with this program in it as a monitor, a static agent, and an image.
var world = sync.OnceValues(func() (*Options, error) {
	dir, err := os.MkdirTemp("", "microvm")
	worldFolder = dir
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	o := &Options{Monitor: filepath.Join(dir, "monitor"), Agent: filepath.Join(dir, "toolwarrant-agent"), Image: filepath.Join(dir, "image")}
	if err := copyFile("/proc/self/exe", o.Monitor); err != nil {
		return nil, err
	}
	build := exec.Command("go", "build", "-o", o.Agent, "github.com/toolwarrant/toolwarrant/cmd/toolwarrant-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.New("the agent cannot be built: " + string(out))
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(o.Image, "bin"), 0o755); err != nil {
		return nil, err
	}
	if err := copyFile(busybox, filepath.Join(o.Image, "bin/busybox")); err != nil {
		return nil, err
	}
	for _, name := range []string{"sh", "cat", "dd", "echo", "env", "head", "id", "kill", "ls", "sleep", "touch", "tr", "true", "wc", "yes"} {
		if err := os.Symlink("busybox", filepath.Join(o.Image, "bin", name)); err != nil {
			return nil, err
		}
	}
	return o, nil
})

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}

// options give a kernel image with a text, which the fake monitor reads.
func options(t *testing.T, kernel string) Options {
	t.Helper()
	w, err := world()
	if err != nil {
		t.Skip("no world for a guest:", err)
	}
	o := *w
	o.BootTimeout = 20 * time.Second
	// Short, and open to the monitor, which is somebody else.
	if o.Folder, err = os.MkdirTemp("", "vm"); err == nil {
		err = os.Chmod(o.Folder, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(o.Folder) })
	o.Kernel = filepath.Join(t.TempDir(), "kernel")
	if err := os.WriteFile(o.Kernel, []byte(kernel), 0o600); err != nil {
		t.Fatal(err)
	}
	return o
}

func create(t *testing.T, f sandbox.Factory, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	box, err := f.Create(noContext, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}

func run1(t *testing.T, box sandbox.Sandbox, c sandbox.Command) sandbox.Result {
	t.Helper()
	r, err := box.Exec(noContext, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCommandsInAMachine(t *testing.T) {
	o := options(t, "ok")
	given := t.TempDir()
	if err := os.WriteFile(filepath.Join(given, "file"), []byte("given\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := testSpec()
	spec.Env = []string{"A=1"}
	spec.Mounts = []sandbox.Mount{{Source: given, Target: "/data"}, {Source: filepath.Join(given, "file"), Target: "/one"}}
	box := create(t, NewFirecracker(o), spec)
	usable(t, box)
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(o.Folder); len(left) > 0 {
		t.Errorf("%d things are left in the folder for sockets: %v", len(left), left)
	}
	if _, err := box.Exec(noContext, shell("true")); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("a closed sandbox gives %v", err)
	}
}

// usable tries what every machine must do, with the specification of
// TestCommandsInAMachine.
func usable(t *testing.T, box sandbox.Sandbox) {
	t.Helper()
	c := shell("cat; cat /data/file /one; id -u; echo err >&2; exit 7")
	c.Stdin = strings.NewReader("in\n")
	r := run1(t, box, c)
	if got := string(r.Stdout); r.ExitCode != 7 || !strings.HasPrefix(got, "in\ngiven\ngiven\n") || string(r.Stderr) != "err\n" {
		t.Errorf("code %d, output %q, errors %q", r.ExitCode, got, r.Stderr)
	}
	r = run1(t, box, sandbox.Command{Argv: []string{"env"}, Env: []string{"B=2"}})
	if got := string(r.Stdout); !strings.Contains(got, "A=1\n") || !strings.Contains(got, "B=2\n") || strings.Contains(got, "toolwarrant") || strings.Count(got, "\n") != 5 {
		t.Errorf("the environment is %q", got)
	}
	if r = run1(t, box, shell("echo x >/data/new; echo x >/bin/new; echo x >/scratch/new && cat /scratch/new")); string(r.Stdout) != "x\n" {
		t.Errorf("writes: %q %q", r.Stdout, r.Stderr)
	}
	if r = run1(t, box, sandbox.Command{Argv: []string{"none"}}); r.ExitCode != 127 {
		t.Errorf("a program that is not there: %d", r.ExitCode)
	}
	if r = run1(t, box, shell("head -c 200000 /dev/zero | tr '\\0' x")); len(r.Stdout) != 200000 || strings.Trim(string(r.Stdout), "x") != "" {
		t.Errorf("%d bytes of 200000 arrived", len(r.Stdout))
	}
	flood := shell("yes | head -c 300000")
	flood.MaxOutput = 1000
	if r = run1(t, box, flood); len(r.Stdout) != 1000 || !r.Truncated || r.LimitHit != sandbox.Output {
		t.Errorf("%d bytes, truncated %v, limit %q", len(r.Stdout), r.Truncated, r.LimitHit)
	}
	if r = run1(t, box, shell("sleep 1000 & sleep 1000 & true")); r.ExitCode != 0 || r.Usage.Orphans != 2 {
		t.Errorf("%d orphans of 2", r.Usage.Orphans)
	}
	p, err := box.Attach(noContext, sandbox.Command{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"one\n", "two\n"} {
		_, _ = io.WriteString(p.Stdin(), word)
		got := make([]byte, len(word))
		if _, err := io.ReadFull(p.Stdout(), got); err != nil || string(got) != word {
			t.Errorf("attached: %q, %v", got, err)
		}
	}
	p.Stdin().Close()
	if r, err := p.Wait(); err != nil || r.ExitCode != 0 {
		t.Errorf("attached: %+v, %v", r, err)
	}
	if err := box.Reset(noContext); err != nil {
		t.Fatal(err)
	}
	if r = run1(t, box, shell("ls /scratch /tmp")); strings.Contains(string(r.Stdout), "new") {
		t.Errorf("after Reset there is %q", r.Stdout)
	}
	late := shell("trap '' TERM; while :; do sleep 1000; done")
	late.Timeout = 300 * time.Millisecond
	if r = run1(t, box, late); !r.TimedOut || r.LimitHit != sandbox.WallClock {
		t.Errorf("a command out of time: %+v", r)
	}
	if r = run1(t, box, shell("echo again")); string(r.Stdout) != "again\n" {
		t.Errorf("after a timeout: %+v", r)
	}
}

func TestLimitsThatTheGuestTells(t *testing.T) {
	box := create(t, NewFirecracker(options(t, "ok")), testSpec())
	if r := run1(t, box, shell("kill -9 $$")); r.LimitHit != sandbox.Memory || r.Signal != 9 {
		t.Errorf("%+v", r)
	}
	if r := run1(t, box, shell("true")); r.LimitHit != "" {
		t.Errorf("the next command has the limit of the last: %q", r.LimitHit)
	}
}

// TestFaults lets the monitor and the guest do everything wrong. Each is an
// error of its kind, with what the console said, and leaves nothing.
func TestFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"dies at once":         "it said: fake: [31mno such instruction[0m",
		"no API":               "did not boot within",
		"refuses to start":     "no nested virtualization",
		"dies at start":        "triple fault",
		"hangs at start":       "did not boot within",
		"kernel does not boot": "does not boot as far as the agent",
		"guest says nothing":   "did not boot within",
		"guest says nonsense":  "in place of hello",
		"guest floods":         "",
		"guest leaves":         "",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			o := options(t, fault)
			if strings.Contains(want, "within") || fault == "kernel does not boot" {
				o.BootTimeout = 5 * time.Second
			}
			f := NewFirecracker(o)
			defer f.(io.Closer).Close()
			err := create(t, f, testSpec()).Start(noContext)
			if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), want) || strings.ContainsRune(err.Error(), '\x1b') {
				t.Errorf("got %v\nwant ... %s", err, want)
			}
			if left, _ := os.ReadDir(o.Folder); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestCallerGivesUp(t *testing.T) {
	box := create(t, NewFirecracker(options(t, "no API")), testSpec())
	ctx, cancel := context.WithTimeout(noContext, 200*time.Millisecond)
	defer cancel()
	if err := box.Start(ctx); err == nil {
		t.Error("it started")
	}
}

func TestProbe(t *testing.T) {
	real := kvmThere
	defer func() { kvmThere = real }()
	kvmThere = func() error { return nil }
	a := NewFirecracker(options(t, "ok")).Probe(noContext)
	if !a.OK || a.Reason != "" || a.Enforcement[sandbox.Kernel].Level != sandbox.Full {
		t.Errorf("%+v", a)
	}
	broken := options(t, "refuses to start")
	noKernel, noMonitor, noAgent := options(t, "ok"), options(t, "ok"), options(t, "ok")
	noKernel.Kernel = ""
	noMonitor.Monitor = "/does/not/exist"
	noAgent.Agent = "/does/not/exist"
	dynamic := options(t, "ok")
	dynamic.Agent = "/bin/ls"
	for want, o := range map[string]Options{
		"no nested": broken, "no kernel": noKernel, "not installed": noMonitor, "agent": noAgent, "CGO_ENABLED=0": dynamic,
	} {
		if a := NewFirecracker(o).Probe(noContext); a.OK || !strings.Contains(a.Reason, want) {
			t.Errorf("want ... %s, got %+v", want, a)
		}
	}
	kvmThere = func() error { return errors.New("no KVM") }
	if a := NewFirecracker(options(t, "ok")).Probe(noContext); a.OK || a.Reason != "no KVM" {
		t.Errorf("%+v", a)
	}
}

func TestWhatIsRefused(t *testing.T) {
	f := NewFirecracker(options(t, "ok")).(*factory)
	for name, tt := range map[string]struct {
		change func(*sandbox.Spec)
		want   error
	}{
		"allow-list": {func(s *sandbox.Spec) { s.Network = sandbox.AllowList{Hosts: []string{"example.com"}} }, sandbox.ErrUnenforceable},
		"allow-list, anything goes": {func(s *sandbox.Spec) {
			s.Network, s.AllowPartial = sandbox.AllowList{Hosts: []string{"example.com"}}, true
		}, sandbox.ErrUnenforceable},
		"network of the host": {func(s *sandbox.Spec) { s.Network, s.AllowPartial = sandbox.Inherit{}, true }, sandbox.ErrUnenforceable},
		"writable mount": {func(s *sandbox.Spec) {
			s.Mounts = []sandbox.Mount{{Source: "/srv", Target: "/srv", Writable: true}}
		}, sandbox.ErrUnenforceable},
		"image of the host": {func(s *sandbox.Spec) { s.Image = "host" }, sandbox.ErrImage},
		"no folder":         {func(s *sandbox.Spec) { s.Image = "dir:/does/not/exist" }, sandbox.ErrImage},
		"name of an image":  {func(s *sandbox.Spec) { s.Image = "debian:12" }, sandbox.ErrImage},
		"wrong spec":        {func(s *sandbox.Spec) { s.Limits.MemoryMB = 0 }, sandbox.ErrSpec},
		"warm":              {func(s *sandbox.Spec) { s.Warm = "python" }, sandbox.ErrUnenforceable},
	} {
		spec := testSpec()
		tt.change(&spec)
		if box, err := f.Create(noContext, spec); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
			if box != nil {
				box.Close()
			}
		}
	}
	f.look()
	f.groups = nil // as where there are none
	spec := testSpec()
	spec.Limits.CPUShares = 0.5
	if _, err := f.Create(noContext, spec); !errors.Is(err, sandbox.ErrUnenforceable) {
		t.Errorf("half a processor without control groups: %v", err)
	}
	spec.AllowPartial = true
	if got := create(t, f, spec).Enforcement()[sandbox.CPU]; got.Level != sandbox.Partial {
		t.Errorf("half a processor is %+v", got)
	}
}

// TestKilledParent leaves no monitor when the parent gets SIGKILL.
func TestKilledParent(t *testing.T) {
	o := options(t, "ok")
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command("/proc/self/exe")
	parent.Env = append(os.Environ(), "TOOLWARRANT_TEST_PARENT="+string(text))
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 6)
	_, err = io.ReadFull(out, said)
	if err != nil || string(said) != "ready\n" {
		rest, _ := io.ReadAll(out)
		t.Fatalf("%s%s %v", said, rest, err)
	}
	before := within(o.Folder)
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if len(before) != 2 {
		t.Errorf("%d monitors ran, not 2", len(before))
	}
	for deadline := time.Now().Add(10 * time.Second); len(within(o.Folder)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after the parent was killed these run: %v", within(o.Folder))
		}
	}
	// The next one removes its folders.
	create(t, NewFirecracker(o), testSpec()).Close()
	if left, _ := os.ReadDir(o.Folder); len(left) > 0 {
		t.Errorf("folders of the killed parent are left: %v", left)
	}
}

// within gives the processes that are in a folder.
func within(folder string) (found []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, p := range list {
		if dir, err := os.Readlink(p); err == nil && strings.HasPrefix(dir, folder+"/") {
			found = append(found, p)
		}
	}
	return found
}
