package allow

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/netns"
)

// The jail of these tests is the least that the list needs: this test binary
// in namespaces of its own, without capabilities, told what to try.

const jailEnv = "ALLOW_TEST_JAIL"

// setup is what the jail is made with.
type setup struct {
	Ports    []int
	Prefixes []string
	Resolv   string // a file
}

// order is one thing to try in the jail, and outcome what came of it.
type order struct {
	Probe string
	Args  []string
}

type outcome struct{ Out, Err string }

func TestMain(m *testing.M) {
	switch stage := os.Getenv(jailEnv); stage {
	case "":
		os.Exit(m.Run())
	case "inside":
		serveProbes()
	default:
		enterJail(stage)
	}
}

func must(what string, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, what+":", err)
		os.Exit(3)
	}
}

// enterJail prepares the namespaces, passes the sockets out, and becomes the
// one that tries things, without any right.
func enterJail(stage string) {
	runtime.LockOSThread()
	var s setup
	must("setup", json.Unmarshal([]byte(stage), &s))
	must("up", netns.Up())
	fds, err := netns.Listen(s.Ports, s.Prefixes)
	must("listen", err)
	must("send", unix.Sendmsg(3, []byte{1}, unix.UnixRights(fds...), nil, 0))
	for _, fd := range append(fds, 3) {
		_ = unix.Close(fd)
	}
	must("private mounts", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must("resolv.conf", unix.Mount(s.Resolv, "/etc/resolv.conf", "", unix.MS_BIND, ""))
	must("no new rights", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	for c := 0; unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0) == nil; c++ {
	}
	exe, err := os.Executable()
	must("executable", err)
	must("exec", syscall.Exec(exe, []string{exe}, []string{jailEnv + "=inside", "PATH=/usr/bin:/bin", "HOME=/", "GODEBUG=netdns=go"}))
}

func serveProbes() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var o order
		if in.Decode(&o) != nil {
			os.Exit(0)
		}
		text, err := probes[o.Probe](o.Args)
		r := outcome{Out: text}
		if err != nil {
			r.Err = err.Error()
		}
		_ = out.Encode(r)
	}
}

// jail is a running one, with its list at work.
type jail struct {
	t     testing.TB
	proxy *Proxy
	in    *json.Encoder
	out   *json.Decoder
}

func newJail(t testing.TB, l *List) *jail {
	t.Helper()
	resolv := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(resolv, []byte(netns.ResolvConf), 0o644); err != nil {
		t.Fatal(err)
	}
	stage, err := json.Marshal(setup{l.Ports(), l.Prefixes(), resolv})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "theirs")
	defer theirs.Close()
	defer unix.Close(pair[0])
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = []string{jailEnv + "=" + string(stage), "GOCOVERDIR=" + t.TempDir()}
	cmd.ExtraFiles = []*os.File{theirs}
	var said strings.Builder
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // what Pdeathsig is about is the thread
	t.Cleanup(runtime.UnlockOSThread)
	if err := cmd.Start(); err != nil {
		t.Skipf("no namespaces for this user: %v", err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
		if t.Failed() && said.Len() > 0 {
			t.Logf("the jail said: %s", said.String())
		}
	})
	theirs.Close()
	_ = unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 60})
	oob := make([]byte, 4096)
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 16), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("no sockets from the jail: %v: %s", err, said.String())
	}
	return &jail{t: t, proxy: serveRights(t, l, oob[:n]), in: json.NewEncoder(stdin), out: json.NewDecoder(stdout)}
}

// serveRights puts the list to work on what the jail sent.
func serveRights(t testing.TB, l *List, oob []byte) *Proxy {
	t.Helper()
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) != 1 {
		t.Fatalf("%v in %d messages", err, len(messages))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		t.Fatal(err)
	}
	var files []*os.File
	for _, fd := range fds {
		files = append(files, os.NewFile(uintptr(fd), "jail"))
	}
	p, err := l.ServeFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// try runs a probe.
func (j *jail) try(probe string, args ...string) outcome {
	j.t.Helper()
	if err := j.in.Encode(order{probe, args}); err != nil {
		j.t.Fatal(err)
	}
	answer := make(chan outcome, 1)
	go func() {
		var r outcome
		if err := j.out.Decode(&r); err != nil {
			r.Err = "the jail is gone: " + err.Error()
		}
		answer <- r
	}()
	select {
	case r := <-answer:
		return r
	case <-time.After(time.Minute):
		j.t.Fatalf("%s %v did not end", probe, args)
		return outcome{}
	}
}
