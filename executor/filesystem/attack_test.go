package filesystem

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// outsideOf gives the folder that setup makes beside the base, and a check
// that nothing in it was changed.
func outsideOf(base string) (dir string, check func(t *testing.T)) {
	dir = filepath.Join(filepath.Dir(base), "outside")
	return dir, func(t *testing.T) {
		t.Helper()
		if b, err := os.ReadFile(filepath.Join(dir, "secret.txt")); err != nil || string(b) != "s3cr3t" {
			t.Errorf("the file outside is now %q, %v", b, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("the folder outside holds %v", entries)
		}
	}
}

// TestChangesStayInside tries each helper that changes files on each kind of
// path that leads out.
func TestChangesStayInside(t *testing.T) {
	base, f := setup(t, map[string]string{"a.txt": "s3cr3t", "in/b.txt": "s3cr3t"})
	outside, unchanged := outsideOf(base)
	link(t, outside, filepath.Join(base, "out"))
	link(t, "out", filepath.Join(base, "chain1"))
	link(t, "chain1", filepath.Join(base, "chain2"))
	link(t, filepath.Join(outside, "secret.txt"), filepath.Join(base, "abs"))
	link(t, "../outside/secret.txt", filepath.Join(base, "rel"))
	link(t, "in", filepath.Join(base, "indir"))
	for path, want := range map[string]string{
		"../outside/secret.txt":                  PathEscapesBase,
		filepath.Join(outside, "secret.txt"):     PathEscapesBase,
		"in/../../outside/secret.txt":            PathEscapesBase,
		`..\outside\secret.txt`:                  PathEscapesBase,
		`C:\Windows\win.ini`:                     PathEscapesBase,
		"c:/Windows/win.ini":                     PathEscapesBase,
		"c:relative":                             PathEscapesBase,
		`\\server\share\x`:                       PathEscapesBase,
		`\\?\C:\x`:                               PathEscapesBase,
		`\\.\PhysicalDrive0`:                     PathEscapesBase,
		`\x`:                                     PathEscapesBase,
		"//server/share/x":                       PathEscapesBase,
		"out/secret.txt":                         WriteThroughSymlink,
		"out/new/deep.txt":                       WriteThroughSymlink,
		"chain2/secret.txt":                      WriteThroughSymlink,
		"indir/b.txt":                            WriteThroughSymlink,
		"a.txt\x00":                              InvalidPath,
		"\xff":                                   InvalidPath,
		"":                                       PathRequired,
		strings.Repeat("x", 300):                 InvalidPath,
		strings.Repeat("d/", maxPath/2) + "deep": InvalidPath,
	} {
		for _, c := range changes {
			fail := c.do(f, path)
			if reasonOf(fail) != want {
				t.Errorf("%s(%.60q): %+v, want %s", c.op, path, fail, want)
			} else if strings.Contains(fail.Message, base) {
				t.Errorf("%s(%.60q) shows the base: %s", c.op, path, fail.Message)
			}
		}
	}
	// A link itself: nothing is written through it; deleting it deletes it.
	for _, name := range []string{"abs", "rel", "out", "indir"} {
		for _, c := range changes {
			fail := c.do(f, name)
			if c.op == "delete" {
				if fail != nil {
					t.Errorf("delete(%s): %+v", name, fail)
				}
				link(t, "../outside", filepath.Join(base, name))
				continue
			}
			if reasonOf(fail) != WriteThroughSymlink {
				t.Errorf("%s(%s): %+v", c.op, name, fail)
			}
		}
	}
	if _, fail := f.Copy(bg, "out/secret.txt", "stolen.txt", MoveOptions{}); reasonOf(fail) != PathEscapesBase {
		t.Errorf("copy from outside: %+v", fail)
	}
	if n, fail := f.DeleteDir(bg, "in"); n != 2 || fail != nil {
		t.Errorf("%d %+v", n, fail)
	}
	unchanged(t)
}

// TestDeleteDirTakesLinksAway deletes a folder that holds links: they go, and
// what they lead to stays.
func TestDeleteDirTakesLinksAway(t *testing.T) {
	base, f := setup(t, map[string]string{"d/x": "", "keep/y": "kept"})
	outside, unchanged := outsideOf(base)
	link(t, outside, filepath.Join(base, "d", "out"))
	link(t, "../keep", filepath.Join(base, "d", "inner"))
	link(t, "gone", filepath.Join(base, "d", "dangling"))
	if n, fail := f.DeleteDir(bg, "d"); n != 5 || fail != nil {
		t.Errorf("%d %+v", n, fail)
	}
	if content(t, base, "keep/y") != "kept" {
		t.Error("it followed a link inside the base")
	}
	unchanged(t)
}

// TestUnportableNames makes no file that another system would read as a
// device, a stream or another name; what exists under such a name is read.
func TestUnportableNames(t *testing.T) {
	base, f := setup(t, map[string]string{"a.txt": "s3cr3t"})
	for _, name := range []string{"CON", "nul", "NUL.txt", "aux.c", "d/prn", "COM1", "com9.log", "LPT\u00b9", "CONIN$", "nul .txt",
		"x.", "x ", "d./x", `a\b`, "x\ty", "x\ny", "x\u0085", "con:stream", "..."} {
		for _, c := range changes {
			if c.op != "writeText" && c.op != "writeBytes" && c.op != "appendText" && c.op != "copy" {
				continue
			}
			if fail := c.do(f, name); reasonOf(fail) != InvalidPath || fail.Code != "INVALID_INPUT" {
				t.Errorf("%s(%q): %+v", c.op, name, fail)
			}
		}
		if _, fail := f.Move(bg, "a.txt", name, MoveOptions{}); reasonOf(fail) != InvalidPath {
			t.Errorf("move to %q: %+v", name, fail)
		}
	}
	for _, name := range []string{"console.txt", "nuls", "com10", "COM", "lpt", "auxiliary.c", ".con", "x.con", "\uff43\uff4f\uff4e"} {
		if _, fail := f.WriteText(bg, name, "x"); fail != nil {
			t.Errorf("%q: %+v", name, fail)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, name := range []string{"aux.c", "x.", `a\b`, "10:30.log", "tab\t"} {
		put(t, filepath.Join(base, name), "there")
		if got, fail := f.ReadText(bg, name); got != "there" || fail != nil {
			t.Errorf("reading %q: %q %+v", name, got, fail)
		}
		if _, fail := f.WriteText(bg, name, "new"); fail != nil {
			t.Errorf("replacing %q: %+v", name, fail)
		}
	}
}

// TestUnicodeNames keeps letters that look like separators or dots letters,
// and spellings of one letter apart where the file system does.
func TestUnicodeNames(t *testing.T) {
	base, f := setup(t, map[string]string{"a.txt": "A"})
	_, unchanged := outsideOf(base)
	for _, path := range []string{"\u2024\u2024/outside/secret.txt", "\uff0e\uff0e/outside/secret.txt", "..\u2215outside", "..\uff0foutside", "..\u2044outside\u2044secret.txt", "\u2025/outside", ".\u200b./outside/secret.txt", ".\u00ad./outside", "\u202e../outside/secret.txt"} {
		if got, fail := f.ReadText(bg, path); fail == nil || got != "" {
			t.Errorf("ReadText(%q) = %q", path, got)
		}
	}
	nfc, nfd := "caf\u00e9", "cafe\u0301"
	if _, fail := f.WriteText(bg, nfc, "1"); fail != nil {
		t.Fatal(fail)
	}
	if _, fail := f.WriteText(bg, nfd, "2"); fail != nil {
		t.Fatal(fail)
	}
	entries, _ := os.ReadDir(base)
	got, fail := f.ReadText(bg, nfc)
	if want := map[int]string{2: "2", 3: "1"}[len(entries)]; fail != nil || got != want {
		t.Errorf("%d entries, the first spelling has %q, %+v", len(entries), got, fail)
	}
	unchanged(t)
}

// TestHardLinks: a second name of a file is read, and writing gives this name
// a file of its own.
func TestHardLinks(t *testing.T) {
	base, f := setup(t, map[string]string{"a": "old"})
	outside, unchanged := outsideOf(base)
	if err := os.Link(filepath.Join(outside, "secret.txt"), filepath.Join(base, "hard")); err != nil {
		t.Skip(err)
	}
	for _, c := range []func() *worker.Failure{
		func() *worker.Failure { return second(f.WriteText(bg, "hard", "x")) },
		func() *worker.Failure { return second(f.AppendText(bg, "hard", "x")) },
		func() *worker.Failure { return second(f.EditText(bg, "hard", "s3cr3t", "x", true)) },
		func() *worker.Failure { return second(f.Copy(bg, "a", "hard", MoveOptions{Overwrite: true})) },
		func() *worker.Failure { return second(f.Delete(bg, "hard")) },
	} {
		_ = os.Remove(filepath.Join(base, "hard"))
		if err := os.Link(filepath.Join(outside, "secret.txt"), filepath.Join(base, "hard")); err != nil {
			t.Fatal(err)
		}
		if fail := c(); fail != nil {
			t.Error(fail)
		}
		unchanged(t)
	}
	// Renaming one name of a file onto another leaves one of them.
	if err := os.Link(filepath.Join(base, "a"), filepath.Join(base, "b")); err != nil {
		t.Fatal(err)
	}
	if _, fail := f.Move(bg, "a", "b", MoveOptions{}); reasonOf(fail) != TargetExists {
		t.Errorf("%+v", fail)
	}
	if _, fail := f.Move(bg, "a", "b", MoveOptions{Overwrite: true}); fail != nil {
		t.Error(fail)
	}
	if content(t, base, "a") != "!missing" || content(t, base, "b") != "old" {
		t.Errorf("a %q, b %q", content(t, base, "a"), content(t, base, "b"))
	}
}

// TestRacingLinks runs every helper while folders and links change places
// beneath it: nothing outside is read, listed or changed.
func TestRacingLinks(t *testing.T) {
	base, f := setup(t, map[string]string{"real/secret.txt": "inside", "a.txt": "s3cr3t-of-the-base"})
	outside, unchanged := outsideOf(base)
	link(t, outside, filepath.Join(base, "probe"))
	_ = os.Remove(filepath.Join(base, "probe"))
	at, parked, leaf := filepath.Join(base, "swap"), filepath.Join(base, "real"), filepath.Join(base, "leaf")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Mkdir(parked, 0o700)
			_ = os.WriteFile(filepath.Join(parked, "secret.txt"), []byte("inside"), 0o600)
			_ = os.Rename(parked, at)
			_ = os.Rename(at, parked)
			_ = os.Symlink(outside, at)
			_ = os.Symlink(filepath.Join(outside, "secret.txt"), leaf)
			_ = os.Remove(at)
			_ = os.Remove(leaf)
			_ = os.WriteFile(leaf, []byte("inside"), 0o600)
		}
	})
	for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); {
		for _, name := range []string{"swap/secret.txt", "swap", "leaf", "swap/new.txt"} {
			if got, _ := f.ReadText(bg, name); got == "s3cr3t" {
				t.Fatal("read through the link")
			}
			if got, _ := f.ReadBytes(bg, name); string(got) == "s3cr3t" {
				t.Fatal("read through the link")
			}
			for _, c := range changes {
				_ = c.do(f, name)
			}
			if _, fail := f.Copy(bg, name, "taken.txt", MoveOptions{Overwrite: true}); fail == nil && content(t, base, "taken.txt") == "s3cr3t" {
				t.Fatal("copied through the link")
			}
			if found, _ := f.SearchInFiles(bg, ".", "*", "^s3cr3t$", SearchOptions{}); len(found) > 0 {
				t.Fatalf("found outside: %v", found)
			}
		}
	}
	close(stop)
	wg.Wait()
	unchanged(t)
}

// TestDeepAndWide bounds trees that are deeper or wider than a helper looks.
func TestDeepAndWide(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	base, f := setup(t, nil)
	deep := filepath.Join(base, "deep", filepath.Join(strings.Split(strings.Repeat("d", maxDepth+2), "")...))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Skip(err)
	}
	wide, err := os.OpenRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	_ = wide.Mkdir("wide", 0o700)
	for i := range 100_001 {
		h, err := wide.Create("wide/" + strings.Repeat("f", 3) + string(rune('a'+i%26)) + time.Duration(i).String())
		if err != nil {
			t.Skip(err)
		}
		h.Close()
	}
	for name, fail := range map[string]*worker.Failure{
		"list":           second(f.List(bg, "wide")),
		"find":           second(f.Find(bg, "wide", "*", FindOptions{})),
		"deleteDir":      second(f.DeleteDir(bg, "wide")),
		"deep find":      second(f.Find(bg, "deep", "*", FindOptions{})),
		"deep deleteDir": second(f.DeleteDir(bg, "deep")),
		"deep search":    second(f.SearchInFiles(bg, "deep", "*", "x", SearchOptions{})),
	} {
		if reasonOf(fail) != TooManyEntries {
			t.Errorf("%s: %+v", name, fail)
		}
	}
	if got, fail := f.Find(bg, "wide", "none*", FindOptions{}); len(got) != 0 || fail != nil {
		t.Errorf("%v %+v", got, fail)
	}
}
