package escape

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// TestMountSourceIsSwapped exchanges the source of a mount, or a folder above
// it, after the sandbox was made and before it starts, and once more before it
// starts again. What was checked is mounted, or nothing.
func TestMountSourceIsSwapped(t *testing.T) {
	r := newRig(t)
	for _, at := range []string{"source", "above", "link"} {
		t.Run(at, func(t *testing.T) {
			for _, f := range factories(t) {
				t.Run(f.ID(), func(t *testing.T) { r.swap(t, f, at) })
			}
		})
	}
}

func (r *rig) swap(t *testing.T, f sandbox.Factory, at string) {
	top := filepath.Join(r.home, f.ID()+"-"+at)
	bad, good := filepath.Join(top, "bad", "source"), filepath.Join(top, "good", "source")
	for dir, text := range map[string]string{bad: r.secret, good: "harmless"} {
		must(t, os.MkdirAll(dir, 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "canary"), []byte(text), 0o644))
	}
	source := good
	exchange := func(path, with string) {
		must(t, os.Rename(path, path+".was"))
		must(t, os.Symlink(with, path))
	}
	swapped := func() { exchange(good, bad) }
	switch at {
	case "above":
		swapped = func() { exchange(filepath.Dir(good), filepath.Dir(bad)) }
	case "link":
		// A link is followed when the sandbox is made, and not once more.
		source = filepath.Join(top, "link")
		must(t, os.Symlink(good, source))
		swapped = func() {
			must(t, os.Remove(source))
			must(t, os.Symlink(bad, source))
		}
	}
	spec := r.spec()
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: source, Target: "/raced"})
	sb, err := f.Create(t.Context(), spec)
	if err != nil {
		t.Skipf("it refuses: %v", err)
	}
	defer sb.Close()
	swapped()
	look := func(when string) {
		res, err := sb.Exec(t.Context(), sandbox.Shell("cat /raced/canary /raced/*"))
		if strings.Contains(string(res.Stdout), r.secret) {
			t.Errorf("%s: another folder was mounted than the one that was checked", when)
		}
		t.Logf("%s: %q, %v", when, res.Stdout, err)
	}
	look("at the first start")
	if err := sb.Reset(t.Context()); err == nil {
		look("after Reset")
	}
	if err := sb.Stop(t.Context()); err == nil {
		look("at the second start")
	}
}

// TestMountTargetsFollowNoLink mounts something below a link that is in a
// writable mount: as an earlier command could have left it there.
func TestMountTargetsFollowNoLink(t *testing.T) {
	r := newRig(t)
	secret := filepath.Dir(r.canary)
	up := strings.Repeat("../", 20)
	for name, link := range map[string]string{"absolute": secret, "relative": up + strings.TrimPrefix(secret, "/"), "etc": "/etc", "proc": "/proc/self/root" + secret, "scratch": "/scratch"} {
		t.Run(name, func(t *testing.T) {
			must(t, os.Symlink(link, filepath.Join(r.rw, name)))
			for _, f := range factories(t) {
				t.Run(f.ID(), func(t *testing.T) {
					spec := r.spec()
					spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: r.ro, Target: "/work/" + name + "/planted"})
					sb, err := f.Create(t.Context(), spec)
					if err == nil {
						defer sb.Close()
						err = sb.Start(t.Context())
					}
					t.Logf("%v", err)
					for _, dir := range []string{secret, "/etc"} {
						path := filepath.Join(dir, "planted")
						if _, err := os.Lstat(path); err == nil {
							_ = os.Remove(path)
							t.Errorf("a folder was made on the host, in %s", filepath.Base(dir))
						}
					}
				})
			}
		})
	}
}

// TestMountInScratch has a mount in the scratch space, which commands may
// rearrange, and which Reset makes new.
func TestMountInScratch(t *testing.T) {
	r := newRig(t)
	for _, f := range factories(t) {
		t.Run(f.ID(), func(t *testing.T) {
			spec := r.spec()
			spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: r.ro, Target: "/scratch/data/here"})
			sb, err := f.Create(t.Context(), spec)
			if err == nil {
				defer sb.Close()
				err = sb.Start(t.Context())
			}
			if err != nil {
				t.Skipf("it refuses: %v", err)
			}
			exec1(t, sb, sandbox.Shell("rmdir /scratch/data/here; mv /scratch/data /scratch/was; rm -rf /scratch/data; ln -s /usr /scratch/data"))
			must(t, sb.Reset(t.Context()))
			res := exec1(t, sb, sandbox.Shell("cat /scratch/data/here/note; rm -rf /scratch/data/here/note; ls /scratch"))
			if !strings.HasPrefix(string(res.Stdout), "a note\n") || strings.Contains(string(res.Stdout), "was") {
				t.Errorf("after Reset: %q %q", res.Stdout, res.Stderr)
			}
			if _, err := os.Stat(filepath.Join(r.ro, "note")); err != nil {
				t.Errorf("a read-only mount was written: %v", err)
			}
		})
	}
}

// TestWritableMount is the other way: what may be written is, and belongs to
// who made the sandbox, or to nobody; not to another user of the host.
func TestWritableMount(t *testing.T) {
	r := newRig(t)
	each(t, r, func(t *testing.T, _ sandbox.Factory, sb sandbox.Sandbox) {
		res := exec1(t, sb, sandbox.Shell("echo hello >/work/made && mkdir /work/folder && cat /work/made"))
		if string(res.Stdout) != "hello\n" || res.ExitCode != 0 {
			t.Fatalf("code %d: %s%s", res.ExitCode, res.Stdout, res.Stderr)
		}
		text, err := os.ReadFile(filepath.Join(r.rw, "made"))
		if err != nil || string(text) != "hello\n" {
			t.Errorf("on the host: %q, %v", text, err)
		}
		owner := ownerOf(t, filepath.Join(r.rw, "made"))
		if mine := ownerOf(t, r.rw); owner != mine {
			t.Errorf("the file belongs to %d, the folder to %d", owner, mine)
		}
		must(t, os.RemoveAll(filepath.Join(r.rw, "folder")))
		must(t, os.Remove(filepath.Join(r.rw, "made")))
	})
}
