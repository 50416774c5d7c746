package wasm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm"
)

// One folder for all tests: the module that tries things, and what it was
// compiled to.
var shared struct {
	dir   string
	build sync.Once
	err   error
}

func TestMain(m *testing.M) {
	code := 1
	func() {
		var err error
		if shared.dir, err = os.MkdirTemp("", "wasm-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		defer os.RemoveAll(shared.dir)
		// Tests as another user are started from below the temporary folder.
		if err := errors.Join(os.Chmod(shared.dir, 0o711), os.Mkdir(filepath.Join(shared.dir, "cache"), 0o700), os.Mkdir(temporary(), 0o711), os.Setenv("TMPDIR", temporary())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		before := held()
		code = m.Run()
		closeProcesses()
		if left := leaks(before); code == 0 && left != "" {
			fmt.Fprintln(os.Stderr, "after the tests there are left:", left)
			code = 1
		}
	}()
	os.Exit(code)
}

// temporary is the temporary folder of all tests.
func temporary() string { return filepath.Join(shared.dir, "tmp") }

// holding is what a process can leave behind.
type holding struct {
	goroutines, descriptors, processes, groups int
}

// leaks tells what is held now and was not before, after a moment for what
// ends by itself.
func leaks(before holding) string {
	var now holding
	for range 200 {
		if now = held(); now.goroutines <= before.goroutines && now.descriptors <= before.descriptors && now.processes <= before.processes && now.groups <= before.groups {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	var left []string
	note := func(what string, now, before int) {
		if now > before {
			left = append(left, fmt.Sprintf("%d %s, where %d were before", now, what, before))
		}
	}
	note("goroutines", now.goroutines, before.goroutines)
	note("descriptors", now.descriptors, before.descriptors)
	note("processes", now.processes, before.processes)
	note("control groups", now.groups, before.groups)
	files, _ := os.ReadDir(temporary())
	for _, f := range files {
		left = append(left, "the file "+f.Name())
	}
	if len(left) > 0 && now.goroutines > before.goroutines {
		buf := make([]byte, 1<<20)
		left = append(left, string(buf[:runtime.Stack(buf, true)]))
	}
	return strings.Join(left, "; ")
}

// guest builds the module, once.
func guest(t testing.TB) string {
	t.Helper()
	if p := os.Getenv("WASM_GUEST"); p != "" {
		return p // built by who started this
	}
	path := filepath.Join(shared.dir, "guest.wasm")
	shared.build.Do(func() {
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "main.go")
		cmd.Dir = filepath.Join("testdata", "guest")
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			shared.err = fmt.Errorf("the module cannot be built: %v: %s", err, out)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return path
}

// factory makes the back end on top of inner.
func factory(inner sandbox.Factory) *wasm.Factory {
	return wasm.New(inner, wasm.Options{Cache: filepath.Join(shared.dir, "cache")})
}

func limits() sandbox.Limits {
	l := sandbox.Standard()
	l.MemoryMB, l.DiskMB, l.Timeout = 64, 16, 20*time.Second
	return l
}

// create makes a sandbox and closes it with the test.
func create(t testing.TB, inner sandbox.Factory, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	if spec.Limits == (sandbox.Limits{}) {
		spec.Limits = limits()
	}
	if spec.Image == "" {
		spec.Image = guest(t)
	}
	spec.AllowPartial = true
	sb, err := factory(inner).Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return sb
}

// do runs one attempt.
func do(t testing.TB, sb sandbox.Sandbox, argv ...string) sandbox.Result {
	t.Helper()
	r, err := sb.Exec(context.Background(), sandbox.Command{Argv: append([]string{"guest"}, argv...)})
	if err != nil {
		t.Fatalf("%v: %v", argv, err)
	}
	return r
}
