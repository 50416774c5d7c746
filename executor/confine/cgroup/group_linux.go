package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Group is one set of bounded processes. It is safe for concurrent use.
type Group struct {
	tree *Tree
	name string

	mu   sync.Mutex
	last *Usage // what Usage gave when it was closed
}

// period is how often a share of a processor is counted.
const period = 100 * time.Millisecond

// New makes a group. What cannot be bounded is an error, and nothing is left.
func (t *Tree) New(l Limits) (*Group, error) {
	g := &Group{tree: t, name: fmt.Sprintf("%s-%d", t.prefix, next.Add(1))}
	for _, dir := range t.unique() {
		if err := unix.Mkdir(filepath.Join(dir, g.name), 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("a control group: %w", err), g.Close())
		}
	}
	if err := g.Limit(l); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// Of gives the group that a process is in, which somebody else made and
// removes: it is read, and its number of processes may be set.
func Of(pid int) (*Group, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return nil, err
	}
	t := &Tree{dirs: map[string]string{}}
	v1, v2 := parse(string(mounts), string(own))
	for kind, place := range v1 {
		t.dirs[kind] = filepath.Join(place.mount, place.path)
	}
	if t.dirs["memory"] == "" || t.dirs["pids"] == "" {
		if v2 == (at{}) {
			return nil, errors.New("the process is in no group for memory and processes")
		}
		t.unified = true
		for _, kind := range kinds {
			t.dirs[kind] = filepath.Join(v2.mount, v2.path)
		}
	}
	return &Group{tree: t}, nil
}

func (g *Group) dir(kind string) string {
	if dir := g.tree.dirs[kind]; dir != "" {
		return filepath.Join(dir, g.name)
	}
	return ""
}

// Limit bounds the group, also when processes are in it; what is 0 in l stays as
// it is.
func (g *Group) Limit(l Limits) error {
	quota := int64(l.CPU * float64(period/time.Microsecond))
	const least = 1000 // microseconds, of the kernel
	quota = max(quota, least)
	if g.tree.unified {
		if l.Memory > 0 {
			if err := write(g.dir("memory"), "memory.max", strconv.FormatInt(l.Memory, 10)); err != nil {
				return err
			}
			if err := write(g.dir("memory"), "memory.swap.max", "0"); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		if l.CPU > 0 {
			if err := write(g.dir("cpu"), "cpu.max", fmt.Sprintf("%d %d", quota, period/time.Microsecond)); err != nil {
				return err
			}
		}
		return g.SetProcesses(l.Processes)
	}
	if l.Memory > 0 {
		if err := write(g.dir("memory"), "memory.limit_in_bytes", strconv.FormatInt(l.Memory, 10)); err != nil {
			return err
		}
		// There where swap is counted at all.
		if err := write(g.dir("memory"), "memory.memsw.limit_in_bytes", strconv.FormatInt(l.Memory, 10)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if l.CPU > 0 {
		if err := write(g.dir("cpu"), "cpu.cfs_period_us", strconv.FormatInt(int64(period/time.Microsecond), 10)); err != nil {
			return err
		}
		if err := write(g.dir("cpu"), "cpu.cfs_quota_us", strconv.FormatInt(quota, 10)); err != nil {
			return err
		}
	}
	return g.SetProcesses(l.Processes)
}

// SetProcesses changes how many processes and threads there may be; 0 is any
// number.
func (g *Group) SetProcesses(n int64) error {
	if n <= 0 {
		return nil
	}
	return write(g.dir("pids"), "pids.max", strconv.FormatInt(n, 10))
}

// Processes is how many processes and threads there are.
func (g *Group) Processes() (int64, error) {
	return number(g.dir("pids"), "pids.current")
}

// Add moves a process that has started into the group; its later children are
// in it from their start. On the second version a process can be started in
// the group instead (Folder).
func (g *Group) Add(pid int) error {
	for _, dir := range g.tree.unique() {
		if err := write(filepath.Join(dir, g.name), "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return err
		}
	}
	return nil
}

// Folder opens the group for SysProcAttr.CgroupFD, on the second version; nil
// on the first.
func (g *Group) Folder() (*os.File, error) {
	if !g.tree.unified {
		return nil, nil
	}
	return os.Open(g.dir("memory"))
}

// Holds reports whether a process is in the group, with every controller.
func (g *Group) Holds(pid int) (bool, error) {
	for _, dir := range g.tree.unique() {
		text, err := os.ReadFile(filepath.Join(dir, g.name, "cgroup.procs"))
		if err != nil {
			return false, err
		}
		if !slices.Contains(strings.Fields(string(text)), strconv.Itoa(pid)) {
			return false, nil
		}
	}
	return true, nil
}

// Usage reads the counters. Those of a closed group are what they were then:
// its processes may have ended it themselves.
func (g *Group) Usage() Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last != nil {
		return *g.last
	}
	return g.usage()
}

func (g *Group) usage() Usage {
	u := Usage{CPU: -1, PeakMemory: -1, OutOfMemory: -1, Refused: -1}
	if g.tree.unified {
		if n, err := field(g.dir("cpu"), "cpu.stat", "usage_usec"); err == nil {
			u.CPU = time.Duration(n) * time.Microsecond
		}
		if n, err := number(g.dir("memory"), "memory.peak"); err == nil {
			u.PeakMemory = n
		}
		if n, err := field(g.dir("memory"), "memory.events", "oom_kill"); err == nil {
			u.OutOfMemory = n
		}
	} else {
		if n, err := number(g.dir("cpuacct"), "cpuacct.usage"); err == nil {
			u.CPU = time.Duration(n)
		}
		if n, err := number(g.dir("memory"), "memory.max_usage_in_bytes"); err == nil {
			u.PeakMemory = n
		}
		if n, err := field(g.dir("memory"), "memory.oom_control", "oom_kill"); err == nil {
			u.OutOfMemory = n
		}
	}
	if n, err := field(g.dir("pids"), "pids.events", "max"); err == nil {
		u.Refused = n
	}
	return u
}

// ResetPeak makes PeakMemory count from now on, where the kernel can.
func (g *Group) ResetPeak() {
	if g.tree.unified {
		return // only for a reader that keeps the file open
	}
	_ = write(g.dir("memory"), "memory.max_usage_in_bytes", "0")
}

// emptyWithin is how long Close waits for processes that were killed: on a
// machine with much to do it takes seconds.
const emptyWithin = 5 * time.Second

// Kill ends every process in the group, also those that nobody has the number
// of. It is for processes that are not going to start others.
func (g *Group) Kill() {
	if g.tree.unified && write(g.dir("memory"), "cgroup.kill", "1") == nil {
		return
	}
	for _, dir := range g.tree.unique() {
		text, _ := os.ReadFile(filepath.Join(dir, g.name, "cgroup.procs"))
		for pid := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(pid); err == nil && n > 0 {
				_ = unix.Kill(n, unix.SIGKILL)
			}
		}
	}
}

// Close removes the group. The kernel may take a moment to see that its last
// process is gone.
func (g *Group) Close() error {
	g.mu.Lock()
	if g.last == nil {
		last := g.usage()
		g.last = &last
	}
	g.mu.Unlock()
	var failed error
	for _, dir := range g.tree.unique() {
		folder := filepath.Join(dir, g.name)
		err := unix.Rmdir(folder)
		began := time.Now()
		for wait := time.Millisecond; err == unix.EBUSY && time.Since(began) < emptyWithin; wait = min(2*wait, 100*time.Millisecond) {
			time.Sleep(wait)
			err = unix.Rmdir(folder)
		}
		if err != nil && err != unix.ENOENT {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", folder, err))
		}
	}
	return failed
}
