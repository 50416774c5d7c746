package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/export"
	"github.com/toolwarrant/toolwarrant/audit/query"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/plural"
)

func (a *app) auditQueryCmd() *cobra.Command {
	var flags filterFlags
	var limit int
	c := &cobra.Command{
		Use:   "query [FILE...]",
		Short: "List the calls that fit: by time, tool, caller, outcome, level, rule, host, path, argument, error",
		Long: `List closed calls in the order of the log. Of several flags all must fit, of
several values of one flag one. Without FILE the log of this installation is
read. --format json writes one record in each line, as it stands in the log.

--param finds an argument by its value, also where the record has a digest in
its place: a keyed one with the keyring of this home. What is masked or left out
is not found.

An index answers faster, if the log has one that is of use: a server keeps it,
and "toolwarrant audit index" makes it. Else the files are read, and standard
error says so.`,
		Example: `  toolwarrant audit query --since 24h --outcome DENIED
  toolwarrant audit query --tool writeTextFile --path reports/ --format csv
  toolwarrant audit query --param ssn=123-45-6789 --param /address/zip=10115
  toolwarrant audit query audit.ndjson --level L4,L5 --format json`,
		RunE: func(c *cobra.Command, named []string) error {
			if limit < 0 {
				return fault.New(fault.Usage, "flag", "--limit %d is no number of calls; 0 shows all", limit)
			}
			f, files, err := a.asked(&flags, named)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(a.std.out)
			defer out.Flush()
			row, done := rows(a.format, out)
			n := 0
			err = query.Search(c.Context(), files, f, a.options(&flags), func(r audit.Record, l audit.Line) error {
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
	flags.addIndex(c)
	c.Flags().IntVar(&limit, "limit", 1000, "show `N` calls at most; 0 is all")
	a.formats(c, "table", "json", "csv")
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
			for i := range line {
				line[i] = export.Cell(line[i])
			}
			_ = w.Write(line)
		}, w.Flush
	}
	table := newTable(out, columns...)
	return func(r audit.Record, _ audit.Line) { _ = table.add(cells(r)...) }, func() { _ = table.flush() }
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
			if err := query.Search(c.Context(), files, f, a.options(&flags), func(r audit.Record, _ audit.Line) error {
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
	flags.addIndex(c)
	a.formats(c, "text", "json")
	return c
}

func (a *app) stats(s query.Stats) {
	a.printf("%s", plural.Of(s.Calls, "call"))
	if s.Calls > 0 {
		a.printf(" from %s to %s", mask.Visible(s.First), mask.Visible(s.Last))
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
	table := newTable(a.std.out, "\nTOOL", "CALLS", "DENIED", "FAILED", "MEAN MS", "LONGEST MS")
	for _, t := range s.Tools {
		_ = table.add(t.Name, fmt.Sprint(t.Calls), fmt.Sprint(t.Denied), fmt.Sprint(t.Failed), fmt.Sprintf("%.1f", t.MeanMs), fmt.Sprintf("%.1f", t.LongMs))
	}
	_ = table.flush()
}

// counted writes counts, the names in order. The file may be anybody's.
func counted(counts map[string]int64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", mask.Visible(name), counts[name]))
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
			if err := areLogs(files); err != nil {
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
