package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/query"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
)

// logFiles are the files that a verb of audit reads: those that are named, or
// the log of this installation.
func (a *app) logFiles(named []string) ([]string, error) {
	if len(named) > 0 {
		return named, nil
	}
	home, cfg, err := a.settings(nil)
	if err != nil {
		return nil, err
	}
	if cfg.Audit.File != "" {
		return []string{cfg.Audit.File}, nil
	}
	return []string{filepath.Join(home, "audit", audit.FileName)}, nil
}

// filterFlags are the flags that choose records.
type filterFlags struct {
	query.Filter
	since, until string
}

func (f *filterFlags) add(c *cobra.Command) {
	p := c.Flags()
	p.StringVar(&f.since, "since", "", "closes at or after a `TIME`: RFC 3339, a date, or how long ago, such as 24h")
	p.StringVar(&f.until, "until", "", "closes before a `TIME`")
	p.StringSliceVar(&f.Tools, "tool", nil, "of the tool, by name or toolId")
	p.StringSliceVar(&f.Principals, "principal", nil, "of the caller, by subject or client")
	p.StringSliceVar(&f.Outcomes, "outcome", nil, "OK, DENIED or ERROR")
	p.StringSliceVar(&f.Codes, "code", nil, "with this error, as CODE or CODE/reason")
	p.StringSliceVar(&f.Levels, "level", nil, "of this risk level")
	p.StringSliceVar(&f.Rules, "rule", nil, "that this rule had a part in, by the id of its signal or reason")
	p.StringSliceVar(&f.Hosts, "host", nil, "that talked to this host, or tried to; * stands for any part")
	p.StringSliceVar(&f.Paths, "path", nil, "that touched this file; a folder ends in /")
	p.StringSliceVar(&f.CallIDs, "call", nil, "with this callId, or that goes on with it")
}

// filter gives the filter of the flags.
func (f *filterFlags) filter(now time.Time) (query.Filter, error) {
	for _, t := range []struct {
		flag, text string
		at         *time.Time
	}{{"since", f.since, &f.Since}, {"until", f.until, &f.Until}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.at, err = moment(t.text, now); err != nil {
			return query.Filter{}, fault.New(fault.Usage, t.flag, "--%s %q is no time; write 2026-11-28T10:00:00Z, 2026-11-28, or how long ago, such as 24h", t.flag, t.text)
		}
	}
	return f.Filter, f.Check()
}

// asked is what a verb of audit looks for, and where.
func (a *app) asked(flags *filterFlags, named []string) (query.Filter, []string, error) {
	f, err := flags.filter(time.Now())
	if err != nil {
		return f, nil, err
	}
	files, err := a.logFiles(named)
	return f, files, err
}

// moment reads a time, or how long ago it was.
func moment(s string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, s)
}

func (a *app) auditQueryCmd() *cobra.Command {
	var flags filterFlags
	var limit int
	c := &cobra.Command{
		Use:   "query [FILE...]",
		Short: "List the calls that fit: by time, tool, caller, outcome, level, rule, host, path, error",
		Long: `List closed calls in the order of the log. Of several flags all must fit, of
several values of one flag one. Without FILE the log of this installation is
read. --format json writes one record in each line, as it stands in the log.`,
		Example: `  toolwarrant audit query --since 24h --outcome DENIED
  toolwarrant audit query --tool writeTextFile --path reports/ --format csv
  toolwarrant audit query audit.ndjson --level L4,L5 --format json`,
		RunE: func(c *cobra.Command, named []string) error {
			f, files, err := a.asked(&flags, named)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(a.std.out)
			defer out.Flush()
			row, done := rows(a.format, out)
			n := 0
			err = query.Select(c.Context(), files, f, func(r audit.Record, l audit.Line) error {
				if n++; limit > 0 && n > limit {
					return io.EOF
				}
				row(r, l)
				return nil
			})
			done()
			if err == io.EOF {
				fmt.Fprintf(a.std.err, "only the first %d are shown; --limit 0 shows all\n", limit)
				return nil
			}
			return err
		},
	}
	flags.add(c)
	c.Flags().IntVar(&limit, "limit", 1000, "show `N` calls at most; 0 is all")
	a.formats(c, "text", "json", "csv")
	return c
}

// columns of a call, for tables and CSV.
var columns = []string{"TIME", "CALL", "TOOL", "PRINCIPAL", "LEVEL", "APPROVAL", "OUTCOME", "CODE", "MS"}

func cells(r audit.Record) []string {
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	tool, who, human, code, ms := "", "", "", "", ""
	if r.Tool != nil {
		tool = r.Tool.Name
	}
	if r.Principal != nil {
		who = r.Principal.Subject
	}
	if r.HITL != nil {
		human = string(r.HITL.Outcome)
	}
	if r.Error != nil {
		code = string(r.Error.Code)
		if r.Error.Reason != nil {
			code += "/" + *r.Error.Reason
		}
	}
	if r.Duration != nil {
		ms = fmt.Sprintf("%.1f", r.Duration.Total)
	}
	ended := ""
	if r.Outcome != nil {
		ended = string(*r.Outcome)
	}
	return []string{r.Time, r.CallID, tool, who, value(r.RiskLevel), human, ended, code, ms}
}

// rows gives what writes a row, and what ends the table.
func rows(format string, out io.Writer) (row func(audit.Record, audit.Line), done func()) {
	switch format {
	case "json":
		return func(_ audit.Record, l audit.Line) {
			_, _ = out.Write(l.Raw)
			_, _ = io.WriteString(out, "\n")
		}, func() {}
	case "csv":
		w := csv.NewWriter(out)
		_ = w.Write(columns)
		return func(r audit.Record, _ audit.Line) {
			line := cells(r)
			for i, cell := range line {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
					line[i] = "'" + cell // a spreadsheet would take it for a formula
				}
			}
			_ = w.Write(line)
		}, w.Flush
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(columns, "\t"))
	return func(r audit.Record, _ audit.Line) {
		line := cells(r)
		for i := range line {
			line[i] = mask.Visible(line[i])
		}
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}, func() { _ = w.Flush() }
}

func (a *app) auditStatsCmd() *cobra.Command {
	var flags filterFlags
	c := &cobra.Command{
		Use:     "stats [FILE...]",
		Short:   "Count calls by outcome, level, approval, error and tool",
		Example: "  toolwarrant audit stats --since 168h",
		RunE: func(c *cobra.Command, named []string) error {
			f, files, err := a.asked(&flags, named)
			if err != nil {
				return err
			}
			var s query.Stats
			if err := query.Select(c.Context(), files, f, func(r audit.Record, _ audit.Line) error {
				s.Add(r)
				return nil
			}); err != nil {
				return err
			}
			if a.format == "json" {
				a.json(s.Done())
				return nil
			}
			a.stats(s.Done())
			return nil
		},
	}
	flags.add(c)
	a.formats(c, "text", "json")
	return c
}

func (a *app) stats(s query.Stats) {
	a.printf("%d calls", s.Calls)
	if s.Calls > 0 {
		a.printf(" from %s to %s", s.First, s.Last)
	}
	a.printf("\n")
	for _, part := range []struct {
		name   string
		counts map[string]int64
	}{{"outcome", s.Outcomes}, {"level", s.Levels}, {"approval", s.Approvals}, {"error", s.Codes}} {
		if len(part.counts) > 0 {
			a.printf("%-9s %s\n", part.name, counted(part.counts))
		}
	}
	if len(s.Tools) == 0 {
		return
	}
	w := tabwriter.NewWriter(a.std.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\nTOOL\tCALLS\tDENIED\tFAILED\tMEAN MS\tLONGEST MS")
	for _, t := range s.Tools {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.1f\t%.1f\n", mask.Visible(t.Name), t.Calls, t.Denied, t.Failed, t.MeanMs, t.LongMs)
	}
	_ = w.Flush()
}

// counted writes counts, the names in order.
func counted(counts map[string]int64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

func (a *app) auditTailCmd() *cobra.Command {
	var flags filterFlags
	var follow bool
	c := &cobra.Command{
		Use:     "tail [FILE]",
		Short:   "Show the last calls, and with -f those that come",
		Example: "  toolwarrant audit tail -f --outcome DENIED,ERROR",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, named []string) error {
			f, files, err := a.asked(&flags, named)
			if err != nil {
				return err
			}
			return query.Tail(c.Context(), files[0], f, tailed, follow, tailEvery, func(r audit.Record, raw []byte) {
				if a.format == "json" {
					a.printf("%s\n", raw)
				} else {
					a.printf("%s\n", mask.Visible(strings.Join(cells(r), "  ")))
				}
			})
		},
	}
	flags.add(c)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what comes, until interrupted")
	a.formats(c, "text", "json")
	return c
}

// tailed is how many calls tail shows, and tailEvery how often it looks.
const (
	tailed    = 10
	tailEvery = 500 * time.Millisecond
)

func (a *app) auditWhyCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "why CALL-ID [FILE...]",
		Short: "Tell the story of one call: who, what, decided by which rules, what it touched, how it ended",
		Example: `  toolwarrant audit why 01KB6X7C2M
  toolwarrant audit why 01KB6X7C2M audit.ndjson --format json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			files, err := a.logFiles(pos[1:])
			if err != nil {
				return err
			}
			s, err := query.Find(c.Context(), files, pos[0])
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(s)
				return nil
			}
			return query.Tell(a.std.out, s)
		},
	}
	a.formats(c, "text", "json")
	return c
}
