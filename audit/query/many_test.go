//go:build unix

package query

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/index"
	"github.com/toolwarrant/toolwarrant/fault"
)

var (
	many    = flag.Int("query-records", 0, "search a log of so many records, and say how long it takes")
	rotated = flag.Bool("query-rotated", false, "the log is rotated at 256 MiB, and closed files are compressed")
)

// sampleClose is a call with all that one can hold.
func sampleClose(t testing.TB) (out audit.Call) {
	t.Helper()
	must(t, audit.Scan(t.Context(), []string{filepath.Join("..", "testdata", "sample.ndjson")}, func(l audit.Line) error {
		r, err := l.Decode()
		if r.Tool != nil {
			out = r.Call
		}
		return err
	}))
	if out.Tool == nil {
		t.Fatal("no call in the sample")
	}
	return out
}

// TestQueryMany prints how long a search in a long log takes, with the index
// and without, and how long the index takes to make. It asserts that the
// answers are the same.
//
//	go test ./audit/query -run TestQueryMany -v -timeout 60m -query-records 1000000
func TestQueryMany(t *testing.T) {
	if *many == 0 {
		t.Skip("-query-records")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, audit.FileName)
	o := audit.Options{Fsync: audit.SyncInterval}
	if *rotated {
		o.Rotate.Bytes = 256 << 20
	}
	w, err := audit.Open(dir, o)
	must(t, err)
	at := time.Now()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			c := sampleClose(t)
			tool, who := *c.Tool, *c.Principal
			for i := next.Add(1) - 1; i < int64(*many); i = next.Add(1) - 1 {
				tool.Name, tool.ToolID = fmt.Sprint("tool-", i%50), fmt.Sprintf("5f0c8a52-7a4e-4a0e-9a54-%012d", i%50)
				who.Subject = fmt.Sprint("user-", i%1009)
				c.CallID, c.Tool, c.Principal = fmt.Sprintf("01a221a1-2a23-72e0-9356-%012d", i), &tool, &who
				c.Outcome = ptr(fault.OK)
				if i%10 == 0 {
					c.Outcome = ptr(fault.Denied)
				}
				c.Usage = &audit.Usage{Egress: []audit.Egress{{Host: fmt.Sprintf("h%d.example", i%2003)}}, FS: []audit.FSUse{{Op: "read", Path: fmt.Sprintf("reports/%d.md", i)}}}
				if err := w.Close(context.Background(), c, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	must(t, w.Shutdown(context.Background()))
	var size int64
	files := 0
	must(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if st, e := d.Info(); err == nil && e == nil && d.Type().IsRegular() {
			size, files = size+st.Size(), files+1
		}
		return err
	}))
	t.Logf("%d records, %d MiB on the disk in %d files, written in %.0f s", *many, size>>20, files, time.Since(at).Seconds())
	runtime.GC()
	at = time.Now()
	cpu := cpuTime(t)
	did, err := index.NewUpdater(file).Update(t.Context())
	must(t, err)
	st, err := os.Stat(index.File(file))
	must(t, err)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	t.Logf("index of %d calls made in %.1f s, %.1f s of CPU: %.1f MiB; the process has %d MiB", did.Calls, time.Since(at).Seconds(), (cpuTime(t) - cpu).Seconds(), float64(st.Size())/(1<<20), mem.Sys>>20)
	middle := timesOf(t, file)[*many/2]
	since, err := time.Parse(time.RFC3339Nano, middle)
	must(t, err)
	filters := []struct {
		name string
		f    Filter
	}{
		{"call", Filter{CallIDs: []string{fmt.Sprintf("01a221a1-2a23-72e0-9356-%012d", *many/3)}}},
		{"principal", Filter{Principals: []string{"user-77"}}},
		{"host", Filter{Hosts: []string{"h77.example"}}},
		{"path", Filter{Paths: []string{"reports/77777.md"}}},
		{"tool, outcome, principal", Filter{Tools: []string{"tool-10"}, Outcomes: []string{"DENIED"}, Principals: []string{"user-10"}}},
		{"a millisecond", Filter{Since: since, Until: since.Add(time.Millisecond)}},
		{"nothing", Filter{Tools: []string{"none"}}},
	}
	got := make([]int, len(filters))
	for _, o := range []Options{{Note: func(s string) { t.Error(s) }}, {NoIndex: true}} {
		for i, q := range filters {
			n, best, least := 0, time.Duration(1<<62), time.Duration(1<<62)
			for range map[bool]int{true: 1, false: 7}[o.NoIndex] {
				n = 0
				at, cpu := time.Now(), cpuTime(t)
				must(t, Search(t.Context(), []string{file}, q.f, o, func(audit.Record, audit.Line) error { n++; return nil }))
				best, least = min(best, time.Since(at)), min(least, cpuTime(t)-cpu)
			}
			with := "with the index"
			if o.NoIndex {
				with = "without"
				if n != got[i] {
					t.Errorf("%s: %d with the index, %d without", q.name, got[i], n)
				}
			}
			got[i] = n
			if most := map[bool]time.Duration{false: 300 * time.Millisecond, true: 20 * time.Second}[o.NoIndex]; best > most && *many <= 1_000_000 {
				t.Errorf("%s, %s: %v, more than %v", q.name, with, best, most)
			}
			t.Logf("%-14s %-25s %5d calls: %7.1f ms, %7.1f ms of CPU", with, q.name, n, best.Seconds()*1000, least.Seconds()*1000)
		}
	}
}

// cpuTime is the processor time of this process: what else the machine does
// is not in it.
func cpuTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
