package plain

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func TestPlain(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell here")
	}
	t.Setenv("TMPDIR", t.TempDir())
	ctx := context.Background()
	spec := sandbox.Spec{Limits: sandbox.Standard()}
	if _, err := (Factory{}).Create(ctx, spec); !errors.Is(err, sandbox.ErrUnenforceable) {
		t.Errorf("what is not enforced was promised: %v", err)
	}
	spec.AllowPartial = true
	box, err := Factory{}.Create(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SECRET", "inherited")
	r, err := box.Exec(ctx, sandbox.Command{Argv: []string{"sh", "-c", "echo $SECRET$OWN; exit 3"}, Env: []string{"OWN=x"}})
	if err != nil || r.ExitCode != 3 || string(r.Stdout) != "x\n" {
		t.Errorf("%v, %d, %q", err, r.ExitCode, r.Stdout)
	}
	r, err = box.Exec(ctx, sandbox.Command{Argv: []string{"sh", "-c", "sleep 100 & sleep 100"}, Timeout: 100 * time.Millisecond})
	if err != nil || !r.TimedOut || r.Usage.Wall > 20*time.Second {
		t.Errorf("%v, %+v", err, r)
	}
	if r, err = box.Exec(ctx, sandbox.Command{Argv: []string{"no-such-program"}}); err != nil || r.ExitCode != 127 {
		t.Errorf("%v, %d", err, r.ExitCode)
	}
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := box.Exec(ctx, sandbox.Shell("true")); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
