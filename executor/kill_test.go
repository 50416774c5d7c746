package executor

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/approval/dirstore"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

var killEverywhere = flag.Bool("kill-everywhere", false, "kill a process at every place of the pipeline, not at a sample of them")

// TestPlayedAndKilled is the process that TestKilledAtEveryStep kills.
func TestPlayedAndKilled(t *testing.T) {
	name, place, dir := os.Getenv("EXECUTOR_TEST_SCENE"), os.Getenv("EXECUTOR_TEST_PLACE"), os.Getenv("EXECUTOR_TEST_DIR")
	if name == "" {
		t.Skip("only as a child of TestKilledAtEveryStep")
	}
	log, err := audit.Open(filepath.Join(dir, "audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := dirstore.Open(filepath.Join(dir, "approvals"))
	if err != nil {
		t.Fatal(err)
	}
	j := &injector{at: place, how: failKill, die: func() {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {}
	}}
	s := stage(t, j, store, log)
	run := s.g.run
	s.g.run = func(c worker.Call, b worker.Broker) (worker.Reply, error) {
		fmt.Println("RAN", c.CallID)
		return run(c, b)
	}
	s.told = func(r Result) {
		if r.InputRequired == nil {
			fmt.Println("SAID", r.CallID, r.Outcome)
		}
	}
	scenes[name](s)
	t.Fatalf("%s was not reached", place)
}

// TestKilledAtEveryStep kills a process at each place of the pipeline, and
// lets another one open what it left.
func TestKilledAtEveryStep(t *testing.T) {
	type death struct{ scene, place string }
	var deaths []death
	for _, name := range []string{"plain", "tool fails", "bad arguments", "hidden", "in band", "in band, declined", "deferred", "deferred, declined", "out of band"} {
		dry := &injector{}
		scenes[name](stage(t, dry, &approvaltest.Memory{}, nil))
		for _, place := range dry.order {
			deaths = append(deaths, death{name, place})
		}
	}
	if !*killEverywhere {
		rand.Shuffle(len(deaths), func(i, k int) { deaths[i], deaths[k] = deaths[k], deaths[i] })
		deaths = deaths[:min(len(deaths), 16)]
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, d := range deaths {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			dieAt(t, d.scene, d.place)
		})
	}
	wg.Wait()
	t.Logf("%d processes were killed", len(deaths))
}

func dieAt(t *testing.T, scene, place string) {
	what := fmt.Sprintf("%s, killed at %s", scene, place)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPlayedAndKilled$")
	cmd.Env = append(os.Environ(), "EXECUTOR_TEST_SCENE="+scene, "EXECUTOR_TEST_PLACE="+place, "EXECUTOR_TEST_DIR="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exited *exec.ExitError
	if !errors.As(err, &exited) || exited.ExitCode() == 1 || strings.Contains(out.String(), "FAIL") {
		t.Errorf("%s: ended %v\n%s", what, err, &out)
		return
	}
	log, err := audit.Open(filepath.Join(dir, "audit"), audit.Options{})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer func() { _ = log.Shutdown(context.Background()) }()
	// Questions wait for their answer until they expire.
	if _, err := log.CloseAbandoned(context.Background(), time.Now().Add(time.Hour)); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if r, err := audit.Verify(context.Background(), []string{log.Path()}, audit.VerifyOptions{}); err != nil || !r.OK {
		t.Errorf("%s: the chain does not verify: %v %v", what, err, r.Findings)
	}
	opens, asks, closes := map[string]int{}, map[string]int{}, map[string][]audit.Record{}
	err = audit.Scan(context.Background(), []string{log.Path()}, func(l audit.Line) error {
		r, err := l.Decode()
		switch r.Phase {
		case audit.PhaseOpen:
			opens[r.CallID]++
		case audit.PhaseAsk:
			asks[r.CallID]++
		case audit.PhaseClose:
			closes[r.CallID] = append(closes[r.CallID], r)
		}
		return err
	})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	said := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var word, id, outcome string
		_, _ = fmt.Sscan(line, &word, &id, &outcome)
		switch c := closes[id]; word {
		case "SAID":
			said[id] = true
			if len(c) != 1 || string(*c[0].Outcome) != outcome {
				t.Errorf("%s: answered %s, and %d close records", what, outcome, len(c))
			}
		case "RAN":
			if opens[id] != 1 {
				t.Errorf("%s: code ran with %d open records", what, opens[id])
			}
		}
	}
	for _, begun := range []map[string]int{opens, asks} {
		for id := range begun {
			c := closes[id]
			if len(c) != 1 || c[0].Outcome == nil || !said[id] && !ended(c[0]) {
				t.Errorf("%s: call %s was begun, and has the close records %+v", what, id, c)
			}
		}
	}
}

// ended reports whether a close is one that recovery writes, or that the
// killed process had written before it could answer.
func ended(r audit.Record) bool {
	if r.Error == nil {
		return *r.Outcome == fault.OK
	}
	return r.Error.Code == fault.Interrupted && r.Error.Reason != nil && *r.Error.Reason == "writer-gone" ||
		r.Error.Code == fault.ApprovalDenied || r.Error.Code == fault.ApprovalPending || r.Error.Code == fault.JSError
}
