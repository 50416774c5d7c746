package wasm_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is an ordinary user without anything.
const nobody = 65534

// TestAsNobody runs tests of this package once more as an ordinary user.
func TestAsNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this user is one already")
	}
	dir, err := os.MkdirTemp("", "wasm-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for from, to := range map[string]string{"/proc/self/exe": "tests", guest(t): "guest.wasm"} {
		in, err := os.Open(from)
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.OpenFile(filepath.Join(dir, to), os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(out, in)
		in.Close()
		if out.Close(); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(dir, "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(own, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "tests"), "-test.v", "-test.timeout=3m", "-test.run=^(TestExec|TestEndings|TestReset|TestEscape)$")
	cmd.Dir = own
	cmd.Env = []string{"HOME=" + own, "TMPDIR=" + own, "PATH=" + os.Getenv("PATH"), "WASM_GUEST=" + filepath.Join(dir, "guest.wasm")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "no process sandbox here") {
		t.Skipf("an ordinary user has no process sandbox here: %.500s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestEscape") {
		t.Errorf("%v\n%s", err, out)
	}
}
