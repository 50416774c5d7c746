package service

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// served is a service that serves, with what it logs.
func served(t *testing.T, home string, cfg *config.Config) (*Service, *lockedBuffer) {
	t.Helper()
	said := &lockedBuffer{}
	s, err := Open(t.Context(), Options{Home: home, Config: cfg, Logger: zerolog.New(io.Writer(said))})
	check(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	check(t, s.Started(t.Context(), "test"))
	return s, said
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

// value is what a gauge without labels says.
func value(t *testing.T, from prometheus.Gatherer, name string) float64 {
	t.Helper()
	all, err := from.Gather()
	check(t, err)
	for _, m := range all {
		if m.GetName() == name {
			return m.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// onRecord counts the events of a kind.
func onRecord(t *testing.T, log, kind string) (n int) {
	t.Helper()
	check(t, audit.Scan(t.Context(), []string{log}, func(l audit.Line) error {
		if r, err := l.Decode(); err == nil && r.Kind != nil && *r.Kind == kind {
			n++
		}
		return nil
	}))
	return n
}

// grow adds events, as a process does that makes no checkpoints.
func grow(t *testing.T, log string, n int) {
	t.Helper()
	w, err := audit.Open(filepath.Dir(log), audit.Options{File: log})
	check(t, err)
	for range n {
		check(t, w.Event(context.Background(), audit.Event{Kind: "reload"}, nil))
	}
	check(t, w.Shutdown(context.Background()))
}

// cutLines takes the last n lines off a file.
func cutLines(t *testing.T, file string, n int) {
	t.Helper()
	data, err := os.ReadFile(file)
	check(t, err)
	lines := bytes.SplitAfter(data, []byte("\n"))
	check(t, os.WriteFile(file, bytes.Join(lines[:len(lines)-1-n], nil), 0o600))
}

// TestNotaryAfterRestart: a log is signed on if it goes on from what was signed
// before, and only then.
func TestNotaryAfterRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a service ten times, each for itself")
	}
	for name, c := range map[string]struct {
		change  func(t *testing.T, log, file, key string)
		refused bool
		says    string
	}{
		"unchanged": {func(*testing.T, string, string, string) {}, false, ""},
		"grown":     {func(t *testing.T, log, _, _ string) { grow(t, log, 5) }, false, ""},
		"cut":       {func(t *testing.T, log, _, _ string) { cutLines(t, log, 2) }, true, "put the log back"},
		"cut far":   {func(t *testing.T, log, _, _ string) { cutLines(t, log, 9) }, true, "were cut off, or the log was replaced"},
		"emptied":   {func(t *testing.T, log, _, _ string) { check(t, os.Truncate(log, 0)) }, true, "put the log back"},
		"cut and grown": {func(t *testing.T, log, _, _ string) {
			cutLines(t, log, 2)
			grow(t, log, 9)
		}, true, "was replaced"},
		"replaced": {func(t *testing.T, log, _, _ string) {
			check(t, os.Remove(log))
			grow(t, log, 50)
		}, true, "was replaced"},
		"cut, and a torn note at the end": {func(t *testing.T, log, file, _ string) {
			cutLines(t, log, 2)
			data, err := os.ReadFile(file)
			check(t, err)
			check(t, os.WriteFile(file, append(data, data[:50]...), 0o600))
		}, true, "holds none of this key"},
		"cut, without checkpoints": {func(t *testing.T, log, file, _ string) {
			cutLines(t, log, 2)
			check(t, os.Remove(file))
		}, false, ""},
		"another key": {func(t *testing.T, log, file, key string) {
			check(t, os.Remove(key))
			check(t, os.Remove(key+".pub"))
			_, err := keyring.GenerateNoteKey(key, "acme.example/audit")
			check(t, err)
		}, false, "holds none of this key"},
	} {
		t.Run(name, func(t *testing.T) {
			home, key := t.TempDir(), filepath.Join(t.TempDir(), "audit.key")
			_, err := keyring.GenerateNoteKey(key, "acme.example/audit")
			check(t, err)
			file := filepath.Join(t.TempDir(), "checkpoints.txt")
			cfg := settings(t, map[string]any{"audit.checkpoint.key": key, "audit.checkpoint.file": file, "audit.checkpoint.every-records": 1})
			s, _ := served(t, home, cfg)
			for range 12 {
				check(t, s.event(context.Background(), "reload", system, nil))
			}
			check(t, s.Close(t.Context()))
			before, err := os.ReadFile(file)
			check(t, err)
			c.change(t, s.Audit.Path(), file, key)
			v, err := keyring.ReadNoteVerifier(key + ".pub")
			check(t, err)
			noted := func() int {
				data, err := os.ReadFile(file)
				check(t, err)
				list, _, _ := checkpoint.OpenAll(bytes.NewReader(data), v)
				return len(list)
			}
			old := 0
			if _, err := os.Stat(file); err == nil {
				old = noted()
			}

			s, said := served(t, home, cfg)
			if !c.refused {
				until(t, "a checkpoint", func() bool { return noted() > old && s.Checkpoints().Size > 0 })
				if st := s.Checkpoints(); st.Err != nil || st.Size == 0 {
					t.Errorf("%+v", st)
				}
				for name, least := range map[string]float64{"up": 1, "records": 10, "timestamp_seconds": 1e9, "age_seconds": 0} {
					if got := value(t, s.Metrics, "toolwarrant_audit_checkpoint_"+name); got < least {
						t.Errorf("%s is %v", name, got)
					}
				}
			} else {
				until(t, "the refusal", func() bool {
					return s.Checkpoints().Err != nil && onRecord(t, s.Audit.Path(), "checkpoint.refuse") == 1
				})
				check(t, s.event(context.Background(), "reload", system, nil)) // calls go on
				check(t, s.Health())
				if st := s.Checkpoints(); st.Err.Reason != audit.ReasonReplaced || st.Size == 0 || st.At.IsZero() {
					t.Errorf("%+v", st)
				}
				if up := value(t, s.Metrics, "toolwarrant_audit_checkpoint_up"); up != 0 {
					t.Errorf("up is %v", up)
				}
			}
			err = s.Close(t.Context())
			if NeedsHand(err) != c.refused || !c.refused && err != nil {
				t.Errorf("closed with %v", err)
			}
			if c.refused {
				if after, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(after, before) || noted() != old {
					t.Errorf("%d checkpoints, %d before; %v", noted(), old, err)
				}
			}
			if !strings.Contains(said.String(), c.says) {
				t.Errorf("said %s", said)
			}
		})
	}
}

// TestNotaryIsWoken: the checkpoint that a number of records makes due does not
// wait until somebody looks.
func TestNotaryIsWoken(t *testing.T) {
	defer func(d time.Duration) { lookEvery = d }(lookEvery)
	lookEvery = time.Hour
	key := filepath.Join(t.TempDir(), "audit.key")
	_, err := keyring.GenerateNoteKey(key, "acme.example/audit")
	check(t, err)
	file := filepath.Join(t.TempDir(), "checkpoints.txt")
	s, _ := served(t, t.TempDir(), settings(t, map[string]any{
		"audit.checkpoint.key": key, "audit.checkpoint.file": file, "audit.checkpoint.every-records": 10, "audit.checkpoint.every-seconds": 3600,
	}))
	for round := 1; round <= 3; round++ {
		for range 10 {
			check(t, s.event(context.Background(), "reload", system, nil))
		}
		until(t, "a checkpoint", func() bool { return len(signedBy(t, file, key+".pub")) >= round })
	}
}

// TestForeignTail: what is left at the end of a log is said at the start, also
// where nothing is signed.
func TestForeignTail(t *testing.T) {
	home := t.TempDir()
	s, said := served(t, home, settings(t, nil))
	check(t, s.Close(t.Context()))
	if strings.Contains(said.String(), "not whole") {
		t.Errorf("said %s", said)
	}
	f, err := os.OpenFile(s.Audit.Path(), os.O_APPEND|os.O_WRONLY, 0)
	check(t, err)
	_, err = f.WriteString("bye\n")
	check(t, err)
	check(t, f.Close())
	_, said = served(t, home, settings(t, nil))
	if !strings.Contains(said.String(), "the end of the audit log is not whole") {
		t.Errorf("said %s", said)
	}
}
