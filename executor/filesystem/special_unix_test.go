//go:build unix

package filesystem

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// Nothing waits for, or talks to, what is not a file.
func TestPipesAndSockets(t *testing.T) {
	base, f := setup(t, nil)
	if err := syscall.Mkfifo(filepath.Join(base, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	l, err := net.Listen("unix", filepath.Join(base, "sock"))
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for _, name := range []string{"pipe", "sock"} {
		checks := map[string]func() *worker.Failure{
			"readText":  func() *worker.Failure { _, e := f.ReadText(bg, name); return e },
			"writeText": func() *worker.Failure { _, e := f.WriteText(bg, name, "x"); return e },
			"lineCount": func() *worker.Failure { _, e := f.LineCount(bg, name); return e },
		}
		for op, check := range checks {
			if fail := check(); reasonOf(fail) != NotARegularFile || fail.Code != "SECURITY" {
				t.Errorf("%s of %s: %+v", op, name, fail)
			}
		}
		if _, fail := f.List(bg, name); reasonOf(fail) != NotADirectory {
			t.Errorf("list of %s: %+v", name, fail)
		}
		if _, fail := f.Find(bg, name, "*", FindOptions{}); reasonOf(fail) != FindNotADirectory {
			t.Errorf("find of %s: %+v", name, fail)
		}
	}
}
