package process

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

var executions = flag.Int("executions", 300, "executions of TestPool, which has its sandboxes killed at random")

// TestPool runs many commands over a pool of eight, has sandboxes killed,
// terminated, timed out and abandoned, and wants that no user finds anything
// of another and that nothing is left of any.
func TestPool(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	agent := agentProgram(t)
	if f := factory(t, Options{Agent: agent}); f.Close() != nil {
		t.Fatal("the factory does not close")
	}
	before, goroutines := remains(t, temp), runtime.NumGoroutine()
	f := New(Options{Agent: agent})
	s := spec()
	s.Warmable = true
	s.Limits = sandbox.Limits{CPUShares: 2, MemoryMB: 64, DiskMB: 16, Timeout: 10 * time.Second, MaxProcesses: 32}
	p, err := sandbox.NewPool(f, s, sandbox.PoolOptions{Max: 8, Warm: 4, RecycleAfter: 20, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	u := users{pool: p, mark: fmt.Sprintf("%d-%x", os.Getpid(), rand.Uint64())}
	stop := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() { u.killAtRandom(stop) })
	began := time.Now()
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			for u.next.Add(1) <= int64(*executions) {
				u.lease(t)
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	close(stop)
	killer.Wait()
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d leases, %d commands, %d whole, %d agents killed, in %v: %+v", *executions, u.commands.Load(), u.whole.Load(), u.kills.Load(), took.Round(time.Millisecond), p.Stats())
	if u.whole.Load() < int64(*executions)/3 || u.kills.Load() == 0 {
		t.Errorf("only %d commands ended by themselves, and %d agents were killed", u.whole.Load(), u.kills.Load())
	}
	var after []remain
	for range 100 { // what was killed may take a moment
		// What tests before this one had may end meanwhile: fewer is fine.
		if after = remains(t, temp); noMore(after, before) && len(u.processes()) == 0 && runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("before: %v\nafter:  %v\nprocesses: %q", before, after, u.processes())
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines of %d", n, goroutines)
		stacks := make([]byte, 1<<20)
		t.Logf("%s", stacks[:runtime.Stack(stacks, true)])
	}
}

// users are those of one pool.
type users struct {
	pool            *sandbox.Pool
	mark            string // in the environment of every command
	next            atomic.Int64
	commands, whole atomic.Int64
	kills           atomic.Int64
}

// lease is one user: commands that leave what they can, one of which may be
// ended in one of many ways.
func (u *users) lease(t *testing.T) {
	l, err := u.pool.Borrow(t.Context())
	if err != nil {
		if !excused(err) {
			t.Error(err)
		}
		return
	}
	defer l.Close()
	mine := u.mark + "-" + strconv.FormatUint(rand.Uint64(), 36)
	run := func(ctx context.Context, script string, timeout time.Duration) (sandbox.Result, error) {
		u.commands.Add(1)
		c := sandbox.Shell(script)
		c.Env, c.Timeout = []string{"MINE=" + mine}, timeout
		return l.Exec(ctx, c)
	}
	const look = "echo $MINE; env | sort | tr '\\n' ' '; echo; ls -A /scratch /tmp /var/tmp /dev/shm | tr '\\n' ' '; echo; set -- /proc/[0-9]*; echo $#; "
	r, err := run(t.Context(), look+"echo $MINE | tee /scratch/f /tmp/f /var/tmp/f >/dev/shm/f; mkfifo /tmp/p; setsid sleep 1000 & true", 0)
	if err == nil && r.Signal == 0 {
		u.whole.Add(1)
		lines := strings.Split(string(r.Stdout), "\n")
		want := []string{
			mine,
			"HOME=/scratch LANG=C.UTF-8 MINE=" + mine + " PATH=" + Path + " PWD=/scratch ",
			"/dev/shm:  /scratch:  /tmp:  /var/tmp: ",
		}
		if len(lines) < 4 || !slices.Equal(lines[:3], want) || lines[3] != "2" { // process 1 and the shell
			t.Errorf("%.1000q; want %q and 2 processes\n%s", lines, want, r.Stderr)
		}
	} else if !excused(err) {
		t.Errorf("%v %+v", err, r)
	}
	switch rand.IntN(9) {
	case 0:
		_ = l.Terminate()
	case 1:
		go func() { time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond); _ = l.Terminate() }()
		_, err = run(t.Context(), "trap '' TERM; sleep 1000", 0)
	case 2:
		r, err = run(t.Context(), "trap '' TERM INT; sleep 1000 & setsid sleep 1000", 5*time.Millisecond)
		if err == nil && !r.TimedOut && r.Signal == 0 {
			t.Errorf("it was not timed out: %+v", r)
		}
	case 3:
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Millisecond)
		_, err = run(ctx, "sleep 1000", 0)
		cancel()
	case 4:
		go func() { _, _ = run(t.Context(), "sleep 1000", 0) }() // and nobody waits for it
	case 5:
		_, err = l.Attach(t.Context(), sandbox.Command{Argv: []string{"cat"}, Env: []string{"MINE=" + mine}})
	case 6:
		_, err = run(t.Context(), "kill -9 -1; head -c 3000000 /dev/zero; kill -9 $$", 0)
	default:
		if r, err = run(t.Context(), "cat /scratch/f", 0); err == nil && r.ExitCode == 0 && string(r.Stdout) != mine+"\n" {
			t.Errorf("another file than mine: %q", r.Stdout)
		}
	}
	if !excused(err) {
		t.Error(err)
	}
}

// excused tells whether err can come of what the test itself does.
func excused(err error) bool {
	return err == nil || errors.Is(err, sandbox.ErrFailed) || errors.Is(err, sandbox.ErrClosed) || errors.Is(err, sandbox.ErrBusy) ||
		errors.Is(err, sandbox.ErrUnavailable) || // killed while it started
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// killAtRandom ends agents, and now and then the launcher with all of them, as
// an operator or the kernel might.
func (u *users) killAtRandom(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(50+rand.IntN(200)) * time.Millisecond):
		}
		list := agents()
		if rand.IntN(20) == 0 {
			list = children("self")
		}
		if len(list) > 0 && syscall.Kill(list[rand.IntN(len(list))], syscall.SIGKILL) == nil {
			u.kills.Add(1)
		}
	}
}

// agents are the children of launchers, which are those of this process.
func agents() (list []int) {
	for _, pid := range children("self") {
		list = append(list, children(strconv.Itoa(pid))...)
	}
	return list
}

// children are those of the process with this name in /proc.
func children(of string) []int {
	var list []int
	files, _ := filepath.Glob("/proc/" + of + "/task/*/children")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		for _, f := range strings.Fields(string(text)) {
			pid, _ := strconv.Atoi(f)
			list = append(list, pid)
		}
	}
	return list
}

// processes lists those of the whole machine that are a command of these
// users.
func (u *users) processes() []string {
	var list []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), u.mark) {
			comm, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "comm"))
			list = append(list, name+" "+string(comm))
		}
	}
	return list
}

// remains says what of sandboxes of this process there is, other than
// processes of commands: a network without processes is one of its
// descriptors or mounts.
func remains(t *testing.T, temp string) []remain {
	t.Helper()
	count := func(pattern string) int {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	groups := 0
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(d.Name(), "-"+strconv.Itoa(os.Getpid())+"-") {
			groups++
		}
		return nil
	})
	return []remain{
		{"children", len(children("self"))},
		{"mounts", strings.Count(string(mounts), "\n")},
		{"control groups", groups},
		{"descriptors", count("/proc/self/fd/*")},
		{"files in the temporary folder", count(temp + "/*")},
	}
}

// remain is how many there are of something.
type remain struct {
	what string
	n    int
}

func noMore(after, before []remain) bool {
	for i := range after {
		if after[i].n > before[i].n {
			return false
		}
	}
	return true
}
