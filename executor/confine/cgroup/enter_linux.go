package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

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
func (g *Group) Start(attr *syscall.SysProcAttr, start func() error) error {
	if g.tree.unified {
		dir, err := g.Folder()
		if err != nil {
			return err
		}
		defer dir.Close()
		attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
		return start()
	}
	if err := g.enter(); err != nil {
		return errors.Join(err, g.tree.leave())
	}
	err := start()
	return errors.Join(err, g.tree.leave())
}

// Starts reports whether Start works here: a thread that is not root's may step
// into a group and not out of it.
func (t *Tree) Starts() bool { return t.starts }

func (g *Group) enter() error {
	for _, dir := range g.tree.unique() {
		if err := step(filepath.Join(dir, g.name)); err != nil {
			return err
		}
	}
	return nil
}

// leave takes the calling thread back to where this process is.
func (t *Tree) leave() error {
	var failed error
	for _, dir := range t.unique() {
		failed = errors.Join(failed, step(filepath.Dir(dir)))
	}
	return failed
}

// step moves the calling thread; 0 is itself, the one thread that can be moved
// without stopping all others.
func step(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "tasks"), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("a control group: %w", err)
	}
	// Straight from this thread: a write of package os could be made by it
	// alone as well, but says so nowhere.
	_, err = syscall.Write(int(f.Fd()), []byte("0"))
	if err != nil {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	return errors.Join(err, f.Close())
}
