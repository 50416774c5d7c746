package process

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// TestSocketsInMounts is about programs of the host that listen on a socket in
// a folder that is mounted: an agent for keys, the engine of containers.
func TestSocketsInMounts(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("there is no Python on this host to connect with")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	stream, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	datagrams, err := net.ListenPacket("unixgram", filepath.Join(dir, "d"))
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	for _, name := range []string{"s", "d"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	const attempts = `
import socket
def attempt(name, f):
    try:
        f()
        print("open:", name)
    except OSError:
        pass
attempt("stream", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect("/m/s"))
attempt("datagram", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "/m/d"))
attempt("pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", "/m/d"))
attempt("raw pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)[0].sendto(b"x", "/m/d"))
attempt("stream pair", lambda: socket.socketpair()[0].connect("/m/s"))
a, b = socket.socketpair()
a.sendall(b"ordinary")
print(b.recv(100).decode())`
	f := factory(t, Options{})
	for _, writable := range []bool{false, true} {
		s := spec()
		s.Mounts = []sandbox.Mount{{Source: dir, Target: "/m", Writable: writable}}
		if got := runPython(t, create(t, f, s), attempts); got != "ordinary\n" {
			t.Errorf("writable %v: %q", writable, got)
		}
	}
	_ = datagrams.SetReadDeadline(time.Now())
	if n, _, err := datagrams.ReadFrom(make([]byte, 16)); err == nil {
		t.Errorf("%d bytes came out of a sandbox", n)
	}
	// Among themselves, programs of a sandbox without mounts have such sockets.
	const own = `
import socket
l = socket.socket(socket.AF_UNIX)
l.bind("/tmp/own")
l.listen()
socket.socket(socket.AF_UNIX).connect("/tmp/own")
print("own")`
	if got := runPython(t, create(t, f, spec()), own); got != "own\n" {
		t.Errorf("without mounts: %q", got)
	}
}

// runPython runs a program and gives what it wrote, errors too.
func runPython(t *testing.T, box sandbox.Sandbox, code string) string {
	t.Helper()
	r, err := box.Exec(context.Background(), sandbox.Command{Argv: []string{"/usr/bin/python3", "-c", code}})
	if err != nil {
		t.Fatal(err)
	}
	return string(r.Stdout) + string(r.Stderr)
}

// TestWhatCountsWithTheHost is about what the kernel counts for the user who
// made the sandbox: one that takes all of it would stop the others and the host.
func TestWhatCountsWithTheHost(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("there is no Python on this host to try it with")
	}
	const take = `
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
n = 0
while n < 100 and libc.inotify_init() >= 0:
    n += 1
print("instances", n)
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
n = 0
while n < 5000 and libc.sigqueue(os.getpid(), 40, None) == 0:
    n += 1
print("signals", n)`
	for i := range 2 {
		if got := runPython(t, create(t, factory(t, Options{}), spec()), take); got != "instances 8\nsignals 1024\n" {
			t.Errorf("sandbox %d: %q", i, got)
		}
	}
}
