package service

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
)

func (s *Service) tries(t *testing.T, name string) string {
	t.Helper()
	who := decision.Principal{Subject: "local", Method: "none", Groups: []string{}, Scopes: []string{}, Untrusted: true}
	out := s.Engine.Call(t.Context(), executor.Call{Principal: who, Name: name, Args: []byte(`{"text":"a"}`), Origin: decision.OriginMCPHTTP})
	if out.Err == nil {
		return "ran"
	}
	return string(out.Err.Code) + "/" + out.Err.Reason
}

// TestReconfigure takes one configuration after the other over: what can
// change does, what cannot is named, and what is wrong changes nothing.
func TestReconfigure(t *testing.T) {
	base := map[string]any{"limits.running": 7}
	s := opened(t, t.TempDir(), settings(t, base))
	with := func(more map[string]any) *config.Config {
		all := map[string]any{"limits.running": 7}
		for k, v := range more {
			all[k] = v
		}
		return settings(t, all)
	}
	revision := s.ListRevision()
	for _, step := range []struct {
		name             string
		next             map[string]any
		applied, restart []string
		reason           string // of the refusal
		base64           string
	}{
		{name: "nothing", base64: "ran"},
		{name: "a tool is taken out", next: map[string]any{"catalog.exclude.names": []string{"base64"}},
			applied: []string{"catalog.exclude.names"}, base64: "NOT_FOUND/unknown-tool"},
		{name: "a rule that names nothing", next: map[string]any{"catalog.exclude.names": []string{"nosuch"}, "limits.running": 1},
			reason: "unknown-tool", base64: "NOT_FOUND/unknown-tool"},
		{name: "nor does the rest of it", next: map[string]any{"catalog.preset": "nosuch", "policy.allow-open-mode": true, "egress.private-hosts": []string{"db.example:1"}},
			reason: "*", base64: "NOT_FOUND/unknown-tool"},
		{name: "back again, with what needs a restart", next: map[string]any{"audit.fsync": "every", "runtime.workers": 3},
			applied: []string{"catalog.exclude.names"}, restart: []string{"audit.fsync", "runtime.workers"}, base64: "ran"},
		{name: "limits and what the operator lets tools do", next: map[string]any{
			"limits.running": 1, "limits.waiting": 2, "policy.allow-open-mode": true, "egress.private-hosts": []string{"db.example:5432"}, "log.level": "debug"},
			applied: []string{"egress.private-hosts", "limits.running", "limits.waiting", "log.level", "policy.allow-open-mode"}, base64: "ran"},
	} {
		got, err := s.Reconfigure(t.Context(), with(step.next))
		if step.reason != "" {
			if f := fault.From(err); f == nil || step.reason != "*" && f.Reason != step.reason {
				t.Errorf("%s: %v", step.name, err)
			}
		} else if err != nil || !slices.Equal(got.Applied, step.applied) || !slices.Equal(got.NeedsRestart, step.restart) {
			t.Errorf("%s: %v, applied %v, restart for %v", step.name, err, got.Applied, got.NeedsRestart)
		}
		if got := s.tries(t, "base64"); got != step.base64 {
			t.Errorf("%s: a call %s, want %s", step.name, got, step.base64)
		}
	}
	if s.ListRevision() == revision {
		t.Error("lists do not know that something changed")
	}
	if c := s.inForce(); c.Limits.Running != 1 || c.Runtime.Workers == 3 || !c.Policy.AllowOpenMode {
		t.Errorf("in force: %+v", c)
	}
	raw, err := os.ReadFile(s.Audit.Path())
	check(t, err)
	for kind, want := range map[string]int{`"kind":"config.reload"`: 3, `"kind":"config.refuse"`: 2} {
		if n := strings.Count(string(raw), kind); n != want {
			t.Errorf("%d records of %s, want %d", n, kind, want)
		}
	}
}

// TestReconfigureUnderCalls changes the configuration while calls run: each
// gets an answer of one of the two.
func TestReconfigureUnderCalls(t *testing.T) {
	s := opened(t, t.TempDir(), settings(t, nil))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				if got := s.tries(t, "base64"); got != "ran" && got != "NOT_FOUND/unknown-tool" {
					t.Errorf("a call %s", got)
				}
			}
		})
	}
	for i := range 4 {
		next := settings(t, map[string]any{"policy.allow-open-mode": i%2 == 0, "catalog.exclude.names": []string{"base64", "uuid"}[i%2 : i%2+1]})
		if _, err := s.Reconfigure(t.Context(), next); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// TestConfigRefused gives back why, once it is on record.
func TestConfigRefused(t *testing.T) {
	s := opened(t, t.TempDir(), settings(t, nil))
	why := fault.New(fault.Usage, "unknown-key", "there is no such key")
	if err := s.ConfigRefused(t.Context(), why); !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	c, err := Check(t.Context(), Options{Home: home, Config: settings(t, nil)})
	if err != nil || c.Tools == 0 || !strings.HasPrefix(c.Policy.Revision, "sha256:") {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("a check leaves something behind: %v", err)
	}
	secrets := filepath.Join(t.TempDir(), "secrets.yaml")
	check(t, os.WriteFile(secrets, []byte("A: b\n"), 0o644))
	for name, tt := range map[string]struct {
		flags  map[string]any
		reason string
	}{
		"no policy":         {map[string]any{"policy.path": filepath.Join(t.TempDir(), "none")}, "policy-missing"},
		"no such tool":      {map[string]any{"catalog.exclude.names": []string{"nosuch"}}, "unknown-tool"},
		"traces in clear":   {map[string]any{"telemetry.traces-url": "http://collector.example"}, "sink-url"},
		"open secrets":      {map[string]any{"secrets.file": secrets}, "secrets-permissions"},
		"a shadow's policy": {map[string]any{"policy.shadow": filepath.Join(t.TempDir(), "none")}, "policy-missing"},
	} {
		_, err := Check(t.Context(), Options{Home: home, Config: settings(t, tt.flags), Shadow: true})
		if f := fault.From(err); f == nil || f.Reason != tt.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
}
