package filesystem

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// folderPaths are the paths that a system takes for a folder, whatever stands
// there.
var folderPaths = []string{"x.sh/", "x.sh//", "x.sh/.", "x.sh/./", "x.sh/./.", "./x.sh/.", "x.sh/x/..", "d/../x.sh/", "d/x.sh/.", "d/."}

// TestFolderPathsAreNoFiles: a rule about the argument sees its ending, so
// that no ending but that of the file leads to the file.
func TestFolderPathsAreNoFiles(t *testing.T) {
	for _, path := range folderPaths {
		for _, existing := range []bool{false, true} {
			files := map[string]string{"d/keep": "k", "from.txt": "s3cr3t"}
			if existing {
				files["x.sh"], files["d/x.sh"] = "s3cr3t", "s3cr3t"
			}
			base, f := setup(t, files)
			for op, do := range map[string]func() (*worker.Failure, string){
				"readText":   func() (*worker.Failure, string) { _, e := f.ReadText(bg, path); return e, NotARegularFile },
				"readBytes":  func() (*worker.Failure, string) { _, e := f.ReadBytes(bg, path); return e, NotARegularFile },
				"writeText":  func() (*worker.Failure, string) { _, e := f.WriteText(bg, path, "y"); return e, NotARegularFile },
				"writeBytes": func() (*worker.Failure, string) { _, e := f.WriteBytes(bg, path, nil); return e, NotARegularFile },
				"appendText": func() (*worker.Failure, string) { _, e := f.AppendText(bg, path, "y"); return e, NotARegularFile },
				"editText": func() (*worker.Failure, string) {
					_, e := f.EditText(bg, path, "s3cr3t", "y", true)
					return e, NotARegularFile
				},
				"copy to": func() (*worker.Failure, string) {
					_, e := f.Copy(bg, "from.txt", path, MoveOptions{Overwrite: true})
					return e, NotARegularFile
				},
				"copy from": func() (*worker.Failure, string) {
					_, e := f.Copy(bg, path, "to.txt", MoveOptions{Overwrite: true})
					return e, CopySourceNotFile
				},
				"move to": func() (*worker.Failure, string) {
					_, e := f.Move(bg, "from.txt", path, MoveOptions{Overwrite: true})
					return e, NotADirectory
				},
				"delete": func() (*worker.Failure, string) { _, e := f.Delete(bg, path); return e, DeleteIsDirectory },
			} {
				fail, want := do()
				if fail == nil || fail.Reason != want || fail.Code != "INVALID_INPUT" {
					t.Errorf("%s of %q: %+v, want %s", op, path, fail, want)
				}
			}
			for _, name := range []string{"x.sh", "d/x.sh"} {
				got, there := content(t, base, name), "!missing"
				if existing {
					there = "s3cr3t"
				}
				if got != there {
					t.Errorf("%q: %s holds %q", path, name, got)
				}
			}
			if content(t, base, "from.txt") != "s3cr3t" {
				t.Errorf("%q moved the file", path)
			}
		}
	}
}

// TestFolderPathsLookedAt: asking about a path answers for what it names.
func TestFolderPathsLookedAt(t *testing.T) {
	base, f := setup(t, map[string]string{"x.sh": "s", "d/a.txt": "a"})
	for path, reason := range map[string]string{"x.sh": "", "x.sh/": NotADirectory, "x.sh/.": NotADirectory, "d": "", "d/": "", "d/.": "", ".": "", "no/": IO} {
		there, fail := f.Exists(bg, path)
		if fail != nil || there != (reason == "") {
			t.Errorf("Exists(%q) = %v, %+v", path, there, fail)
		}
		if _, fail := f.Stat(bg, path); reasonOf(fail) != reason {
			t.Errorf("Stat(%q): %+v, want %q", path, fail, reason)
		}
	}
	if _, fail := f.Move(bg, "x.sh/.", "y.sh", MoveOptions{}); reasonOf(fail) != NotADirectory {
		t.Errorf("Move of a file as a folder: %+v", fail)
	}
	if to, fail := f.Move(bg, "d/", "e/", MoveOptions{}); fail != nil || to != "e" {
		t.Errorf("Move of a folder: %q, %+v", to, fail)
	}
	if n, fail := f.DeleteDir(bg, "e/."); fail != nil || n != 2 {
		t.Errorf("DeleteDir: %d, %+v", n, fail)
	}
	if _, err := os.Stat(filepath.Join(base, "x.sh")); err != nil {
		t.Error(err)
	}
}
