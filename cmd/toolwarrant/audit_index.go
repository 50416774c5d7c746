package main

import (
	"bufio"
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/export"
	"github.com/toolwarrant/toolwarrant/audit/index"
	"github.com/toolwarrant/toolwarrant/audit/query"
	"github.com/toolwarrant/toolwarrant/internal/plural"
)

func (a *app) auditIndexCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "index [FILE...]",
		Short: "Make the index of a log, which queries are faster with, or bring it up to date",
		Long: `Make the index of a log, or take in what it lacks. A server does so by itself;
this is for a log that no server writes, such as a copy. An index that is
damaged, or of other records, is made anew.

It is index.sqlite beside the log, mode 0600, and holds the values that queries
choose by (names, rules, hosts, paths, times) and where the records are. It can
be removed at any time: it proves nothing, and the log has everything.

Exit status: 0 the index is up to date, 2 the log cannot be read or another
process updates the index, 3 the index cannot be written.`,
		Example: `  toolwarrant audit index
  toolwarrant audit index copy/audit.ndjson`,
		RunE: func(c *cobra.Command, named []string) error {
			files, err := a.logFiles(named)
			if err == nil {
				err = areLogs(files)
			}
			if err != nil {
				return err
			}
			for _, f := range files {
				r, err := index.NewUpdater(f).Update(c.Context())
				if err != nil {
					return err
				}
				if a.format == "json" {
					a.json(map[string]any{"file": index.File(f), "calls": r.Calls, "bytes": r.Bytes, "rebuilt": r.Rebuilt})
					continue
				}
				a.printf("%s: %s came in\n", index.File(f), plural.Of(r.Calls, "call"))
			}
			return nil
		},
	}
	a.formats(c, "text", "json")
	return c
}

func (a *app) auditExportCmd() *cobra.Command {
	var flags filterFlags
	c := &cobra.Command{
		Use:   "export [FILE...]",
		Short: "Write the calls that fit for other programs, as OCSF, OpenTelemetry or CSV",
		Long: `Write closed calls, chosen as by query, in the order of the log:

  ocsf  events of class API Activity (6003), OCSF ` + export.OCSFVersion + `, one in each line
  otel  OTLP log records in JSON, as the file receiver of the OpenTelemetry
        Collector reads them; the body is the line of the log
  csv   a header and a row for each call

It writes as it reads, however many there are.`,
		Example: `  toolwarrant audit export --format ocsf --since 24h > calls.ndjson
  toolwarrant audit export --format csv --outcome DENIED audit.ndjson`,
		RunE: func(c *cobra.Command, named []string) error {
			f, files, err := a.asked(&flags, named)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(a.std.out)
			w, err := export.New(a.format, out, version())
			if err != nil {
				return err
			}
			err = query.Search(c.Context(), files, f, a.options(&flags), func(r audit.Record, l audit.Line) error { return w.Add(r, l.Raw) })
			return errors.Join(err, w.Close(), out.Flush())
		},
	}
	flags.add(c)
	flags.addIndex(c)
	a.formats(c, export.Formats()...)
	return c
}

// indexEvery is how often a server looks whether the log has grown.
const indexEvery = 2 * time.Second

// followIndex keeps the index of the log, beside the calls.
func followIndex(ctx context.Context, log zerolog.Logger, path string) {
	index.Follow(ctx, path, indexEvery, func(rebuilt string, err error) {
		if err != nil {
			log.Warn().Err(err).Msg("the index of the audit log is not kept; queries read the files")
			return
		}
		log.Info().Str("reason", rebuilt).Msg("the index of the audit log was made anew")
	})
}
