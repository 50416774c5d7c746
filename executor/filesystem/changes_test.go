package filesystem

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// change is one helper that changes files, for tables over all of them.
type change struct {
	op   string
	both bool // needs reading too
	do   func(f *FS, path string) *worker.Failure
}

var changes = []change{
	{"writeText", false, func(f *FS, p string) *worker.Failure { _, e := f.WriteText(bg, p, "x"); return e }},
	{"writeBytes", false, func(f *FS, p string) *worker.Failure { _, e := f.WriteBytes(bg, p, []byte("x")); return e }},
	{"appendText", false, func(f *FS, p string) *worker.Failure { _, e := f.AppendText(bg, p, "x"); return e }},
	{"editText", true, func(f *FS, p string) *worker.Failure { _, e := f.EditText(bg, p, "s3cr3t", "x", true); return e }},
	{"copy", true, func(f *FS, p string) *worker.Failure {
		_, e := f.Copy(bg, "a.txt", p, MoveOptions{Overwrite: true})
		return e
	}},
	{"move", false, func(f *FS, p string) *worker.Failure {
		_, _ = f.WriteText(bg, "moving.txt", "x")
		_, e := f.Move(bg, "moving.txt", p, MoveOptions{Overwrite: true})
		return e
	}},
	{"move", false, func(f *FS, p string) *worker.Failure {
		_, e := f.Move(bg, p, "gone.txt", MoveOptions{Overwrite: true})
		return e
	}},
	{"delete", false, func(f *FS, p string) *worker.Failure { _, e := f.Delete(bg, p); return e }},
	{"deleteDir", false, func(f *FS, p string) *worker.Failure { _, e := f.DeleteDir(bg, p); return e }},
}

func content(t *testing.T, base, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(base, name))
	if err != nil {
		return "!missing"
	}
	return string(b)
}

func TestChanges(t *testing.T) {
	base, f := setup(t, map[string]string{"a.txt": "one two one", "bin": "\xff", "d/b.txt": "B", "d/e/c.txt": "C", "full/x": ""})
	for _, tt := range []struct {
		name, want string // the result, or "!" and the reason
		do         func() (any, *worker.Failure)
	}{
		{"append makes a file", "new/log.txt", func() (any, *worker.Failure) { return f.AppendText(bg, "new/log.txt", "1\n") }},
		{"append", "new/log.txt", func() (any, *worker.Failure) { return f.AppendText(bg, "new/log.txt", "2\n") }},
		{"append to bytes", "bin", func() (any, *worker.Failure) { return f.AppendText(bg, "bin", "x") }},
		{"append to a folder", "!" + NotARegularFile, func() (any, *worker.Failure) { return f.AppendText(bg, "d", "x") }},
		{"edit many", "!" + EditAmbiguous, func() (any, *worker.Failure) { return f.EditText(bg, "a.txt", "one", "1", false) }},
		{"edit one", "{a.txt 1}", func() (any, *worker.Failure) { return f.EditText(bg, "a.txt", "two", "2", false) }},
		{"edit all", "{a.txt 2}", func() (any, *worker.Failure) { return f.EditText(bg, "a.txt", "one", "1", true) }},
		{"edit nothing", "!" + EditNoMatch, func() (any, *worker.Failure) { return f.EditText(bg, "a.txt", "one", "1", true) }},
		{"edit without a text", "!" + EditOldRequired, func() (any, *worker.Failure) { return f.EditText(bg, "a.txt", "", "1", true) }},
		{"edit a missing file", "!" + EditFileMissing, func() (any, *worker.Failure) { return f.EditText(bg, "none", "a", "1", true) }},
		{"edit bytes", "!" + InvalidUTF8, func() (any, *worker.Failure) { return f.EditText(bg, "bin", "x", "1", true) }},
		{"bytes", "raw", func() (any, *worker.Failure) { return f.WriteBytes(bg, "raw", []byte{0, 0xff}) }},
		{"read bytes", "[0 255]", func() (any, *worker.Failure) { return f.ReadBytes(bg, "raw") }},
		{"read bytes of a folder", "!" + NotARegularFile, func() (any, *worker.Failure) { return f.ReadBytes(bg, "d") }},
		{"copy", "x/copy.txt", func() (any, *worker.Failure) { return f.Copy(bg, "a.txt", "x/copy.txt", MoveOptions{}) }},
		{"copy again", "!" + TargetExists, func() (any, *worker.Failure) { return f.Copy(bg, "bin", "x/copy.txt", MoveOptions{}) }},
		{"copy over", "x/copy.txt", func() (any, *worker.Failure) { return f.Copy(bg, "bin", "x/copy.txt", MoveOptions{Overwrite: true}) }},
		{"copy onto itself", "a.txt", func() (any, *worker.Failure) { return f.Copy(bg, "a.txt", "./a.txt", MoveOptions{Overwrite: true}) }},
		{"copy a folder", "!" + CopySourceNotFile, func() (any, *worker.Failure) { return f.Copy(bg, "d", "x/d", MoveOptions{}) }},
		{"copy nothing", "!" + CopySourceNotFile, func() (any, *worker.Failure) { return f.Copy(bg, "none", "x/d", MoveOptions{}) }},
		{"copy onto a folder", "!" + NotARegularFile, func() (any, *worker.Failure) { return f.Copy(bg, "a.txt", "d", MoveOptions{Overwrite: true}) }},
		{"move", "y/a.txt", func() (any, *worker.Failure) { return f.Move(bg, "a.txt", "y/a.txt", MoveOptions{}) }},
		{"move onto a file", "!" + TargetExists, func() (any, *worker.Failure) { return f.Move(bg, "y/a.txt", "raw", MoveOptions{}) }},
		{"move over", "raw", func() (any, *worker.Failure) { return f.Move(bg, "y/a.txt", "raw", MoveOptions{Overwrite: true}) }},
		{"move onto itself", "raw", func() (any, *worker.Failure) { return f.Move(bg, "raw", "./raw", MoveOptions{}) }},
		{"move nothing", "!" + MoveSourceMissing, func() (any, *worker.Failure) { return f.Move(bg, "a.txt", "z", MoveOptions{}) }},
		{"move a folder", "moved/d", func() (any, *worker.Failure) { return f.Move(bg, "d", "moved/d", MoveOptions{}) }},
		{"move a folder into itself", "!" + MoveIntoItself, func() (any, *worker.Failure) { return f.Move(bg, "moved", "moved/d/x", MoveOptions{}) }},
		{"move onto a folder", "!" + TargetExists, func() (any, *worker.Failure) { return f.Move(bg, "raw", "moved", MoveOptions{Overwrite: true}) }},
		{"move the base", "!" + InvalidPath, func() (any, *worker.Failure) { return f.Move(bg, ".", "z", MoveOptions{}) }},
		{"delete", "true", func() (any, *worker.Failure) { return f.Delete(bg, "raw") }},
		{"delete again", "false", func() (any, *worker.Failure) { return f.Delete(bg, "raw") }},
		{"delete a folder", "!" + DeleteIsDirectory, func() (any, *worker.Failure) { return f.Delete(bg, "moved") }},
		{"delete a file as a folder", "!" + NotADirectory, func() (any, *worker.Failure) { return f.DeleteDir(bg, "bin") }},
		{"delete a tree", "5", func() (any, *worker.Failure) { return f.DeleteDir(bg, "moved") }},
		{"delete a missing tree", "0", func() (any, *worker.Failure) { return f.DeleteDir(bg, "moved") }},
		{"delete the base", "!" + DeleteBase, func() (any, *worker.Failure) { return f.DeleteDir(bg, "x/..") }},
	} {
		v, fail := tt.do()
		got := fmt.Sprint(v)
		if fail != nil {
			got = "!" + fail.Reason
		}
		if got != tt.want {
			t.Errorf("%s: %s (%+v), want %s", tt.name, got, fail, tt.want)
		}
	}
	for name, want := range map[string]string{"new/log.txt": "1\n2\n", "bin": "\xffx", "x/copy.txt": "\xffx", "full/x": ""} {
		if got := content(t, base, name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if left, _ := f.Find(bg, ".", ".toolwarrant-*", FindOptions{}); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestChangeGrants(t *testing.T) {
	base, _ := setup(t, map[string]string{"a.txt": "s3cr3t"})
	for _, g := range []decision.FS{{BasePath: base}, {BasePath: base, Read: true}, {BasePath: base, Write: true}} {
		f := New(g, Options{})
		for _, c := range changes {
			fail := c.do(f, "a.txt")
			granted := g.Write && (!c.both || g.Read)
			if !granted && (reasonOf(fail) != NotGranted || fail.Code != "SECURITY") || granted && reasonOf(fail) == NotGranted {
				t.Errorf("%+v: %s: %+v", g, c.op, fail)
			}
			put(t, filepath.Join(base, "a.txt"), "s3cr3t")
		}
		if _, fail := f.SearchInFiles(bg, ".", "*", "s", SearchOptions{}); (fail == nil) != g.Read {
			t.Errorf("%+v: searchInFiles: %+v", g, fail)
		}
		if _, fail := f.ReadBytes(bg, "a.txt"); (fail == nil) != g.Read {
			t.Errorf("%+v: readBytes: %+v", g, fail)
		}
		f.Close()
	}
}

// Every change is in the ledger under its path, refused ones included, and
// names the source before the target.
func TestChangeLedger(t *testing.T) {
	_, f := setup(t, map[string]string{"a.txt": "abc", "d/x": ""})
	_, _ = f.Copy(bg, "a.txt", "b.txt", MoveOptions{})
	_, _ = f.Move(bg, "b.txt", "c.txt", MoveOptions{})
	_, _ = f.AppendText(bg, "c.txt", "de")
	_, _ = f.EditText(bg, "c.txt", "a", "A", false)
	_, _ = f.WriteBytes(bg, "w", []byte("1"))
	_, _ = f.ReadBytes(bg, "w")
	_, _ = f.SearchInFiles(bg, "", "c.*", "x", SearchOptions{})
	_, _ = f.Delete(bg, "w")
	_, _ = f.DeleteDir(bg, "d")
	_, _ = f.Copy(bg, "../x", "y", MoveOptions{})
	_, _ = f.Move(bg, "a.txt", "../y", MoveOptions{})
	want := []Entry{
		{"copy", "a.txt", 3}, {"copy", "b.txt", 3}, {"move", "b.txt", 0}, {"move", "c.txt", 0}, {"appendText", "c.txt", 2},
		{"editText", "c.txt", 5}, {"writeBytes", "w", 1}, {"readBytes", "w", 1}, {"searchInFiles", ".", 5}, {"delete", "w", 0}, {"deleteDir", "d", 0},
		{"copy", "../x", 0}, {"move", "../y", 0},
	}
	if diff := cmp.Diff(want, f.Ledger()); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
}

func TestSearchInFiles(t *testing.T) {
	base, f := setup(t, map[string]string{"a.md": "TODO one\nx\r\ntodo two", "d/b.md": "a TODO", "d/c.txt": "TODO", "bin.md": "TODO\xff"})
	link(t, "../outside", filepath.Join(base, "out"))
	put(t, filepath.Join(base, "huge.md"), strings.Repeat("TODO\n", MaxFile/5+1))
	find := func(dir, glob, pattern string, o SearchOptions) string {
		got, fail := f.SearchInFiles(bg, dir, glob, pattern, o)
		if fail != nil {
			return "!" + fail.Reason
		}
		return fmt.Sprint(got)
	}
	for _, tt := range []struct{ got, want string }{
		{find("", "*.md", "TODO", SearchOptions{}), "[{a.md 1 TODO one} {d/b.md 1 a TODO}]"},
		{find(".", "*.md", "todo", SearchOptions{CaseInsensitive: true}), "[{a.md 1 TODO one} {a.md 3 todo two} {d/b.md 1 a TODO}]"},
		{find("d", "", "^TODO$", SearchOptions{}), "[{d/c.txt 1 TODO}]"},
		{find("", "", "TODO", SearchOptions{Limit: 1}), "[{a.md 1 TODO one}]"},
		{find("", "", "TODO", SearchOptions{MaxDepth: 1}), "[{a.md 1 TODO one}]"},
		{find("", "", "s3cr3t", SearchOptions{}), "[]"},
		{find("", "", "", SearchOptions{}), "!" + GrepPatternRequired},
		{find("", "", `(a)\1`, SearchOptions{}), "!" + GrepInvalidPattern},
		{find("", "[", "a", SearchOptions{}), "!" + FindInvalidGlob},
		{find("a.md", "", "a", SearchOptions{}), "!" + FindNotADirectory},
		{find("..", "", "a", SearchOptions{}), "!" + PathEscapesBase},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
	if !testing.Short() {
		for i := range 8 {
			put(t, filepath.Join(base, fmt.Sprint("big", i)), strings.Repeat("x", MaxFile))
		}
		if got := find("", "big*", "y", SearchOptions{}); got != "!"+TooManyEntries {
			t.Errorf("80 MiB: %s", got)
		}
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, fail := f.SearchInFiles(ctx, "", "", "a", SearchOptions{}); reasonOf(fail) != Interrupted {
		t.Errorf("%+v", fail)
	}
}

// Of calls that add to one file at once, none is lost, and a reader never
// sees a part of one.
func TestConcurrentAppends(t *testing.T) {
	base, _ := setup(t, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			f := New(decision.FS{Read: true, Write: true, BasePath: base}, Options{})
			defer f.Close()
			for range 10 {
				if _, fail := f.AppendText(bg, "log", "0123456789\n"); fail != nil {
					t.Error(fail)
				}
				if got, fail := f.ReadText(bg, "log"); fail != nil || len(got)%11 != 0 {
					t.Errorf("a part: %q %v", got, fail)
				}
			}
		})
	}
	wg.Wait()
	if got := content(t, base, "log"); strings.Count(got, "\n") != 40 {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}

func TestSizeOfChanges(t *testing.T) {
	base, f := setup(t, map[string]string{"small": "aa"})
	put(t, filepath.Join(base, "max"), strings.Repeat("a", MaxFile))
	put(t, filepath.Join(base, "over"), strings.Repeat("a", MaxFile+1))
	for name, fail := range map[string]*worker.Failure{
		"append":       second(f.AppendText(bg, "max", "x")),
		"append large": second(f.AppendText(bg, "small", strings.Repeat("a", MaxFile+1))),
		"bytes":        second(f.WriteBytes(bg, "b", bytes.Repeat([]byte("a"), MaxFile+1))),
		"edit":         second(f.EditText(bg, "small", "a", strings.Repeat("b", MaxFile), true)),
		"edit many":    second(f.EditText(bg, "max", "a", "bb", true)),
		"edit over":    second(f.EditText(bg, "over", "a", "b", true)),
		"copy":         second(f.Copy(bg, "over", "x", MoveOptions{})),
		"read bytes":   second(f.ReadBytes(bg, "over")),
	} {
		if reasonOf(fail) != FileTooLarge || fail.Code != "INVALID_INPUT" {
			t.Errorf("%s: %+v", name, fail)
		}
	}
	if got := content(t, base, "small"); got != "aa" {
		t.Errorf("small is now %.20q", got)
	}
}

func second[T any](_ T, fail *worker.Failure) *worker.Failure { return fail }

// A folder that is too large to delete in one call is left whole.
func TestDeleteDirIsWhole(t *testing.T) {
	base, f := setup(t, map[string]string{"d/1": "", "d/2": "", "d/s/3": "", "d/s/4": "", "ok/1": "", "ok/s/2": ""})
	f.maxEntries = 4
	if _, fail := f.DeleteDir(bg, "d"); reasonOf(fail) != TooManyEntries {
		t.Errorf("%+v", fail)
	}
	if content(t, base, "d/s/4") == "!missing" {
		t.Error("a part is gone")
	}
	if n, fail := f.DeleteDir(bg, "ok"); n != 4 || fail != nil {
		t.Errorf("%d %+v", n, fail)
	}
}
