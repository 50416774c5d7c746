package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestParse(t *testing.T) {
	hybrid := `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`
	own := "4:memory:/docker/abc/inner\n2:cpu,cpuacct:/\n0::/user.slice/a.scope\n"
	v1, v2 := parse(hybrid, own)
	for kind, want := range map[string]at{
		"memory": {"/sys/fs/cgroup/memory", "inner"}, "cpu": {"/sys/fs/cgroup/cpu,cpuacct", "."}, "cpuacct": {"/sys/fs/cgroup/cpu,cpuacct", "."},
	} {
		if v1[kind] != want {
			t.Errorf("%s is at %+v, want %+v", kind, v1[kind], want)
		}
	}
	if want := (at{"/sys/fs/cgroup/unified", "user.slice/a.scope"}); v2 != want {
		t.Errorf("the second version is at %+v, want %+v", v2, want)
	}
	for _, broken := range []string{"", "x", "1 2 3 - cgroup", "a b c d e f - cgroup x\n - - -", "::::", "1:2"} {
		parse(broken, broken)
	}
}

// TestUnified works on files that look like the second version: which have to
// be written, and what is read.
func TestUnified(t *testing.T) {
	dir := t.TempDir()
	place := filepath.Join(dir, "slice")
	if err := os.MkdirAll(filepath.Join(place, "own.scope"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file(filepath.Join(place, "own.scope", "cgroup.subtree_control"), "")
	file(filepath.Join(place, "cgroup.subtree_control"), "cpu memory pids\n")
	ours := filepath.Join(place, folder)
	if err := os.Mkdir(ours, 0o755); err != nil {
		t.Fatal(err)
	}
	file(filepath.Join(ours, "cgroup.subtree_control"), "")
	got, err := prepareUnified(at{dir, "slice/own.scope"})
	if err != nil || got != ours {
		t.Fatalf("%v, %s, want %s", err, got, ours)
	}
	if _, err := prepareUnified(at{t.TempDir(), "a/b"}); err == nil {
		t.Error("a place without controllers")
	}
	tree := &Tree{unified: true, dirs: map[string]string{"memory": ours, "pids": ours, "cpu": ours, "cpuacct": ours}, prefix: "1-2-3"}
	g := &Group{tree: tree, name: "1-2-3-4"}
	group := filepath.Join(ours, g.name)
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"memory.max": "", "memory.swap.max": "", "cpu.max": "", "pids.max": "", "cgroup.procs": "",
		"cpu.stat": "usage_usec 1500\nuser_usec 1\n", "memory.peak": "4096\n", "memory.events": "oom 3\noom_kill 2\n", "pids.events": "max 7\n", "pids.current": "5\n",
	} {
		file(filepath.Join(group, name), text)
	}
	if err := g.Limit(Limits{Memory: 1 << 20, Processes: 9, CPU: 0.5}); err != nil {
		t.Fatal(err)
	}
	if err := g.Add(42); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "cpu.max": "50000 100000", "pids.max": "9", "cgroup.procs": "42"} {
		if text, _ := os.ReadFile(filepath.Join(group, name)); string(text) != want {
			t.Errorf("%s is %q, want %q", name, text, want)
		}
	}
	if u, want := g.Usage(), (Usage{CPU: 1500000, PeakMemory: 4096, OutOfMemory: 2, Refused: 7}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
	if n, err := g.Processes(); err != nil || n != 5 {
		t.Errorf("%v, %d", err, n)
	}
}

func TestGroup(t *testing.T) {
	tree, err := Open()
	if err != nil {
		t.Skip("no control groups here: ", err)
	}
	g, err := tree.New(Limits{Memory: 64 << 20, Processes: 4})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/bin/sh", "-c", "read x; for i in 1 2 3 4 5 6; do sleep 5 & done; echo no")
	in, _ := c.StdinPipe()
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	if err := g.Add(c.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("go\n"))
	_ = c.Wait()
	if u := g.Usage(); u.Refused < 1 || u.CPU <= 0 || u.PeakMemory <= 0 || u.OutOfMemory != 0 {
		t.Errorf("%+v", u)
	}
	// The children outlive the shell, and the group them.
	g.Kill()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	for _, dir := range tree.unique() {
		if _, err := os.Stat(filepath.Join(dir, g.name)); !os.IsNotExist(err) {
			t.Errorf("the group is left: %v", err)
		}
	}
	// Of an owner that is gone: a number that no process has had since.
	space, _, _ := strings.Cut(tree.prefix, "-")
	stale := filepath.Join(tree.dirs["pids"], space+"-999999999-1-1")
	if err := os.Mkdir(stale, 0o755); err != nil {
		t.Fatal(err)
	}
	tree.Sweep()
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Error("the group of an owner that is gone stays")
	}
}

// TestStart starts a process in a group, from a thread that is not left there.
func TestStart(t *testing.T) {
	tree, err := Open()
	if err != nil {
		t.Skip(err)
	}
	if !tree.Starts() {
		t.Skip("processes cannot be started in groups by this user")
	}
	g, err := tree.New(Limits{Memory: 64 << 20, Processes: 8})
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own := func() string {
		text, err := os.ReadFile("/proc/thread-self/cgroup")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := own()
	c := exec.Command("sleep", "60")
	c.SysProcAttr = &syscall.SysProcAttr{}
	if err := g.Place().Start(c.SysProcAttr, c.Start); err != nil {
		t.Fatal(err)
	}
	if in, err := g.Holds(c.Process.Pid); !in || err != nil {
		t.Error("the process is not in the group", err)
	}
	if after := own(); after != before {
		t.Errorf("the thread is in\n%s and was in\n%s", after, before)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	failed := errors.New("it does not start")
	g, err = tree.New(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Place().Start(&syscall.SysProcAttr{}, func() error { return failed }); !errors.Is(err, failed) || own() != before {
		t.Error(err, own())
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
