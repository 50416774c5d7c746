//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
)

// recorded is what real calls wrote: their closes, to be written again, and
// the mean size of their lines.
type recorded struct {
	closes []audit.Call
	lines  int
	bytes  int
}

// logged is what writers got through in one measurement.
type logged struct {
	rate, cpu, p50, p99 float64 // calls/s; us of CPU per record; ms
}

// benchAudit measures what the record of a call costs: an open before its code
// runs and a close before its answer leaves, written as real calls wrote them.
// The choices of audit.fsync run in turns.
func benchAudit(args []string) error {
	flags := flag.NewFlagSet("audit", flag.ExitOnError)
	writers := flags.Int("writers", 64, "calls at a time")
	seconds := flags.Float64("seconds", 2, "length of one measurement")
	rounds := flags.Int("rounds", 5, "measurements of each choice, interleaved")
	dir := flags.String("dir", "", "folder for the logs, on the disk to measure (default: the one for temporary files)")
	_ = flags.Parse(args)
	if *writers < 1 || *writers > 10000 || *seconds <= 0 || *seconds > 60 || *rounds < 1 {
		return fmt.Errorf("want 1 to 10000 writers, at most 60 seconds and at least one round")
	}
	size, all, err := writeAll(context.Background(), *dir, *writers, *rounds, time.Duration(*seconds*float64(time.Second)))
	if err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d cores, %s, %d calls at a time, records of %d bytes in the mean\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), *writers, size)
	fmt.Println("| audit.fsync | calls/s | over every | CPU us/record | added latency p50 ms | p99 ms |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, m := range all {
		fmt.Printf("| %s | %.0f | x%.1f | %.1f | %.2f | %.2f |\n", m.mode, m.rate, m.rate/all[0].rate, m.cpu, m.p50, m.p99)
	}
	return nil
}

// inMode is what writers got through under one choice, each value a median.
type inMode struct {
	mode audit.Fsync
	logged
}

// writeAll measures each choice of audit.fsync, SyncEvery first, in turns. size
// is that of a record, in the mean.
func writeAll(ctx context.Context, dir string, writers, rounds int, length time.Duration) (size int, out []inMode, err error) {
	calls, err := realCalls(ctx)
	if err != nil {
		return 0, nil, err
	}
	modes := []audit.Fsync{audit.SyncEvery, audit.SyncGroup, audit.SyncInterval}
	runs := map[audit.Fsync][]logged{}
	for range rounds {
		for _, m := range modes {
			l, err := write(ctx, dir, m, calls, writers, length)
			if err != nil {
				return 0, nil, fmt.Errorf("%s: %w", m, err)
			}
			runs[m] = append(runs[m], l)
		}
	}
	middle := func(m audit.Fsync, of func(logged) float64) float64 {
		var v []float64
		for _, l := range runs[m] {
			v = append(v, of(l))
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	for _, m := range modes {
		out = append(out, inMode{m, logged{
			rate: middle(m, func(l logged) float64 { return l.rate }), cpu: middle(m, func(l logged) float64 { return l.cpu }),
			p50: middle(m, func(l logged) float64 { return l.p50 }), p99: middle(m, func(l logged) float64 { return l.p99 }),
		}})
	}
	return calls.bytes / calls.lines, out, nil
}

// realCalls gives what governed calls over HTTP put on record.
func realCalls(ctx context.Context) (recorded, error) {
	var out recorded
	home, err := os.MkdirTemp("", "toolwarrant-bench-")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(home)
	handler, stop, err := governed(ctx, home)
	if err != nil {
		return out, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		stop()
		return out, err
	}
	web := &http.Server{Handler: handler}
	go web.Serve(listener)
	_, err = load(fmt.Sprintf("http://%s/mcp", listener.Addr()), 8, time.Second)
	web.Close()
	stop()
	if err != nil {
		return out, err
	}
	err = audit.Scan(ctx, []string{filepath.Join(home, "audit", audit.FileName)}, func(l audit.Line) error {
		if l.Head.CallID == "" {
			return nil
		}
		out.lines++
		out.bytes += len(l.Raw) + 1
		if l.Head.Phase != audit.PhaseClose || len(out.closes) > 1000 {
			return nil
		}
		r, err := l.Decode()
		out.closes = append(out.closes, r.Call)
		return err
	})
	if err == nil && len(out.closes) == 0 {
		err = fmt.Errorf("no call was recorded")
	}
	return out, err
}

// write lets a number of calls at a time enter a log.
func write(ctx context.Context, dir string, mode audit.Fsync, calls recorded, writers int, length time.Duration) (logged, error) {
	dir, err := os.MkdirTemp(dir, "toolwarrant-bench-")
	if err != nil {
		return logged{}, err
	}
	defer os.RemoveAll(dir)
	w, err := audit.Open(dir, audit.Options{Fsync: mode, Rotate: audit.Rotation{Bytes: 256 << 20}})
	if err != nil {
		return logged{}, err
	}
	took, errs := make([][]time.Duration, writers), make([]error, writers)
	var wg sync.WaitGroup
	began, cpu := time.Now(), spent()
	for i := range writers {
		wg.Go(func() {
			for n := 0; time.Since(began) < length && errs[i] == nil; n++ {
				c := calls.closes[(i+n)%len(calls.closes)]
				c.CallID = fmt.Sprintf("%s-%d-%d", w.ID(), i, n)
				open := c
				open.Outcome, open.Error, open.Duration, open.Usage, open.Result = nil, nil, nil, nil, nil
				at := time.Now()
				if errs[i] = w.Open(ctx, open, false, nil); errs[i] == nil {
					errs[i] = w.Close(ctx, c, nil)
				}
				took[i] = append(took[i], time.Since(at))
			}
		})
	}
	wg.Wait()
	wall, used := time.Since(began), spent()-cpu
	if err := w.Shutdown(ctx); err != nil {
		return logged{}, err
	}
	for _, err := range errs {
		if err != nil {
			return logged{}, err
		}
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	n := float64(len(all))
	ms := func(q float64) float64 { return float64(all[int(q*(n-1))].Microseconds()) / 1000 }
	return logged{rate: n / wall.Seconds(), cpu: float64(used) / (2 * n), p50: ms(0.5), p99: ms(0.99)}, nil
}

// spent is the processor time of this process in us.
func spent() int64 {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return micros(r.Utime) + micros(r.Stime)
}
