package guest

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// Limits are those of all commands together; 0 = none.
type Limits struct {
	Memory    int64 // bytes, scratch space included
	Processes int   // with threads; the agent and its threads are not counted in
}

// agentThreads is what the agent may have until it is ready.
const agentThreads = 64

// groups is where control groups are in a machine.
const groups = "/cgroup"

// group is the control group of the agent and its commands. Without limits
// there is none.
type group struct {
	dir  string
	open *os.File
	most int64 // processes of commands; 0: any number
	last map[string]int64
}

// newGroup mounts control groups and makes one with the limits.
func newGroup(l Limits) (*group, error) {
	if l == (Limits{}) {
		return &group{}, nil
	}
	if err := unix.Mount("cgroup", groups, "cgroup2", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return nil, err
	}
	g := &group{dir: path.Join(groups, "commands"), most: int64(l.Processes), last: map[string]int64{}}
	if err := os.WriteFile(path.Join(groups, "cgroup.subtree_control"), []byte("+memory +pids"), 0); err != nil {
		return nil, err
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	set := map[string]int64{"memory.max": l.Memory, "pids.max": int64(l.Processes)}
	if l.Processes > 0 {
		set["pids.max"] += agentThreads
	}
	for name, value := range set {
		if value == 0 {
			continue
		}
		if err := os.WriteFile(path.Join(g.dir, name), strconv.AppendInt(nil, value, 10), 0); err != nil {
			return nil, err
		}
	}
	var err error
	g.open, err = os.Open(g.dir)
	return g, err
}

// join makes a process start in the group.
func (g *group) join(a *syscall.SysProcAttr) {
	if g.open != nil {
		a.UseCgroupFD, a.CgroupFD = true, int(g.open.Fd())
	}
}

func (g *group) close() {
	if g.open != nil {
		_ = g.open.Close()
	}
}

// annotate adds to the end of a command what the group knows of it. When the
// agent is ready, what it has of processes itself is known, and commands get
// theirs beside that.
func (g *group) annotate(m *wire.Message) {
	if g.open == nil {
		return
	}
	if m.Ready != nil && m.Ready.Error == "" && g.most > 0 {
		if err := g.count(); err != nil {
			m.Ready.Error = err.Error()
		}
	}
	if m.Exited == nil {
		return
	}
	m.Exited.Killed = int(g.since("memory.events", "oom_kill"))
	m.Exited.Refused = int(g.since("pids.events", "max"))
}

// count bounds the processes of commands.
func (g *group) count() error {
	text, err := os.ReadFile(path.Join(g.dir, "pids.current"))
	if err != nil {
		return err
	}
	own, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return err
	}
	return os.WriteFile(path.Join(g.dir, "pids.max"), strconv.AppendInt(nil, own+g.most, 10), 0)
}

// since is how much a counter has grown since it was asked for last.
func (g *group) since(name, key string) int64 {
	text, err := os.ReadFile(path.Join(g.dir, name))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		k, v, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if string(k) != key {
			continue
		}
		now, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil {
			return 0
		}
		grown := now - g.last[name]
		g.last[name] = now
		return grown
	}
	return 0
}
