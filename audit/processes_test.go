package audit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
)

// childCloses appends as many closes as it is told, by several goroutines, once
// its standard input ends: so that all processes begin at one time.
func childCloses(dir string) error {
	n, err := strconv.Atoi(os.Getenv(closesEnv))
	if err != nil {
		return err
	}
	w, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	fmt.Println("READY")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for g := range 4 {
		wg.Go(func() {
			for i := g; i < n; i += 4 {
				errs <- w.Close(context.Background(), bareCall(fmt.Sprintf("%s-%d", w.ID(), i)), nil)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return w.Shutdown(context.Background())
}

// TestProcesses: eight processes append to one log at one time. All of their
// records are in it, in one chain.
func TestProcesses(t *testing.T) {
	const processes, each = 8, 125
	dir := t.TempDir()
	var running []*exec.Cmd
	var begin []io.Closer
	for range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+dir, closesEnv+"="+strconv.Itoa(each))
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		must(t, err)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		said := bufio.NewScanner(out)
		if !said.Scan() || said.Text() != "READY" {
			t.Errorf("a process said %q", said.Text())
		}
		running, begin = append(running, cmd), append(begin, in)
	}
	for _, b := range begin {
		must(t, b.Close())
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if r := wantOK(t, logPath(dir)); r.Records != processes*each {
		t.Errorf("%d records", r.Records)
	}
	writers, turns, last := map[string]int{}, 0, ""
	for _, r := range records(t, logPath(dir)) {
		writers[r.Writer]++
		if r.Writer != last {
			turns, last = turns+1, r.Writer
		}
	}
	for w, n := range writers {
		if n != each {
			t.Errorf("%d records of %s", n, w)
		}
	}
	if len(writers) != processes || turns <= processes {
		t.Errorf("%d writers, which took %d turns", len(writers), turns)
	}
}
