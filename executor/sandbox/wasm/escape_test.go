package wasm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// An attempt is one cell of the escape matrix: something that a module must
// not be able to do, and the dimension that it belongs to.
type attempt struct {
	name      string
	dimension sandbox.Dimension
	argv      []string
	// limit is what the result must name, where the attempt runs into one.
	limit sandbox.Dimension
	// dies: the attempt cannot end by itself.
	dies bool
}

var attempts = []attempt{
	{name: "host files by their names", dimension: sandbox.FSRead, argv: []string{"host-files"}},
	{name: "host files by .. from the mounts", dimension: sandbox.FSRead, argv: []string{"dotdot", "/ro", "/rw", "/scratch", "/tmp", ""}},
	{name: "a symbolic link of its own, in a mount", dimension: sandbox.FSRead, argv: []string{"symlink", "/rw"}},
	{name: "a symbolic link of its own, in scratch", dimension: sandbox.FSRead, argv: []string{"symlink", "/scratch"}},
	{name: "links that are there, writable mount", dimension: sandbox.FSWrite, argv: []string{"links", "/rwlinks"}},
	{name: "links that are there, read-only mount", dimension: sandbox.FSRead, argv: []string{"links", "/rolinks"}},
	{name: "a folder swapped for a link", dimension: sandbox.FSRead, argv: []string{"race", "/rw"}},
	{name: "writes to a read-only mount", dimension: sandbox.FSWrite, argv: []string{"readonly", "/ro"}},
	{name: "a file of one mount into another", dimension: sandbox.FSWrite, argv: []string{"across", "/ro", "/rw"}},
	{name: "sockets", dimension: sandbox.NetDeny, argv: []string{"network"}},
	{name: "descriptors that are open", dimension: sandbox.FSRead, argv: []string{"descriptors"}},
	{name: "a process, a signal", dimension: sandbox.Processes, argv: []string{"process"}},
	{name: "memory of the run before", dimension: sandbox.Memory, argv: []string{"state"}},
	{name: "more memory than allowed", dimension: sandbox.Memory, argv: []string{"memory"}, limit: sandbox.Memory, dies: true},
	{name: "recursion without end", dimension: sandbox.Memory, argv: []string{"recursion"}, dies: true},
	{name: "an endless loop", dimension: sandbox.WallClock, argv: []string{"loop"}, limit: sandbox.WallClock, dies: true},
	{name: "an endless sleep", dimension: sandbox.WallClock, argv: []string{"sleep"}, limit: sandbox.WallClock, dies: true},
	{name: "a flood of output", dimension: sandbox.Output, argv: []string{"flood"}, limit: sandbox.Output},
	{name: "open files without end", dimension: sandbox.Memory, argv: []string{"open-files", "/ro"}},
	{name: "files without end in scratch", dimension: sandbox.Disk, argv: []string{"inodes", "/scratch"}},
	{name: "a large file in scratch", dimension: sandbox.Disk, argv: []string{"disk", "/scratch"}},
	{name: "a large file in tmp", dimension: sandbox.Disk, argv: []string{"disk", "/tmp"}},
}

// canary is in files that no module may read.
const canary = "secret of the host"

// TestEscape makes every attempt; each begins and is held, or its dimension is
// not reported as enforced. Those that cannot end by themselves are held for
// every user: the linear memory is the runtime's to bound, and time a kill's.
func TestEscape(t *testing.T) {
	t.Setenv("WASM_CANARY", canary)
	dir := t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"ro/folder", "rw/real", "ro-links", "rw-links"} {
		must(os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for p, text := range map[string]string{"canary": canary, "ro/file": "file", "rw/file": "file", "rw/real/canary": "mine"} {
		must(os.WriteFile(filepath.Join(dir, p), []byte(text), 0o644))
	}
	for _, d := range []string{"ro-links", "rw-links"} {
		for name, to := range map[string]string{
			"canary": "../canary", "absolute": filepath.Join(dir, "canary"), "up": "..", "root": "/", "passwd": "/etc/passwd",
			"far": "../../../../../../../../etc/passwd", "new": "../made", "proc": "/proc/self/environ", "chain": "up/canary",
		} {
			must(os.Symlink(to, filepath.Join(dir, d, name)))
		}
	}
	must(os.Symlink("..", filepath.Join(dir, "rw", "link")))
	sb := create(t, inner(t), sandbox.Spec{Mounts: []sandbox.Mount{
		{Source: filepath.Join(dir, "ro"), Target: "/ro"}, {Source: filepath.Join(dir, "rw"), Target: "/rw", Writable: true},
		{Source: filepath.Join(dir, "ro-links"), Target: "/rolinks"}, {Source: filepath.Join(dir, "rw-links"), Target: "/rwlinks", Writable: true},
	}})
	have := sb.Enforcement()
	for _, a := range attempts {
		t.Run(a.name, func(t *testing.T) {
			if a.dimension == sandbox.Disk && !bounded() {
				t.Skip("the scratch space is not bounded where nothing is around the runner")
			}
			stop := swap(a, filepath.Join(dir, "rw"))
			defer stop()
			c := sandbox.Command{Argv: append([]string{"guest"}, a.argv...)}
			if a.limit == sandbox.WallClock {
				c.Timeout = 500 * time.Millisecond
			}
			r, err := sb.Exec(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(r.Stdout), "begun\n") {
				t.Fatalf("the attempt did not begin: code %d, %.300q %.300q", r.ExitCode, r.Stdout, r.Stderr)
			}
			held := r.ExitCode == 0 && strings.HasSuffix(string(r.Stdout), "held\n")
			if a.dies || a.limit == sandbox.Output {
				held = !strings.Contains(string(r.Stdout), "open:") && (r.ExitCode != 0 || a.limit == sandbox.Output)
			}
			if level := have[a.dimension].Level; !held && (level == sandbox.Full || a.dies || a.dimension == sandbox.Output) {
				t.Errorf("%s is %v, and the attempt was not held: code %d, %.300q %.300q", a.dimension, level, r.ExitCode, r.Stdout, r.Stderr)
			}
			if r.LimitHit != a.limit && a.limit != "" {
				t.Errorf("limit hit: %q, not %q", r.LimitHit, a.limit)
			}
			if strings.Contains(string(r.Stdout), canary) {
				t.Error("the module printed what it must not have read")
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(dir, "canary")); string(text) != canary {
		t.Errorf("the file of the host is now %q (%v)", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 5 {
		t.Errorf("beside the mounts are now %v (%v)", entries, err)
	}
	if r := do(t, sb, "env"); strings.Contains(string(r.Stdout), canary) {
		t.Error("the module sees the environment of the host")
	}
}

// swap plays, for the race, the program outside that changes the mount.
func swap(a attempt, dir string) (stop func()) {
	if a.argv[0] != "race" {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	in := func(name string) string { return filepath.Join(dir, name) }
	go func() {
		defer close(ended)
		_ = os.Rename(in("real"), in("swap"))
		for {
			select {
			case <-end:
				return
			default:
				_ = os.Rename(in("swap"), in("real"))
				_ = os.Rename(in("link"), in("swap"))
				_ = os.Rename(in("swap"), in("link"))
				_ = os.Rename(in("real"), in("swap"))
			}
		}
	}()
	return func() { close(end); <-ended }
}
