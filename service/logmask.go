package service

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/internal/tick"
)

// LogMask is a way out of log lines that hides the secrets of the installation.
// The steps of a call mask what they log by the secrets of its tool; this is
// for every other line, such as an error of a library that quotes a URL. Each
// Write is one line. It is safe for concurrent use where out is.
type LogMask struct {
	out io.Writer
	set atomic.Pointer[mask.Set]
}

// NewLogMask makes one that hides nothing yet.
func NewLogMask(out io.Writer) *LogMask { return &LogMask{out: out} }

// Write implements io.Writer. It reports the length of what it was given.
func (l *LogMask) Write(line []byte) (int, error) {
	set := l.set.Load()
	if set.Empty() {
		return l.out.Write(line)
	}
	if _, err := io.WriteString(l.out, set.String(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// MaskLog has l hide the secrets of the installation, as they are from time to
// time, until ctx ends.
func (s *Service) MaskLog(ctx context.Context, l *LogMask) {
	l.set.Store(s.knownSecrets(ctx))
	for range tick.Every(ctx, secretsEvery) {
		l.set.Store(s.knownSecrets(ctx))
	}
}

// known remembers the secrets of the installation.
type known struct {
	mu      sync.Mutex
	asked   time.Time
	content string
	names   []string
	values  []string
	set     *mask.Set
}

// knownSecrets are the secrets that tools of the catalog name, or that are
// granted by name. It looks for others once in secretsEvery.
func (s *Service) knownSecrets(ctx context.Context) *mask.Set {
	k := &s.known
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if k.set != nil && now.Sub(k.asked) < secretsEvery {
		return k.set
	}
	k.asked = now
	if content := s.Catalog.Content(); content != k.content || k.names == nil {
		k.content, k.names = content, s.secretNames(ctx)
	}
	// A file that cannot be read hides what it held before.
	if values, err := s.Engine.Secrets.Values(k.names); k.set == nil || err == nil && !slices.Equal(values, k.values) {
		k.values, k.set = values, mask.New(values)
	}
	return k.set
}

func (s *Service) secretNames(ctx context.Context) []string {
	seen := map[string]bool{}
	var names []string
	add := func(name string) {
		if !seen[name] && !strings.HasSuffix(name, "*") {
			seen[name] = true
			names = append(names, name)
		}
	}
	tools, err := s.Catalog.List(ctx)
	if err != nil {
		return nil
	}
	for _, t := range tools {
		for _, name := range t.Spec.Placeholders() {
			add(name)
		}
	}
	for _, g := range s.inForce().Secrets.Grants {
		for _, name := range g.Names {
			add(name)
		}
	}
	return names
}
