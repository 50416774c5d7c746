package container

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// streamed are the back ends whose runtime makes all mounts.
var streamed = map[string]func(Options) *Factory{"gvisor": NewGVisor, "docker": NewDocker}

// TestStreamedLimits runs into each limit.
func TestStreamedLimits(t *testing.T) {
	for name, factory := range streamed {
		t.Run(name, func(t *testing.T) {
			f := working(t, factory)
			limits := sandbox.Limits{CPUShares: 1, MemoryMB: 64, DiskMB: 8, Timeout: 30 * time.Second, MaxProcesses: 20}
			s := create(t, f, sandbox.Spec{Limits: limits})
			r := sh(t, s, "for p in /scratch /tmp /dev/shm; do head -c 20000000 /dev/zero > $p/a; cat $p/a; done 2>/dev/null | wc -c")
			if got := strings.TrimSpace(string(r.Stdout)); len(got) > 7 || got > "8388608" || got < "8000000" {
				t.Errorf("8 MiB of scratch space took %q", got)
			}
			if err := s.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			r = sh(t, s, "i=0; while [ $i -lt 40 ]; do sleep 30 & i=$((i+1)); done 2>/dev/null; echo $i; ls -d /proc/[0-9]* | wc -l")
			if got := strings.Fields(string(r.Stdout)); len(got) > 0 && len(got[len(got)-1]) > 2 {
				t.Errorf("%s processes of 20", got)
			}
			c := sandbox.Shell("trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & while :; do :; done")
			c.Timeout = 500 * time.Millisecond
			r, err := s.Exec(t.Context(), c)
			if err != nil || !r.TimedOut || r.LimitHit != sandbox.WallClock {
				t.Errorf("an endless command: %v, timed out %v, limit %q", err, r.TimedOut, r.LimitHit)
			}
			if s.Enforcement()[sandbox.Memory].Level == sandbox.Full {
				r = sh(t, s, "head -c 400000000 /dev/zero | tail")
				if r.LimitHit != sandbox.Memory || r.ExitCode == 0 {
					t.Errorf("400 MB of 64: exit %d, limit %q", r.ExitCode, r.LimitHit)
				}
				if r = sh(t, s, "echo again"); string(r.Stdout) != "again\n" {
					t.Errorf("after that: %q", r.Stdout)
				}
			}
		})
	}
}

// TestStreamedMounts reads and writes through mounts, and puts another folder
// in the place of one.
func TestStreamedMounts(t *testing.T) {
	for name, factory := range streamed {
		t.Run(name, func(t *testing.T) {
			f := working(t, factory)
			dir := t.TempDir()
			for p := dir; strings.HasPrefix(p, os.TempDir()) && p != os.TempDir(); p = filepath.Dir(p) {
				_ = os.Chmod(p, 0o755)
			}
			rw := filepath.Join(dir, "rw")
			for _, err := range []error{os.Mkdir(rw, 0o755), os.WriteFile(filepath.Join(dir, "in"), []byte("content"), 0o644)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if os.Geteuid() == 0 {
				if err := os.Chown(rw, 1234, 1234); err != nil {
					t.Fatal(err)
				}
			}
			mounts := []sandbox.Mount{{Source: dir, Target: "/work/ro"}, {Source: rw, Target: "/work/rw", Writable: true}, {Source: filepath.Join(dir, "in"), Target: "/file"}}
			if !f.TakesMounts(mounts) {
				t.Error("ordinary mounts are not taken")
			}
			s := create(t, f, sandbox.Spec{Mounts: mounts})
			r := sh(t, s, "cat /work/ro/in /file; echo x > /work/ro/x; echo y > /work/rw/out; ln -s /etc/shadow /work/rw/shadow; cat /work/rw/shadow; id -u")
			if got := string(r.Stdout); !strings.HasPrefix(got, "contentcontent") || strings.Contains(got, "root:") {
				t.Errorf("%q %s", got, r.Stderr)
			}
			if out, err := os.ReadFile(filepath.Join(rw, "out")); err != nil || string(out) != "y\n" {
				t.Errorf("written through a mount: %q, %v; %s", out, err, r.Stderr)
			}
			if _, err := os.Lstat(filepath.Join(dir, "x")); err == nil {
				t.Error("written through a read-only mount")
			}
			if err := s.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			if r := sh(t, s, "cat /work/rw/out"); string(r.Stdout) != "y\n" {
				t.Errorf("after a reset: %q %s", r.Stdout, r.Stderr)
			}
			inside := sandbox.Spec{Limits: sandbox.Standard(), AllowPartial: true, Mounts: []sandbox.Mount{{Source: dir, Target: "/tmp/x"}}}
			if _, err := f.Create(t.Context(), inside); !errors.Is(err, sandbox.ErrSpec) || f.TakesMounts(inside.Mounts) {
				t.Errorf("a mount in the scratch space: %v", err)
			}
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
		})
	}
}

// TestStreamedAllowList holds that a network that cannot be had is refused, or
// is none.
func TestStreamedAllowList(t *testing.T) {
	for name, factory := range streamed {
		t.Run(name, func(t *testing.T) {
			f := working(t, factory)
			spec := sandbox.Spec{Limits: sandbox.Standard(), Network: sandbox.AllowList{Hosts: []string{"example.com:443"}}}
			if _, err := f.Create(t.Context(), spec); !errors.Is(err, sandbox.ErrUnenforceable) {
				t.Errorf("an allow-list: %v", err)
			}
			s := create(t, f, spec)
			if r := sh(t, s, "grep -c : /proc/net/dev; true"); strings.TrimSpace(string(r.Stdout)) != "1" {
				t.Errorf("devices: %s", r.Stdout)
			}
		})
	}
}
