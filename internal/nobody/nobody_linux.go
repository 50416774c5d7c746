// Package nobody runs the tests of a package once more as a user without any
// right, to see what the system alone still allows. Tests import it.
package nobody

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// UID is the user, and the group, that by custom owns nothing.
const UID = 65534

// Rerun copies the test program to where the user may read it, runs it there
// as that user with args, and gives all that it wrote. The environment is
// PATH, a private TMPDIR, and env. It skips a test that is not run by root.
func Rerun(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	tmp, program := filepath.Join(dir, "tmp"), filepath.Join(dir, "tests")
	for _, step := range []func() error{
		func() error { return os.Chmod(dir, 0o755) },
		func() error { return os.Mkdir(tmp, 0o700) },
		func() error { return os.Chown(tmp, UID, UID) },
		func() error { return copyTo(program) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir = tmp
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + tmp, "HOME=" + tmp}, env...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: UID, Gid: UID}}
	out, err := c.CombinedOutput()
	return string(out), err
}

func copyTo(path string) error {
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
