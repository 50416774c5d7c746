package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

func TestStateFileThatCannotBeTrusted(t *testing.T) {
	for _, tc := range []struct {
		name, content, reason string
	}{
		{"not JSON", `{"version":1,`, "state-corrupt"},
		{"empty", ``, "state-corrupt"},
		{"no version", `{"tools":{}}`, "state-corrupt"},
		{"older than the first", `{"version":0,"tools":{}}`, "state-corrupt"},
		{"newer", `{"version":3,"tools":{},"shiny":true}`, "state-newer"},
		{"unknown member", `{"version":2,"tools":{},"extra":1}`, "state-corrupt"},
		{"unknown member of a pass", `{"version":2,"tools":{"x":{"passedDigest":"","exposure":"exposed","extra":1}}}`, "state-corrupt"},
		{"duplicate id", `{"version":2,"tools":{"x":{"exposure":"draft"},"x":{"exposure":"exposed"}}}`, "state-corrupt"},
		{"unknown exposure", `{"version":2,"tools":{"x":{"exposure":"public"}}}`, "state-corrupt"},
		{"not an object", `[]`, "state-corrupt"},
		{"bad time", `{"version":2,"tools":{"x":{"at":"yesterday","exposure":"draft"}}}`, "state-corrupt"},
		{"a hidden pass, which is of the first version", `{"version":2,"tools":{"x":{"exposure":"hidden"}}}`, "state-corrupt"},
		{"a choice of the second version in the first", `{"version":1,"tools":{},"choices":{}}`, "state-corrupt"},
		{"unknown exposure in the first version", `{"version":1,"tools":{"x":{"exposure":"public"}}}`, "state-corrupt"},
		{"unknown choice", `{"version":2,"tools":{},"choices":{"x":"draft"}}`, "state-corrupt"},
		{"choice of another type", `{"version":2,"tools":{},"choices":{"x":true}}`, "state-corrupt"},
		{"unknown approval mode", `{"version":2,"tools":{},"approvals":{"x":{"mode":"MAYBE"}}}`, "state-corrupt"},
		{"approval without a mode", `{"version":2,"tools":{},"approvals":{"x":{}}}`, "state-corrupt"},
		{"unknown member of an approval", `{"version":2,"tools":{},"approvals":{"x":{"mode":"DISABLED","until":"never"}}}`, "state-corrupt"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home := t.TempDir()
			file := filepath.Join(home, "catalog", "state.json")
			writeFile(t, file, tc.content)
			_, err := Open(context.Background(), Options{Home: home})
			wantFault(t, err, fault.Usage, tc.reason, file)
		})
	}
}

func TestDamagedStateKeepsTheLastContent(t *testing.T) {
	home := t.TempDir()
	c := mustOpen(t, Options{Home: home})
	before := c.Revision()
	file := filepath.Join(home, "catalog", "state.json")
	writeFile(t, file, "{")
	wantFault(t, c.Reload(context.Background()), fault.Usage, "state-corrupt")
	wantFault(t, c.SetPass(context.Background(), lookup(t, c, "uuid").Spec.ToolID, nil), fault.Usage, "state-corrupt")
	if c.Revision() != before || len(exposed(t, c)) == 0 {
		t.Error("a failed reload changed what is served")
	}
	if data, _ := os.ReadFile(file); string(data) != "{" {
		t.Errorf("the damaged file was replaced by %q", data)
	}
}

func TestStateRoundTrip(t *testing.T) {
	home := t.TempDir()
	c := mustOpen(t, Options{Home: home})
	id := lookup(t, c, "hash").Spec.ToolID
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	want := Pass{PassedDigest: lookup(t, c, "hash").Spec.Digest(), At: at, Mode: "fixture", Runtime: "r@1", PolicyRevision: "sha256:x", Exposure: ExposureExposed}
	if err := c.SetPass(context.Background(), id, &want); err != nil {
		t.Fatal(err)
	}
	st, err := readState(c.statePath())
	if err != nil {
		t.Fatal(err)
	}
	if got := st.Tools[id]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	info, err := os.Stat(c.statePath())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestNextPass(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	passed := Pass{PassedDigest: "sha256:1", At: now, Mode: "live", Runtime: "r", PolicyRevision: "p", Exposure: ExposureExposed}
	draft := nextPass(passed, nil, now)
	for _, tc := range []struct {
		name string
		old  Pass
		pass *Pass
		want string
	}{
		{"a draft of a passed tool", passed, nil, ExposureDraft},
		{"a draft of one that never passed", Pass{}, nil, ExposureDraft},
		{"a first pass", Pass{}, &Pass{PassedDigest: "sha256:2"}, ExposureExposed},
		{"a pass ends the draft", draft, &Pass{PassedDigest: "sha256:2"}, ExposureExposed},
		{"whatever the pass says", passed, &Pass{PassedDigest: "sha256:2", Exposure: ExposureDraft}, ExposureExposed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := nextPass(tc.old, tc.pass, now)
			if got.Exposure != tc.want || got.At.IsZero() || got.PassedDigest == "" {
				t.Errorf("got %+v", got)
			}
		})
	}
	if got := nextPass(Pass{}, nil, now).PassedDigest; got != noDigest {
		t.Errorf("a draft that never passed claims %s", got)
	}
}

// Many writers, each with a Catalog of its own as separate processes have,
// record passes at once: none is lost.
func TestConcurrentPassesLoseNothing(t *testing.T) {
	home := t.TempDir()
	const tools = 8
	for i := range tools {
		writeFile(t, filepath.Join(home, "catalog", fmt.Sprintf("t%d.json", i)), docJSON(fmt.Sprintf("id-%d", i), fmt.Sprintf("tool%d", i), "return 1;", false))
	}
	shared := mustOpen(t, Options{Home: home})
	var wg sync.WaitGroup
	errs := make(chan error, 2*tools)
	for i := range tools {
		for _, c := range []*Catalog{shared, mustOpen(t, Options{Home: home})} {
			wg.Add(1)
			go func() {
				defer wg.Done()
				id := fmt.Sprintf("id-%d", i)
				tool, err := c.Lookup(context.Background(), id)
				if err == nil {
					err = c.SetPass(context.Background(), id, &Pass{PassedDigest: tool.Spec.Digest(), Mode: "live", Runtime: "r", PolicyRevision: "p"})
				}
				errs <- err
			}()
		}
	}
	wg.Wait()
	close(errs)
	if err := errors.Join(collect(errs)...); err != nil {
		t.Fatal(err)
	}
	fresh := mustOpen(t, Options{Home: home})
	for i := range tools {
		for name, c := range map[string]*Catalog{"fresh": fresh, "shared": shared} {
			if name == "shared" {
				if err := c.Reload(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if tool := lookup(t, c, fmt.Sprintf("tool%d", i)); tool.State != StateActive {
				t.Errorf("%s: %s is %s: %s", name, tool.Spec.Name, tool.State, tool.Why)
			}
		}
	}
}

func collect(errs <-chan error) (all []error) {
	for err := range errs {
		all = append(all, err)
	}
	return all
}

func TestLockGivesUp(t *testing.T) {
	dir := t.TempDir()
	err := locked(context.Background(), dir, func() error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return locked(ctx, dir, func() error { return errors.New("ran inside the lock of another") })
	})
	wantFault(t, err, fault.Internal, "state-locked", dir)
}
