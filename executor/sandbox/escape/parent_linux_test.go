package escape

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func ownerOf(t *testing.T, path string) uint32 {
	t.Helper()
	st, err := os.Stat(path)
	must(t, err)
	return st.Sys().(*syscall.Stat_t).Uid
}

// TestParentIsKilled starts a program that has sandboxes whose commands resist
// in every way, kills it with SIGKILL, and looks for what is left.
func TestParentIsKilled(t *testing.T) {
	if os.Getenv("ESCAPE_PARENT") != "" {
		beParent(t)
		return
	}
	r := newRig(t)
	// A second is promised; a loaded machine may take its time.
	within := 10 * time.Second
	if *ratios {
		within = time.Second
	}
	for _, f := range factories(t) {
		t.Run(f.ID(), func(t *testing.T) {
			c := exec.Command("/proc/self/exe", "-test.run=^TestParentIsKilled$", "-backends="+f.ID())
			c.Env = append(os.Environ(), "ESCAPE_PARENT="+r.ro+":"+r.rw+":"+r.given, "ESCAPE_NONCE="+r.nonce)
			c.Stderr = os.Stderr
			out, err := c.StdoutPipe()
			must(t, err)
			must(t, c.Start())
			lines := bufio.NewScanner(out)
			for lines.Scan() && !strings.Contains(lines.Text(), "sandboxes run") {
				t.Log(lines.Text())
			}
			for range 500 {
				if running("parent"+r.nonce) >= 4 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			n := running("parent" + r.nonce)
			must(t, c.Process.Kill())
			began := time.Now()
			_ = c.Wait()
			if n < 4 {
				t.Fatalf("only %d processes ran, so that nothing is shown", n)
			}
			gone(t, "parent"+r.nonce, within)
			t.Logf("%d processes of sandboxes; none is left after %v", n, time.Since(began).Round(time.Millisecond))
		})
	}
}

// beParent has up to four sandboxes and does nothing with them. For an ordinary
// user some back ends have room for fewer: processes are counted per user.
func beParent(t *testing.T) {
	folders := strings.Split(os.Getenv("ESCAPE_PARENT"), ":")
	r := &rig{ro: folders[0], rw: folders[1], given: folders[2]}
	f := factories(t)[0]
	for range 4 {
		sb, err := f.Create(context.Background(), r.spec())
		must(t, err)
		if _, err = sb.Attach(context.Background(), sandbox.Command{Argv: []string{"/probe/probe", "child", "evade", "parent" + os.Getenv("ESCAPE_NONCE")}}); err != nil {
			fmt.Println("one sandbox less:", err)
		}
	}
	fmt.Println("sandboxes run")
	time.Sleep(5 * time.Minute)
}
