package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// TestTornCheckpoints: a file of checkpoints with damage is used for what holds
// in it, and the damage is said.
func TestTornCheckpoints(t *testing.T) {
	home := t.TempDir()
	key, file := filepath.Join(home, "audit.key"), filepath.Join(home, "checkpoints.txt")
	w, err := audit.Open(home, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	must := func(args ...string) (string, string) {
		t.Helper()
		out, errs, status := toolwarrant(t, home, args...)
		if status != 0 {
			t.Fatalf("%v: status %d\n%s%s", args, status, out, errs)
		}
		return out, errs
	}
	must("audit", "keygen", "acme.example/audit", "-o", key)
	sign := func() {
		t.Helper()
		if err := w.Event(context.Background(), audit.Event{Kind: "reload"}, nil); err != nil {
			t.Fatal(err)
		}
		must("audit", "checkpoint", w.Path(), "--sign", key, "-o", file)
	}
	sign()
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(data, data[:100]...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	sign()
	if err := w.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	out, errs := must("audit", "verify", w.Path(), "--checkpoints", file, "--key", key+".pub")
	if !strings.Contains(out, "held against 2 checkpoints") || !strings.Contains(errs, "warning: 1 part of "+file) || !strings.Contains(errs, "at line 8") {
		t.Errorf("%s%s", out, errs)
	}
	if err := os.WriteFile(file, data[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, status := toolwarrant(t, home, "audit", "verify", w.Path(), "--checkpoints", file, "--key", key+".pub"); status != 2 || !strings.Contains(errs, "no checkpoint holds") {
		t.Errorf("none holds: status %d\n%s%s", status, out, errs)
	}
}

// TestNotALog names files that are no log, and one without an end as a proof:
// "no calls" would be a wrong answer, and memory has a bound.
func TestNotALog(t *testing.T) {
	home := t.TempDir()
	other, empty := filepath.Join(home, "proof.json"), filepath.Join(home, "empty.ndjson")
	for file, text := range map[string]string{other: `{"schema":"toolwarrant.proof/1"}`, empty: ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"audit", "query"}, {"audit", "stats"}, {"audit", "tail"}, {"audit", "events"}, {"audit", "export", "--format", "csv"},
		{"audit", "why", "01a221a1-2a23-72e0-9356-1d0a8555e47f"}, {"audit", "index"},
	} {
		if _, errs, status := toolwarrant(t, home, append(args, other)...); status != 2 || !strings.Contains(errs, "USAGE (no-log): "+other) {
			t.Errorf("%v: status %d, %s", args, status, errs)
		}
	}
	if _, err := os.Stat(other + ".d"); err == nil {
		t.Error("an index was made of it")
	}
	if _, errs, status := toolwarrant(t, home, "audit", "query", empty); status != 0 {
		t.Errorf("an empty log: status %d, %s", status, errs)
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		return
	}
	key := filepath.Join(home, "audit.key")
	if _, errs, status := toolwarrant(t, home, "audit", "keygen", "acme.example/audit", "-o", key); status != 0 {
		t.Fatal(errs)
	}
	if _, errs, status := toolwarrant(t, home, "audit", "verify-proof", "/dev/zero", "--key", key+".pub"); status != 2 || !strings.Contains(errs, "no proof") {
		t.Errorf("a proof without an end: status %d, %s", status, errs)
	}
}

// TestEndlessCheckpoints: reading what has no end is over when the command is.
func TestEndlessCheckpoints(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no /dev/zero here")
	}
	key := filepath.Join(t.TempDir(), "audit.key")
	if _, err := keyring.GenerateNoteKey(key, "acme.example/audit"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := (&signedFlags{file: "/dev/zero", key: key + ".pub", warn: func() io.Writer { return io.Discard }}).read(ctx, true)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}
