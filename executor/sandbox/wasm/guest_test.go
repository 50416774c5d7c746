package wasm_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
		if err := os.Mkdir(filepath.Join(shared.dir, "cache"), 0o700); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		code = m.Run()
	}()
	os.Exit(code)
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
