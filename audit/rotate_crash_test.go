package audit

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// copyTree copies a folder as it is at this moment: what a crash leaves. Two
// names of one file stay so with links; a backup makes two files of them.
func copyTree(t testing.TB, from string, links bool) string {
	t.Helper()
	to := t.TempDir()
	var made []string
	must(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		rel, err := filepath.Rel(from, path)
		must(t, err)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), dirPerm)
		}
		st, err := os.Stat(path)
		must(t, err)
		for _, other := range made {
			if o, err := os.Stat(filepath.Join(from, other)); links && err == nil && os.SameFile(o, st) {
				return os.Link(filepath.Join(to, other), filepath.Join(to, rel))
			}
		}
		made = append(made, rel)
		return os.WriteFile(filepath.Join(to, rel), readFile(t, path), filePerm)
	}))
	return to
}

// TestRotateCrash stops at every step of a rotation, of a compression and of a
// removal: what is left recovers, verifies, and loses and repeats no record.
func TestRotateCrash(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	w := rotating(t, dir, Options{Retain: Retention{Segments: 1}})
	type crash struct {
		step, dir string
		calls     string
	}
	var crashes []crash
	said := ""
	stop := func(step string) error {
		for _, links := range []bool{true, false} {
			crashes = append(crashes, crash{fmt.Sprintf("%s links=%v", step, links), copyTree(t, dir, links), said})
		}
		return nil
	}
	say := func(ids ...string) {
		closes(t, w, ids...)
		for _, id := range ids {
			said += "close:" + id + " "
		}
	}
	say("a", "b")
	must(t, w.Open(ctx, bareCall("running"), true, nil))
	say("c")
	w.chain.step, w.keeper.step = stop, stop
	turn(t, w)
	must(t, w.keeper.compress(ctx))
	say("d", "e")
	closes(t, w, "running") // or nothing may be removed
	said += "close:running "
	turn(t, w)
	must(t, w.keeper.tidy(ctx))
	steps := map[string]int{}
	for _, c := range crashes {
		steps[strings.Fields(c.step)[0]]++
	}
	if diff := cmp.Diff(map[string]int{"written": 4, "linked": 4, "renamed": 4, "compressed": 4, "named": 4, "unlinked": 4, "described": 2, "said": 2, "removed": 2}, steps); diff != "" {
		t.Fatal(diff)
	}
	wantOK(t, w.Path())

	for _, c := range crashes {
		t.Run(c.step, func(t *testing.T) {
			if r := verify(t, logPath(c.dir)); !r.OK {
				t.Fatalf("after the crash: %+v", r.Findings)
			}
			got := rotating(t, c.dir, Options{Retain: Retention{Segments: 100}})
			open := !strings.Contains(c.calls, "running")
			if n := len(got.Recovered().Interrupted); (n == 1) != open {
				t.Errorf("%d calls were closed as interrupted", n)
			}
			closes(t, got, "next", "last")
			turn(t, got)
			must(t, got.keeper.tidy(ctx))
			closes(t, got, "end")
			r := wantOK(t, logPath(c.dir))
			rs := records(t, logPath(c.dir))
			if uint64(len(rs)) != r.Records {
				t.Errorf("%d of %d records are read", len(rs), r.Records)
			}
			want := strings.Fields(c.calls)
			if r.Removed != nil {
				want = want[3:] // those of the first file
			}
			if open {
				want = append(want, "close:running")
			}
			want = append(want, "close:next", "close:last", "close:end")
			var have []string
			for _, r := range rs {
				if r.Phase == PhaseClose {
					have = append(have, "close:"+r.CallID)
				}
			}
			if diff := cmp.Diff(want, have); diff != "" {
				t.Error(diff)
			}
		})
	}
}
