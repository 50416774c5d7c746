// Package escape is a table of attempts to get out of a sandbox, or to use
// more than its limits. Command probe, which is built for it, makes them from
// inside; what only the host can see is looked at from here. Each attempt
// belongs to a dimension of sandbox.Enforcement: where the back end says that
// it enforces that dimension fully, the attempt has to fail. What gets through
// where nothing was said of it is what these tests are for.
//
// With -matrix DIR the whole table runs, as root and as nobody, beside
// bubblewrap and runc as they come and beside no sandbox at all, and DIR gets
// it as matrix.md and matrix.json.
package escape

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

var matrixDir = flag.String("matrix", "", "run the whole table, and write it into this folder")

// A probe is one attempt, as command probe lists it.
type probe struct {
	Name      string            `json:"name"`
	Dimension sandbox.Dimension `json:"dimension"`
	Wild      bool              `json:"wild"`
	Bomb      bool              `json:"bomb"`
	Slow      bool              `json:"slow"`
}

// A rig is what the attempts go for: files, sockets and a process of the host.
type rig struct {
	nonce, secret    string
	ro, rw, given    string // folders that are mounted
	home, canary     string // what is not
	probe            string // the program, on the host
	list             []probe
	values           map[string]string
	victim           *exec.Cmd
	port, udp, abstr string
}

// program builds the probe once; as nobody it is given.
var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("ESCAPE_PROBE"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "probe")
	return path, errors.Join(build(path, "./probe"), os.Chmod(dir, 0o755))
})

// agent builds the small agent once, beside the probe.
var agent = sync.OnceValues(func() (string, error) {
	beside, err := program()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(beside), "toolwarrant-agent")
	if os.Getenv("ESCAPE_PROBE") != "" {
		return path, nil
	}
	return path, build(path, "github.com/toolwarrant/toolwarrant/cmd/toolwarrant-agent")
})

func build(path, what string) error {
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, what)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func agentProgram(t *testing.T) string {
	t.Helper()
	path, err := agent()
	if err != nil {
		t.Fatalf("the agent cannot be built: %v", err)
	}
	return path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil && os.Getenv("ESCAPE_PROBE") == "" {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{nonce: strings.ToLower(rand.Text()[:12]), secret: "secret-" + rand.Text()}
	r.build(t)
	t.Setenv("ESCAPE_SECRET", r.secret)
	r.prepare(t)
	r.serve(t)
	r.leave(t)
	r.beVictim(t)
	host, _ := os.Hostname()
	r.values = map[string]string{
		"nonce": r.nonce, "secret": r.secret, "canary": r.canary, "home": r.home, "hostname": host,
		"pid": strconv.Itoa(r.victim.Process.Pid), "address": mapped(t, r.victim.Process.Pid),
		"port": r.port, "udp": r.udp, "abstract": r.abstr, "socket": filepath.Join(filepath.Dir(r.canary), "socket"),
		"own": ownAddress(), "shm": sharedMemory(t), "env": "PATH,HOME,LANG,GIVEN",
	}
	return r
}

// build makes the program and asks it what it has.
func (r *rig) build(t *testing.T) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatalf("the probe cannot be built: %v", err)
	}
	out, err := exec.Command(path, "list").Output()
	if err == nil {
		err = json.Unmarshal(out, &r.list)
	}
	if err != nil || len(r.list) < 40 {
		t.Fatalf("%d probes: %v", len(r.list), err)
	}
	r.probe = path
}

// prepare makes the folders. They may be read by everybody, so that it is the
// sandbox that keeps them and not their modes.
func (r *rig) prepare(t *testing.T) {
	t.Helper()
	top, err := os.MkdirTemp("", "escape")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	dir := func(name string) string {
		path := filepath.Join(top, name)
		must(t, os.Mkdir(path, 0o755))
		return path
	}
	must(t, os.Chmod(top, 0o755))
	r.ro, r.rw, r.home, r.given = dir("ro"), dir("rw"), dir("home"), os.Getenv("ESCAPE_GIVEN")
	r.canary = filepath.Join(dir("secret"), "canary")
	text, err := os.ReadFile(r.probe)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(r.ro, "probe"), text, 0o755))
	must(t, os.WriteFile(filepath.Join(r.ro, "note"), []byte("a note\n"), 0o666))
	must(t, os.WriteFile(filepath.Join(r.home, "note"), []byte(r.secret), 0o644))
	must(t, os.WriteFile(r.canary, []byte(r.secret), 0o644))
	must(t, os.Symlink(r.canary, filepath.Join(r.ro, "link")))
	must(t, os.Symlink(r.canary, filepath.Join(r.rw, "link")))
	must(t, os.Symlink(filepath.Dir(r.canary), filepath.Join(r.rw, "out")))
	shm := filepath.Join("/dev/shm", r.nonce)
	if os.WriteFile(shm, []byte(r.secret), 0o644) == nil {
		t.Cleanup(func() { _ = os.Remove(shm) })
	}
	if r.given == "" {
		r.given = dir("given")
		if os.Getuid() == 0 {
			suid := filepath.Join(r.given, "suid")
			must(t, os.WriteFile(suid, text, 0o755))
			must(t, unix.Chmod(suid, 0o4755))
			// Where they cannot be made the probe says that they are not there.
			for name, node := range map[string][2]uint32{"loop-control-node": {unix.S_IFCHR, uint32(unix.Mkdev(10, 237))}, "loop-node": {unix.S_IFBLK, uint32(unix.Mkdev(7, 0))}} {
				if path := filepath.Join(r.given, name); unix.Mknod(path, node[0], int(node[1])) == nil {
					must(t, unix.Chmod(path, 0o666))
				}
			}
		}
	}
}

// serve answers with the secret whoever gets through.
func (r *rig) serve(t *testing.T) {
	t.Helper()
	answer := func(l net.Listener, err error) string {
		must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.SetDeadline(time.Now().Add(time.Second))
				_, _ = bufio.NewReader(c).ReadString('\n')
				_, _ = c.Write([]byte(r.secret + "\n"))
				_ = c.Close()
			}
		}()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		return port
	}
	r.port = answer(net.Listen("tcp4", "127.0.0.1:0"))
	if l, err := net.Listen("tcp6", "[::1]:"+r.port); err == nil {
		answer(l, nil)
	}
	r.abstr = "escape" + r.nonce
	answer(net.Listen("unix", "@"+r.abstr))
	path := filepath.Join(filepath.Dir(r.canary), "socket")
	answer(net.Listen("unix", path))
	must(t, os.Chmod(path, 0o777))
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = u.Close() })
	_, r.udp, _ = net.SplitHostPort(u.LocalAddr().String())
	go func() {
		for {
			_, from, err := u.ReadFrom(make([]byte, 64))
			if err != nil {
				return
			}
			_, _ = u.WriteTo([]byte(r.secret), from)
		}
	}()
}

// leave keeps a descriptor open that every new process inherits.
func (r *rig) leave(t *testing.T) {
	t.Helper()
	fd, err := unix.Open(r.canary, unix.O_RDONLY, 0)
	must(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
}

// beVictim starts a process of the host that has the secret in its environment.
func (r *rig) beVictim(t *testing.T) {
	t.Helper()
	r.victim = exec.Command(r.probe, "child", "victim", "victim"+r.nonce)
	must(t, r.victim.Start())
	t.Cleanup(func() {
		_ = r.victim.Process.Kill()
		_ = r.victim.Wait()
	})
}

// mapped is where a process has its program.
func mapped(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	must(t, err)
	at, _, _ := strings.Cut(string(text), "-")
	return at
}

// ownAddress is one of the host, or "".
func ownAddress() string {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return ""
}

// sharedMemory is the key of a segment of the host.
func sharedMemory(t *testing.T) string {
	t.Helper()
	key := 0x65000000 | os.Getpid()
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o666)
	if err != nil {
		return "0"
	}
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return strconv.Itoa(key)
}

// argv is the command of one attempt. The folders are given where they are not
// mounted in their places.
func (r *rig) argv(program, name string, more ...string) []string {
	list := []string{program, "run", name}
	for key, value := range r.values {
		list = append(list, key+"="+value)
	}
	return append(list, more...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
