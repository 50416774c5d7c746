package agent

import (
	_ "embed"
	"os"
	"os/signal"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// warmServer is the program that forks for each command. It runs hardened as
// every command does, and is one of the user's processes: a command may end it
// or spoil it, for those after it in the same lease. Reset ends it.
//
//go:embed warm.py
var warmServer string

// What a warm command differs in from one of a new interpreter: common modules
// are imported already, the seed of hashes is that of the other commands, the
// parent process is not process 1, and what modules hold at the end is flushed
// but not taken apart.

const (
	// warmPatience is how long the sandbox waits for the interpreter before it
	// goes on without one.
	warmPatience = 10 * time.Second
	// warmLargest is how much the server takes for one command.
	warmLargest = 128 << 10
	// warmSweeps is how often what a command left is looked for before the
	// server goes with it.
	warmSweeps = 200
)

// warm is the server that runs.
type warm struct {
	pid     int
	program string // that it is an instance of
	conn    *wire.Conn
	dead    bool // reaped
}

// warmUp starts the server, if one is wanted and none runs, and waits until it
// is loaded. Without it commands run as always. The caller has a.running.
func (a *agent) warmUp() {
	if a.cfg.Warm != "python" || a.warm != nil {
		return
	}
	program, _, err := find("python3", a.cfg.Env)
	if err != nil {
		return
	}
	w, err := a.startWarm(program)
	if err != nil {
		return
	}
	_ = w.conn.SetDeadline(time.Now().Add(warmPatience))
	if m, files, err := w.conn.Receive(); err != nil || m.Kind != wire.KindDone || len(files) > 0 {
		closeFiles(files)
		_ = w.conn.Close()
		sweep()
		return
	}
	_ = w.conn.SetDeadline(time.Time{})
	a.warm = w
}

func (a *agent) startWarm(program string) (*warm, error) {
	conn, far, err := wire.Pair()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	// Pipes, as the streams of commands are: what Python learns of its
	// streams when it starts then holds for those too.
	in, out, err := os.Pipe()
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	defer in.Close()
	defer out.Close()
	c := command{argv: []string{"python3", "-c", warmServer}, env: a.cfg.Env, program: program, dir: "/"}
	pid, err := a.spawn(c, []*os.File{in, out, out, far})
	if err == nil {
		if err = a.limitFiles(pid); err != nil {
			sweep()
		}
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &warm{pid: pid, program: program, conn: conn}, nil
}

// warmAgain starts a server in place of one that was lost.
func (a *agent) warmAgain() {
	if a.cfg.Warm != "" {
		a.running.Lock()
		defer a.running.Unlock()
		a.warmUp()
	}
}

// isWarm tells whether c is for the server: python3 with -c or the path of a
// script, and nothing that an interpreter must know when it starts.
func (a *agent) isWarm(c command) bool {
	if a.warm == nil || c.program != a.warm.program || len(c.argv) < 2 {
		return false
	}
	switch script := c.argv[1]; {
	case script == "-c":
		if len(c.argv) < 3 {
			return false
		}
	case strings.HasPrefix(script, "-") || !strings.HasSuffix(script, ".py"):
		return false
	default:
		if !path.IsAbs(script) {
			script = path.Join(c.dir, script)
		}
		if !isFile(script) {
			return false
		}
	}
	for _, entry := range c.added {
		for _, prefix := range []string{"PYTHON", "LC_", "LANG", "LD_", "HOME", "TZ", "GLIBC_", "MALLOC_"} {
			if strings.HasPrefix(entry, prefix) {
				return false
			}
		}
	}
	size := 0
	for _, text := range slices.Concat(c.argv, c.env, []string{c.dir}) {
		size += len(text) + 1
		if !utf8.ValidString(text) {
			return false
		}
	}
	return size <= warmLargest
}

func isFile(name string) bool {
	var info unix.Stat_t
	return unix.Stat(name, &info) == nil && info.Mode&unix.S_IFMT == unix.S_IFREG
}

// runWarm has the server run a command. When the server ends before it has
// said how the command ended, both were killed: by a limit, by the parent, or
// by the command itself.
// It is not ok when the server was gone before that, and nothing ran.
func (a *agent) runWarm(c command, files []*os.File) (e ended, ok bool) {
	w := a.warm
	stop := a.reapMeanwhile()
	defer stop()
	lost := ended{wire.Exited{Code: 128 + int(unix.SIGKILL), Signal: int(unix.SIGKILL)}}
	if err := w.conn.Send(wire.Message{Kind: wire.KindExec, Exec: &wire.Exec{Argv: c.argv, Env: c.env, Dir: c.dir}}, files...); err != nil {
		return ended{}, false
	}
	closeFiles(files)
	if a.killed.Load() {
		_ = unix.Kill(-1, unix.SIGKILL)
	}
	m, extra, err := w.conn.Receive()
	closeFiles(extra)
	if err != nil || m.Exited == nil {
		return lost, true
	}
	return ended{*m.Exited}, true
}

// reapMeanwhile takes up what process 1 inherits while a command runs that is
// not its child. The function that it gives ends that.
func (a *agent) reapMeanwhile() func() {
	children, end, ended := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(children, unix.SIGCHLD)
	go func() {
		defer close(ended)
		for {
			select {
			case <-children:
				a.reap(&leftover{})
			case <-end:
				return
			}
		}
	}()
	return func() {
		signal.Stop(children)
		close(end)
		<-ended
	}
}

// reap takes up all that has ended.
func (a *agent) reap(left *leftover) {
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		a.reaped(pid)
		left.add(status, usage)
	}
}

// reaped notes the end of a process that nothing waits for.
func (a *agent) reaped(pid int) {
	if a.warm != nil && pid == a.warm.pid {
		a.warm.dead = true
	}
}

// sweep removes what a command left: everything but the server, where one
// runs. All are stopped first, so that none can start another or end one
// while they are looked at. One that in that moment had others continued is
// found in the next round; with what withstands all rounds the server goes
// too, and then there is no gap.
func (a *agent) sweep() leftover {
	w := a.warm
	if w == nil {
		return sweep()
	}
	var left leftover
	for round := range warmSweeps {
		if w.dead {
			break
		}
		_ = unix.Kill(-1, unix.SIGSTOP)
		others, err := processes(w.pid)
		if err != nil {
			break
		}
		if len(others) == 0 {
			_ = unix.Kill(w.pid, unix.SIGCONT)
			return left
		}
		for _, pid := range others {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if round > 0 {
			time.Sleep(100 * time.Microsecond)
		}
		a.reap(&left)
	}
	a.cool()
	rest := sweep()
	rest.killed += left.killed
	if !w.dead {
		rest.killed = max(0, rest.killed-1) // the server is nobody's orphan
	}
	return rest
}

// cool forgets the server, which is about to be killed or was.
func (a *agent) cool() {
	if a.warm != nil {
		_ = a.warm.conn.Close()
		a.warm = nil
	}
}

// processes lists all but this one and keep.
func processes(keep int) ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != keep && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
