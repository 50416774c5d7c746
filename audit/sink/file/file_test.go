package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink/spool"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustNew(t *testing.T, path string) *Sink {
	t.Helper()
	s, err := New(path)
	must(t, err)
	return s
}

func put(s *Sink, lines ...string) error {
	var raw [][]byte
	for _, l := range lines {
		raw = append(raw, []byte(l))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.Write(ctx, raw, true)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// TestWhole: what a crash tore off is replaced, what somebody else wrote is
// not.
func TestWhole(t *testing.T) {
	const line = `{"time":"2026-11-28T10:00:00.000000Z","seq":1}`
	for before, want := range map[string]string{
		"": "", line + "\n": line + "\n", line + "\n" + line[:20]: line + "\n", line[:3]: "", line: "",
		"a word": "a word\n", line + "\na word": line + "\na word\n", "\n": "\n",
		strings.Repeat("x", 200_000): strings.Repeat("x", 200_000) + "\n", `{"time":"` + strings.Repeat("x", 200_000): "",
	} {
		path := filepath.Join(t.TempDir(), "f")
		must(t, os.WriteFile(path, []byte(before), 0o600))
		must(t, put(mustNew(t, path), line, "{}"))
		if got := read(t, path); got != want+line+"\n{}\n" {
			t.Errorf("after %.40q: %.80q", before, got)
		}
	}
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := mustNew(t, path)
	must(t, put(s, "{}"))
	must(t, os.Rename(path, path+".1"))
	must(t, put(s, "[]"))
	if read(t, path+".1") != "{}\n" || read(t, path) != "[]\n" {
		t.Error("the file that was renamed is still written to")
	}
	st, err := os.Stat(path)
	must(t, err)
	if st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
}

// TestShared: several processes append whole batches.
func TestShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	for w := range 4 {
		s := mustNew(t, path)
		wg.Go(func() {
			for i := range 25 {
				if err := put(s, fmt.Sprint(w, i, "a"), fmt.Sprint(w, i, "b")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSpace(read(t, path)), "\n")
	for i := 0; i < len(lines); i += 2 {
		if strings.TrimSuffix(lines[i], "a") != strings.TrimSuffix(lines[i+1], "b") {
			t.Fatalf("%q is followed by %q", lines[i], lines[i+1])
		}
	}
	if len(lines) != 200 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "f")} {
		if _, err := New(path); fault.From(err) == nil || fault.From(err).Reason != "sink-file" {
			t.Errorf("%s: %v", path, err)
		}
	}
	path := filepath.Join(dir, "f")
	s := mustNew(t, path)
	holder := mustNew(t, path)
	must(t, holder.lock.Lock())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Write(ctx, [][]byte{[]byte("{}")}, true); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another holds the lock: %v", err)
	}
	must(t, holder.lock.Unlock())
	must(t, put(s, "{}"))
}

// TestAFileThatComesBack: a required file that cannot be written to refuses
// calls; when it can, it has the whole log.
func TestAFileThatComesBack(t *testing.T) {
	home, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	must(t, os.Mkdir(out, 0o700))
	to := mustNew(t, filepath.Join(out, "f"))
	s, err := spool.Open(filepath.Join(home, "sinks", "f"), to, spool.Options{Required: true, Backoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond})
	must(t, err)
	w, err := audit.Open(home, audit.Options{Sinks: []audit.SinkOption{{Name: "f", Sink: s, Required: true}}})
	must(t, err)
	call := func(id string) error {
		ok := fault.OK
		return w.Close(context.Background(), audit.Call{CallID: id, Origin: decision.OriginCLIRun, Outcome: &ok}, nil)
	}
	must(t, call("a"))
	must(t, os.Rename(out, out+".away"))
	if err := call("b"); fault.From(err) == nil || fault.From(err).Reason != audit.ReasonSink {
		t.Fatalf("got %v", err)
	}
	must(t, os.Rename(out+".away", out))
	for end := time.Now().Add(time.Minute); w.Health(t.Context()) != nil && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	must(t, call("c"))
	must(t, w.Shutdown(context.Background()))
	if got := read(t, filepath.Join(out, "f")); got != read(t, w.Path()) {
		t.Errorf("the file is not the log:\n%s", got)
	}
}
