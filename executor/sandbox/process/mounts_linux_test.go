package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func TestMounts(t *testing.T) {
	ro, rw := t.TempDir(), t.TempDir()
	for _, dir := range []string{ro, rw} {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "private"), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/shadow", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
	s := spec()
	s.Mounts = []sandbox.Mount{
		{Source: ro, Target: "/data/in"}, {Source: rw, Target: "/data/out", Writable: true},
		{Source: filepath.Join(ro, "private"), Target: "/scratch/deep/file"}, {Source: rw, Target: "/scratch/out", Writable: true},
	}
	box := create(t, factory(t, Options{}), s)
	for range 2 {
		if got := sh(t, box, "cat /data/in/private /data/out/private /scratch/deep/file /scratch/out/private"); got != "minemineminemine" {
			t.Errorf("read: %q", got)
		}
		if got := sh(t, box, "(echo x >/data/in/new) 2>/dev/null && echo written; (echo x >/scratch/deep/file) 2>/dev/null && echo written; cat /data/in/link 2>/dev/null; true"); got != "" {
			t.Errorf("through a read-only mount: %q", got)
		}
		sh(t, box, "echo made >/data/out/new; mkdir -p /scratch/out/dir; (chmod 4755 /data/out/new) 2>/dev/null && exit 1; mv /scratch/deep /scratch/elsewhere; ln -s /etc /scratch/deep")
		info, err := os.Stat(filepath.Join(rw, "new"))
		if err != nil || info.Mode()&os.ModeSetuid != 0 {
			t.Fatalf("%v, %v", err, info)
		}
		if own, _ := os.Stat(rw); owner(own) != owner(info) {
			t.Errorf("a file that was made belongs to %d, its folder to %d", owner(info), owner(own))
		}
		if err := box.Reset(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMountsThatAreRefused(t *testing.T) {
	f := factory(t, Options{})
	dir := t.TempDir()
	s := spec()
	s.Mounts = []sandbox.Mount{{Source: filepath.Join(dir, "absent"), Target: "/x"}}
	if _, err := f.Create(context.Background(), s); !errors.Is(err, sandbox.ErrSpec) {
		t.Errorf("a source that is not there: %v", err)
	}
	s.Mounts = []sandbox.Mount{{Source: "/dev/null", Target: "/x"}}
	if _, err := f.Create(context.Background(), s); !errors.Is(err, sandbox.ErrSpec) {
		t.Errorf("a device: %v", err)
	}
	for _, target := range []string{"/bin/x", "/usr/no-such-place/x"} {
		s.Mounts = []sandbox.Mount{{Source: dir, Target: target}}
		box := create(t, f, s)
		if err := box.Start(context.Background()); err == nil {
			t.Errorf("a mount at %s", target)
		}
	}
	// The source becomes another between Create and Start.
	for name, swap := range map[string]func(string) error{
		"link":   func(p string) error { return os.Symlink("/etc", p) },
		"folder": func(p string) error { return os.Mkdir(p, 0o755) },
	} {
		source := filepath.Join(dir, name)
		if err := os.Mkdir(source, 0o755); err != nil {
			t.Fatal(err)
		}
		s.Mounts = []sandbox.Mount{{Source: source, Target: "/data"}}
		box := create(t, f, s)
		if err := os.Rename(source, source+".old"); err != nil {
			t.Fatal(err)
		}
		if err := swap(source); err != nil {
			t.Fatal(err)
		}
		if err := box.Start(context.Background()); err == nil {
			t.Errorf("a source that became another %s was mounted", name)
		}
	}
}

func TestImageOfAFolder(t *testing.T) {
	f := factory(t, Options{})
	for _, image := range []string{"dir:/no/such", "dir:relative", "dir:/", "ubuntu:latest"} {
		s := spec()
		s.Image = image
		if _, err := f.Create(context.Background(), s); !errors.Is(err, sandbox.ErrImage) {
			t.Errorf("%s: %v", image, err)
		}
	}
	busybox, err := os.ReadFile("/bin/busybox")
	if err != nil {
		t.Skip("there is no static program to make a root of: ", err)
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"bin", "etc", "var"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "bin/sh"), busybox, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("192.0.2.1 elsewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := spec()
	s.Image = "dir:" + root
	box := create(t, f, s)
	r, err := box.Exec(context.Background(), sandbox.Shell("read a < /etc/hosts; echo $a; echo x >/tmp/x && read b </tmp/x && echo $b; (echo x >/bin/y) 2>/dev/null || echo kept; test -e /usr || echo own"))
	if want := "127.0.0.1 localhost\nx\nkept\nown\n"; err != nil || string(r.Stdout) != want {
		t.Errorf("%v, %q %q", err, r.Stdout, r.Stderr)
	}
}
