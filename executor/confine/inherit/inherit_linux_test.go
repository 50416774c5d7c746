package inherit

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const asChild = "INHERIT_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		child()
		return
	}
	os.Exit(m.Run())
}

// child says what it has before and after.
func child() {
	own, err := os.Open("/dev/zero")
	if err != nil {
		panic(err)
	}
	list("before")
	if err := Close(4); err != nil {
		panic(err)
	}
	list("after")
	if _, err := own.Read(make([]byte, 1)); err != nil {
		panic(err)
	}
}

func list(when string) {
	names := []string{when}
	for _, fd := range []string{"3", "4", "5", "6", "7", "8", "9"} {
		if to, err := os.Readlink("/proc/self/fd/" + fd); err == nil && strings.HasPrefix(to, "/dev/") {
			names = append(names, strings.TrimPrefix(to, "/dev/"))
		}
	}
	_, _ = os.Stdout.WriteString(strings.Join(names, " ") + "\n")
}

func TestClose(t *testing.T) {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), asChild+"=1")
	full, err := os.Open("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	random, err := os.Open("/dev/random")
	if err != nil {
		t.Fatal(err)
	}
	defer random.Close()
	c.ExtraFiles = []*os.File{full, random, random} // 3, 4, 5
	leaked, err := unix.Open("/dev/urandom", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaked)
	out, err := c.CombinedOutput()
	if want := "after full zero\n"; err != nil || !strings.HasSuffix(string(out), want) || !strings.Contains(string(out), "before full random random") {
		t.Errorf("%v, %q; want the last line %q", err, out, want)
	}
}
