package filesystem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

var bg = context.Background()

// setup makes a base with files and, beside it, a secret that nothing may
// reach.
func setup(t *testing.T, files map[string]string) (base string, f *FS) {
	t.Helper()
	top := t.TempDir()
	base = filepath.Join(top, "base")
	put(t, filepath.Join(top, "outside", "secret.txt"), "s3cr3t")
	if err := os.MkdirAll(base, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		put(t, filepath.Join(base, filepath.FromSlash(name)), content)
	}
	f = New(decision.FS{Read: true, Write: true, BasePath: base}, Options{})
	t.Cleanup(func() { f.Close() })
	return base, f
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func reasonOf(f *worker.Failure) string {
	if f == nil {
		return ""
	}
	return f.Reason
}

func TestPaths(t *testing.T) {
	base, f := setup(t, map[string]string{"a.txt": "A", "dir/b.txt": "B", "..c": "C", "dir/..%2fx": "P"})
	tests := []struct{ path, want, reason string }{
		{"a.txt", "A", ""},
		{"./a.txt", "A", ""},
		{"dir//b.txt", "B", ""},
		{"dir/../a.txt", "A", ""},
		{"..c", "C", ""},
		{"dir/..%2fx", "P", ""},
		{base + "/a.txt", "A", ""},
		{base + "/dir/../a.txt", "A", ""},
		{"", "", PathRequired},
		{"  ", "", PathRequired},
		{"..", "", PathEscapesBase},
		{"../outside/secret.txt", "", PathEscapesBase},
		{"../../etc/passwd", "", PathEscapesBase},
		{"dir/../../outside/secret.txt", "", PathEscapesBase},
		{"./../outside/secret.txt", "", PathEscapesBase},
		{"dir/.././../outside/secret.txt", "", PathEscapesBase},
		{`..\outside\secret.txt`, "", PathEscapesBase},
		{`dir\..\..\outside`, "", PathEscapesBase},
		{"/etc/passwd", "", PathEscapesBase},
		{base + "/../outside/secret.txt", "", PathEscapesBase},
		{base + "x", "", PathEscapesBase},
		{filepath.Dir(base), "", PathEscapesBase},
		{"//etc/passwd", "", PathEscapesBase},
		{"..%2foutside", "", IO},
		{"%2e%2e/outside", "", IO},
		{"~/x", "", IO},
		{"..../x", "", IO},
		{"missing.txt", "", IO},
		{"a.txt/x", "", IO},
		{"a.txt\x00.png", "", InvalidPath},
		{"\xff\xfe", "", InvalidPath},
		{strings.Repeat("a/", 3000), "", InvalidPath},
		{strings.Repeat("a", 256), "", InvalidPath},
		{".", "", NotARegularFile},
		{"dir", "", NotARegularFile},
		{"../base/a.txt", "", PathEscapesBase},
	}
	for _, tt := range tests {
		got, fail := f.ReadText(bg, tt.path)
		if got != tt.want || reasonOf(fail) != tt.reason {
			t.Errorf("ReadText(%q) = %q, %+v; want %q, %s", tt.path, got, fail, tt.want, tt.reason)
		}
		if fail != nil && strings.Contains(fail.Message, base) && !strings.Contains(tt.path, base) {
			t.Errorf("ReadText(%q) shows the base: %s", tt.path, fail.Message)
		}
		if exists, fail := f.Exists(bg, tt.path); fail != nil || tt.reason != "" && tt.reason != NotARegularFile && exists {
			t.Errorf("Exists(%q) = %v, %+v", tt.path, exists, fail)
		}
		if tt.reason == PathEscapesBase {
			if _, fail := f.WriteText(bg, tt.path, "x"); reasonOf(fail) != PathEscapesBase || fail.Code != "SECURITY" {
				t.Errorf("WriteText(%q): %+v", tt.path, fail)
			}
			if _, fail := f.List(bg, tt.path); reasonOf(fail) != PathEscapesBase {
				t.Errorf("List(%q): %+v", tt.path, fail)
			}
			if _, fail := f.Find(bg, tt.path, "*", FindOptions{}); reasonOf(fail) != PathEscapesBase {
				t.Errorf("Find(%q): %+v", tt.path, fail)
			}
			if _, fail := f.Stat(bg, tt.path); reasonOf(fail) != PathEscapesBase {
				t.Errorf("Stat(%q): %+v", tt.path, fail)
			}
		}
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

func TestLinks(t *testing.T) {
	base, f := setup(t, map[string]string{"in/a.txt": "A"})
	outside := filepath.Join(filepath.Dir(base), "outside")
	link(t, filepath.Join(outside, "secret.txt"), filepath.Join(base, "abs"))
	link(t, "../outside/secret.txt", filepath.Join(base, "rel"))
	link(t, outside, filepath.Join(base, "out"))
	link(t, "in/a.txt", filepath.Join(base, "inner"))
	link(t, "in", filepath.Join(base, "indir"))
	link(t, "nowhere", filepath.Join(base, "dangling"))
	link(t, "loop", filepath.Join(base, "loop"))
	link(t, "in/../../outside/secret.txt", filepath.Join(base, "dots"))

	for _, path := range []string{"abs", "rel", "out/secret.txt", "dots"} {
		if got, fail := f.ReadText(bg, path); reasonOf(fail) != PathEscapesBase || fail.Code != "SECURITY" {
			t.Errorf("ReadText(%s) = %q, %+v", path, got, fail)
		}
		if ok, fail := f.Exists(bg, path); ok || fail != nil {
			t.Errorf("Exists(%s) = %v, %+v", path, ok, fail)
		}
	}
	if _, fail := f.List(bg, "out"); reasonOf(fail) != PathEscapesBase {
		t.Errorf("List(out): %+v", fail)
	}
	if _, fail := f.Find(bg, "out", "*", FindOptions{}); reasonOf(fail) != PathEscapesBase {
		t.Errorf("Find(out): %+v", fail)
	}
	for path, want := range map[string]string{"inner": "A", "indir/a.txt": "A"} {
		if got, fail := f.ReadText(bg, path); got != want || fail != nil {
			t.Errorf("ReadText(%s) = %q, %+v", path, got, fail)
		}
	}
	for _, path := range []string{"abs", "rel", "out/secret.txt", "out/new.txt", "inner", "indir/a.txt", "indir/new.txt", "dangling", "loop", "dots"} {
		if _, fail := f.WriteText(bg, path, "overwritten"); reasonOf(fail) != WriteThroughSymlink || fail.Code != "SECURITY" {
			t.Errorf("WriteText(%s): %+v", path, fail)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(outside, "secret.txt")); string(b) != "s3cr3t" {
		t.Errorf("the file outside is now %q", b)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Error("a file was made outside")
	}
	found, fail := f.Find(bg, ".", "*", FindOptions{})
	if fail != nil {
		t.Fatal(fail)
	}
	if diff := cmp.Diff([]string{"abs", "dangling", "dots", "in", "in/a.txt", "indir", "inner", "loop", "out", "rel"}, found); diff != "" {
		t.Errorf("find follows links (-want +got):\n%s", diff)
	}
	if found, _ := f.Find(bg, ".", "*", FindOptions{Type: "file"}); len(found) != 1 {
		t.Errorf("links count as files: %v", found)
	}
}

// A link that swaps with a folder while reads and writes go on must never
// give or change what is outside.
func TestSwappedLink(t *testing.T) {
	base, f := setup(t, map[string]string{"real/secret.txt": "inside"})
	outside := filepath.Join(filepath.Dir(base), "outside")
	link(t, outside, filepath.Join(base, "probe"))
	os.Remove(filepath.Join(base, "probe"))
	at, parked := filepath.Join(base, "swap"), filepath.Join(base, "real")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(parked, at)
			_ = os.Rename(at, parked)
			_ = os.Symlink(outside, at)
			_ = os.Remove(at)
		}
	})
	for range 200 {
		if got, _ := f.ReadText(bg, "swap/secret.txt"); got == "s3cr3t" {
			t.Error("read through the link")
			break
		}
		_, _ = f.WriteText(bg, "swap/new.txt", "x")
		if list, _ := f.List(bg, "swap"); len(list) == 1 && strings.Contains(list[0], "outside") {
			t.Error("listed through the link")
		}
	}
	close(stop)
	wg.Wait()
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("written outside: %v", entries)
	}
}

func TestGrants(t *testing.T) {
	base, _ := setup(t, map[string]string{"a.txt": "A"})
	reads := map[string]func(*FS) *worker.Failure{
		"readText":  func(f *FS) *worker.Failure { _, e := f.ReadText(bg, "a.txt"); return e },
		"list":      func(f *FS) *worker.Failure { _, e := f.List(bg, "."); return e },
		"exists":    func(f *FS) *worker.Failure { _, e := f.Exists(bg, "a.txt"); return e },
		"stat":      func(f *FS) *worker.Failure { _, e := f.Stat(bg, "a.txt"); return e },
		"grep":      func(f *FS) *worker.Failure { _, e := f.Grep(bg, "A", "a.txt", GrepOptions{}); return e },
		"lineCount": func(f *FS) *worker.Failure { _, e := f.LineCount(bg, "a.txt"); return e },
		"slice":     func(f *FS) *worker.Failure { _, e := f.Slice(bg, "a.txt", nil, nil); return e },
		"cut":       func(f *FS) *worker.Failure { _, e := f.Cut(bg, "a.txt", CutOptions{Fields: []int64{1}}); return e },
		"sort":      func(f *FS) *worker.Failure { _, e := f.Sort(bg, "a.txt", SortOptions{}); return e },
		"find":      func(f *FS) *worker.Failure { _, e := f.Find(bg, ".", "*", FindOptions{}); return e },
		"workspace": func(f *FS) *worker.Failure { _, e := f.Workspace(); return e },
		"readRoots": func(f *FS) *worker.Failure { _, e := f.ReadRoots(); return e },
	}
	for _, g := range []decision.FS{{BasePath: base}, {BasePath: base, Write: true}, {BasePath: base, Read: true}} {
		f := New(g, Options{})
		for name, read := range reads {
			if fail := read(f); (fail == nil) != g.Read || fail != nil && (fail.Reason != NotGranted || fail.Code != "SECURITY") {
				t.Errorf("%+v: %s: %+v", g, name, fail)
			}
		}
		if _, fail := f.WriteText(bg, "w.txt", "x"); (fail == nil) != g.Write || fail != nil && fail.Reason != NotGranted {
			t.Errorf("%+v: writeText: %+v", g, fail)
		}
		f.Close()
	}
}

func TestBase(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "x", "y")
	f := New(decision.FS{Read: true, BasePath: missing}, Options{})
	if _, fail := f.List(bg, "."); reasonOf(fail) != IO || strings.Contains(fail.Message, missing) {
		t.Errorf("missing base: %+v", fail)
	}
	f = New(decision.FS{Read: true, BasePath: missing}, Options{Create: true})
	defer f.Close()
	if list, fail := f.List(bg, ""); fail != nil || len(list) != 0 {
		t.Errorf("made base: %v %+v", list, fail)
	}
	if st, err := os.Stat(missing); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", st, err)
	}
	for _, base := range []string{"", "relative"} {
		if _, fail := New(decision.FS{Read: true, BasePath: base}, Options{}).List(bg, "."); reasonOf(fail) != NotGranted {
			t.Errorf("base %q: %+v", base, fail)
		}
	}
	f.Close()
	if _, fail := f.List(bg, "."); fail == nil {
		t.Error("serves after Close")
	}
}

func TestReadAndStat(t *testing.T) {
	base, f := setup(t, map[string]string{"u.txt": "h\u00e9llo", "bad.txt": "a\xffb", "empty": ""})
	if got, fail := f.ReadText(bg, "u.txt"); got != "h\u00e9llo" || fail != nil {
		t.Errorf("%q %+v", got, fail)
	}
	if _, fail := f.ReadText(bg, "bad.txt"); reasonOf(fail) != InvalidUTF8 || fail.Code != "HELPER_RUNTIME" {
		t.Errorf("%+v", fail)
	}
	if got, fail := f.ReadText(bg, "empty"); got != "" || fail != nil {
		t.Errorf("%q %+v", got, fail)
	}
	put(t, filepath.Join(base, "max"), strings.Repeat("a", MaxFile))
	put(t, filepath.Join(base, "over"), strings.Repeat("a", MaxFile+1))
	if got, fail := f.ReadText(bg, "max"); len(got) != MaxFile || fail != nil {
		t.Errorf("%d bytes, %+v", len(got), fail)
	}
	if _, fail := f.ReadText(bg, "over"); reasonOf(fail) != FileTooLarge || fail.Code != "INVALID_INPUT" {
		t.Errorf("%+v", fail)
	}
	st, fail := f.Stat(bg, "u.txt")
	if fail != nil || st.Size != 6 || st.Directory || st.Mtime == 0 {
		t.Errorf("%+v %+v", st, fail)
	}
	if st, fail := f.Stat(bg, "."); fail != nil || st.Size != 0 || !st.Directory {
		t.Errorf("%+v %+v", st, fail)
	}
	want := []Entry{{"readText", "u.txt", 6}, {"readText", "bad.txt", 3}, {"readText", "empty", 0}, {"readText", "max", MaxFile}, {"readText", "over", 0}, {"stat", "u.txt", 0}, {"stat", ".", 0}}
	if diff := cmp.Diff(want, f.Ledger()); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, fail := f.ReadText(ctx, "u.txt"); reasonOf(fail) != Interrupted {
		t.Errorf("%+v", fail)
	}
}

func TestWrite(t *testing.T) {
	base, f := setup(t, map[string]string{"old.txt": "old", "file": "x"})
	if got, fail := f.WriteText(bg, "new/deep/n.txt", "content"); got != "new/deep/n.txt" || fail != nil {
		t.Fatalf("%q %+v", got, fail)
	}
	if got, fail := f.WriteText(bg, filepath.Join(base, "abs.txt"), ""); got != "abs.txt" || fail != nil {
		t.Errorf("%q %+v", got, fail)
	}
	if err := os.Chmod(filepath.Join(base, "old.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, fail := f.WriteText(bg, "old.txt", "new"); fail != nil {
		t.Error(fail)
	}
	if b, _ := os.ReadFile(filepath.Join(base, "old.txt")); string(b) != "new" {
		t.Errorf("%q", b)
	}
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]os.FileMode{"old.txt": 0o640, "new/deep/n.txt": 0o600, "new": 0o700} {
			if st, err := os.Stat(filepath.Join(base, name)); err != nil || st.Mode().Perm() != mode {
				t.Errorf("%s: %v %v", name, st.Mode(), err)
			}
		}
	}
	for path, want := range map[string]string{".": NotARegularFile, "new": NotARegularFile, "file/x": NotADirectory, "file/x/y": NotADirectory} {
		if _, fail := f.WriteText(bg, path, "x"); reasonOf(fail) != want {
			t.Errorf("%s: %+v, want %s", path, fail, want)
		}
	}
	if _, fail := f.WriteText(bg, "big", strings.Repeat("x", MaxFile+1)); reasonOf(fail) != FileTooLarge {
		t.Errorf("%+v", fail)
	}
	found, _ := f.Find(bg, ".", "*", FindOptions{Type: "file"})
	if diff := cmp.Diff([]string{"abs.txt", "file", "new/deep/n.txt", "old.txt"}, found); diff != "" {
		t.Errorf("something is left behind (-want +got):\n%s", diff)
	}
	if l := f.Ledger(); l[0] != (Entry{"writeText", "new/deep/n.txt", 7}) {
		t.Errorf("%+v", l[0])
	}
}

func TestListAndFind(t *testing.T) {
	_, f := setup(t, map[string]string{"b.md": "", "a.txt": "", "d/c.md": "", "d/e/f.md": "", "d/e/G.MD": "", "x[1].md": ""})
	list := func(dir string) []string { l, _ := f.List(bg, dir); return l }
	for dir, want := range map[string][]string{"": {"a.txt", "b.md", "d", "x[1].md"}, "d": {"d/c.md", "d/e"}, "missing": {}, "missing/deeper": {}} {
		if diff := cmp.Diff(want, list(dir)); diff != "" {
			t.Errorf("list %q (-want +got):\n%s", dir, diff)
		}
	}
	if _, fail := f.List(bg, "a.txt"); reasonOf(fail) != NotADirectory {
		t.Errorf("%+v", fail)
	}
	tests := []struct {
		dir, glob string
		opts      FindOptions
		want      []string
		reason    string
	}{
		{"", "", FindOptions{}, []string{"a.txt", "b.md", "d", "d/c.md", "d/e", "d/e/G.MD", "d/e/f.md", "x[1].md"}, ""},
		{".", "*.md", FindOptions{}, []string{"b.md", "d/c.md", "d/e/f.md", "x[1].md"}, ""},
		{".", "*.md", FindOptions{MaxDepth: 1}, []string{"b.md", "x[1].md"}, ""},
		{".", "*.md", FindOptions{MaxDepth: 2}, []string{"b.md", "d/c.md", "x[1].md"}, ""},
		{"d", "*.md", FindOptions{MaxDepth: -1}, []string{"d/c.md", "d/e/f.md"}, ""},
		{".", "*", FindOptions{Type: "dir"}, []string{"d", "d/e"}, ""},
		{".", "?.{md,txt}", FindOptions{}, []string{"a.txt", "b.md", "d/c.md", "d/e/f.md"}, ""},
		{".", "[a-b].*", FindOptions{}, []string{"a.txt", "b.md"}, ""},
		{".", "[!a-c].md", FindOptions{}, []string{"d/e/f.md"}, ""},
		{".", `x\[1\].md`, FindOptions{}, []string{"x[1].md"}, ""},
		{".", "**", FindOptions{MaxDepth: 1, Type: "file"}, []string{"a.txt", "b.md", "x[1].md"}, ""},
		{".", "[", FindOptions{}, nil, FindInvalidGlob},
		{".", "{a", FindOptions{}, nil, FindInvalidGlob},
		{".", "{a{b}}", FindOptions{}, nil, FindInvalidGlob},
		{".", "a}", FindOptions{}, nil, FindInvalidGlob},
		{".", `a\`, FindOptions{}, nil, FindInvalidGlob},
		{".", "d/*", FindOptions{}, nil, FindInvalidGlob},
		{".", strings.Repeat("a", 5000), FindOptions{}, nil, FindInvalidGlob},
		{".", "*", FindOptions{Type: "socket"}, nil, FindInvalidType},
		{"a.txt", "*", FindOptions{}, nil, FindNotADirectory},
		{"missing", "*", FindOptions{}, nil, IO},
	}
	for _, tt := range tests {
		got, fail := f.Find(bg, tt.dir, tt.glob, tt.opts)
		if diff := cmp.Diff(tt.want, got); diff != "" || reasonOf(fail) != tt.reason {
			t.Errorf("find %q %.20q %+v: %+v (-want +got):\n%s", tt.dir, tt.glob, tt.opts, fail, diff)
		}
	}
}

func TestTooMany(t *testing.T) {
	files := map[string]string{}
	for i := range 101 {
		files[fmt.Sprintf("f-%d", i)] = ""
	}
	base, f := setup(t, files)
	f.maxEntries = 100
	if _, fail := f.List(bg, "."); reasonOf(fail) != TooManyEntries {
		t.Errorf("list: %+v", fail)
	}
	if _, fail := f.Find(bg, ".", "*", FindOptions{}); reasonOf(fail) != TooManyEntries {
		t.Errorf("find: %+v", fail)
	}
	if got, fail := f.Find(bg, ".", "*-77", FindOptions{}); len(got) != 1 || fail != nil {
		t.Errorf("find: %v %+v", got, fail)
	}
	if err := os.MkdirAll(filepath.Join(base, strings.Repeat("d/", maxDepth+2)), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, fail := f.Find(bg, "d", "*", FindOptions{}); reasonOf(fail) != TooManyEntries {
		t.Errorf("deep find: %+v", fail)
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a.txt", "../x", "..\\x", "/etc/passwd", "a/../../x", "a\x00", "./.", "link/secret.txt", "a/./b", "C:\\x", "\u2025/x"} {
		f.Add(s)
	}
	top := f.TempDir()
	base := filepath.Join(top, "base")
	_ = os.MkdirAll(filepath.Join(base, "a"), 0o700)
	_ = os.MkdirAll(filepath.Join(top, "outside"), 0o700)
	_ = os.WriteFile(filepath.Join(top, "secret.txt"), []byte("s3cr3t"), 0o600)
	_ = os.WriteFile(filepath.Join(top, "outside", "secret.txt"), []byte("s3cr3t"), 0o600)
	_ = os.Symlink(filepath.Join(top, "outside"), filepath.Join(base, "link"))
	gate := New(decision.FS{Read: true, BasePath: base}, Options{})
	f.Fuzz(func(t *testing.T, path string) {
		if got, _ := gate.ReadText(bg, path); strings.Contains(got, "s3cr3t") {
			t.Fatalf("%q reads outside", path)
		}
		if list, fail := gate.List(bg, path); fail == nil {
			for _, e := range list {
				if !filepath.IsLocal(e) {
					t.Fatalf("%q lists %q", path, e)
				}
			}
		}
		_, _ = gate.Exists(bg, path)
		_, _ = gate.Stat(bg, path)
		_, _ = gate.Find(bg, path, path, FindOptions{})
	})
}

// TestBaseThroughALink opens a base from the root that the operator listed:
// a link on the way must not lead out of it, whatever its path looks like.
func TestBaseThroughALink(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("OUTSIDE"), 0o600),
		os.Mkdir(filepath.Join(root, "inside"), 0o700),
		os.WriteFile(filepath.Join(root, "inside", "a.txt"), []byte("a"), 0o600),
		os.Symlink(outside, filepath.Join(root, "out")),
		os.Symlink("inside", filepath.Join(root, "in")),
	} {
		if err != nil {
			t.Skip(err) // a system without links
		}
	}
	for base, want := range map[string]string{
		root: "", filepath.Join(root, "inside"): "", filepath.Join(root, "in"): "",
		filepath.Join(root, "out"): PathEscapesBase, outside: PathEscapesBase, filepath.Dir(root): PathEscapesBase,
		filepath.Join(root, "missing"): IO,
	} {
		f := New(decision.FS{Read: true, Write: true, BasePath: base}, Options{Roots: []string{root}})
		_, fail := f.List(context.Background(), ".")
		if reasonOf(fail) != want {
			t.Errorf("base %s: %v, want %q", base, fail, want)
		}
		if text, _ := f.ReadText(context.Background(), "secret.txt"); text != "" {
			t.Errorf("base %s gave %q", base, text)
		}
		f.Close()
	}
}

// TestLongPath keeps a long path whole in the ledger and in messages, so that
// a secret in it is recognised when they are masked.
func TestLongPath(t *testing.T) {
	long := strings.Repeat(strings.Repeat("d", 200)+"/", 5) + "s3cr3t-value"
	f := New(decision.FS{}, Options{})
	f.record("stat", long, 0)
	if got := f.Ledger()[0].Path; got != long {
		t.Errorf("the ledger has %q", got)
	}
	if fail := escape("../" + long); !strings.HasSuffix(fail.Message, long) {
		t.Errorf("the message is %q", fail.Message)
	}
	set := mask.New([]string{"s3cr3t-value"})
	f.record("stat", strings.Repeat("d", maxPath-6)+"s3cr3t-value", 0)
	if got := set.String(f.Ledger()[1].Path); !strings.HasSuffix(got, "d"+mask.Mask+mask.CutMark) {
		t.Errorf("the ledger shows %q", got[maxPath-20:])
	}
}

// FuzzChanges tries every helper that changes files on paths of any shape.
func FuzzChanges(f *testing.F) {
	for i, s := range []string{"a.txt", "../x", "..\\x", "/etc/x", "a/../../x", "a\x00", "link/secret.txt", "a/./b", "C:\\x", "a", "NUL", "a/b/c", "x ", "."} {
		f.Add(uint8(i), s)
	}
	top := f.TempDir()
	base, outside := filepath.Join(top, "base"), filepath.Join(top, "outside")
	_ = os.MkdirAll(outside, 0o700)
	_ = os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("s3cr3t"), 0o600)
	f.Fuzz(func(t *testing.T, i uint8, path string) {
		_ = os.MkdirAll(filepath.Join(base, "a"), 0o700)
		_ = os.Symlink(outside, filepath.Join(base, "link"))
		_ = os.WriteFile(filepath.Join(base, "a.txt"), []byte("s3cr3t"), 0o600)
		gate := New(decision.FS{Read: true, Write: true, BasePath: base}, Options{})
		defer gate.Close()
		c := changes[int(i)%len(changes)]
		fail := c.do(gate, path)
		if fail != nil && (fail.Code == "" || strings.Contains(fail.Message, base) && !strings.Contains(path, base)) {
			t.Fatalf("%s(%q): %+v", c.op, path, fail)
		}
		if b, _ := os.ReadFile(filepath.Join(outside, "secret.txt")); string(b) != "s3cr3t" {
			t.Fatalf("%s(%q) changed the file outside", c.op, path)
		}
		for dir, n := range map[string]int{outside: 1, top: 2} {
			if entries, _ := os.ReadDir(dir); len(entries) != n {
				t.Fatalf("%s(%q) made or removed a file outside", c.op, path)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(base, ".toolwarrant-*")); len(left) > 0 {
			t.Fatalf("%s(%q) left %v", c.op, path, left)
		}
	})
}
