package attack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAsNobody runs the table again as a user without any right.
func TestAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	if testing.Short() {
		t.Skip("runs the table once more")
	}
	dir, err := os.MkdirTemp("/tmp", "attack")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tmp := filepath.Join(dir, "tmp")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		func() error { return os.Chmod(dir, 0o755) },
		func() error { return os.Mkdir(tmp, 0o700) },
		func() error { return os.Chown(tmp, 65534, 65534) },
		func() error { return os.WriteFile(filepath.Join(dir, "attack.test"), self, 0o755) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), filepath.Join(dir, "attack.test"), "-test.run=^(TestAttacks|TestRecords)$", "-test.v")
	c.Dir, c.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + tmp, "HOME=" + tmp}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	failed := ""
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "--- FAIL") || strings.Contains(line, "attack_test.go") || strings.Contains(line, "engine_test.go") {
			failed += line
		}
	}
	if err != nil {
		t.Fatalf("as nobody: %v\n%s", err, failed)
	}
	t.Log(failed)
}
