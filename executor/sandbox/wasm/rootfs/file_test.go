package rootfs_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	wasys "github.com/tetratelabs/wazero/experimental/sys"
)

// TestFile is what a program does with a file.
func TestFile(t *testing.T) {
	f, dir := tree(t, true)
	file, no := f.OpenFile("new", wasys.O_RDWR|wasys.O_CREAT|wasys.O_EXCL, 0o600)
	if no != 0 {
		t.Fatal(no)
	}
	if _, no := f.OpenFile("new", wasys.O_RDWR|wasys.O_CREAT|wasys.O_EXCL, 0o600); no != wasys.EEXIST {
		t.Errorf("a second one: %v", no)
	}
	buf := make([]byte, 16)
	for _, step := range []struct {
		what string
		do   func() (int, wasys.Errno)
		want int
	}{
		{"write", func() (int, wasys.Errno) { return file.Write([]byte("abcdef")) }, 6},
		{"pwrite", func() (int, wasys.Errno) { return file.Pwrite([]byte("XY"), 2) }, 2},
		{"pread", func() (int, wasys.Errno) { return file.Pread(buf, 1) }, 5},
		{"pread behind the end", func() (int, wasys.Errno) { return file.Pread(buf, 99) }, 0},
		{"read at the end", func() (int, wasys.Errno) { return file.Read(buf) }, 0},
		{"seek", func() (int, wasys.Errno) { at, no := file.Seek(1, io.SeekStart); return int(at), no }, 1},
		{"read", func() (int, wasys.Errno) { return file.Read(buf[:3]) }, 3},
		{"append on", func() (int, wasys.Errno) { return 0, file.SetAppend(true) }, 0},
		{"append", func() (int, wasys.Errno) { return file.Write([]byte("!")) }, 1},
		{"append off", func() (int, wasys.Errno) { return 0, file.SetAppend(false) }, 0},
		{"truncate", func() (int, wasys.Errno) { return 0, file.Truncate(5) }, 0},
		{"times", func() (int, wasys.Errno) { return 0, file.Utimens(1e9, 2e9) }, 0},
		{"sync", func() (int, wasys.Errno) { return 0, file.Sync() }, 0},
	} {
		if n, no := step.do(); no != 0 || n != step.want {
			t.Errorf("%s: %d, %v", step.what, n, no)
		}
	}
	st, no := file.Stat()
	if no != 0 || st.Size != 5 || st.Mtim != 2e9 || st.Atim != 1e9 {
		t.Errorf("stat: %+v, %v", st, no)
	}
	if no := file.Utimens(wasys.UTIME_OMIT, 3e9); no != 0 {
		t.Error(no)
	}
	if st, _ := f.Stat("new"); st.Atim != 1e9 || st.Mtim != 3e9 {
		t.Errorf("times: %+v", st)
	}
	if no := f.Utimens("new", 4e9, wasys.UTIME_OMIT); no != 0 {
		t.Error(no)
	}
	if st, _ := f.Stat("new"); st.Atim != 4e9 || st.Mtim != 3e9 {
		t.Errorf("times by name: %+v", st)
	}
	if no := file.Close(); no != 0 {
		t.Error(no)
	}
	if _, no := file.Read(buf); no != wasys.EBADF {
		t.Errorf("read after close: %v", no)
	}
	if _, no := file.Stat(); no != wasys.EBADF {
		t.Errorf("stat after close: %v", no)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "new")); string(text) != "abXYe" {
		t.Errorf("the file holds %q", text)
	}
}

// TestFolder is what a program does with folders and names.
func TestFolder(t *testing.T) {
	f, _ := tree(t, true)
	for _, step := range []struct {
		what string
		got  wasys.Errno
		want wasys.Errno
	}{
		{"mkdir", f.Mkdir("a", 0o700), 0},
		{"mkdir again", f.Mkdir("a", 0o700), wasys.EEXIST},
		{"mkdir without parent", f.Mkdir("b/c", 0o700), wasys.ENOENT},
		{"rename", f.Rename("file", "a/file"), 0},
		{"rename what is not there", f.Rename("file", "x"), wasys.ENOENT},
		{"link", f.Link("a/file", "again"), 0},
		{"unlink", f.Unlink("again"), 0},
		{"unlink a folder", f.Unlink("a"), wasys.EISDIR},
		{"rmdir a file", f.Rmdir("a/file"), wasys.ENOTDIR},
		{"rmdir with something in it", f.Rmdir("a"), wasys.ENOTEMPTY},
		{"unlink with a slash", f.Unlink("a/file/"), wasys.ENOTDIR},
		{"unlink it", f.Unlink("a/file"), 0},
		{"rmdir", f.Rmdir("a"), 0},
		{"rmdir of the root", f.Rmdir("."), wasys.EPERM},
		{"rename of the root", f.Rename(".", "x"), wasys.EPERM},
		{"empty name", f.Mkdir("", 0o700), wasys.EINVAL},
	} {
		if step.got != step.want {
			t.Errorf("%s: %v, not %v", step.what, step.got, step.want)
		}
	}
	if _, no := f.OpenFile("folder", wasys.O_RDWR, 0); no != wasys.EISDIR {
		t.Errorf("a folder for writing: %v", no)
	}
	if _, no := f.OpenFile("again", wasys.O_RDONLY, 0); no != wasys.ENOENT {
		t.Errorf("what was removed: %v", no)
	}
}

func TestReaddir(t *testing.T) {
	f, _ := tree(t, true)
	for i := range 300 {
		if no := f.Mkdir(fmt.Sprintf("folder/%d", i), 0o700); no != 0 {
			t.Fatal(no)
		}
	}
	dir, no := f.OpenFile("folder", wasys.O_RDONLY|wasys.O_DIRECTORY, 0)
	if no != 0 {
		t.Fatal(no)
	}
	defer dir.Close()
	for round := range 2 {
		seen := map[string]bool{}
		for {
			list, no := dir.Readdir(7)
			if no != 0 {
				t.Fatal(no)
			}
			if len(list) == 0 {
				break
			}
			for _, e := range list {
				if !e.IsDir() {
					t.Errorf("%s is %v", e.Name, e.Type)
				}
				seen[e.Name] = true
			}
		}
		if len(seen) != 301 {
			t.Errorf("round %d: %d names", round, len(seen))
		}
		if _, no := dir.Seek(0, io.SeekStart); no != 0 {
			t.Fatal(no)
		}
	}
	if _, no := dir.Read(make([]byte, 1)); no != wasys.EISDIR {
		t.Errorf("read of a folder: %v", no)
	}
}
