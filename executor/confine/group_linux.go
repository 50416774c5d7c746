package confine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Group bounds one process from outside. It belongs to one goroutine.
type Group struct {
	pid  int
	idle uint64 // private writable memory of the process before its first call
	now  int64  // the growth that is allowed at present
}

// Attach takes hold of a process that has started and is idle.
func Attach(c *exec.Cmd) (*Group, error) {
	g := &Group{pid: c.Process.Pid}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(g.pid) + "/status")
	if err != nil {
		return nil, err
	}
	_, rest, _ := bytes.Cut(status, []byte("\nVmData:"))
	line, _, _ := bytes.Cut(rest, []byte("kB"))
	kib, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the memory of process %d cannot be read: %w", g.pid, err)
	}
	g.idle = kib << 10
	return g, nil
}

// LimitMemory lets the process grow by so many bytes over what it had when it
// was idle; the kernel refuses what is beyond. Only a change costs anything.
func (g *Group) LimitMemory(growth int64) error {
	if growth == g.now {
		return nil
	}
	var old unix.Rlimit
	limit := unix.Rlimit{Cur: g.idle + uint64(growth), Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(g.pid, unix.RLIMIT_DATA, nil, &old); err != nil {
		return err
	}
	if limit.Max = old.Max; limit.Cur > old.Max {
		limit.Cur = old.Max
	}
	if err := unix.Prlimit(g.pid, unix.RLIMIT_DATA, &limit, nil); err != nil {
		return err
	}
	g.now = growth
	return nil
}

// Close lets go of the process, which has ended.
func (g *Group) Close() error { return nil }
