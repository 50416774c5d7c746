package container

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// TestEngineImage runs an image that podman has, and fetches none.
func TestEngineImage(t *testing.T) {
	f := working(t, NewPodman)
	if _, err := f.Create(t.Context(), sandbox.Spec{Limits: sandbox.Standard(), AllowPartial: true, Image: "localhost/no-such-image:none"}); !errors.Is(err, sandbox.ErrImage) {
		t.Errorf("an image that is not here: %v", err)
	}
	busybox, err := os.ReadFile("/bin/busybox")
	if err != nil {
		t.Skip("no busybox is here to be an image")
	}
	dir := t.TempDir()
	if err := makeDir(filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "cat"} {
		if err := os.WriteFile(filepath.Join(dir, "bin", name), busybox, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const name = "localhost/toolwarrant-test:engine"
	out, err := exec.Command("sh", "-c", "tar -C "+dir+" -c . | podman import - "+name).CombinedOutput()
	if err != nil {
		t.Skipf("no image can be made here: %s", out)
	}
	defer exec.Command("podman", "image", "rm", "--force", name).Run()
	s := create(t, f, sandbox.Spec{Image: name})
	r := sh(t, s, "cat /etc/resolv.conf; echo x > /scratch/x; cat /scratch/x; echo y > /bin/y")
	if got := string(r.Stdout); !strings.Contains(got, "nameserver 127.0.0.1") || !strings.HasSuffix(got, "x\n") || len(r.Stderr) == 0 {
		t.Errorf("%q %s", got, r.Stderr)
	}
}
