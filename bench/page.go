//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// writePage measures what docs/performance.md shows and writes it there. What
// is not measured this time keeps its figures, with its own machine and date.
func writePage(args []string) error {
	f := flag.NewFlagSet("page", flag.ContinueOnError)
	only := f.String("only", "", "tables to measure, comma separated (default: all)")
	quick := f.Bool("quick", false, "short runs, to see that all of it works; the page says so")
	if err := f.Parse(args); err != nil {
		return err
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("run it inside the repository: %w", err)
	}
	file := filepath.Join(strings.TrimSpace(string(root)), "docs", "performance.md")
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	found := readPage(string(text))
	wanted := strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	for _, id := range wanted {
		if tableOf(id) == nil {
			return fmt.Errorf("there is no table %q; there are %s", id, strings.Join(tableIDs(), ", "))
		}
	}
	var failed []string
	for _, m := range measurements {
		if len(wanted) > 0 && !slices.ContainsFunc(m.tables, func(id string) bool { return slices.Contains(wanted, id) }) {
			continue
		}
		about := machine() + busy() + time.Now().UTC().Format(", 2006-01-02")
		if *quick {
			about += ", a short run"
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", strings.Join(m.tables, ", "), m.command(*quick))
		rows, err := m.run(strings.TrimSpace(string(root)), *quick)
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", m.command(*quick), err))
		}
		for _, id := range m.tables {
			got := measured{about: about, rows: map[string][]string{}}
			for _, r := range rows {
				if r.table == id {
					got.rows[r.name] = r.cells
				}
			}
			if wrong := tableOf(id).lacks(got); wrong != "" {
				failed = append(failed, id+": "+wrong)
				continue
			}
			found[id] = got
		}
	}
	if err := os.WriteFile(file, []byte(page(found)), 0o644); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("the page is written, and not all of it went well:\n  %s", strings.Join(failed, "\n  "))
	}
	return nil
}

// measured is one table as it was measured.
type measured struct {
	about string // machine, other work, date
	rows  map[string][]string
}

// measurement is one run that gives the rows of some tables.
type measurement struct {
	tables []string
	test   []string // arguments of go test, or
	own    func(quick bool) ([]row, error)
	shown  string // how a person calls what own does
	short  []string
}

func (m measurement) command(quick bool) string {
	switch {
	case m.own != nil:
		return m.shown
	case quick && m.short != nil:
		return "go test " + strings.Join(m.short, " ")
	}
	return "go test " + strings.Join(m.test, " ")
}

func (m measurement) run(root string, quick bool) ([]row, error) {
	if m.own != nil {
		return m.own(quick)
	}
	args := append(strings.Fields(m.command(quick))[1:], "-count=1", "-timeout=30m")
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var rows []row
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if r, ok := readRow(lines.Text()); ok {
			rows = append(rows, r)
		}
	}
	return rows, errors.Join(lines.Err(), cmd.Wait())
}

// row is what a measurement found for one row of a table.
type row struct {
	table, name string
	cells       []string
}

// readRow finds a row in a line of the output of go test, where a test gave it
// with package internal/figures.
func readRow(line string) (row, bool) {
	rest, ok := strings.CutPrefix(line, "=== ATTR ")
	_, value, given := strings.Cut(rest, " figures ")
	parts := strings.Split(value, " | ")
	if !ok || !given || len(parts) < 3 {
		return row{}, false
	}
	return row{table: parts[0], name: parts[1], cells: parts[2:]}, true
}

func ratio(r float64) string { return fmt.Sprintf("x%.2f", r) }

// measurements in the order of the page.
var measurements = []measurement{
	{tables: []string{"call", "floor"}, own: callRows, shown: "go run ./bench -clients 64 -seconds 4 -rounds 3 -gogc 100,400 -floor"},
	{tables: []string{"decision", "growth"}, test: []string{"./resolver", "-run", "^TestRatios$", "-ratios", "-v"}},
	{tables: []string{"naive"}, test: []string{"./resolver", "-run", "^TestNaiveRatio$", "-ratios", "-v"}},
	{tables: []string{"visible"}, test: []string{"./resolver", "-run", "^TestListRatio$", "-ratios", "-v"}},
	{tables: []string{"list"}, test: []string{"./server", "-run", "^TestListRatio$", "-ratios", "-v"}},
	{tables: []string{"engine"}, test: []string{"./executor/js", "-run", "^TestEngineRatio$", "-ratios", "-v"}},
	{tables: []string{"counting"}, test: []string{"./executor/js", "-run", "^TestRatios$", "-ratios", "-v"}},
	{tables: []string{"worker"}, test: []string{"./executor/process", "-run", "^TestWorkerRatios$", "-ratios", "-v"}},
	{tables: []string{"fsync"}, own: fsyncRows, shown: "go run ./bench audit -writers 64 -seconds 2 -rounds 5"},
	{tables: []string{"record"}, test: []string{"./audit", "-run", "^TestRatios$", "-ratios", "-v"}},
	{tables: []string{"verify"}, test: []string{"./audit", "-run", "^TestVerifyMany$", "-verify-records", "1000000", "-v"},
		short: []string{"./audit", "-run", "^TestVerifyMany$", "-verify-records", "20000", "-v"}},
}

// callRows measures the governed server beside the bare one.
func callRows(quick bool) ([]row, error) {
	rounds, length := 3, 4*time.Second
	if quick {
		rounds, length = 1, time.Second
	}
	gogcs := []int{100, 400}
	cells, err := loadAll(context.Background(), gogcs, true, 64, rounds, length)
	if err != nil {
		return nil, err
	}
	var out []row
	n := func(format string, v ...any) string { return fmt.Sprintf(format, v...) }
	for i, gogc := range gogcs {
		a, b := median(cells[2*i].runs), median(cells[2*i+1].runs)
		out = append(out, row{table: "call", name: n("GOGC=%d", gogc), cells: []string{
			n("%.0f us", a.cpuPerCall), n("%.0f us", b.cpuPerCall), ratio(b.cpuPerCall / a.cpuPerCall),
			n("%.0f", a.rate), n("%.0f", b.rate), ratio(b.rate / a.rate), n("%.1f ms", a.p50), n("%.1f ms", b.p50), n("%.0f MiB", a.rss), n("%.0f MiB", b.rss)}})
	}
	without, with := median(cells[1].runs), median(cells[len(cells)-1].runs)
	for _, r := range []struct {
		name string
		of   sample
	}{{"without a floor", without}, {"with a floor", with}} {
		out = append(out, row{table: "floor", name: r.name, cells: []string{n("%.0f us", r.of.cpuPerCall), ratio(r.of.cpuPerCall / without.cpuPerCall), n("%.1f", r.of.gcRuns), n("%.0f MiB", r.of.rss)}})
	}
	return out, nil
}

// fsyncRows measures the choices of audit.fsync.
func fsyncRows(quick bool) ([]row, error) {
	rounds, length := 5, 2*time.Second
	if quick {
		rounds, length = 1, time.Second
	}
	_, modes, err := writeAll(context.Background(), "", 64, rounds, length)
	if err != nil {
		return nil, err
	}
	var out []row
	for _, m := range modes {
		out = append(out, row{table: "fsync", name: string(m.mode), cells: []string{
			fmt.Sprintf("%.0f", m.rate), ratio(m.rate / modes[0].rate), fmt.Sprintf("%.1f us", m.cpu), fmt.Sprintf("%.2f ms", m.p50), fmt.Sprintf("%.2f ms", m.p99)}})
	}
	return out, nil
}

// machine is the class of machine that this is.
func machine() string {
	kind := ""
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "model name"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			kind = " " + strings.TrimSpace(strings.TrimLeft(line, "\t :"))
		}
	}
	return fmt.Sprintf("%d cores%s, %s/%s, %s", runtime.NumCPU(), kind, runtime.GOOS, runtime.GOARCH, strings.Replace(runtime.Version(), "go", "Go ", 1))
}

// busy says how much of the processors other work takes, where that is known
// and matters.
func busy() string {
	sample := func() (total, idle float64) {
		text, err := os.ReadFile("/proc/stat")
		if err != nil {
			return 0, 0
		}
		line, _, _ := strings.Cut(string(text), "\n")
		for i, f := range strings.Fields(line)[1:] {
			var v float64
			_, _ = fmt.Sscan(f, &v)
			if total += v; i == 3 || i == 4 {
				idle += v
			}
		}
		return total, idle
	}
	t0, i0 := sample()
	time.Sleep(time.Second)
	t1, i1 := sample()
	if t1 <= t0 {
		return ""
	}
	if other := 100 * (1 - (i1-i0)/(t1-t0)); other >= 10 {
		return fmt.Sprintf(", while other work took %.0f %% of them", other)
	}
	return ""
}
