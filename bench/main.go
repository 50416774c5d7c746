//go:build unix

// Command bench measures one governed call against a bare one: an echo tool
// on the MCP SDK without policy, sandbox or record, and toolwarrant with all
// of it (decide, run in a fresh VM, durable record). The servers are child
// processes, loaded in turns by the same clients over loopback, so that the
// ratio means something on a noisy machine; absolute figures belong to the
// machine that is printed with them.
//
//	go run ./bench -clients 64 -seconds 4 -rounds 3 -gogc 100,400
//
// The other measurement is of the record alone, on the disk that the log is to
// be on:
//
//	go run ./bench audit -writers 64 -seconds 2 -rounds 5 -dir /var/lib/toolwarrant
//
// Page makes docs/performance.md anew, these and the ratios of the tests:
//
//	go run ./bench page
//
// And soak loads a server that runs, with approvals, and checks every answer:
//
//	go run ./bench soak -url http://127.0.0.1:8282/mcp -clients 64 -seconds 60 -approvals 10
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cell is one server under one GOGC.
type cell struct {
	server string // "echo", "governed" or withFloor
	gogc   int
	runs   []sample
}

// withFloor is the governed server with the floor of the heap that serve sets.
const withFloor = "governed, with a floor"

func main() {
	if err := dispatch(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
}

func dispatch() error {
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		return serveChild(os.Args[2])
	}
	if len(os.Args) > 1 && os.Args[1] == "audit" {
		return benchAudit(os.Args[2:])
	}
	if len(os.Args) > 1 && os.Args[1] == "page" {
		return writePage(os.Args[2:])
	}
	if len(os.Args) > 1 && os.Args[1] == "soak" {
		return soak(os.Args[2:])
	}
	clients := flag.Int("clients", 64, "clients at a time")
	seconds := flag.Float64("seconds", 4, "length of one measurement")
	rounds := flag.Int("rounds", 3, "measurements of each cell, interleaved")
	gogcs := flag.String("gogc", "100,400", "GOGC values of the servers, comma separated")
	floor := flag.Bool("floor", false, "measure the floor of the heap as well")
	profile := flag.String("profile", "", "folder for a CPU profile of each server")
	flag.Parse()
	if *profile != "" {
		os.Setenv(profileDir, *profile)
	}
	if *clients < 1 || *clients > 1000 || *seconds <= 0 || *seconds > 60 || *rounds < 1 {
		return fmt.Errorf("want 1 to 1000 clients, at most 60 seconds and at least one round")
	}
	var values []int
	for _, g := range strings.Split(*gogcs, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(g))
		if err != nil {
			return fmt.Errorf("-gogc takes whole numbers: %w", err)
		}
		values = append(values, n)
	}
	cells, err := loadAll(context.Background(), values, *floor, *clients, *rounds, time.Duration(*seconds*float64(time.Second)))
	if err != nil {
		return err
	}
	report(cells, *clients)
	return nil
}

// loadAll measures the bare and the governed server under each GOGC, and last
// the one with a floor, in turns.
func loadAll(ctx context.Context, gogcs []int, floor bool, clients, rounds int, length time.Duration) ([]*cell, error) {
	var cells []*cell
	for _, n := range gogcs {
		cells = append(cells, &cell{server: "echo", gogc: n}, &cell{server: "governed", gogc: n})
	}
	if floor {
		cells = append(cells, &cell{server: withFloor, gogc: 100})
	}
	for round := range rounds {
		for _, c := range cells {
			fmt.Fprintf(os.Stderr, "round %d/%d: %s, GOGC=%d\n", round+1, rounds, c.server, c.gogc)
			s, err := measure(ctx, c.server, c.gogc, clients, length)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.server, err)
			}
			c.runs = append(c.runs, s)
		}
	}
	return cells, nil
}

// report prints medians over the rounds, and the ratios within one GOGC.
func report(cells []*cell, clients int) {
	fmt.Printf("%s/%s, %d cores, %s, %d clients, protocol 2026-07-28\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), clients)
	fmt.Println("| server | GOGC | CPU us/call | GC runs/1000 | calls/s | p50 ms | p99 ms | RSS MiB |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, c := range cells {
		m := median(c.runs)
		fmt.Printf("| %s | %d | %.0f | %.1f | %.0f | %.2f | %.2f | %.0f |\n", c.server, c.gogc, m.cpuPerCall, m.gcRuns, m.rate, m.p50, m.p99, m.rss)
	}
	fmt.Println()
	for _, c := range cells {
		if c.server != withFloor {
			continue
		}
		for _, g := range cells {
			if g.server == "governed" && g.gogc == c.gogc {
				with, without := median(c.runs), median(g.runs)
				fmt.Printf("governed with the floor over without: CPU x%.2f, calls/s x%.2f, RSS %+.0f MiB\n", with.cpuPerCall/without.cpuPerCall, with.rate/without.rate, with.rss-without.rss)
			}
		}
	}
	for i := 0; i+1 < len(cells); i += 2 {
		echo, ours := median(cells[i].runs), median(cells[i+1].runs)
		fmt.Printf("GOGC=%d: governed over echo: CPU x%.2f, calls/s x%.2f\n", cells[i].gogc, ours.cpuPerCall/echo.cpuPerCall, ours.rate/echo.rate)
	}
}

func median(runs []sample) sample {
	pick := func(of func(sample) float64) float64 {
		v := make([]float64, len(runs))
		for i, r := range runs {
			v[i] = of(r)
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return sample{
		cpuPerCall: pick(func(s sample) float64 { return s.cpuPerCall }),
		rate:       pick(func(s sample) float64 { return s.rate }),
		p50:        pick(func(s sample) float64 { return s.p50 }),
		p99:        pick(func(s sample) float64 { return s.p99 }),
		rss:        pick(func(s sample) float64 { return s.rss }),
		gcRuns:     pick(func(s sample) float64 { return s.gcRuns }),
	}
}
