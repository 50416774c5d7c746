package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// whoever ends the launcher ends its sandboxes, and the next one starts
// another.
func TestLauncherKilled(t *testing.T) {
	f := factory(t, Options{Stash: -1})
	box := create(t, f, spec())
	sh(t, box, "true")
	first := f.launches
	result := make(chan error, 1)
	go func() {
		_, err := box.Exec(context.Background(), sandbox.Shell("trap '' TERM; sleep 1000"))
		result <- err
	}()
	for len(descendants(t, first.proc.Pid)) < 2 { // the agent, and the command
		time.Sleep(time.Millisecond)
	}
	below := descendants(t, first.proc.Pid)
	if err := first.proc.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; !errors.Is(err, sandbox.ErrFailed) {
		t.Errorf("a command whose launcher was killed: %v", err)
	}
	<-first.done
	for pid, began := range below {
		for range 1000 { // somebody else waits for them now
			if now, ok := startOf(pid); !ok || now != began {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if now, ok := startOf(pid); ok && now == began {
			t.Errorf("process %d is left", pid)
		}
	}
	if got := sh(t, create(t, f, spec()), "echo again"); got != "again" || f.launches == first {
		t.Errorf("after it: %q", got)
	}
}

// TestFactoryClosed closes a factory whose sandboxes are not.
func TestFactoryClosed(t *testing.T) {
	before := len(descendants(t, os.Getpid()))
	f := factory(t, Options{})
	boxes := []sandbox.Sandbox{create(t, f, spec()), create(t, f, spec())}
	for _, box := range boxes {
		if _, err := box.Attach(t.Context(), sandbox.Shell("trap '' TERM; setsid sleep 1000 & sleep 1000")); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if left := descendants(t, os.Getpid()); len(left) > before {
		t.Errorf("%d processes, %d before", len(left), before)
	}
	for _, box := range boxes {
		if _, err := box.Exec(t.Context(), sandbox.Shell("true")); err == nil {
			t.Error("a command ran after the factory was closed")
		}
	}
	if _, err := f.spawn(t.Context(), true); err == nil {
		t.Error("an agent started after the factory was closed")
	}
}

// TestStartsAbandoned gives up starts at all moments, many at once, and wants
// that nothing is left of them and that the others are whole.
func TestStartsAbandoned(t *testing.T) {
	f := factory(t, Options{Stash: -1})
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
			defer cancel()
			s, err := f.spawn(ctx, true)
			if err == nil {
				s.discard()
				return
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("start %d: %v", i, err)
			}
		})
	}
	all.Wait()
	sh(t, create(t, f, spec()), "true")
	l := f.launches
	for range 500 {
		l.mu.Lock()
		left := len(l.agents) + len(l.waiting)
		l.mu.Unlock()
		if left <= 1 && len(children(strconv.Itoa(l.proc.Pid))) <= 1 { // that of the last sandbox
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d agents and %d starts are left", len(l.agents), len(l.waiting))
}

// TestAgentIsInGroup wants an agent in its control group from its first moment.
func TestAgentIsInGroup(t *testing.T) {
	f := factory(t, Options{Stash: -1})
	if f.groups == nil || !f.groups.Starts() {
		t.Skip("agents are not started in a group here")
	}
	s, err := f.spawn(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.discard()
	if in, err := s.group.Holds(s.pid); err != nil || !in {
		t.Errorf("in its group: %v, %v", in, err)
	}
	if in, err := s.group.Holds(f.launches.proc.Pid); err != nil || in {
		t.Errorf("the launcher in a group of an agent: %v, %v", in, err)
	}
	if err := unix.Kill(s.pid, 0); err != nil {
		t.Errorf("the agent is not process %d: %v", s.pid, err)
	}
}

// TestLauncherStopped stops the launcher: what has begun goes on and ends, what
// is new ends with its time.
func TestLauncherStopped(t *testing.T) {
	f := factory(t, Options{Stash: 1})
	box, other := create(t, f, spec()), create(t, f, spec())
	sh(t, box, "true")
	sh(t, other, "true")
	l := f.launches
	if err := l.proc.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.proc.Signal(unix.SIGCONT) }()
	if got := sh(t, box, "echo on"); got != "on" {
		t.Errorf("a sandbox that lives: %q", got)
	}
	if r, err := box.Exec(t.Context(), sandbox.Command{Argv: []string{"sleep", "1000"}, Timeout: time.Millisecond}); err != nil || !r.TimedOut {
		t.Errorf("%v, timed out %v", err, r.TimedOut)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var all sync.WaitGroup
	for range 10 * mostOrders { // more than its socket takes
		all.Go(func() {
			if s, err := f.spawn(ctx, true); err == nil {
				t.Error("a launcher started an agent that was stopped")
				s.discard()
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	groups := agentGroups(f)
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	if f.groups != nil && agentGroups(f) >= groups {
		t.Errorf("%d control groups, %d before the end of one", agentGroups(f), groups)
	}
	// One that goes on does what was asked of it meanwhile, and nothing is left.
	if err := l.proc.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := sh(t, create(t, f, spec()), "echo again"); got != "again" {
		t.Errorf("after it: %q", got)
	}
	if err := l.proc.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// agentGroups is how many groups of this process there are.
func agentGroups(f *Factory) int {
	if f.groups == nil {
		return 0
	}
	g, err := f.groups.New(cgroup.Limits{})
	if err != nil {
		return 0
	}
	defer g.Close()
	dir := filepath.Dir(slices.Concat(g.Place().Into, []string{g.Place().Unified})[0])
	own, _ := filepath.Glob(filepath.Join(dir, "*-"+strconv.Itoa(os.Getpid())+"-*"))
	return len(own)
}

// TestNoDescriptors has all numbers of open files taken but a few: what fails
// for that fails alone, and sandboxes that live go on.
func TestNoDescriptors(t *testing.T) {
	f := factory(t, Options{Stash: -1})
	box := create(t, f, spec())
	sh(t, box, "true")
	l := f.launches
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) }()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 200, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	var held []*os.File
	for {
		file, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		held = append(held, file)
	}
	failed := 0
	for len(held) > 0 && failed < len(held) {
		s, err := f.spawn(t.Context(), true)
		if err == nil {
			s.discard()
			break
		}
		failed++
		_ = held[0].Close()
		held = held[1:]
	}
	for _, file := range held {
		_ = file.Close()
	}
	if failed == 0 {
		t.Error("an agent started without descriptors")
	}
	if got := sh(t, box, "echo on"); got != "on" || f.launches != l || l.ended() {
		t.Errorf("the launcher or a sandbox ended: %q", got)
	}
	for range 500 {
		l.mu.Lock()
		left := len(l.agents)
		l.mu.Unlock()
		if left == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("an agent that nobody has stays")
}

// TestDescriptorsOnTheirWay has more descriptors in sockets than the launcher
// may have there: the kernel counts those of all processes of a user together.
func TestDescriptorsOnTheirWay(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root has no such bound")
	}
	f := factory(t, Options{Stash: -1})
	box := create(t, f, spec())
	sh(t, box, "true")
	l := f.launches
	const few = 32
	if err := unix.Prlimit(l.proc.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: few, Max: few}, nil); err != nil {
		t.Fatal(err)
	}
	away := onTheirWay(t, few+1)
	s, err := f.spawn(t.Context(), true)
	away()
	if err == nil {
		s.discard()
		t.Error("an agent came without a descriptor")
	}
	if got := sh(t, box, "echo on"); got != "on" || f.launches != l || l.ended() {
		t.Errorf("the launcher or a sandbox ended: %q", got)
	}
	sh(t, create(t, f, spec()), "true")
}

// onTheirWay puts descriptors into a socket, as the command of another sandbox
// can.
func onTheirWay(t *testing.T, n int) (away func()) {
	t.Helper()
	near, far, err := wire.Pair()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for n > 0 {
		some := slices.Repeat([]*os.File{null}, min(n, 200))
		if err := near.Send(wire.Message{Kind: wire.KindLaunch}, some...); err != nil {
			t.Skip("this user may have no more on their way: ", err)
		}
		n -= len(some)
	}
	return func() { _, _ = near.Close(), far.Close() }
}

// TestListenersDespiteNeighbour starts a sandbox whose agent passes listeners
// while one of the same user has as many descriptors on their way as a command
// may.
func TestListenersDespiteNeighbour(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Max < 2*maxOpenFiles {
		t.Skip("no more files than a command may have")
	}
	f := factory(t, Options{Stash: -1})
	defer onTheirWay(t, maxOpenFiles+200)()
	s := spec()
	s.Network = sandbox.AllowList{Hosts: []string{"example.com"}}
	box := create(t, f, s)
	if got := sh(t, box, "ulimit -Hn"); got != strconv.Itoa(maxOpenFiles) {
		t.Errorf("a command may open %s files", got)
	}
}
