package service

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/mask"
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

// MaskLog has l hide the secrets that tools of the catalog name, or that are
// granted by name, as they are from time to time, until ctx ends.
func (s *Service) MaskLog(ctx context.Context, l *LogMask) {
	var names, hidden []string
	content := ""
	tick := time.NewTicker(secretsEvery)
	defer tick.Stop()
	for {
		if now := s.Catalog.Content(); now != content {
			content, names = now, s.secretNames(ctx)
		}
		// A file that cannot be read hides what it held before.
		if values, err := s.Engine.Secrets.Values(names); err == nil && !slices.Equal(values, hidden) {
			hidden = values
			l.set.Store(mask.New(values))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
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
