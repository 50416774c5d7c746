package initrd

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// entry is one of an archive, as a reader of our own sees it.
type entry struct {
	mode         uint64
	uid, gid     uint64
	major, minor uint64
	body         string
}

func unpack(t *testing.T, raw []byte) map[string]entry {
	t.Helper()
	if len(raw)%512 != 0 {
		t.Errorf("the archive has %d bytes, not full blocks", len(raw))
	}
	all := map[string]entry{}
	at := 0
	for {
		field := func(i int) uint64 {
			v, err := strconv.ParseUint(string(raw[at+6+8*i:at+14+8*i]), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if string(raw[at:at+6]) != "070701" {
			t.Fatalf("no header at %d", at)
		}
		size, length := int(field(6)), int(field(11))
		name := string(raw[at+110 : at+110+length-1])
		body := (at + 110 + length + 3) &^ 3
		if name == "TRAILER!!!" {
			return all
		}
		all[name] = entry{field(1), field(2), field(3), field(9), field(10), string(raw[body : body+size])}
		at = (body + size + 3) &^ 3
	}
}

func TestArchive(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, perm fs.FileMode) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), perm); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, perm); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/sh", "shell", 0o755)
	write("etc/name", "x", 0o640)
	write("bin/su", "root", 0o755|fs.ModeSetuid|fs.ModeSetgid)
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "etc/away")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	var b bytes.Buffer
	w := NewWriter(&b, 1<<20, 100)
	w.Dir("dev", 0o755)
	w.Device("dev/console", 0o600, 5, 1)
	w.File("/init", 0o755, strings.NewReader("agent"), 5)
	if err := w.Folder("image", dir); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := unpack(t, b.Bytes())
	for name, want := range map[string]entry{
		"dev/console":    {mode: modeChar | 0o600, major: 5, minor: 1},
		"init":           {mode: modeFile | 0o755, body: "agent"},
		"image":          {mode: modeFolder | 0o755},
		"image/bin/sh":   {mode: modeFile | 0o755, body: "shell"},
		"image/bin/su":   {mode: modeFile | 0o755, body: "root"}, // without its set-user-id bit
		"image/etc/name": {mode: modeFile | 0o644, body: "x"},    // as its owner reads it,
		"image/etc/away": {mode: modeLink | 0o777, body: "/etc/passwd"},
	} {
		g := got[name]
		if name == "image" {
			g.mode, want.mode = 0, 0
		}
		if g != want {
			t.Errorf("%s is %+v, want %+v", name, g, want)
		}
	}
	if runtime.GOOS == "linux" {
		if cpio, err := exec.LookPath("cpio"); err == nil {
			c := exec.Command(cpio, "-t", "--quiet")
			c.Stdin = &b
			if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "image/bin/sh\n") {
				t.Errorf("cpio reads %q, %v", out, err)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, w := range map[string]*Writer{
		"bytes": NewWriter(&bytes.Buffer{}, 5000, 100),
		"files": NewWriter(&bytes.Buffer{}, 1<<20, 5),
	} {
		if err := w.Folder("image", dir); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if err := w.Close(); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: Close forgets it: %v", name, err)
		}
	}
	w := NewWriter(&bytes.Buffer{}, 1<<20, 10)
	w.File("short", 0o600, strings.NewReader("abc"), 4)
	if w.Close() == nil {
		t.Error("a file that became shorter was taken")
	}
	w = NewWriter(&bytes.Buffer{}, 1<<20, 10)
	w.Dir("a\x00b", 0o700)
	if w.Close() == nil {
		t.Error("a name with a zero byte was taken")
	}
}
