package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/audit"
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
