package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// folder is the one below which all groups of all processes are.
const folder = "toolwarrant"

// kinds are the controllers that are used. The second version counts the use
// of processors with cpu.
var kinds = []string{"memory", "pids", "cpu", "cpuacct"}

// next numbers the groups of this process, whichever tree they are in.
var next atomic.Uint64

// A Tree is where groups can be made. It is safe for concurrent use.
type Tree struct {
	unified bool
	dirs    map[string]string // controller -> our folder; of the second version all are one
	prefix  string            // of the names of this process' groups
	starts  bool              // a process can be started in a group
}

// Open finds and prepares the place for groups. An error says why there is
// none here.
func Open() (*Tree, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	owner, err := owner(os.Getpid())
	if err != nil {
		return nil, err
	}
	t := &Tree{dirs: map[string]string{}, prefix: owner}
	v1, v2 := parse(string(mounts), string(own))
	if v2 != (at{}) {
		if dir, err := prepareUnified(v2); err == nil {
			t.unified = true
			for _, kind := range kinds {
				t.dirs[kind] = dir
			}
			if err := t.try(); err == nil {
				return t, nil
			}
			t.unified, t.dirs = false, map[string]string{}
		} else if len(v1) == 0 {
			return nil, err
		}
	}
	var failed error
	for _, kind := range kinds {
		place, ok := v1[kind]
		if !ok {
			continue
		}
		dir := filepath.Join(place.mount, place.path, folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			failed = cmp.Or(failed, errors.Unwrap(err), err)
			continue
		}
		// Another user's, made before.
		if err := unix.Access(dir, unix.W_OK); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		t.dirs[kind] = dir
	}
	if t.dirs["memory"] == "" || t.dirs["pids"] == "" {
		return nil, fmt.Errorf("no control groups for memory and processes can be made: %w", cmp.Or(failed, errors.ErrUnsupported))
	}
	if err := t.try(); err != nil {
		return nil, err
	}
	return t, nil
}

// try makes a group, since a folder of somebody else's may be there.
func (t *Tree) try() error {
	t.Sweep()
	g, err := t.New(Limits{})
	if err != nil {
		return err
	}
	t.starts = t.unified
	if !t.unified {
		// In the place of threads, one of which may not find back.
		tried := make(chan error)
		go func() {
			runtime.LockOSThread() // and it ends with this goroutine
			tried <- g.Place().Start(nil, func() error { return nil })
		}()
		t.starts = <-tried == nil
	}
	return g.Close()
}

// at is a mounted hierarchy and the group of this process in it.
type at struct {
	mount, path string
}

// parse reads which hierarchies there are and where this process is in them.
func parse(mountinfo, own string) (v1 map[string]at, v2 at) {
	v1 = map[string]at{}
	paths := map[string]string{}
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			paths[controller] = parts[2]
		}
	}
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		root, mount := fields[3], fields[4]
		switch kind[0] {
		case "cgroup2":
			v2 = at{mount, below(paths[""], root)}
		case "cgroup":
			for controller := range strings.SplitSeq(kind[2], ",") {
				if slices.Contains(kinds, controller) {
					v1[controller] = at{mount, below(paths[controller], root)}
				}
			}
		}
	}
	return v1, v2
}

// below gives path as seen from a mount that shows the hierarchy from root on.
func below(path, root string) string {
	rest, err := filepath.Rel(root, path)
	if err != nil || rest == ".." || strings.HasPrefix(rest, "../") {
		return "/"
	}
	return rest
}

// prepareUnified finds the nearest group upwards that passes its controllers
// on to its children and may be written to.
func prepareUnified(place at) (string, error) {
	for path := filepath.Clean("/" + place.path); ; path = filepath.Dir(path) {
		parent := filepath.Join(place.mount, path)
		passed, _ := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
		controllers := strings.Fields(string(passed))
		if slices.Contains(controllers, "memory") && slices.Contains(controllers, "pids") {
			dir := filepath.Join(parent, folder)
			if err := os.MkdirAll(dir, 0o755); err == nil {
				for _, controller := range []string{"+memory", "+pids", "+cpu"} {
					err = errors.Join(err, write(dir, "cgroup.subtree_control", controller))
				}
				if slices.Contains(controllers, "cpu") && err == nil || hasBoth(dir) {
					return dir, nil
				}
			}
		}
		if path == "/" {
			return "", errors.New("no control group with memory and pids may be written to here")
		}
	}
}

func hasBoth(dir string) bool {
	passed, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	controllers := strings.Fields(string(passed))
	return slices.Contains(controllers, "memory") && slices.Contains(controllers, "pids")
}

// HasCPU reports whether processors can be bounded.
func (t *Tree) HasCPU() bool {
	dir := t.dirs["cpu"]
	if dir == "" {
		return false
	}
	if !t.unified {
		_, err := os.Stat(filepath.Join(dir, "cpu.cfs_quota_us"))
		return err == nil
	}
	passed, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	return slices.Contains(strings.Fields(string(passed)), "cpu")
}

// Version is 1 or 2.
func (t *Tree) Version() int {
	if t.unified {
		return 2
	}
	return 1
}

// owner is the part of a name that says which process a group belongs to: a
// number alone would be another process some day, or one of another namespace.
func owner(pid int) (string, error) {
	var space unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &space); err != nil {
		return "", err
	}
	began, err := startTime(pid)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d-%d-%s", space.Ino, pid, began), nil
}

// startTime is when a process began, in ticks since the start of the system.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	// The name of the program may hold anything.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const startTimeAfterName = 19
	if len(fields) <= startTimeAfterName {
		return "", errors.New("the state of a process cannot be read")
	}
	return fields[startTimeAfterName], nil
}

// Sweep removes the groups of owners that are gone. A group that still holds
// a process stays.
func (t *Tree) Sweep() {
	for _, dir := range t.unique() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			parts := strings.Split(e.Name(), "-")
			if !e.IsDir() || len(parts) != 4 {
				continue
			}
			pid, err := strconv.Atoi(parts[1])
			if err != nil || !strings.HasPrefix(t.prefix, parts[0]+"-") {
				continue
			}
			if began, err := startTime(pid); err == nil && began == parts[2] {
				continue
			}
			_ = unix.Rmdir(filepath.Join(dir, e.Name()))
		}
	}
}

func (t *Tree) unique() []string {
	var dirs []string
	for _, kind := range kinds {
		if dir := t.dirs[kind]; dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
