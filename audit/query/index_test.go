package query

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/index"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// session is a writer that lives for n calls, with what else a log has.
func session(t *testing.T, dir string, o audit.Options, from, n int) {
	t.Helper()
	o.Fsync = audit.SyncInterval // no power cut is tested here
	w, err := audit.Open(dir, o)
	must(t, err)
	for i := from; i < from+n; i++ {
		c := call(i)
		must(t, w.Open(t.Context(), c, false, nil))
		must(t, w.Close(t.Context(), c, nil))
		if i%7 == 0 {
			must(t, w.Event(t.Context(), audit.Event{Kind: "reload", Detail: map[string]any{"call-1": "ann"}}, nil))
		}
	}
	must(t, w.Shutdown(context.Background()))
}

// answer is what a search finds, and why it did not use the index.
func answer(t *testing.T, file string, f Filter, o Options) (lines []string, note string) {
	t.Helper()
	o.Note = func(s string) { note = s }
	err := Search(t.Context(), []string{file}, f, o, func(r audit.Record, l audit.Line) error {
		if r.CallID != l.Head.CallID {
			t.Errorf("the record is of %s, the line of %s", r.CallID, l.Head.CallID)
		}
		lines = append(lines, string(l.Raw))
		return nil
	})
	must(t, err)
	return lines, note
}

// anyFilter makes one up. The times are of closes of the log.
func anyFilter(r *rand.Rand, times []string) Filter {
	var f Filter
	some := func(to *[]string, values ...string) {
		if r.IntN(5) == 0 {
			for range 1 + r.IntN(2) {
				*to = append(*to, values[r.IntN(len(values))])
			}
		}
	}
	some(&f.CallIDs, fmt.Sprint("call-", r.IntN(300)), fmt.Sprint("call-", r.IntN(300)), "call-x")
	some(&f.Tools, "read", "write", "id-1", "none", "")
	some(&f.Principals, "ann", `bo"b`, "ünal", "client", "nobody")
	some(&f.Outcomes, "OK", "DENIED", "ERROR")
	some(&f.Codes, "TIMEOUT", "TIMEOUT/deadline", "TIMEOUT/", "DENIED")
	some(&f.Levels, "L0", "L3", "L4", "L5")
	some(&f.Rules, "file-read", "file-write", "hitl-floor", "none")
	some(&f.Hosts, "a.example", "*.other", "*", "none")
	some(&f.Paths, "reports/", "reports/1?.md", "reports/7.md", "*", "x/")
	at := func() time.Time {
		t, _ := time.Parse(time.RFC3339Nano, times[r.IntN(len(times))])
		return t.Add(time.Duration(r.IntN(3)-1) * time.Microsecond)
	}
	if r.IntN(3) == 0 && len(times) > 0 {
		f.Since = at()
	}
	if r.IntN(3) == 0 && len(times) > 0 {
		f.Until = at()
	}
	if f.Check() != nil {
		f.Since, f.Until = f.Until, f.Since
	}
	if f.Check() != nil {
		f.Since = time.Time{}
	}
	return f
}

func timesOf(t *testing.T, file string) (out []string) {
	must(t, audit.Scan(t.Context(), []string{file}, func(l audit.Line) error {
		out = append(out, l.Head.Time)
		return nil
	}))
	return out
}

// same holds searches with the index against those without. used says
// whether the index has to be of use.
func same(t *testing.T, r *rand.Rand, file string, n int, used bool) {
	t.Helper()
	times := timesOf(t, file)
	for range n {
		f := anyFilter(r, times)
		want, _ := answer(t, file, f, Options{NoIndex: true})
		got, note := answer(t, file, f, Options{})
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%+v: without and with the index:\n%s", f, d)
		}
		if used && note != "" {
			t.Fatal(note)
		}
	}
}

// TestIndexSaysTheSame makes up logs that are rotated, compressed and cleared,
// indexes them now and then, and asks.
func TestIndexSaysTheSame(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			dir := t.TempDir()
			file := filepath.Join(dir, audit.FileName)
			kept := index.NewUpdater(file)
			calls, rebuilt := 0, 0
			for round := range 6 {
				o := audit.Options{Rotate: audit.Rotation{Bytes: []int64{0, 20_000, 60_000}[r.IntN(3)]}}
				if r.IntN(3) == 0 {
					o.Retain.Segments = 1 + r.IntN(2)
				}
				n := r.IntN(60)
				session(t, dir, o, calls, n)
				calls += n
				same(t, r, file, 10, false)
				if r.IntN(4) == 0 {
					continue
				}
				u := kept
				if r.IntN(3) == 0 {
					u = index.NewUpdater(file)
				}
				did, err := u.Update(t.Context())
				must(t, err)
				if did.Rebuilt != "" {
					rebuilt++
				}
				same(t, r, file, 20, true)
				if again, err := u.Update(t.Context()); err != nil || again != (index.Report{}) {
					t.Fatalf("round %d: nothing was new: %+v, %v", round, again, err)
				}
			}
			t.Logf("%d calls, %d files, the index was made %d times", calls, len(must2(filepath.Glob(filepath.Join(dir, "segments", "*"))))+1, rebuilt)
		})
	}
}

func must2[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// indexed is a log of several files with its index.
func indexed(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, audit.FileName)
	for i := range 4 {
		session(t, dir, audit.Options{Rotate: audit.Rotation{Bytes: 40_000}}, i*30, 30)
	}
	did, err := index.NewUpdater(file).Update(t.Context())
	if err != nil || did.Calls != 120 || did.Rebuilt != "there is none" {
		t.Fatalf("%+v, %v", did, err)
	}
	return dir, file
}

// TestIndexDamaged harms an index in each way, and asks.
func TestIndexDamaged(t *testing.T) {
	_, file := indexed(t)
	path := index.File(file)
	st, err := os.Stat(path)
	must(t, err)
	if st.Mode().Perm() != 0o600 {
		t.Error(st.Mode())
	}
	whole, err := os.ReadFile(path)
	must(t, err)
	r := rand.New(rand.NewPCG(3, 3))
	same(t, r, file, 20, true)
	type asked struct {
		f    Filter
		want []string
	}
	var filters []asked
	for times := timesOf(t, file); len(filters) < 10; {
		f := anyFilter(r, times)
		if want, _ := answer(t, file, f, Options{NoIndex: true}); len(want) > 0 {
			filters = append(filters, asked{f, want})
		}
	}
	harm := func(name string, b []byte) {
		must(t, os.WriteFile(path, b, 0o600))
		q := filters[r.IntN(len(filters))]
		if got, _ := answer(t, file, q.f, Options{}); !slices.Equal(got, q.want) {
			t.Fatalf("%s: %+v: %d calls, not %d", name, q.f, len(got), len(q.want))
		}
	}
	for range 300 {
		b := slices.Clone(whole)
		at := r.IntN(len(b))
		b[at] ^= 1 << r.IntN(8)
		harm(fmt.Sprint("a bit at ", at), b)
	}
	for range 60 {
		b := slices.Clone(whole)
		at := r.IntN(len(b))
		harm(fmt.Sprint("cut at ", at), b[:at])
		from := r.IntN(len(b))
		copy(b[at:], b[from:min(len(b), from+4096)])
		harm(fmt.Sprint("moved from ", from, " to ", at), b)
	}
	harm("no file of SQLite", []byte("not an index at all, but long enough to be looked at"))
	if _, note := answer(t, file, Filter{}, Options{}); note == "" {
		t.Error("a damaged index was not spoken of")
	}
	did, err := index.NewUpdater(file).Update(t.Context())
	if err != nil || did.Rebuilt == "" {
		t.Errorf("%+v, %v", did, err)
	}
	same(t, r, file, 20, true)
	must(t, os.Remove(path))
	if _, note := answer(t, file, Filter{}, Options{}); note == "" {
		t.Error("an index that is gone was not spoken of")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a search made an index")
	}
}

// TestIndexOfAnotherLog changes the log below its index.
func TestIndexOfAnotherLog(t *testing.T) {
	for name, c := range map[string]struct {
		harm    func(t *testing.T, dir, file string)
		rebuilt bool
	}{
		"another log": {func(t *testing.T, dir, file string) {
			must(t, os.RemoveAll(filepath.Join(dir, "segments")))
			must(t, os.Remove(file))
			session(t, dir, audit.Options{}, 500, 120)
		}, true},
		"cut": {func(t *testing.T, _, file string) {
			b := must2(os.ReadFile(file))
			must(t, os.WriteFile(file, b[:len(b)*2/3], 0o600))
		}, true},
		"cut and grown again": {func(t *testing.T, dir, file string) {
			b := must2(os.ReadFile(file))
			must(t, os.WriteFile(file, b[:len(b)*2/3], 0o600))
			session(t, dir, audit.Options{}, 600, 40)
		}, true},
		"torn": {func(t *testing.T, _, file string) {
			f := must2(os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0))
			_, err := f.WriteString(`{"time":"2026-`)
			must(t, err)
			must(t, f.Close())
		}, false},
		"torn and repaired": {func(t *testing.T, dir, file string) {
			f := must2(os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0))
			_, err := f.WriteString(`{"time":"2026-`)
			must(t, err)
			must(t, f.Close())
			session(t, dir, audit.Options{}, 600, 5)
		}, false},
		"the oldest file is gone": {func(t *testing.T, dir, _ string) {
			must(t, os.Remove(must2(filepath.Glob(filepath.Join(dir, "segments", "*")))[0]))
		}, false},
		"an inner file is gone": {func(t *testing.T, dir, _ string) {
			must(t, os.Remove(must2(filepath.Glob(filepath.Join(dir, "segments", "*")))[1]))
		}, false},
		"all closed files are gone": {func(t *testing.T, dir, _ string) {
			must(t, os.RemoveAll(filepath.Join(dir, "segments")))
		}, false},
		"no record in the middle": {func(t *testing.T, dir, file string) {
			f := must2(os.OpenFile(file, os.O_WRONLY, 0))
			_, err := f.WriteAt([]byte("x"), 0)
			must(t, err)
			must(t, f.Close())
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, file := indexed(t)
			c.harm(t, dir, file)
			r := rand.New(rand.NewPCG(5, 5))
			same(t, r, file, 20, false)
			did, err := index.NewUpdater(file).Update(t.Context())
			if err != nil || c.rebuilt && did.Rebuilt == "" {
				t.Errorf("%+v, %v", did, err)
			}
			same(t, r, file, 20, false)
		})
	}
}

// TestIndexFollows lets an index follow a log that is written.
func TestIndexFollows(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, audit.FileName)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		index.Follow(ctx, file, time.Millisecond, func(rebuilt string, err error) { t.Error(rebuilt, err) })
	}()
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 8 {
		session(t, dir, audit.Options{Rotate: audit.Rotation{Bytes: 30_000}}, i*20, 20)
		same(t, r, file, 5, false)
	}
	covered := func() bool {
		lines := must2(audit.OpenLines(ctx, file))
		defer lines.Close()
		x, err := index.Open(ctx, file, lines)
		if err != nil {
			return false
		}
		defer x.Close()
		knows, behind := int64(0), 0
		must(t, x.Search(ctx, index.Want{}, func(int64, int) error { return nil }, func(place int64) { knows = place }))
		must(t, lines.Each(ctx, knows, func(audit.Line) error { behind++; return nil }))
		return behind == 0
	}
	for end := time.Now().Add(time.Minute); !covered() && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	if !covered() {
		t.Error("the index did not catch up")
	}
	cancel()
	<-done
	same(t, r, file, 20, true)
}
