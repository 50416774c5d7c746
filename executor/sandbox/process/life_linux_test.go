package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func owner(info os.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }

const parentTest = "PROCESS_TEST_PARENT"

// TestMain makes the test program a parent that is going to be killed.
func TestMain(m *testing.M) {
	if os.Getenv(parentTest) != "" {
		doomed()
		return
	}
	os.Exit(m.Run())
}

// doomed starts several sandboxes that resist and waits for its end.
func doomed() {
	f := New(Options{})
	for range 3 {
		l := sandbox.Standard()
		box, err := f.Create(context.Background(), sandbox.Spec{Limits: l, AllowPartial: true})
		if err != nil {
			fmt.Println("skip", err)
			return
		}
		if _, err := box.Attach(context.Background(), sandbox.Shell("trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM HUP; exec sleep 4321' & exec sleep 4321")); err != nil {
			fmt.Println("skip", err)
			return
		}
	}
	fmt.Println("ready")
	select {}
}

// TestParentKilled kills a parent with all that it can no longer clean up.
func TestParentKilled(t *testing.T) {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), parentTest+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	// The launcher, and in each sandbox the agent, the shell, and its child.
	const all = 1 + 3*3
	before := descendants(t, c.Process.Pid)
	for began := time.Now(); line == "ready\n" && len(before) < all && time.Since(began) < 10*time.Second; {
		time.Sleep(5 * time.Millisecond) // a shell starts its child when it can
		before = descendants(t, c.Process.Pid)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if line != "ready\n" {
		t.Skip("no sandbox here: " + line)
	}
	if len(before) < all {
		t.Fatalf("only %d processes were there", len(before))
	}
	deadline := time.Now().Add(time.Second)
	for {
		var left []int
		for pid, began := range before {
			if now, ok := startOf(pid); ok && now == began {
				left = append(left, pid)
			}
		}
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d processes are left: %v", len(left), left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// descendants gives the living processes below pid, with when they began.
func descendants(t *testing.T, pid int) map[int]string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	parents := map[int]int{}
	for _, e := range entries {
		if child, err := strconv.Atoi(e.Name()); err == nil {
			if f := statFields(child); len(f) > 19 {
				parents[child], _ = strconv.Atoi(f[1])
			}
		}
	}
	found := map[int]string{}
	for child := range parents {
		for p := child; p > 1; p = parents[p] {
			if p == pid && child != pid {
				found[child], _ = startOf(child)
			}
		}
	}
	return found
}

func statFields(pid int) []string {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
}

// startOf gives when a process began; a dead one that nobody has waited for is
// none.
func startOf(pid int) (string, bool) {
	f := statFields(pid)
	if len(f) < 20 || f[0] == "Z" {
		return "", false
	}
	return f[19], true
}

// TestNothingIsLeft makes and closes many sandboxes at once, and looks for what
// they leave in this process and beside it.
func TestNothingIsLeft(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 20
	}
	f := New(Options{})
	defer f.Close()
	if a := f.Probe(context.Background()); !a.OK {
		t.Skip("no sandbox here: " + a.Reason)
	}
	f.stash.wait.Wait() // as full as it is going to be
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	s := spec()
	s.Limits.MemoryMB, s.Limits.DiskMB = 32, 1
	boxes := make([]sandbox.Sandbox, n)
	began := time.Now()
	var all sync.WaitGroup
	gate := make(chan struct{}, 8)
	for i := range boxes {
		box, err := f.Create(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		boxes[i] = box
		all.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			r, err := box.Exec(context.Background(), sandbox.Shell(fmt.Sprintf("echo %d >/tmp/x; cat /tmp/x", i)))
			if got := strings.TrimSpace(string(r.Stdout)); err != nil || got != strconv.Itoa(i) {
				t.Errorf("sandbox %d: %v, %q", i, err, got)
			}
		})
	}
	all.Wait()
	t.Logf("%d sandboxes live after %v", n, time.Since(began))
	for _, box := range boxes {
		all.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			if err := box.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.stash.wait.Wait()
	for range 100 { // goroutines end a moment after what they waited for
		if runtime.NumGoroutine() <= goroutines && openFiles(t) <= files {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines, %d before", now, goroutines)
	}
	if now := openFiles(t); now > files {
		t.Errorf("%d descriptors, %d before", now, files)
	}
	if left := descendants(t, os.Getpid()); len(left) > DefaultStash+1 { // and the launcher
		t.Errorf("%d processes are left", len(left))
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
