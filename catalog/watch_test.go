package catalog

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

func TestWatch(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "catalog", "mine.json")
	writeFile(t, file, docJSON("id-mine", "mine", "return 1;", true))
	c := mustOpen(t, Options{Home: home})
	other := mustOpen(t, Options{Home: home})

	ticks := make(chan time.Time)
	reports := make(chan error, 1)
	start := func() (stop func()) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Watch(ctx, ticks, func(err error) { reports <- err })
		}()
		return func() { cancel(); <-done }
	}
	tick := func() { ticks <- time.Time{} }

	// Nothing has changed since Open. The second tick is taken only after the
	// first was dealt with.
	stop := start()
	tick()
	tick()
	stop()
	if len(reports) > 0 {
		t.Fatalf("reloaded without a change: %v", <-reports)
	}

	// Another process publishes.
	mustPublish(t, other, "mine")
	stop = start()
	tick()
	if err := <-reports; err != nil {
		t.Fatal(err)
	}
	wantState(t, c, "mine", StateActive, "")

	// A damaged state changes nothing, is reported at each tick, and heals.
	good, err := os.ReadFile(c.statePath())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, c.statePath(), "{")
	for range 2 {
		tick()
		wantFault(t, <-reports, fault.Usage, "state-corrupt")
		wantState(t, c, "mine", StateActive, "")
	}
	writeFile(t, c.statePath(), string(good))
	tick()
	if err := <-reports; err != nil {
		t.Fatal(err)
	}

	// Without a change nothing is reloaded.
	tick()
	tick()
	stop()
	if len(reports) > 0 {
		t.Errorf("reloaded without a change: %v", <-reports)
	}
}

func TestFingerprintSeesEveryFile(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	c := mustOpen(t, Options{TrustDirs: true, Home: home, Dirs: []string{dir}})
	seen := map[string]string{c.fingerprint(): "start"}
	for _, step := range []struct{ path, content string }{
		{filepath.Join(home, "catalog", "a.json"), "{}"},
		{filepath.Join(home, "catalog", "state.json"), "{}"},
		{filepath.Join(dir, "b", "spec.json"), "{}"},
		{filepath.Join(dir, "b", "action.js"), "return 1"},
		{filepath.Join(dir, "b", "action.js"), "return 10"},
		{filepath.Join(dir, "b", "passed.json"), "{}"},
		{filepath.Join(dir, "passed.json"), "{}"},
	} {
		writeFile(t, step.path, step.content)
		if old, dup := seen[c.fingerprint()]; dup {
			t.Errorf("%s: the fingerprint is still that of %s", step.path, old)
		}
		seen[c.fingerprint()] = step.path
	}
	if first, second := c.fingerprint(), c.fingerprint(); first != second {
		t.Error("two fingerprints of the same files differ")
	}
}
