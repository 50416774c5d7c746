package container

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// held lists what containers of ours have on this machine: control groups, and
// processes of their users.
func held(t *testing.T, id string) (found []string) {
	t.Helper()
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(path, id) {
			found = append(found, path)
		}
		return nil
	})
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, id) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// TestNothingIsLeft looks for what the life of a container could leave.
func TestNothingIsLeft(t *testing.T) {
	f := working(t, NewRunc)
	s := create(t, f, sandbox.Spec{})
	sh(t, s, "sleep 100 & true")
	id := onlyID(t, f)
	if f.cgroups() && len(held(t, id)) == 0 {
		t.Error("nothing is seen of a container that lives")
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if left := held(t, id); len(left) > 0 {
		t.Errorf("after Stop: %v", left)
	}
	sh(t, s, "true")
	id = onlyID(t, f)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := held(t, id); len(left) > 0 {
		t.Errorf("after Close: %v", left)
	}
	if _, err := s.Exec(t.Context(), sandbox.Shell("true")); err == nil {
		t.Error("a closed sandbox runs commands")
	}
}

// onlyID is the name of the container that lives.
func onlyID(t *testing.T, f *Factory) string {
	t.Helper()
	ids, err := os.ReadDir(state(f.folder.dir))
	if err != nil || len(ids) != 1 {
		t.Fatalf("the runtime has %v, %v", ids, err)
	}
	return ids[0].Name()
}

const childVariable = "CONTAINER_TEST_PARENT"

// TestParentKilled kills the process that owns a container in the middle of a
// command.
func TestParentKilled(t *testing.T) {
	if dir := os.Getenv(childVariable); dir != "" {
		f := NewRunc(Options{Agent: os.Getenv(childVariable + "_AGENT"), Dir: dir})
		s := create(t, f, sandbox.Spec{})
		p, err := s.Attach(t.Context(), sandbox.Shell("trap '' TERM HUP; setsid sleep 1000 & echo ready; sleep 1000"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(os.Stderr, p.Stdout())
		return
	}
	f := working(t, NewRunc)
	child := exec.Command(os.Args[0], "-test.run=^TestParentKilled$")
	child.Env = append(os.Environ(), childVariable+"="+f.folder.base, childVariable+"_AGENT="+agentProgram)
	out, err := child.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		t.Log(lines.Text())
	}
	var id string
	owners, _ := os.ReadDir(f.folder.base)
	for _, o := range owners {
		if ids, _ := os.ReadDir(state(filepath.Join(f.folder.base, o.Name()))); len(ids) > 0 {
			id = ids[0].Name()
		}
	}
	if id == "" {
		t.Fatal("the child has no container")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	var left []string
	for range 100 {
		if left = held(t, id); len(left) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("left of the container: %v", left)
	}
	// The next one that looks removes the folder.
	g := NewRunc(Options{Agent: agentProgram, Dir: f.folder.base})
	if a := g.Probe(t.Context()); !a.OK {
		t.Error(a.Reason)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// TestMounts reads and writes through mounts, and tries to leave them.
func TestMounts(t *testing.T) {
	f := working(t, NewRunc)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := create(t, f, sandbox.Spec{Mounts: []sandbox.Mount{{Source: dir, Target: "/work/ro"}, {Source: dir, Target: "/scratch/rw", Writable: true}, {Source: filepath.Join(dir, "in"), Target: "/file"}}})
	r := sh(t, s, "cat /work/ro/in /file; echo x > /work/ro/x; echo y > /scratch/rw/out; ln -s /etc/shadow /scratch/rw/shadow; cat /work/ro/shadow")
	if got := string(r.Stdout); got != "contentcontent" {
		t.Errorf("%q %s", got, r.Stderr)
	}
	if out, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(out) != "y\n" {
		t.Errorf("written through a mount: %q, %v", out, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "x")); err == nil {
		t.Error("written through a read-only mount")
	}
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := sh(t, s, "cat /scratch/rw/out"); string(r.Stdout) != "y\n" {
		t.Errorf("after a reset: %q %s", r.Stdout, r.Stderr)
	}
	// Another folder under the same name is not the one that was checked.
	swapped := create(t, f, sandbox.Spec{Mounts: []sandbox.Mount{{Source: dir, Target: "/work"}}})
	if err := os.Rename(dir, dir+"-old"); err != nil {
		t.Fatal(err)
	}
	defer os.Rename(dir+"-old", dir)
	if err := os.Symlink("/etc", dir); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	if _, err := swapped.Exec(t.Context(), sandbox.Shell("ls /work")); err == nil {
		t.Error("a link in the place of a mounted folder was followed")
	}
}

// TestAttach talks to a process, and TestConcurrent runs several at once.
func TestAttach(t *testing.T) {
	for name, factory := range kinds {
		t.Run(name, func(t *testing.T) { testAttach(t, create(t, working(t, factory), sandbox.Spec{})) })
	}
}

func testAttach(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	p, err := s.Attach(t.Context(), sandbox.Shell("while read line; do echo got $line; done; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(p.Stdout())
	for _, word := range []string{"one", "two"} {
		_, _ = io.WriteString(p.Stdin(), word+"\n")
		if line, err := answers.ReadString('\n'); line != "got "+word+"\n" {
			t.Errorf("%q, %v", line, err)
		}
	}
	_ = p.Stdin().Close()
	if r, err := p.Wait(); err != nil || r.ExitCode != 3 {
		t.Errorf("%d, %v", r.ExitCode, err)
	}
}

func TestConcurrent(t *testing.T) {
	for name, factory := range kinds {
		t.Run(name, func(t *testing.T) { testConcurrent(t, working(t, factory)) })
	}
}

func testConcurrent(t *testing.T, f *Factory) {
	t.Helper()
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			s, err := f.Create(t.Context(), sandbox.Spec{Limits: sandbox.Standard(), AllowPartial: true})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			r, err := s.Exec(t.Context(), sandbox.Shell("test -e /scratch/x && echo another; echo x > /scratch/x; exit "+string(rune('0'+i))))
			if err != nil || r.ExitCode != i || len(r.Stdout) > 0 {
				t.Errorf("%d: %d %q, %v", i, r.ExitCode, r.Stdout, err)
			}
		})
	}
	all.Wait()
}
