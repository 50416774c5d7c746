package service

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
)

func withSinks(t *testing.T, sinks ...config.Sink) *config.Config {
	t.Helper()
	cfg := settings(t, nil)
	cfg.Audit.Sinks = sinks
	return cfg
}

// TestSinksGetTheLog: standard output and a file have what the log has, from
// the first record to the last.
func TestSinksGetTheLog(t *testing.T) {
	home, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy.ndjson")
	var out lockedBuffer
	s, err := Open(t.Context(), Options{Home: home, Logger: zerolog.Nop(), Stdout: &out, Config: withSinks(t,
		config.Sink{Name: "out", Type: "stdout"}, config.Sink{Name: "copy", Type: "file", Path: copied, Required: true})})
	check(t, err)
	check(t, s.Started(t.Context(), "1.2.3"))
	check(t, s.event(context.Background(), "reload", system, nil))
	families, err := s.Metrics.Gather()
	check(t, err)
	found := map[string]bool{}
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == "sink" {
					found[f.GetName()+" "+l.GetValue()] = true
				}
			}
		}
	}
	for _, name := range []string{"up", "waiting_records", "behind_seconds", "lost_records_total"} {
		for _, sink := range []string{"out", "copy"} {
			if !found["toolwarrant_audit_sink_"+name+" "+sink] {
				t.Errorf("there is no metric %s of %s: %v", name, sink, found)
			}
		}
	}
	check(t, s.Close(context.Background()))
	log, err := os.ReadFile(s.Audit.Path())
	check(t, err)
	file, err := os.ReadFile(copied)
	check(t, err)
	if string(file) != string(log) || out.String() != string(log) || strings.Count(string(log), "\n") < 2 {
		t.Errorf("the log\n%s\nstandard output\n%s\nthe file\n%s", log, out.String(), file)
	}
}

// TestSinkMistakes: each is named at the start, and nothing stays open.
func TestSinkMistakes(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	home := t.TempDir()
	good := config.Sink{Name: "good", Type: "file", Path: filepath.Join(t.TempDir(), "f")}
	secret := filepath.Join(t.TempDir(), "secret")
	check(t, os.WriteFile(secret, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), 0o600))
	for name, c := range map[string]struct {
		sink   config.Sink
		reason string
	}{
		"a name twice":         {good, "sink-name"},
		"otlp without a URL":   {config.Sink{Name: "x", Type: "otlp"}, "sink-keys"},
		"otlp with a secret":   {config.Sink{Name: "x", Type: "otlp", URL: srv.URL, SecretFile: secret}, "sink-keys"},
		"a webhook unsigned":   {config.Sink{Name: "x", Type: "webhook", URL: srv.URL}, "sink-keys"},
		"syslog with a URL":    {config.Sink{Name: "x", Type: "syslog", Address: "127.0.0.1:1", URL: srv.URL}, "sink-keys"},
		"syslog without":       {config.Sink{Name: "x", Type: "syslog"}, "sink-keys"},
		"a file with a CA":     {config.Sink{Name: "x", Type: "file", Path: "x", CAFile: "y"}, "sink-keys"},
		"stdout with a path":   {config.Sink{Name: "x", Type: "stdout", Path: "x"}, "sink-keys"},
		"stdout that is taken": {config.Sink{Name: "x", Type: "stdout", Required: true}, "sink-stdout"},
		"a CA that is none":    {config.Sink{Name: "x", Type: "syslog", Address: "127.0.0.1:1", CAFile: secret}, "sink-tls"},
		"plain http":           {config.Sink{Name: "x", Type: "otlp", URL: "http://logs.example"}, "sink-url"},
		"a folder":             {config.Sink{Name: "x", Type: "file", Path: home}, "sink-file"},
	} {
		_, err := openSinks(Options{Home: home, Config: withSinks(t, good, c.sink), Logger: zerolog.Nop()})
		if f := fault.From(err); f == nil || f.Code != fault.Usage || f.Reason != c.reason {
			t.Errorf("%s: %v, want USAGE (%s)", name, err, c.reason)
		}
	}
	if slots, _ := filepath.Glob(filepath.Join(home, "audit", "sinks", "good", "*")); len(slots) != 1 {
		t.Errorf("%d spools: one that failed to open was not given back", len(slots))
	}
	s := opened(t, home, withSinks(t, good, config.Sink{Name: "x", Type: "webhook", URL: srv.URL, SecretFile: secret}))
	if st := s.Sinks(); len(st) != 2 || st[0].Name != "good" || st[1].Name != "x" {
		t.Errorf("%+v", st)
	}
}
