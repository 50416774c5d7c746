package service

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// signedBy reads the checkpoints of a file.
func signedBy(t *testing.T, file, public string) []checkpoint.Checkpoint {
	t.Helper()
	v, err := keyring.ReadNoteVerifier(public)
	check(t, err)
	data, err := os.ReadFile(file)
	check(t, err)
	list, _, err := checkpoint.OpenAll(bytes.NewReader(data), v)
	check(t, err)
	var out []checkpoint.Checkpoint
	for _, s := range list {
		out = append(out, s.Checkpoint)
	}
	return out
}

// TestNotary signs by number and by time, not while nothing happens, and at
// the end.
func TestNotary(t *testing.T) {
	home, key := t.TempDir(), filepath.Join(t.TempDir(), "audit.key")
	_, err := keyring.GenerateNoteKey(key, "acme.example/audit")
	check(t, err)
	file := filepath.Join(t.TempDir(), "checkpoints.txt")
	cfg := settings(t, map[string]any{
		"audit.checkpoint.key": key, "audit.checkpoint.file": file,
		"audit.checkpoint.every-records": 3, "audit.checkpoint.every-seconds": 3600,
	})
	s := opened(t, home, cfg)
	n := s.notary.Load()
	s.stop() // the test looks itself
	<-n.done
	now := time.Now()
	look := func(after time.Duration) int {
		t.Helper()
		check(t, n.look(t.Context(), now.Add(after)))
		return len(signedBy(t, file, key+".pub"))
	}
	act := func() { check(t, s.event(context.Background(), "reload", system, nil)) }

	for i, want := range []int{0, 1} { // after the record of the start
		act()
		if got := look(0); got != want {
			t.Fatalf("%d records: %d checkpoints, want %d", i+2, got, want)
		}
	}
	if got := look(24 * time.Hour); got != 1 {
		t.Errorf("idle: %d checkpoints", got)
	}
	act()
	if got := look(24 * time.Hour); got != 1 {
		t.Errorf("one new record: %d checkpoints", got)
	}
	if got := look(26 * time.Hour); got != 2 {
		t.Errorf("one record an hour later: %d checkpoints", got)
	}
	act()
	check(t, s.closeParts(t.Context()))
	signed := signedBy(t, file, key+".pub")
	report, err := audit.Verify(t.Context(), []string{s.Audit.Path()}, audit.VerifyOptions{Checkpoints: signed})
	check(t, err)
	if !report.OK || len(signed) != 3 || uint64(signed[2].Size) != report.Records {
		t.Errorf("%+v of %d checkpoints: %+v", report, len(signed), signed)
	}
	noted := 0
	check(t, audit.Scan(t.Context(), []string{s.Audit.Path()}, func(l audit.Line) error {
		if r, err := l.Decode(); err == nil && r.Kind != nil && *r.Kind == "checkpoint" {
			noted++
		}
		return nil
	}))
	if noted != 2 {
		t.Errorf("%d checkpoints are on record, want 2: the last one follows the last record", noted)
	}
}

func TestNotaryThatCannot(t *testing.T) {
	key := filepath.Join(t.TempDir(), "audit.key")
	_, err := keyring.GenerateNoteKey(key, "acme.example/audit")
	check(t, err)
	for reason, flags := range map[string]map[string]any{
		"key-unreadable":  {"audit.checkpoint.key": key + ".none"},
		"key-unusable":    {"audit.checkpoint.key": copied(t, key+".pub")},
		"checkpoint-file": {"audit.checkpoint.key": key, "audit.checkpoint.file": filepath.Join(key, "none")},
	} {
		s := opened(t, t.TempDir(), settings(t, nil))
		s.Config = settings(t, flags)
		if err := s.Started(t.Context(), "1"); err == nil || fault.From(err).Reason != reason {
			t.Errorf("got %v, want %s", err, reason)
		}
	}
}

func copied(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	to := filepath.Join(t.TempDir(), "copy")
	check(t, os.WriteFile(to, data, 0o600))
	return to
}
