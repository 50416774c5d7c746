package container

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	_ "github.com/toolwarrant/toolwarrant/executor/sandbox/agent" // a test program must not run as an agent by mistake
)

// agentProgram is built once: a container cannot run a test program, which
// needs the libraries of the host.
var agentProgram string

// agentVariable names an agent that is built already, for a user who cannot
// build.
const agentVariable = "CONTAINER_TEST_AGENT"

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "container-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		panic(err)
	}
	if agentProgram = os.Getenv(agentVariable); agentProgram != "" {
		return m.Run()
	}
	agentProgram = filepath.Join(dir, agentName)
	build := exec.Command("go", "build", "-o", agentProgram, "github.com/toolwarrant/toolwarrant/cmd/toolwarrant-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the agent cannot be built: %s\n", out)
		return 1
	}
	return m.Run()
}

// kinds are all back ends, by their names.
var kinds = map[string]func(Options) *Factory{"container": NewRunc, "podman": NewPodman, "gvisor": NewGVisor, "docker": NewDocker}

// working gives a factory whose probe passes, or skips the test.
func working(t *testing.T, make func(Options) *Factory) *Factory {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "container-test-") // those of the test are for its user alone
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	f := make(Options{Agent: agentProgram, Dir: dir, Images: nil})
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		// Nothing of any container is left.
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left in the folder of bundles: %v %v", left, err)
		}
		_ = os.RemoveAll(dir)
	})
	if a := f.Probe(t.Context()); !a.OK {
		t.Skipf("%s does not work here: %s", f.ID(), a.Reason)
	}
	return f
}

func create(t *testing.T, f *Factory, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	if spec.Limits == (sandbox.Limits{}) {
		spec.Limits = sandbox.Standard()
	}
	spec.AllowPartial = true // an ordinary user has no control groups
	s, err := f.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func sh(t *testing.T, s sandbox.Sandbox, script string) sandbox.Result {
	t.Helper()
	r, err := s.Exec(t.Context(), sandbox.Shell(script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return r
}

// TestInside looks at the container from inside. Each script must print what
// is wanted.
func TestInside(t *testing.T) {
	t.Setenv("HOST_SECRET", "not for containers")
	for name, factory := range kinds {
		t.Run(name, func(t *testing.T) {
			s := create(t, working(t, factory), sandbox.Spec{Env: []string{"A=1"}})
			if by := s.Enforcement()[sandbox.FSRead]; by.Level != sandbox.Full {
				t.Skipf("not all holds, as it says: %s", by.By)
			}
			for _, test := range []struct{ script, want string }{
				{"env | sort", "A=1\nHOME=/scratch\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin\nPWD=/scratch"},
				{"cat /etc/shadow /root/.bashrc 2>/dev/null; ls /root /home /sys/kernel 2>/dev/null; true", ""},
				{"grep -h -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t' | sort | uniq", "CapAmb:0000000000000000\nCapBnd:0000000000000000\nCapEff:0000000000000000\nCapInh:0000000000000000\nCapPrm:0000000000000000\nNoNewPrivs:1\nSeccomp:2"},
				{"for p in / /usr /etc /proc /dev /.toolwarrant; do touch $p/x 2>/dev/null && echo written $p; done; true", ""},
				{"for p in /scratch /tmp /var/tmp /dev/shm; do echo a > $p/x && cat $p/x; done", "a\na\na\na"},
				{"mount -t tmpfs x /tmp 2>/dev/null && echo mounted; unshare -U true 2>/dev/null && echo unshared; chroot /tmp true 2>/dev/null && echo chrooted; umount /tmp 2>/dev/null && echo gone; true", ""},
				{"kill -9 1 2>/dev/null; kill -STOP 1 2>/dev/null; echo alive", "alive"},
				{"echo 1 > /proc/sys/kernel/hostname; echo 1 > /proc/sysrq-trigger; cat /proc/kcore | head -c 1; true", ""},
				{"ls -d /proc/[0-9]* | wc -l | tr -d ' ' | sed 's/^[1-9]$/few/'", "few"},
				{"cat /proc/1/environ /proc/1/mem 2>/dev/null | head -c 1; readlink /proc/1/fd/* /proc/1/exe /proc/1/cwd; true", ""},
				{"cat /proc/net/dev | grep -c :", "1"},
				{"pwd; hostname 2>/dev/null || cat /proc/sys/kernel/hostname", "/scratch\nsandbox"},
				{"grep -q ' /usr .*nosuid' /proc/mounts || grep -q NoNewPrivs:.1 /proc/self/status; echo $?", "0"},
			} {
				r := sh(t, s, test.script+"; :")
				if got := strings.TrimSpace(string(r.Stdout)); got != test.want {
					t.Errorf("%s\ngives %q\nnot   %q\n%s", test.script, got, test.want, r.Stderr)
				}
			}
		})
	}
}

// TestLimits runs into each limit.
func TestLimits(t *testing.T) {
	f := working(t, NewRunc)
	limits := sandbox.Limits{CPUShares: 1, MemoryMB: 64, DiskMB: 8, Timeout: 20 * time.Second, MaxProcesses: 20}
	s := create(t, f, sandbox.Spec{Limits: limits, AllowPartial: true})
	r := sh(t, s, "head -c 20000000 /dev/zero > /scratch/a; stat -c %s /scratch/a; head -c 20000000 /dev/zero > /tmp/b; stat -c %s /tmp/b")
	if sizes := strings.Fields(string(r.Stdout)); len(sizes) != 2 || len(sizes[0]) > 7 || len(sizes[1]) > 7 {
		t.Errorf("8 MiB of scratch space took %q", r.Stdout)
	}
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	r = sh(t, s, "i=0; while [ $i -lt 20000 ]; do : > /scratch/$i || break; i=$((i+1)); done; ls /scratch | wc -l; ls /tmp")
	if n := strings.TrimSpace(string(r.Stdout)); len(n) > 4 {
		t.Errorf("%s files in 8 MiB of scratch space", n)
	}
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	r = sh(t, s, "for i in 1 2 3 4 5 6 7 8 9 0; do for j in 1 2 3 4 5; do sleep 30 & done; done 2>/dev/null; ls -d /proc/[0-9]* | wc -l")
	if n := strings.TrimSpace(string(r.Stdout)); len(n) > 2 {
		t.Errorf("%s processes of 20", n)
	}
	c := sandbox.Shell("trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & while :; do :; done")
	c.Timeout = 300 * time.Millisecond
	r, err := s.Exec(t.Context(), c)
	if err != nil || !r.TimedOut || r.LimitHit != sandbox.WallClock {
		t.Errorf("an endless command: %v, timed out %v, limit %q", err, r.TimedOut, r.LimitHit)
	}
	if r = sh(t, s, "ls -d /proc/[0-9]* | wc -l"); strings.TrimSpace(string(r.Stdout)) > "4" {
		t.Errorf("processes are left: %s", r.Stdout)
	}
	if f.Probe(t.Context()).Enforcement[sandbox.Memory].Level == sandbox.Full {
		r = sh(t, s, "head -c 200000000 /dev/zero | tail")
		if r.LimitHit != sandbox.Memory {
			t.Errorf("200 MB of 64: exit %d, limit %q", r.ExitCode, r.LimitHit)
		}
		if r = sh(t, s, "echo again"); string(r.Stdout) != "again\n" {
			t.Errorf("after that: %q", r.Stdout)
		}
	}
}

// TestReset holds that nothing of one user reaches the next.
func TestReset(t *testing.T) {
	for name, factory := range kinds {
		t.Run(name, func(t *testing.T) { testReset(t, create(t, working(t, factory), sandbox.Spec{})) })
	}
}

func testReset(t *testing.T, s sandbox.Sandbox) {
	sh(t, s, "for p in /scratch /tmp /var/tmp /dev/shm; do mkdir -p $p/a/b; echo x > $p/a/b/c; chmod 0 $p/a/b; done; sleep 100 & setsid sleep 100 &")
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := sh(t, s, "find /scratch /tmp /var/tmp /dev/shm -mindepth 1; ls -d /proc/[0-9]* | wc -l")
	if got := strings.TrimSpace(string(r.Stdout)); got > "4" || strings.Contains(got, "/") {
		t.Errorf("left: %s", got)
	}
}

// TestErrors holds that what cannot be is refused with its kind of error.
func TestErrors(t *testing.T) {
	f := working(t, NewRunc)
	ok := sandbox.Standard()
	for name, test := range map[string]struct {
		spec sandbox.Spec
		want error
	}{
		"no limits":             {sandbox.Spec{}, sandbox.ErrSpec},
		"no image":              {sandbox.Spec{Limits: ok, Image: "dir:/nowhere"}, sandbox.ErrImage},
		"an image of an engine": {sandbox.Spec{Limits: ok, Image: "alpine:3"}, sandbox.ErrSpec},
		"a kernel of its own":   {sandbox.Spec{Limits: ok, Require: sandbox.Enforcement{sandbox.Kernel: {Level: sandbox.Full}}}, sandbox.ErrUnenforceable},
	} {
		if _, err := f.Create(t.Context(), test.spec); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	missing := NewRunc(Options{Program: "/nowhere/runc"})
	if a := missing.Probe(t.Context()); a.OK || !strings.Contains(a.Reason, "not installed") {
		t.Errorf("a runtime that is missing: %+v", a)
	}
	broken := NewRunc(Options{Program: "/bin/false", Agent: agentProgram, Dir: f.folder.base})
	defer broken.Close()
	if a := broken.Probe(t.Context()); a.OK || a.Reason == "" {
		t.Errorf("a runtime that fails: %+v", a)
	}
	noAgent := NewRunc(Options{Agent: "/bin/sh", Dir: f.folder.base})
	defer noAgent.Close()
	if a := noAgent.Probe(t.Context()); a.OK || !strings.Contains(a.Reason, "agent") {
		t.Errorf("an agent that is none: %+v", a)
	}
}

// TestImageDir runs a folder as an image and writes nothing into it.
func TestImageDir(t *testing.T) {
	busybox, err := os.ReadFile("/bin/busybox")
	if err != nil {
		t.Skipf("busybox is not here: %v", err)
	}
	if static(bytes.NewReader(busybox)) != nil {
		t.Skip("this busybox is not static")
	}
	f := working(t, NewRunc)
	img := t.TempDir()
	for _, name := range []string{"bin", "etc"} {
		if err := makeDir(filepath.Join(img, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(img, "bin/busybox"), busybox, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("busybox", filepath.Join(img, "bin/sh")); err != nil {
		t.Fatal(err)
	}
	if err := write(filepath.Join(img, "etc/hosts"), "10.0.0.1 production\n"); err != nil {
		t.Fatal(err)
	}
	s := create(t, f, sandbox.Spec{Image: "dir:" + img})
	r := sh(t, s, "busybox ls /; busybox cat /etc/hosts; echo x > /bin/x")
	if got := strings.Fields(string(r.Stdout)); !slices.Equal(got, strings.Fields("bin dev etc proc scratch tmp 127.0.0.1 localhost ::1 localhost")) {
		t.Errorf("inside: %q %s", got, r.Stderr)
	}
	if entries, _ := os.ReadDir(img); len(entries) != 2 {
		t.Errorf("the image was changed: %v", entries)
	}
}
