package dirstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/approval/dirstore"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

func open(t *testing.T, dir string) *dirstore.Store {
	t.Helper()
	s, err := dirstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	approvaltest.Run(t, func(t *testing.T) func() approval.Store {
		dir := filepath.Join(t.TempDir(), "approvals")
		return func() approval.Store { return open(t, dir) }
	})
}

func gate(t *testing.T, dir string, clock *approvaltest.Clock) *approval.Gate {
	return approval.NewGate(open(t, dir), approvaltest.Keys{"k1"}, clock.Now)
}

func ask(t *testing.T, g *approval.Gate) approval.Pending {
	t.Helper()
	p, err := g.Ask(context.Background(), approvaltest.Binding(), approval.Question{Tool: "t"},
		approval.ChannelOutOfBand, decision.Approvers{}, time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Fifty gates, each on its own store over one directory, as fifty processes
// would be: one acceptance lets one call through.
func TestOneExecution(t *testing.T) {
	dir, clock := t.TempDir(), approvaltest.NewClock()
	tighten(t, dir)
	p := ask(t, gate(t, dir, clock))
	ctx := context.Background()

	var answered, consumed, refused atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range 50 {
		g := gate(t, dir, clock)
		wg.Go(func() {
			<-start
			if _, err := g.Settle(ctx, p.ID, approval.ActionAccept, approval.Approver{Subject: "bob", Method: "oidc"}); err == nil {
				answered.Add(1)
			} else if !errors.Is(err, approval.ErrConflict) {
				t.Error(err)
			}
			switch _, err := g.Consume(ctx, p.ID, approvaltest.Binding()); {
			case err == nil:
				consumed.Add(1)
			case errors.Is(err, approval.ErrUsed):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	if answered.Load() != 1 || consumed.Load() != 1 || refused.Load() != 49 {
		t.Errorf("answered %d, consumed %d, refused %d; want 1, 1, 49", answered.Load(), consumed.Load(), refused.Load())
	}
}

// A second process that lists while others write never sees half an entry.
func TestReadersDuringWrites(t *testing.T) {
	dir := t.TempDir()
	tighten(t, dir)
	ctx, clock := context.Background(), approvaltest.NewClock()
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		g := gate(t, dir, clock)
		for range 20 {
			p := ask(t, g)
			if _, err := g.Settle(ctx, p.ID, approval.ActionAccept, approval.Approver{Subject: "bob", Method: "oidc"}); err != nil {
				t.Error(err)
			}
			if _, err := g.Consume(ctx, p.ID, approvaltest.Binding()); err != nil {
				t.Error(err)
			}
			if err := open(t, dir).Delete(ctx, p.ID); err != nil {
				t.Error(err)
			}
		}
	})
	s := open(t, dir)
	for {
		if _, err := s.List(ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			wg.Wait()
			if all, err := s.List(ctx); err != nil || len(all) != 0 {
				t.Errorf("left: %v, %v", all, err)
			}
			return
		default:
		}
	}
}

func TestUnreadableIsAnError(t *testing.T) {
	ctx := context.Background()
	valid := func(t *testing.T, dir string) (path, id, text string) {
		p := ask(t, gate(t, dir, approvaltest.NewClock()))
		path = filepath.Join(dir, p.ID+".0.json")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return path, p.ID, string(b)
	}
	for name, damage := range map[string]func(string) string{
		"empty":      func(string) string { return "" },
		"cut":        func(s string) string { return s[:len(s)/2] },
		"not JSON":   func(string) string { return "hello" },
		"array":      func(string) string { return "[]" },
		"null":       func(string) string { return "null" },
		"newer":      func(s string) string { return strings.Replace(s, `"version":2`, `"version":3`, 1) },
		"no version": func(s string) string { return strings.Replace(s, `"version":2`, `"version":0`, 1) },
		"older with newer members": func(s string) string {
			return strings.NewReplacer(`"version":2`, `"version":1`, `"released":0`, `"released":1`).Replace(s)
		},
		"unknown state": func(s string) string { return strings.Replace(s, `"state":"pending"`, `"state":"granted"`, 1) },
		"unknown field": func(s string) string { return strings.Replace(s, `"version":2`, `"version":2,"force":true`, 1) },
		"twice": func(s string) string {
			return strings.Replace(s, `"state":"pending"`, `"state":"pending","state":"accepted"`, 1)
		},
		"other id": func(s string) string {
			return strings.Replace(s, `"id":"`, `"id":"`+approval.NewID()+`","x":"`, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tighten(t, dir)
			path, id, text := valid(t, dir)
			if err := os.WriteFile(path, []byte(damage(text)), 0o600); err != nil {
				t.Fatal(err)
			}
			s, g := open(t, dir), gate(t, dir, approvaltest.NewClock())
			notFound := fault.New(fault.NotFound, "", "")
			if _, err := s.Get(ctx, id); err == nil || errors.Is(err, notFound) || !strings.Contains(err.Error(), path) {
				t.Errorf("Get: %v", err)
			}
			if _, err := s.List(ctx); err == nil {
				t.Error("List gave no error")
			}
			if _, _, err := g.Match(ctx, approvaltest.Binding()); err == nil {
				t.Error("Match gave no error")
			}
			if _, err := g.Settle(ctx, id, approval.ActionAccept, approval.Approver{Subject: "bob", Method: "oidc"}); err == nil {
				t.Error("Settle gave no error")
			}
			if _, err := g.Consume(ctx, id, approvaltest.Binding()); err == nil {
				t.Error("Consume gave no error")
			}
		})
	}
	t.Run("foreign file", func(t *testing.T) {
		dir := t.TempDir()
		tighten(t, dir)
		if err := os.WriteFile(filepath.Join(dir, approval.NewID()+".yaml"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, dir).List(ctx); err == nil {
			t.Error("List gave no error")
		}
	})
}

// One unreadable entry does not keep the others from being swept.
func TestSweepGoesOn(t *testing.T) {
	dir, clock := t.TempDir(), approvaltest.NewClock()
	tighten(t, dir)
	g := gate(t, dir, clock)
	good, bad := ask(t, g), ask(t, g)
	if err := os.WriteFile(filepath.Join(dir, bad.ID+".0.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	clock.Add(time.Hour)
	moved, err := g.Sweep(context.Background())
	if err == nil || len(moved) != 1 || moved[0].ID != good.ID {
		t.Errorf("moved %v, error %v", moved, err)
	}
}

// A change that was read before the entry was deleted does not bring it back.
func TestNoResurrection(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	tighten(t, dir)
	s := open(t, dir)
	p := ask(t, gate(t, dir, approvaltest.NewClock()))
	_, err := s.Transition(ctx, p.ID, approval.StatePending, approval.StateAccepted, func(*approval.Pending) {
		if err := s.Delete(ctx, p.ID); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, fault.New(fault.NotFound, "", "")) {
		t.Errorf("Transition: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permission bits say nothing on Windows")
	}
	dir := filepath.Join(t.TempDir(), "a", "approvals")
	p := ask(t, gate(t, dir, approvaltest.NewClock()))
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, p.ID+".0.json"): 0o600} {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := st.Mode().Perm(); got != want {
			t.Errorf("%s: %o, want %o", path, got, want)
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := dirstore.Open(dir); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("a folder that others may write to: %v", err)
	}
}

func TestStraysAreRemoved(t *testing.T) {
	dir := t.TempDir()
	tighten(t, dir)
	old := filepath.Join(dir, ".tmp-1")
	orphan := filepath.Join(dir, approval.NewID()+".1.json")
	young := filepath.Join(dir, ".tmp-2")
	for _, f := range []string{old, orphan, young} {
		if err := os.WriteFile(f, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	for f, want := range map[string]bool{old: false, orphan: false, young: true} {
		if _, err := os.Stat(f); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", filepath.Base(f), err == nil, want)
		}
	}
}

func tighten(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

// Entries of version 1 are read, answered and used, and are of the newest
// version after that.
func TestOlderVersion(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	tighten(t, dir)
	clock := approvaltest.NewClock()
	g := gate(t, dir, clock)
	p := ask(t, g)
	path := filepath.Join(dir, p.ID+".0.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(raw), `,"origin"`)
	old := strings.Replace(text, `"version":2`, `"version":1`, 1) + "}\n"
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	g = gate(t, dir, clock)
	if got, err := g.Get(ctx, p.ID); err != nil || got.Version != 1 || got.Origin != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := g.Settle(ctx, p.ID, approval.ActionAccept, approval.Approver{Subject: "bob", Method: "oidc"}); err != nil {
		t.Fatal(err)
	}
	if used, err := g.Consume(ctx, p.ID, approvaltest.Binding()); err != nil || used.Version != approval.Version || used.ConsumedAt == nil {
		t.Errorf("%+v, %v", used, err)
	}
}

// A list that was read before tells of each change since, its own process's
// and others', and keeps nothing of what was deleted.
func TestListIsFresh(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	tighten(t, dir)
	clock := approvaltest.NewClock()
	reader, writer := open(t, dir), gate(t, dir, clock)
	states := func() (s []approval.State) {
		t.Helper()
		all, err := reader.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			s = append(s, p.State)
		}
		return s
	}
	p := ask(t, writer)
	for _, step := range []struct {
		do   func() error
		want approval.State
	}{
		{func() error { return nil }, approval.StatePending},
		{func() error {
			_, err := writer.Settle(ctx, p.ID, approval.ActionAccept, approval.Approver{Subject: "bob", Method: "oidc"})
			return err
		}, approval.StateAccepted},
		{func() error { _, err := writer.Consume(ctx, p.ID, approvaltest.Binding()); return err }, approval.StateConsumed},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if s := states(); len(s) != 1 || s[0] != step.want {
				t.Errorf("%v, want %s", s, step.want)
			}
		}
	}
	if err := open(t, dir).Delete(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	if s := states(); len(s) != 0 {
		t.Errorf("%v", s)
	}
}

// Of several stores on one folder, one at a time looks and asks.
func TestExclusively(t *testing.T) {
	dir := t.TempDir()
	tighten(t, dir)
	var inside, most atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		s := open(t, dir)
		for range 4 {
			wg.Go(func() {
				err := s.Exclusively(context.Background(), func(context.Context) error {
					most.Store(max(most.Load(), inside.Add(1)))
					time.Sleep(time.Millisecond)
					inside.Add(-1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d were inside at one time", most.Load())
	}
	wrong := errors.New("wrong")
	if err := open(t, dir).Exclusively(context.Background(), func(context.Context) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("the error of the function is %v", err)
	}
	if _, err := open(t, dir).List(context.Background()); err != nil {
		t.Errorf("the lock is no entry, and: %v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if err := open(t, dir).Exclusively(gone, func(context.Context) error { return nil }); err == nil {
		t.Error("a call that is over got the lock")
	}
}
