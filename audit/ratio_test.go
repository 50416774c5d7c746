//go:build unix

package audit

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/internal/figures"
)

var (
	ratios  = flag.Bool("ratios", false, "measure what the log costs, and fail beyond the limits")
	million = flag.Int("verify-records", 0, "verify a log of so many records, and say how long it takes")
)

func cpuTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// maxRSS is the most memory that this process ever had, in MiB.
func maxRSS(t testing.TB) float64 {
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Maxrss) / 1024
}

// perRecord is the processor time of f in us, the best of some rounds: what
// else the machine does only adds to it.
func perRecord(t testing.TB, n int, f func()) float64 {
	best := time.Duration(1 << 62)
	for range 9 {
		began := cpuTime(t)
		for range n {
			f()
		}
		best = min(best, cpuTime(t)-began)
	}
	return float64(best.Nanoseconds()) / float64(n) / 1000
}

// realCall is a call as most are.
func realCall(id string) Call {
	c := sampleCall(id)
	c.Shadow, c.Error, c.RiskSignals = nil, nil, []decision.Signal{}
	return c
}

// load is what a number of writers got through.
type load struct {
	rate, cpu, p50, p99 float64 // records/s; us of CPU per record; ms
	perSync             float64
}

// drive lets writers close calls for a while.
func drive(t testing.TB, o Options, writers int, d time.Duration) load {
	f := &faults{}
	o.open = f.open
	w := mustOpen(t, t.TempDir(), o)
	took := make([][]time.Duration, writers)
	var wg sync.WaitGroup
	began, cpu := time.Now(), cpuTime(t)
	for i := range writers {
		wg.Go(func() {
			c := realCall("")
			for n := 0; time.Since(began) < d; n++ {
				c.CallID = fmt.Sprintf("call-%d-%d", i, n)
				at := time.Now()
				if err := w.Close(context.Background(), c, nil); err != nil {
					t.Error(err)
					return
				}
				took[i] = append(took[i], time.Since(at))
			}
		})
	}
	wg.Wait()
	elapsed, used := time.Since(began), cpuTime(t)-cpu
	all := slices.Concat(took...)
	slices.Sort(all)
	n := float64(len(all))
	ms := func(q float64) float64 { return all[int(q*(n-1))].Seconds() * 1000 }
	must(t, w.Shutdown(context.Background()))
	return load{rate: n / elapsed.Seconds(), cpu: used.Seconds() * 1e6 / n, p50: ms(0.5), p99: ms(0.99), perSync: n / float64(max(1, f.syncs.Load()))}
}

const (
	maxEncodeChain = 15.0 // us of CPU for a record as real ones are
	maxGroupAdds   = 30.0 // us of CPU for a record beyond its masking, encoding and chain
	minGroupGain   = 5.0  // records/s over a sync for each, with 64 writers
)

// TestRatios prints what a record costs. The choices of audit.fsync run in
// turn in one process, several times; each column is a median. It asserts only
// where it is asked to, on a machine that has nothing else to do.
//
//	go test ./audit -run TestRatios -v -ratios
func TestRatios(t *testing.T) {
	if !*ratios {
		t.Skip("-ratios")
	}
	c := &chain{hash: newHasher(), now: clock()}
	parts := 0.0
	for _, kind := range []string{"with all that a record can hold", "as real ones are"} {
		in := sampleCall("call-1")
		if kind == "as real ones are" {
			in = realCall("call-1")
		}
		p := prepare(in, nil)
		encode := func() []byte {
			b, err := encodeCall("0e8e2f9c-6f2c-4d59-9d2a-9a2b51b4b6d8", &p)
			must(t, err)
			return b
		}
		body := encode()
		chained := func() { c.buf = c.buf[:0]; c.layOut(&entry{body: body}) }
		chained()
		mask, encoded, chain := perRecord(t, 5000, func() { prepare(in, nil) }), perRecord(t, 5000, func() { recycle(encode()) }), perRecord(t, 5000, chained)
		t.Logf("record of %d bytes, %s: CPU of mask %.1f us, encode %.1f us and chain %.1f us, %.1f us", len(c.buf), kind, mask, encoded, chain, encoded+chain)
		micros := func(us float64) string { return fmt.Sprintf("%.1f us", us) }
		figures.Say(t, "record", kind, fmt.Sprint(len(c.buf)), micros(mask), micros(encoded), micros(chain))
		if parts = mask + encoded + chain; kind == "as real ones are" && encoded+chain > maxEncodeChain {
			t.Errorf("encode and chain take %.1f us, more than %.0f", encoded+chain, maxEncodeChain)
		}
	}

	modes := []Fsync{SyncEvery, SyncGroup, SyncInterval}
	for _, writers := range []int{1, 64} {
		got := map[Fsync][]load{}
		for range 5 {
			for _, m := range modes {
				got[m] = append(got[m], drive(t, Options{Fsync: m}, writers, time.Second))
			}
		}
		median := func(m Fsync, of func(load) float64) float64 {
			var v []float64
			for _, l := range got[m] {
				v = append(v, of(l))
			}
			slices.Sort(v)
			return v[len(v)/2]
		}
		rate := func(l load) float64 { return l.rate }
		for _, m := range modes {
			t.Logf("%2d writers, %-8s %7.0f records/s (%.1f x every), %5.1f us of CPU per record, added latency p50 %.2f ms, p99 %.2f ms, %.1f records per sync",
				writers, m, median(m, rate), median(m, rate)/median(SyncEvery, rate), median(m, func(l load) float64 { return l.cpu }),
				median(m, func(l load) float64 { return l.p50 }), median(m, func(l load) float64 { return l.p99 }), median(m, func(l load) float64 { return l.perSync }))
		}
		if writers > 1 {
			gain, adds := median(SyncGroup, rate)/median(SyncEvery, rate), median(SyncGroup, func(l load) float64 { return l.cpu })-parts
			t.Logf("group over every: x%.1f; group adds %.1f us of CPU per record", gain, adds)
			if gain < minGroupGain || adds > maxGroupAdds {
				t.Errorf("the limits are x%.0f and %.0f us", minGroupGain, maxGroupAdds)
			}
		}
	}
}

// TestVerifyMany prints how long a long log takes to verify, plain and
// compressed, and how much memory that took.
//
//	go test ./audit -run TestVerifyMany -v -verify-records 1000000
func TestVerifyMany(t *testing.T) {
	if *million == 0 {
		t.Skip("-verify-records")
	}
	dir := t.TempDir()
	plain := filepath.Join(dir, "log.ndjson")
	f, err := os.Create(plain)
	must(t, err)
	c := &chain{hash: newHasher(), now: clock()}
	call := sampleCall("")
	for i := range *million {
		call.CallID = fmt.Sprintf("01a221a1-2a23-72e0-9356-%012d", i)
		p := prepare(call, nil)
		body, err := encodeCall("0e8e2f9c-6f2c-4d59-9d2a-9a2b51b4b6d8", &p)
		must(t, err)
		c.layOut(&entry{body: body})
		if len(c.buf) > 1<<20 || i == *million-1 {
			_, err = f.Write(c.buf)
			must(t, err)
			c.buf = c.buf[:0]
		}
	}
	must(t, f.Close())
	size, err := os.Stat(plain)
	must(t, err)
	in, err := os.Open(plain)
	must(t, err)
	packed := filepath.Join(dir, "packed.ndjson.gz")
	at := time.Now()
	_, err = gzipTo(context.Background(), packed, in)
	must(t, err)
	must(t, in.Close())
	small, err := os.Stat(packed)
	must(t, err)
	t.Logf("%d MiB, compressed to %d MiB in %.1f s", size.Size()>>20, small.Size()>>20, time.Since(at).Seconds())
	sizes, names := map[string]int64{plain: size.Size(), packed: small.Size()}, map[string]string{plain: "plain", packed: "compressed"}
	for _, path := range []string{plain, packed} {
		runtime.GC()
		at, cpu := time.Now(), cpuTime(t)
		r := wantOK(t, path)
		if took := time.Since(at); took > 20*time.Second && *million <= 1_000_000 {
			t.Errorf("%s took %v to verify, more than 20 s", filepath.Base(path), took)
		}
		figures.Say(t, "verify", names[path], fmt.Sprintf("%d MiB", sizes[path]>>20), fmt.Sprintf("%.1f s", (cpuTime(t)-cpu).Seconds()), fmt.Sprintf("%.0f MiB", maxRSS(t)))
		t.Logf("%-17s %d records verified in %.1f s, %.1f s of CPU; the process had at most %.0f MiB", filepath.Base(path), r.Records, time.Since(at).Seconds(), (cpuTime(t) - cpu).Seconds(), maxRSS(t))
	}
}
