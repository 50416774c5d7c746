package filesystem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/internal/nobody"
)

// TestAsOrdinaryUser runs the tests of this package once more without
// privileges, where the file system itself refuses more.
func TestAsOrdinaryUser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every test again")
	}
	report, err := nobody.Rerun(t, nil, "-test.short", "-test.v", "-test.run=^Test")
	if err != nil || !strings.Contains(report, "--- PASS: TestRacingLinks") {
		t.Errorf("%v\n%s", err, report)
	}
}

// TestClosedToUs: what the system refuses is a failure that shows nothing.
func TestClosedToUs(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	base, f := setup(t, map[string]string{"shut/x": "x", "mute": "x"})
	for _, name := range []string{"shut", "mute"} {
		if err := os.Chmod(filepath.Join(base, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { _ = os.Chmod(filepath.Join(base, "shut"), 0o700) }()
	if _, fail := f.ReadText(bg, "mute"); reasonOf(fail) != IO {
		t.Errorf("%+v", fail)
	}
	if _, fail := f.WriteText(bg, "shut/y", "y"); reasonOf(fail) != IO {
		t.Errorf("%+v", fail)
	}
	if _, fail := f.DeleteDir(bg, "shut"); reasonOf(fail) != IO {
		t.Errorf("%+v", fail)
	}
	if found, fail := f.Find(bg, ".", "*", FindOptions{}); fail != nil || len(found) != 2 {
		t.Errorf("%v %+v", found, fail)
	}
	if found, fail := f.SearchInFiles(bg, ".", "*", "x", SearchOptions{}); fail != nil || len(found) != 0 {
		t.Errorf("%v %+v", found, fail)
	}
}

// TestProcLinks: the links of /proc lead where no text says, and still not
// out of a base, be it /proc itself. Devices are not opened.
func TestProcLinks(t *testing.T) {
	base, f := setup(t, nil)
	link(t, "/proc/self/root", filepath.Join(base, "root"))
	link(t, "/proc/self/cwd", filepath.Join(base, "cwd"))
	link(t, "/dev/zero", filepath.Join(base, "zero"))
	for _, path := range []string{"root/etc/passwd", "cwd/go.mod", "zero"} {
		if _, fail := f.ReadText(bg, path); reasonOf(fail) != PathEscapesBase {
			t.Errorf("%s: %+v", path, fail)
		}
	}
	proc := New(decision.FS{Read: true, BasePath: "/proc/self"}, Options{})
	defer proc.Close()
	for _, path := range []string{"root/etc/passwd", "cwd/filesystem.go", "exe", "fd/0"} {
		if got, fail := proc.ReadText(bg, path); fail == nil {
			t.Errorf("%s gave %.40q", path, got)
		}
	}
	dev := New(decision.FS{Read: true, Write: true, BasePath: "/dev"}, Options{})
	defer dev.Close()
	for _, name := range []string{"null", "zero", "tty"} {
		if _, err := os.Lstat("/dev/" + name); err != nil {
			continue
		}
		if _, fail := dev.ReadText(bg, name); reasonOf(fail) != NotARegularFile || fail.Code != "SECURITY" {
			t.Errorf("reading %s: %+v", name, fail)
		}
		if _, fail := dev.WriteText(bg, name, "x"); reasonOf(fail) != NotARegularFile || fail.Code != "SECURITY" {
			t.Errorf("writing %s: %+v", name, fail)
		}
		if _, fail := dev.Delete(bg, name); reasonOf(fail) != NotARegularFile {
			t.Errorf("deleting %s: %+v", name, fail)
		}
	}
}
