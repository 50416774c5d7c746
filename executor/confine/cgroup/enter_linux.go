package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Place tells where g is. It is for processes that are in the groups that this
// one is in, as its children are.
func (g *Group) Place() Place {
	if g.tree.unified {
		return Place{Unified: g.dir("memory")}
	}
	var p Place
	for _, dir := range g.tree.unique() {
		p.Into, p.Back = append(p.Into, filepath.Join(dir, g.name)), append(p.Back, filepath.Dir(dir))
	}
	return p
}

// Start runs start, which starts one process with attr, so that the process is
// in the group from its first moment. To move one that runs costs milliseconds
// on the first version, since the kernel then waits until no process of the
// machine starts or ends; that the calling thread steps into the group and out
// of it again costs nothing of the kind. On the second version attr names the
// group.
//
// The calling goroutine must be locked to its thread. On an error of Start the
// process may have started, and the thread may still be in the group: the caller
// ends both.
func (p Place) Start(attr *syscall.SysProcAttr, start func() error) error {
	if p.Unified != "" {
		dir, err := os.Open(p.Unified)
		if err != nil {
			return err
		}
		defer dir.Close()
		attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
		return start()
	}
	if err := step(p.Into); err != nil {
		return errors.Join(err, step(p.Back))
	}
	err := start()
	return errors.Join(err, step(p.Back))
}

// Starts reports whether Start works here: a thread that is not root's may step
// into a group and not out of it.
func (t *Tree) Starts() bool { return t.starts }

// step moves the calling thread into each of dirs, as far as it can; 0 is
// itself, the one thread that can be moved without stopping all others.
func step(dirs []string) (failed error) {
	for _, dir := range dirs {
		failed = errors.Join(failed, stepInto(dir))
	}
	return failed
}

func stepInto(dir string) error {
	fd, err := unix.Open(filepath.Join(dir, "tasks"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("a control group: %s: %w", dir, err)
	}
	// Straight from this thread: a write of package os could be made by it
	// alone as well, but says so nowhere.
	if _, err = unix.Write(fd, []byte("0")); err != nil {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	return errors.Join(err, unix.Close(fd))
}
