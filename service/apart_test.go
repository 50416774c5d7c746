package service

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
)

// TestNothingElseWritesToTheLog: neither a sink nor checkpoints may go to the
// log, by whatever name, or to one file together.
func TestNothingElseWritesToTheLog(t *testing.T) {
	for _, begun := range []bool{false, true} {
		home, links, own := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "own.ndjson")
		log := filepath.Join(home, "audit", "audit.ndjson")
		check(t, os.MkdirAll(filepath.Join(home, "audit", "segments"), 0o700))
		if begun {
			check(t, os.WriteFile(log, nil, 0o600))
			check(t, os.WriteFile(own, nil, 0o600))
		}
		linked := filepath.Join(links, "home")
		if os.Symlink(home, linked) != nil { // not every system lets everybody
			linked = home
		}
		file := func(name, path string) config.Sink { return config.Sink{Name: name, Type: "file", Path: path} }
		good := filepath.Join(t.TempDir(), "copy.ndjson")
		for name, c := range map[string]struct {
			file       string
			checkpoint string
			sinks      []config.Sink
			want       bool
		}{
			"apart":                   {"", good + ".txt", []config.Sink{file("a", good), file("b", good+"2")}, true},
			"beside the log":          {"", filepath.Join(home, "audit", "checkpoints.txt"), nil, true},
			"the log of another home": {own, "", []config.Sink{file("a", log)}, true},
			"a sink":                  {"", "", []config.Sink{file("a", log)}, false},
			"spelt otherwise":         {"", "", []config.Sink{file("a", filepath.Join(home, "audit")+"/../audit/audit.ndjson")}, false},
			"by a link":               {"", "", []config.Sink{file("a", filepath.Join(linked, "audit", "audit.ndjson"))}, false},
			"a log elsewhere":         {own, "", []config.Sink{file("a", own)}, false},
			"a closed file":           {"", "", []config.Sink{file("a", filepath.Join(home, "audit", "segments", "1.ndjson"))}, false},
			"one of a log elsewhere":  {own, "", []config.Sink{file("a", filepath.Join(own+".d", "segments", "1.ndjson"))}, false},
			"the index":               {"", "", []config.Sink{file("a", filepath.Join(home, "audit", "index.sqlite"))}, false},
			"checkpoints":             {"", log, nil, false},
			"two sinks":               {"", "", []config.Sink{file("a", good), file("b", good)}, false},
			"a sink and checkpoints":  {"", good, []config.Sink{file("a", good)}, false},
		} {
			cfg := withSinks(t, c.sinks...)
			cfg.Audit.File, cfg.Audit.Checkpoint.File = c.file, c.checkpoint
			if c.checkpoint != "" {
				cfg.Audit.Checkpoint.Key = "audit.key"
			}
			f := fault.From(checkApart(Options{Home: home, Config: cfg}))
			if c.want != (f == nil) || f != nil && (f.Code != fault.Usage || f.Reason != "audit-path") {
				t.Errorf("%s, begun %v: %v", name, begun, f)
			}
		}
		_, err := Open(t.Context(), Options{Home: home, Logger: zerolog.Nop(), Config: withSinks(t, file("a", log))})
		if f := fault.From(err); f == nil || f.Reason != "audit-path" {
			t.Errorf("it was opened: %v", err)
		}
	}
}
