package service

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// TestRetentionAsConfigured: the log is rotated and cleared as the
// configuration says, and the key of checkpoints signs what was removed.
func TestRetentionAsConfigured(t *testing.T) {
	key := filepath.Join(t.TempDir(), "audit.key")
	_, err := keyring.GenerateNoteKey(key, "acme.example/audit")
	check(t, err)
	s := opened(t, t.TempDir(), settings(t, map[string]any{
		"audit.rotate.bytes": 1, "audit.retain.segments": 1, "audit.checkpoint.key": key,
		"audit.checkpoint.file": filepath.Join(t.TempDir(), "checkpoints.txt"),
	}))
	v, err := keyring.ReadNoteVerifier(key + ".pub")
	check(t, err)
	for end := time.Now().Add(time.Minute); ; {
		check(t, s.event(t.Context(), "reload", system, nil))
		r, err := audit.Verify(t.Context(), []string{s.Audit.Path()}, audit.VerifyOptions{Key: v})
		check(t, err)
		if !r.OK {
			t.Fatalf("%+v", r.Findings)
		}
		if r.Removed != nil && r.Removed.Signed {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nothing was removed in a minute")
		}
	}
	check(t, s.Audit.Upkeep())
}

// TestRetentionWithoutItsKey: who asks for signed removals should not learn
// later that there are none.
func TestRetentionWithoutItsKey(t *testing.T) {
	s := &Service{Config: settings(t, map[string]any{"audit.retain.days": 30, "audit.checkpoint.key": "nowhere.key"})}
	if _, err := s.auditOptions(); err == nil || fault.From(err).Reason != "key-unreadable" {
		t.Errorf("got %v", err)
	}
}
