package audit

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

const (
	childEnv  = "AUDIT_TEST_CHILD"
	rotateEnv = "AUDIT_TEST_ROTATE"
	closesEnv = "AUDIT_TEST_CLOSES" // how many closes to write and end
)

// TestMain lets the test binary be a writer process, one that ends by itself or
// one that is going to be killed: that appends to the chain of the folder it is told and prints, after
// each acknowledgement, what was acknowledged.
func TestMain(m *testing.M) {
	dir := os.Getenv(childEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	child := childWriter
	if os.Getenv(closesEnv) != "" {
		child = childCloses
	}
	if err := child(dir); err != nil {
		fmt.Println("FAILED", err)
		os.Exit(1)
	}
}

func childWriter(dir string) error {
	rotate := Rotation{}
	if os.Getenv(rotateEnv) != "" {
		rotate.Bytes = 64 << 10
	}
	w, err := Open(dir, Options{Rotate: rotate})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for i := range 8 {
		go func() {
			for n := 0; ; n++ {
				c := sampleCall(fmt.Sprintf("%s-%d-%d", w.ID(), i, n))
				if err := w.Open(context.Background(), c, n%2 == 0, nil); err != nil {
					failed <- err
					return
				}
				// One write of a short line to a pipe is not cut by a kill.
				fmt.Fprintf(os.Stdout, "OPENED %s\n", c.CallID)
				if err := w.Close(context.Background(), c, nil); err != nil {
					failed <- err
					return
				}
				fmt.Fprintf(os.Stdout, "CLOSED %s\n", c.CallID)
			}
		}()
	}
	return <-failed
}

// TestKill kills writers of one chain at random moments. Whatever moment it
// was: the chain verifies, no acknowledged record is missing, and after
// recovery every call has exactly one close.
func TestKill(t *testing.T) { testKill(t, "") }

// TestKillRotating is the same while the log is rotated and compressed.
func TestKillRotating(t *testing.T) { testKill(t, rotateEnv+"=1") }

func testKill(t *testing.T, env string) {
	processes, together := 20, 4
	if testing.Short() {
		processes = 4
	}
	dir := t.TempDir()
	var mu sync.Mutex
	var said []string
	var wg sync.WaitGroup
	slots := make(chan struct{}, together)
	for range processes {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			lines := runAndKill(t, dir, env, 1+rand.IntN(200))
			mu.Lock()
			said = append(said, lines...)
			mu.Unlock()
		})
	}
	wg.Wait()

	w := mustOpen(t, dir, Options{})
	wantOK(t, w.Path())
	opens, closes, interrupted := map[string]int{}, map[string]int{}, 0
	must(t, Scan(context.Background(), []string{w.Path()}, func(l Line) error {
		switch l.Head.Phase {
		case PhaseOpen:
			opens[l.Head.CallID]++
		case PhaseClose:
			closes[l.Head.CallID]++
			if l.Head.Writer != l.Head.CallID[:len(l.Head.Writer)] {
				interrupted++
			}
		}
		return nil
	}))
	for _, line := range said {
		what, id, _ := strings.Cut(line, " ")
		if what == "FAILED" {
			t.Error(line)
		}
		if opens[id] != 1 || (what == "CLOSED" && closes[id] != 1) {
			t.Errorf("%s was acknowledged: %d opens, %d closes", line, opens[id], closes[id])
		}
	}
	for id := range opens {
		if closes[id] != 1 {
			t.Errorf("call %s has %d closes", id, closes[id])
		}
	}
	closed, err := closedSegments(dir, w.Path())
	must(t, err)
	if env != "" && len(closed) == 0 {
		t.Error("the log was not rotated")
	}
	t.Logf("%d closed files, %d processes, %d acknowledgements, %d calls, %d interrupted", len(closed), processes, len(said), len(opens), interrupted)
}

// runAndKill kills a writer once it has said n lines and gives all it said.
func runAndKill(t *testing.T, dir, env string, n int) []string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir, env)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return nil
	}
	var lines []string
	for s := bufio.NewScanner(out); s.Scan(); {
		lines = append(lines, s.Text())
		if len(lines) == n {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	return lines
}
