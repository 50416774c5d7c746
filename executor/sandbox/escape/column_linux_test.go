package escape

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/microvm"
)

// A column of the table is one sandbox, or none.
type column struct {
	name        string
	enforcement sandbox.Enforcement // nil: nothing was promised, and nothing is asserted
	run         func(t *testing.T, p probe) ended
	close       func()
}

// ended is how the program of an attempt ended.
type ended struct {
	out, err string
	signal   int
	code     int
	limit    sandbox.Dimension
	timedOut bool
	failed   error // the sandbox, not the program
}

// limits are those that the bombs are made for.
func limits() sandbox.Limits {
	return sandbox.Limits{CPUShares: 1, MemoryMB: 64, DiskMB: 16, Timeout: 20 * time.Second, MaxProcesses: 64}
}

func (r *rig) spec() sandbox.Spec {
	return sandbox.Spec{
		Env: []string{"GIVEN=1"}, Limits: limits(), AllowPartial: true,
		Mounts: []sandbox.Mount{{Source: r.ro, Target: "/probe"}, {Source: r.rw, Target: "/work", Writable: true}, {Source: r.given, Target: "/given"}},
	}
}

// backend is the column of one of ours.
func (r *rig) backend(t *testing.T, f sandbox.Factory) (column, error) {
	t.Helper()
	spec := r.spec()
	made := map[float64]sandbox.Sandbox{}
	get := func(shares float64) (sandbox.Sandbox, error) {
		if sb := made[shares]; sb != nil {
			return sb, nil
		}
		spec.Limits.CPUShares = shares
		ctx, cancel := context.WithTimeout(t.Context(), bootPatience)
		defer cancel()
		sb, err := f.Create(ctx, spec)
		if err == nil {
			made[shares] = sb
			err = sb.Start(ctx)
		}
		return sb, err
	}
	sb, err := get(1)
	if why, ok := errors.AsType[*sandbox.Unenforceable](err); ok && slices.Equal(why.Dimensions, []sandbox.Dimension{sandbox.FSWrite}) {
		t.Logf("%s mounts nothing that can be written, and the attempts find none: %v", f.ID(), err)
		spec.Mounts = slices.DeleteFunc(spec.Mounts, func(m sandbox.Mount) bool { return m.Writable })
		sb, err = get(1)
	}
	if err != nil {
		return column{}, err
	}
	// Attempts on the processors are made where a quarter is allowed, of which a
	// back end may say something else.
	const quarter = 0.25
	less, err := get(quarter)
	if err != nil {
		return column{}, err
	}
	enforcement := sb.Enforcement()
	enforcement[sandbox.CPU] = less.Enforcement()[sandbox.CPU]
	run := func(t *testing.T, p probe) ended {
		shares := 1.0
		if p.Dimension == sandbox.CPU {
			shares = quarter
		}
		sb, err := get(shares)
		if err != nil {
			return ended{failed: err}
		}
		c := sandbox.Command{Argv: r.argv("/probe/probe", p.Name)}
		if p.Name == atTerminal {
			c.Stdin = terminal(t)
		}
		began, used := time.Now(), emulated()
		res, err := sb.Exec(t.Context(), c)
		if f.ID() == microvm.QEMU && p.Dimension == sandbox.CPU {
			// A machine does not see what it is not given: only the host does.
			cores := float64(emulated()-used) / float64(time.Since(began))
			t.Logf("%s: %.2f cores for the emulator, where %.2f are allowed; inside: %s", p.Name, cores, shares, res.Stdout)
			if cores < 2*shares {
				res.Stdout = fmt.Appendf(nil, `{"outcome":%q,"detail":"%.2f cores, as the host counts them"}`, held, cores)
			}
		}
		if err == nil && p.Bomb {
			err = sb.Reset(t.Context())
		}
		return ended{out: string(res.Stdout), err: string(res.Stderr), signal: res.Signal, code: res.ExitCode, limit: res.LimitHit, timedOut: res.TimedOut, failed: err}
	}
	return column{name: f.ID(), enforcement: enforcement, run: run, close: func() {
		for _, sb := range made {
			_ = sb.Close()
		}
	}}, nil
}

// emulated is the processor time of the emulators that this program has started.
func emulated() (used time.Duration) {
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range list {
		text, err := os.ReadFile(path)
		_, rest, ok := bytes.Cut(text, []byte("(qemu"))
		if err != nil || !ok {
			continue
		}
		_, rest, _ = bytes.Cut(rest, []byte(") "))
		fields := strings.Fields(string(rest)) // from the state on
		if len(fields) < 13 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		const tick = 10 * time.Millisecond
		for _, field := range fields[11:13] {
			n, _ := strconv.ParseInt(field, 10, 64)
			used += time.Duration(n) * tick
		}
	}
	return used
}

// command is the column of a program that runs each attempt.
func (r *rig) command(name string, argv func(p probe) []string) column {
	return column{name: name, close: func() {}, run: func(t *testing.T, p probe) ended {
		if p.Wild && name == unconfined {
			return ended{out: `{"outcome":"","detail":"not tried"}`}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		args := argv(p)
		c := exec.CommandContext(ctx, args[0], args[1:]...)
		if p.Name == atTerminal {
			c.Stdin = terminal(t)
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		}
		c.Dir = r.home
		c.WaitDelay = time.Second
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		err := c.Run()
		e := ended{out: stdout.String(), err: stderr.String(), timedOut: ctx.Err() != nil}
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit):
			e.code = exit.ExitCode()
			if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
				e.signal = int(ws.Signal())
			}
		case err != nil:
			e.failed = err
		}
		if e.code > 128 {
			e.signal = e.code - 128
		}
		return e
	}}
}

const unconfined = "no sandbox"

// peers are the others, as they come; those that are not here are left out.
func (r *rig) peers(t *testing.T) []column {
	t.Helper()
	list := []column{r.command(unconfined, func(p probe) []string {
		return r.argv(filepath.Join(r.ro, "probe"), p.Name, "probe="+r.ro, "work="+r.rw, "given="+r.given)
	})}
	if path, err := exec.LookPath("bwrap"); err == nil {
		list = append(list, r.command("bubblewrap", func(p probe) []string {
			args := []string{path, "--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"}
			for _, dir := range hostFolders() {
				args = append(args, "--ro-bind", dir, dir)
			}
			args = append(args, "--ro-bind", r.ro, "/probe", "--bind", r.rw, "/work", "--ro-bind", r.given, "/given", "--")
			return append(args, r.argv("/probe/probe", p.Name)...)
		}))
	}
	if path, err := exec.LookPath("runc"); err == nil && os.Getuid() == 0 {
		n := 0
		list = append(list, r.command("runc", func(p probe) []string {
			n++
			id := fmt.Sprintf("escape-%s-%d", r.nonce, n)
			bundle := r.bundle(t, path, id, r.argv("/probe/probe", p.Name))
			return []string{path, "--root", filepath.Join(r.home, "runc"), "run", "--bundle", bundle, id}
		}))
	}
	return list
}

// hostFolders are what a root with the programs of the host needs.
func hostFolders() []string {
	var list []string
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ssl/certs"} {
		if _, err := os.Stat(dir); err == nil {
			list = append(list, dir)
		}
	}
	return list
}

// bundle is what runc makes of its own, with the programs of the host.
func (r *rig) bundle(t *testing.T, runc, id string, argv []string) string {
	t.Helper()
	dir := filepath.Join(r.home, id)
	must(t, os.MkdirAll(filepath.Join(dir, "rootfs"), 0o755))
	c := exec.Command(runc, "spec")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	must(t, err)
	var spec map[string]any
	must(t, json.Unmarshal(text, &spec))
	process := spec["process"].(map[string]any)
	process["terminal"], process["args"] = false, argv
	mounts := spec["mounts"].([]any)
	bind := func(source, target, mode string) {
		mounts = append(mounts, map[string]any{"destination": target, "type": "bind", "source": source, "options": []string{"rbind", mode}})
	}
	for _, dir := range hostFolders() {
		bind(dir, dir, "ro")
	}
	bind(r.ro, "/probe", "ro")
	bind(r.rw, "/work", "rw")
	bind(r.given, "/given", "ro")
	mounts = append(mounts, map[string]any{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"})
	spec["mounts"] = mounts
	text, err = json.Marshal(spec)
	must(t, err)
	must(t, os.WriteFile(path, text, 0o600))
	return dir
}

// atTerminal is tried with a terminal as standard input.
const atTerminal = "terminal-injection"

// terminal makes one. What is typed into it nobody reads.
func terminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	must(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { _ = slave.Close() })
	return slave
}

// judge makes a cell of how an attempt ended.
func judge(p probe, e ended) cell {
	line, _, _ := strings.Cut(strings.TrimSpace(e.out), "\n")
	var c cell
	switch {
	case p.Bomb && errors.Is(e.failed, sandbox.ErrFailed):
		// Memory of the kernel can cost the agent its life; the next command
		// starts another.
		return cell{held, "it took the sandbox with it"}
	case e.failed != nil:
		return cell{broken, e.failed.Error()}
	case json.Unmarshal([]byte(line), &c) == nil:
		return c
	case e.signal == int(syscall.SIGSYS) || p.Bomb && strings.Contains(e.err, "SIGSYS"):
		return cell{held, "killed by the filter"}
	case p.Bomb && (e.signal != 0 || e.code != 0 || e.timedOut):
		return cell{held, fmt.Sprintf("killed: signal %d, limit %q", e.signal, e.limit)}
	}
	return cell{broken, fmt.Sprintf("code %d, signal %d, timed out %v: %.200s", e.code, e.signal, e.timedOut, e.err)}
}
