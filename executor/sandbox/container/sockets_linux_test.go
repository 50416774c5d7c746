package container

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// TestMeansOfTheHost is about what a namespace does not keep apart: sockets in
// folders that are mounted, and what the kernel counts for who made the
// sandbox.
func TestMeansOfTheHost(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("there is no Python on this host to try it with")
	}
	dir, err := os.MkdirTemp("/var/tmp", "container-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(filepath.Join(dir, "s"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, factory := range map[string]func(Options) *Factory{"container": NewRunc, "podman": NewPodman} {
		t.Run(name, func(t *testing.T) { meansOfTheHost(t, working(t, factory), dir, name == "container") })
	}
}

func meansOfTheHost(t *testing.T, f *Factory, dir string, ownUsers bool) {
	s := create(t, f, sandbox.Spec{Limits: sandbox.Standard(), AllowPartial: true, Mounts: []sandbox.Mount{{Source: dir, Target: "/m"}}})
	r := sh(t, s, `/usr/bin/python3 -c '
import ctypes, socket
try:
    socket.socket(socket.AF_UNIX).connect("/m/s")
    print("open")
except OSError:
    print("closed")
n = 0
while n < 100 and ctypes.CDLL(None).inotify_init() >= 0:
    n += 1
print(n)'`)
	want := "closed\n8\n"
	if !ownUsers { // an engine that shares the users of the host
		want = "closed\n100\n"
	}
	if got := string(r.Stdout); got != want {
		t.Errorf("%q %s", got, r.Stderr)
	}
}
