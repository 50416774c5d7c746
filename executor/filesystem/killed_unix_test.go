//go:build unix

package filesystem

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
)

// writerBase makes the process that runs the tests a writer below this base.
const writerBase = "TOOLWARRANT_TEST_WRITER"

func TestMain(m *testing.M) {
	if base := os.Getenv(writerBase); base != "" {
		f := New(decision.FS{Read: true, Write: true, BasePath: base}, Options{})
		for i := 0; ; i++ {
			if _, fail := f.WriteText(bg, "file", strings.Repeat(string(rune('a'+i%26)), 100_000)); fail != nil {
				panic(fail.Message)
			}
			if i == 0 {
				fmt.Println("writing")
			}
		}
	}
	os.Exit(m.Run())
}

// TestKilledWhileWriting kills a writer many times: the file is always one
// that was written whole.
func TestKilledWhileWriting(t *testing.T) {
	base := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	for round := range 12 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), writerBase+"="+base)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(line, err)
		}
		time.Sleep(time.Duration(round) * 1700 * time.Microsecond)
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		data, err := os.ReadFile(filepath.Join(base, "file"))
		if err != nil || len(data) != 100_000 || strings.Trim(string(data), string(data[:1])) != "" {
			t.Fatalf("round %d: %d bytes, %v", round, len(data), err)
		}
	}
}
