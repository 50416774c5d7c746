package rootfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	wasys "github.com/tetratelabs/wazero/experimental/sys"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/rootfs"
)

const canary = "what nobody may read"

// tree is a folder with a few things in it and, beside it, a file that no
// name may reach.
func tree(t *testing.T, writable bool) (*rootfs.FS, string) {
	t.Helper()
	above := t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(above, "secret"), []byte(canary), 0o600))
	dir := filepath.Join(above, "mount")
	must(os.MkdirAll(filepath.Join(dir, "folder", "deep"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "file"), []byte("0123456789"), 0o600))
	if runtime.GOOS != "windows" {
		must(os.Symlink("../secret", filepath.Join(dir, "up")))
		must(os.Symlink(filepath.Join(above, "secret"), filepath.Join(dir, "absolute")))
		must(os.Symlink("..", filepath.Join(dir, "parent")))
		must(os.Symlink("folder/../../secret", filepath.Join(dir, "around")))
		must(os.Symlink("file", filepath.Join(dir, "inside")))
		must(os.Symlink("circle", filepath.Join(dir, "circle")))
		must(os.Symlink("../made", filepath.Join(dir, "dangling")))
	}
	root, err := os.OpenRoot(dir)
	must(err)
	t.Cleanup(func() { root.Close() })
	return rootfs.New(root, writable), dir
}

// out are the names that lead out of the folder, or would if they were taken
// as they are.
var out = []string{
	"../secret", "folder/../../secret", "folder/deep/../../../secret", "/secret", "/etc/passwd", "//etc/passwd",
	"up", "absolute", "parent/secret", "around", "parent", "parent/", "up/", "./up", "folder/../up", "..", "../", "../mount/file",
}

func TestNothingLeadsOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	for _, writable := range []bool{false, true} {
		f, dir := tree(t, writable)
		for _, p := range out {
			for _, flag := range []wasys.Oflag{wasys.O_RDONLY, wasys.O_RDWR, wasys.O_WRONLY | wasys.O_CREAT, wasys.O_WRONLY | wasys.O_TRUNC, wasys.O_RDONLY | wasys.O_DIRECTORY} {
				if file, no := f.OpenFile(p, flag, 0o600); no == 0 {
					file.Close()
					t.Errorf("writable %v: open %q with %x worked", writable, p, flag)
				}
			}
			if _, no := f.Stat(p); no == 0 {
				t.Errorf("stat %q worked", p)
			}
			for what, no := range map[string]wasys.Errno{
				"mkdir": f.Mkdir(p+"/new", 0o700), "chmod": f.Chmod(p, 0o777), "utimens": f.Utimens(p, 0, 0),
				"rename from": f.Rename(p+"/secret", "got"), "rename to": f.Rename("file", p+"/new"),
				"link from": f.Link(p+"/secret", "got"), "link to": f.Link("file", p+"/new"),
				"rmdir": f.Rmdir(p + "/mount"), "unlink": f.Unlink(p + "/secret"),
			} {
				if no == 0 {
					t.Errorf("%s of %q worked", what, p)
				}
			}
		}
		above := filepath.Dir(dir)
		entries, err := os.ReadDir(above)
		if err != nil || len(entries) != 2 {
			t.Errorf("beside the folder are now %v (%v)", entries, err)
		}
		if text, err := os.ReadFile(filepath.Join(above, "secret")); string(text) != canary {
			t.Errorf("the file beside the folder is now %q (%v)", text, err)
		}
		if st, err := os.Stat(filepath.Join(above, "secret")); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("mode of the file beside the folder: %v (%v)", st.Mode(), err)
		}
	}
}

func TestDanglingLinkMakesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	f, dir := tree(t, true)
	if _, no := f.OpenFile("dangling", wasys.O_WRONLY|wasys.O_CREAT, 0o600); no == 0 {
		t.Error("a file was made through a link that leads out")
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), "made")); err == nil {
		t.Error("it is there")
	}
	if _, no := f.OpenFile("circle", wasys.O_RDONLY, 0); no == 0 {
		t.Error("a circle was opened")
	}
	if no := f.Symlink("../secret", "mine"); no != wasys.EPERM {
		t.Errorf("a symbolic link could be made: %v", no)
	}
	file, no := f.OpenFile("inside", wasys.O_RDONLY, 0)
	if no != 0 {
		t.Fatalf("a link within the folder: %v", no)
	}
	file.Close()
	if _, no := f.OpenFile("inside", wasys.O_RDONLY|wasys.O_NOFOLLOW, 0); no != wasys.ELOOP {
		t.Errorf("O_NOFOLLOW on a link: %v", no)
	}
	if to, no := f.Readlink("up"); no != 0 || to != "../secret" {
		t.Errorf("readlink: %q, %v", to, no)
	}
}

// TestReadOnly: no call changes anything, and each says why.
func TestReadOnly(t *testing.T) {
	f, dir := tree(t, false)
	for what, no := range map[string]wasys.Errno{
		"mkdir": f.Mkdir("new", 0o700), "chmod": f.Chmod("file", 0), "rename": f.Rename("file", "other"),
		"link": f.Link("file", "other"), "symlink": f.Symlink("file", "other"), "rmdir": f.Rmdir("folder/deep"),
		"unlink": f.Unlink("file"), "utimens": f.Utimens("file", 0, 0),
	} {
		if no != wasys.EROFS {
			t.Errorf("%s: %v", what, no)
		}
	}
	for _, flag := range []wasys.Oflag{wasys.O_RDWR, wasys.O_WRONLY, wasys.O_CREAT, wasys.O_TRUNC, wasys.O_WRONLY | wasys.O_APPEND} {
		if _, no := f.OpenFile("file", flag, 0o600); no != wasys.EROFS {
			t.Errorf("open with %x: %v", flag, no)
		}
	}
	file, no := f.OpenFile("file", wasys.O_RDONLY, 0)
	if no != 0 {
		t.Fatal(no)
	}
	defer file.Close()
	if _, no := file.Write([]byte("x")); no != wasys.EBADF {
		t.Errorf("write: %v", no)
	}
	if _, no := file.Pwrite([]byte("x"), 0); no != wasys.EBADF {
		t.Errorf("pwrite: %v", no)
	}
	if no := file.Truncate(0); no != wasys.EBADF {
		t.Errorf("truncate: %v", no)
	}
	if no := file.Utimens(0, 0); no != wasys.EROFS {
		t.Errorf("utimens of the file: %v", no)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "file")); string(text) != "0123456789" {
		t.Errorf("the file is now %q", text)
	}
}

// TestOnlyFilesAndFolders: a pipe neither opens nor holds the caller.
func TestOnlyFilesAndFolders(t *testing.T) {
	f, dir := tree(t, true)
	if err := mkfifo(filepath.Join(dir, "pipe")); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	for _, flag := range []wasys.Oflag{wasys.O_RDONLY, wasys.O_RDWR, wasys.O_WRONLY} {
		if file, no := f.OpenFile("pipe", flag, 0); no == 0 {
			file.Close()
			t.Errorf("a named pipe was opened with %x", flag)
		}
	}
}

// TestSpecialBits: neither creation nor chmod sets more than permissions.
func TestSpecialBits(t *testing.T) {
	f, dir := tree(t, true)
	const all = 0o777 | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	if file, no := f.OpenFile("new", wasys.O_WRONLY|wasys.O_CREAT, all); no != 0 {
		t.Fatal(no)
	} else {
		file.Close()
	}
	if no := f.Chmod("new", all); no != 0 {
		t.Fatal(no)
	}
	if no := f.Mkdir("sticky", all); no != 0 {
		t.Fatal(no)
	}
	for _, p := range []string{"new", "sticky"} {
		st, err := os.Stat(filepath.Join(dir, p))
		if err != nil || st.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
			t.Errorf("%s: %v (%v)", p, st.Mode(), err)
		}
	}
}

// TestRace swaps a folder for a link that leads out while names below it are
// opened, read and written.
func TestRace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	f, dir := tree(t, true)
	above := filepath.Dir(dir)
	swap, real, link := filepath.Join(dir, "swap"), filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.Mkdir(swap, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(swap, "secret"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(above, link); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Rename(swap, real)
				_ = os.Rename(link, swap)
				_ = os.Rename(swap, link)
				_ = os.Rename(real, swap)
			}
		}
	})
	opened, buf := 0, make([]byte, 64)
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		if file, no := f.OpenFile("swap/secret", wasys.O_RDONLY, 0); no == 0 {
			opened++
			n, _ := file.Read(buf)
			file.Close()
			if string(buf[:n]) != "mine" {
				t.Fatalf("read %q through the race", buf[:n])
			}
		}
		f.Mkdir("swap/made", 0o700)
		f.Rename("file", "swap/moved")
		f.Rename("swap/moved", "file")
		f.Unlink("swap/other")
	}
	close(stop)
	swaps.Wait()
	if opened == 0 {
		t.Error("not one open worked; the race was not run")
	}
	entries, err := os.ReadDir(above)
	if err != nil || len(entries) != 2 {
		t.Errorf("beside the folder are now %v (%v)", entries, err)
	}
}

// FuzzName: whatever the name, the file beside the folder is not opened, and
// nothing appears there.
func FuzzName(f *testing.F) {
	for _, p := range append(out, "file", "folder/", "a\x00b", "", ".", "inside/..", `..\secret`) {
		f.Add(p, uint32(wasys.O_RDWR|wasys.O_CREAT))
	}
	above := f.TempDir()
	dir := filepath.Join(above, "mount")
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(above, "secret"), []byte(canary), 0o600); err != nil {
		f.Fatal(err)
	}
	_ = os.Symlink("..", filepath.Join(dir, "parent"))
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { root.Close() })
	box := rootfs.New(root, true)
	f.Fuzz(func(t *testing.T, p string, flag uint32) {
		if file, no := box.OpenFile(p, wasys.Oflag(flag), 0o600); no == 0 {
			buf := make([]byte, len(canary))
			n, _ := file.Pread(buf, 0)
			file.Close()
			if string(buf[:n]) == canary {
				t.Fatalf("%q opened the file beside the folder", p)
			}
		}
		if text, _ := os.ReadFile(filepath.Join(above, "secret")); string(text) != canary {
			t.Fatalf("%q changed the file beside the folder", p)
		}
		entries, err := os.ReadDir(above)
		if err != nil || len(entries) != 2 {
			t.Fatalf("%q: beside the folder are now %v (%v)", p, entries, err)
		}
	})
}
