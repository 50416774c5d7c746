package service

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// A service that serves asks about its tools by itself, and again under another
// policy.
func TestKeepWarm(t *testing.T) {
	p := newPublisher(t)
	log := &lockedBuffer{}
	s, err := Open(t.Context(), Options{Home: t.TempDir(), Config: settings(t, map[string]any{"policy.path": p.dir}), Logger: zerolog.New(log)})
	check(t, err)
	t.Cleanup(func() { check(t, s.Close(context.Background())) })
	warmUnder := func(revision string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			for _, line := range strings.Split(log.String(), "\n") {
				if strings.Contains(line, "lists are warm") && strings.Contains(line, revision) && !strings.Contains(line, `"tools":0`) {
					return
				}
			}
			if time.Now().After(deadline) {
				t.Fatalf("the lists under %s did not become warm: %s", revision, log)
			}
		}
	}
	check(t, s.Started(t.Context(), "test"))
	warmUnder(s.Policy.Revision())

	name := filepath.Join("rego", "access", "access.rego")
	access, err := os.ReadFile(filepath.Join(p.dir, name))
	check(t, err)
	before := s.Policy.Revision()
	p.write("rego/access/access.rego", string(access)+"\n# Another text.\n")
	if err := s.Reload(t.Context()); err != nil || s.Policy.Revision() == before {
		t.Fatalf("the policy was not reloaded: %v", err)
	}
	warmUnder(s.Policy.Revision())
}
