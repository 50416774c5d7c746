package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/export"
	"github.com/toolwarrant/toolwarrant/audit/query"
	"github.com/toolwarrant/toolwarrant/executor/mask"
)

func (a *app) auditEventsCmd() *cobra.Command {
	var f query.EventFilter
	var since, until string
	c := &cobra.Command{
		Use:   "events [FILE...]",
		Short: "List what was done beside calls: published, put into force, approved, lost",
		Long: `List the events of the log in its order: administrative acts, and what became
of the log itself. Of several flags all must fit, of several values of one flag
one. Without FILE the log of this installation is read.

--format json writes one record in each line, as it stands in the log; ocsf an
event of class API Activity (6003), OCSF ` + export.OCSFVersion + `, for other programs.`,
		Example: `  toolwarrant audit events --since 24h
  toolwarrant audit events --kind 'policy.*,publish' --format csv
  toolwarrant audit events --principal uid:1000 --format ocsf audit.ndjson`,
		RunE: func(c *cobra.Command, named []string) error {
			if err := span(since, until, time.Now(), &f.Since, &f.Until); err != nil {
				return err
			}
			files, err := a.logFiles(named)
			if err == nil {
				err = areLogs(files)
			}
			if err != nil {
				return err
			}
			out := bufio.NewWriter(a.std.out)
			row, done := acts(a.format, out)
			err = query.Events(c.Context(), files, f, row)
			return errors.Join(err, done(), out.Flush())
		},
	}
	p := c.Flags()
	p.StringVar(&since, "since", "", "events at or after a `TIME`: RFC 3339, a date, or how long ago, such as 24h")
	p.StringVar(&until, "until", "", "events before a `TIME`")
	p.StringSliceVar(&f.Kinds, "kind", nil, "of this kind, such as publish; * stands for any part")
	p.StringSliceVar(&f.Principals, "principal", nil, "by this principal, by subject or client")
	a.formats(c, "table", "json", "csv", "ocsf")
	return c
}

// acts gives what writes an event, and what ends the output.
func acts(format string, out io.Writer) (row func(audit.Record, audit.Line) error, done func() error) {
	heads := []string{"TIME", "SEQ", "KIND", "PRINCIPAL", "DETAIL"}
	cells := func(r audit.Record, clean func(string) string) []string {
		who := "toolwarrant"
		if r.Principal != nil {
			who = r.Principal.Subject
		}
		line := []string{r.Time, fmt.Sprint(r.Seq), "", who, string(r.Detail)}
		if r.Kind != nil {
			line[2] = *r.Kind
		}
		for i := range line {
			line[i] = clean(line[i])
		}
		return line
	}
	none := func() error { return nil }
	switch format {
	case "json":
		return func(_ audit.Record, l audit.Line) error {
			_, err := fmt.Fprintf(out, "%s\n", l.Raw)
			return err
		}, none
	case "ocsf":
		write := export.OCSFEvents(out, version())
		return func(r audit.Record, _ audit.Line) error { return write(r) }, none
	case "csv":
		w := csv.NewWriter(out)
		_ = w.Write(heads)
		return func(r audit.Record, _ audit.Line) error { return w.Write(cells(r, export.Cell)) },
			func() error { w.Flush(); return w.Error() }
	}
	table := newTable(out, heads...)
	return func(r audit.Record, _ audit.Line) error {
		line := cells(r, mask.Visible) // which is cut after it
		if d := []rune(line[4]); len(d) > 100 {
			line[4] = string(d[:100]) + "…"
		}
		return table.add(line...)
	}, table.flush
}
