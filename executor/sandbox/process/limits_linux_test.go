package process

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func full(box sandbox.Sandbox, d sandbox.Dimension) bool {
	return box.Enforcement()[d].Level == sandbox.Full
}

func TestMemoryBomb(t *testing.T) {
	s := spec()
	s.Limits.MemoryMB, s.Limits.DiskMB = 64, 16
	box := create(t, factory(t, Options{}), s)
	if !full(box, sandbox.Memory) {
		t.Skip("memory is not bounded here: " + box.Enforcement()[sandbox.Memory].By)
	}
	// A shell doubles a string until it dies.
	r, err := box.Exec(context.Background(), sandbox.Shell("x=0123456789abcdef; while :; do x=$x$x; done"))
	if err != nil || r.ExitCode == 0 || r.LimitHit != sandbox.Memory {
		t.Fatalf("%v, %d, limit %q", err, r.ExitCode, r.LimitHit)
	}
	if got := sh(t, box, "echo usable"); got != "usable" {
		t.Error(got)
	}
}

func TestForkBomb(t *testing.T) {
	s := spec()
	s.Limits.MaxProcesses = 24
	box := create(t, factory(t, Options{}), s)
	script := "n=0; while [ $n -lt 100 ]; do sleep 30 & n=$((n+1)); done; set -- /proc/[0-9]*; echo $#"
	r, err := box.Exec(context.Background(), sandbox.Shell(script))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := strconv.Atoi(strings.TrimSpace(string(r.Stdout))); got > 24+1 {
		t.Errorf("%d processes", got)
	}
	if r.ExitCode == 0 {
		t.Error("100 processes could be started")
	}
	if r.Usage.Orphans < 5 {
		t.Errorf("%d orphans were counted", r.Usage.Orphans)
	}
	bomb := sandbox.Shell("b() { b | b & }; b; sleep 60")
	bomb.Timeout = time.Second
	if _, err := box.Exec(context.Background(), bomb); err != nil {
		t.Fatal(err)
	}
	if got := sh(t, box, "set -- /proc/[0-9]*; echo $#"); got != "2" {
		t.Errorf("%s processes are left", got)
	}
}

func TestDiskAndInodeBomb(t *testing.T) {
	s := spec()
	s.Limits.DiskMB = 8
	box := create(t, factory(t, Options{}), s)
	got := sh(t, box, "head -c 7000000 /dev/zero >/tmp/a; head -c 7000000 /dev/zero >/scratch/b 2>/dev/null; head -c 7000000 /dev/zero >/dev/shm/c 2>/dev/null; cat /tmp/a /scratch/b /dev/shm/c | wc -c")
	if n, _ := strconv.Atoi(got); n < 7000000 || n > 8<<20 {
		t.Errorf("%d bytes fitted", n)
	}
	if err := box.Reset(context.Background()); err != nil {
		t.Fatal(err)
	}
	got = sh(t, box, "n=0; while [ $n -lt 5000 ] && true >/tmp/f$n; do n=$((n+1)); done 2>/dev/null; echo $n")
	if n, _ := strconv.Atoi(got); n > 2048 {
		t.Errorf("%d files fitted", n)
	}
	s.Limits.DiskMB = 0
	box = create(t, factory(t, Options{}), s)
	if got := sh(t, box, "for d in /tmp /scratch /var/tmp /dev/shm; do (echo x >$d/x) 2>/dev/null && echo $d; done; true"); got != "" {
		t.Errorf("without scratch space could be written to: %s", got)
	}
}

func TestOutput(t *testing.T) {
	box := create(t, factory(t, Options{}), spec())
	var live bytes.Buffer
	c := sandbox.Shell("head -c 30000000 /dev/zero; head -c 5000 /dev/zero >&2")
	c.MaxOutput, c.Stdout = 10000, &live
	r, err := box.Exec(context.Background(), c)
	if err != nil || len(r.Stdout) != 10000 || len(r.Stderr) != 5000 || !r.Truncated || r.LimitHit != sandbox.Output {
		t.Errorf("%v, %d and %d bytes, %v %q", err, len(r.Stdout), len(r.Stderr), r.Truncated, r.LimitHit)
	}
	if live.Len() != 10000 {
		t.Errorf("a live writer got %d bytes", live.Len())
	}
	hold := make(chan struct{})
	defer close(hold)
	for name, w := range map[string]writer{
		"blocks": func([]byte) (int, error) { <-hold; return 0, nil },
		"fails":  func([]byte) (int, error) { return 0, errors.New("full") },
		"panics": func([]byte) (int, error) { panic("writer") },
	} {
		c := sandbox.Shell("seq 1 20000")
		c.Stdout = w
		if r, err := box.Exec(context.Background(), c); err != nil || len(r.Stdout) != 108894 {
			t.Errorf("a writer that %s: %v, %d bytes", name, err, len(r.Stdout))
		}
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func TestCancelAndBusy(t *testing.T) {
	box := create(t, factory(t, Options{}), spec())
	ctx, cancel := context.WithCancel(context.Background())
	began := make(chan struct{})
	c := sandbox.Shell("echo began; trap '' TERM; sleep 100")
	c.Stdout = writer(func(b []byte) (int, error) { close(began); return len(b), nil })
	done := make(chan error)
	go func() {
		_, err := box.Exec(ctx, c)
		done <- err
	}()
	<-began
	if _, err := box.Exec(context.Background(), sandbox.Shell("true")); !errors.Is(err, sandbox.ErrBusy) {
		t.Errorf("a second command: %v", err)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled command ended well")
	}
	if got := sh(t, box, "set -- /proc/[0-9]*; echo $#"); got != "2" {
		t.Errorf("%s processes", got)
	}
	if err := box.Terminate(); err != nil {
		t.Error(err)
	}
	if _, err := box.Exec(context.Background(), sandbox.Shell("true")); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after Terminate: %v", err)
	}
	for range 2 {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAgentKilled has the kernel take the agent away.
func TestAgentKilled(t *testing.T) {
	box := create(t, factory(t, Options{}), spec())
	sh(t, box, "echo x >/tmp/x")
	found := agents()
	if len(found) == 0 {
		t.Fatal("no agent is found")
	}
	for _, pid := range found {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Log(err)
		}
	}
	var last error
	for range 3 {
		var r sandbox.Result
		if r, last = box.Exec(context.Background(), sandbox.Shell("cat /tmp/x 2>/dev/null || echo new")); last == nil {
			if got := strings.TrimSpace(string(r.Stdout)); got != "new" {
				t.Errorf("%q", got)
			}
			return
		}
		if !errors.Is(last, sandbox.ErrFailed) {
			t.Fatal(last)
		}
	}
	t.Error(last)
}

func TestAttach(t *testing.T) {
	box := create(t, factory(t, Options{}), spec())
	p, err := box.Attach(context.Background(), sandbox.Command{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 16)
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := p.Stdin().Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		n, err := p.Stdout().Read(buffer)
		if err != nil || string(buffer[:n]) != line {
			t.Fatalf("%v, %q", err, buffer[:n])
		}
	}
	_ = p.Stdin().Close()
	if r, err := p.Wait(); err != nil || r.ExitCode != 0 {
		t.Errorf("%v, %d", err, r.ExitCode)
	}
	p, err = box.Attach(context.Background(), sandbox.Shell("trap '' TERM; sleep 100 & sleep 100"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if r, err := p.Wait(); err != nil || r.Signal != 9 {
		t.Errorf("%v, %+v", err, r)
	}
	p, err = box.Attach(context.Background(), sandbox.Shell("sleep 100"))
	if err != nil {
		t.Fatal(err)
	}
	_ = box.Close()
	if _, err := p.Wait(); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := p.Stdout().Read(buffer); err == nil {
		t.Error("a stream outlives its sandbox")
	}
}
