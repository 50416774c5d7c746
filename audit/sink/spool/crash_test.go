package spool

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

const childEnv = "SPOOL_TEST_CHILD"

// TestMain lets the test binary be a process that is going to be killed.
func TestMain(m *testing.M) {
	home := os.Getenv(childEnv)
	if home == "" {
		os.Exit(m.Run())
	}
	fmt.Println("FAILED", child(home))
	os.Exit(1)
}

// child writes to a log whose sink is dead, until it is killed.
func child(home string) error {
	w, _, err := openLog(home, &place{fail: dead}, 0)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for i := range 8 {
		go func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("%s-%d-%d", w.ID(), i, n)
				err := w.Open(context.Background(), audit.Call{CallID: id, Origin: decision.OriginCLIRun}, n%2 == 0, nil)
				if err == nil {
					err = closeCall(w, id)
				}
				if err != nil {
					failed <- err
					return
				}
				fmt.Println("CLOSED") // after some of them, it is killed
			}
		}()
	}
	return <-failed
}

func openLog(home string, to audit.Sink, bound int64) (*audit.Writer, *Sink, error) {
	s, err := Open(filepath.Join(home, "sinks", "s"), to, quick(Options{MaxBytes: bound, Log: filepath.Join(home, audit.FileName)}))
	if err != nil {
		return nil, nil, err
	}
	w, err := audit.Open(home, audit.Options{Sinks: []audit.SinkOption{{Name: "s", Sink: s}}})
	return w, s, err
}

func closeCall(w *audit.Writer, id string) error {
	ok := fault.OK
	return w.Close(context.Background(), audit.Call{CallID: id, Origin: decision.OriginCLIRun, Outcome: &ok}, nil)
}

// TestKill kills processes at random moments, one after the other, while the
// destination is dead. Whatever moment it was: when the destination is back it
// gets the whole log, in order, byte for byte; nothing is missing or counted
// as lost.
func TestKill(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	home := t.TempDir()
	for range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+home)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		acknowledged := rand.IntN(200)
		for lines := bufio.NewScanner(out); lines.Scan(); acknowledged-- {
			if strings.HasPrefix(lines.Text(), "FAILED") {
				t.Error(lines.Text())
			}
			if acknowledged <= 0 {
				time.Sleep(rand.N(3 * time.Millisecond))
				_ = cmd.Process.Kill()
			}
		}
		_ = cmd.Wait()
	}
	p := &place{}
	w, s, err := openLog(home, p, 0)
	must(t, err)
	must(t, closeCall(w, "last"))
	eventually(t, "the last record", func() bool {
		got := p.got()
		return len(got) > 0 && strings.Contains(got[len(got)-1], `"callId":"last"`)
	})
	must(t, w.Shutdown(context.Background()))
	report, err := audit.Verify(context.Background(), []string{w.Path()}, audit.VerifyOptions{})
	if err != nil || !report.OK {
		t.Fatalf("%+v, %v", report, err)
	}
	b, err := os.ReadFile(w.Path())
	must(t, err)
	log := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	got := p.got()
	if !slices.Equal(got, log) {
		i := 0
		for i < min(len(got), len(log)) && got[i] == log[i] {
			i++
		}
		t.Errorf("%d records arrived of %d; record %d is the first that differs", len(got), len(log), i+1)
	}
	if st := s.Status(); st.Lost != 0 {
		t.Errorf("%d are counted as lost", st.Lost)
	}
	t.Logf("%d records after %d kills", len(log), rounds)
}
