package main

import (
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/plural"
	"github.com/toolwarrant/toolwarrant/keyring"
)

func (a *app) auditCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Work with the audit log",
		Example: `  toolwarrant audit verify ~/.local/share/toolwarrant/audit/audit.ndjson
  toolwarrant audit query --since 24h --outcome DENIED
  toolwarrant audit why CALL-ID
  toolwarrant audit tail -f
  toolwarrant audit events --kind 'policy.*'
  toolwarrant audit export --format ocsf --since 24h
  toolwarrant audit keygen acme.example/audit -o audit.key
  toolwarrant audit checkpoint audit.ndjson --sign audit.key -o checkpoints.txt
  toolwarrant audit verify audit.ndjson --checkpoints checkpoints.txt --key audit.key.pub
  toolwarrant audit prove CALL-ID audit.ndjson --checkpoints checkpoints.txt --key audit.key.pub -o proof.json
  toolwarrant audit verify-proof proof.json --key audit.key.pub`,
		Args: cobra.NoArgs,
		RunE: needsVerb,
	}
	c.AddCommand(a.auditVerifyCmd(), a.auditKeygenCmd(), a.auditCheckpointCmd(), a.auditProveCmd(), a.auditVerifyProofCmd(),
		a.auditQueryCmd(), a.auditWhyCmd(), a.auditTailCmd(), a.auditEventsCmd(), a.auditStatsCmd(), a.auditExportCmd(), a.auditIndexCmd())
	return c
}

func (a *app) auditVerifyCmd() *cobra.Command {
	var signed signedFlags
	var isCopy bool
	c := &cobra.Command{
		Use:   "verify [FILE...]",
		Short: "Check that a log is whole: no record altered, removed, added or moved",
		Long: `Check every record's own sum and its link to the record before it. Exit status
1 names each line that does not hold. Records cut off at the end of a log are
found with a checkpoint that was signed later (--checkpoints, --key); without
one, only by somebody who kept the head that this prints.

FILE is a log, which stands for its closed files too, or any files of one, also
compressed, in any order; without one, the log of this installation. Files that were removed as the configuration says
(audit.retain) are accounted for by a record of the log; any others are named.
With --key that record has to be signed by it.

Where the folder objects/ stands beside a log, each object in it has to have the
digest of its name, and those that the log entered have to be there.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, named []string) error {
			files, err := a.logFiles(named)
			if err != nil {
				return err
			}
			o := audit.VerifyOptions{Copy: isCopy, Objects: true}
			var list []checkpoint.Signed
			if signed.file != "" || signed.key == "" {
				if list, err = signed.read(c.Context(), false); err != nil {
					return err
				}
			}
			for _, s := range list {
				o.Checkpoints = append(o.Checkpoints, s.Checkpoint)
			}
			if signed.key != "" {
				if o.Key, err = keyring.ReadNoteVerifier(signed.key); err != nil {
					return err
				}
			}
			report, err := audit.Verify(c.Context(), files, o)
			if err != nil {
				return err
			}
			return a.verdict(report, func() {
				a.verified(report, len(list))
				if err := areLogs(files); !report.OK && err != nil {
					a.printf("is it the right file? %s\n", mask.Visible(fault.From(err).Message))
				}
			}, report.OK)
		},
	}
	signed.add(c)
	c.Flags().BoolVar(&isCopy, "copy", false, "the files are a copy that a sink made: lines that it got twice are counted, and are no findings")
	a.formats(c, "text", "json")
	return c
}

func (a *app) verified(report audit.Report, checkpoints int) {
	for _, f := range report.Findings {
		a.printf("%s:%d: %s: %s\n", mask.Visible(f.File), f.Line, f.Kind, mask.Visible(f.Message))
	}
	verdict := "whole"
	if !report.OK {
		verdict = "NOT VALID"
	}
	head := "none"
	if report.Head != nil {
		head = *report.Head
	}
	a.printf("%s: %s, head %s\n", verdict, plural.Of(report.Records, "record"), head)
	if report.Repeats > 0 {
		a.printf("repeated lines, left out: %d\n", report.Repeats)
	}
	if r := report.Removed; r != nil {
		signed := ""
		if r.Signed {
			signed = ", signed"
		}
		a.printf("records 1 to %d were removed, as record %d of %s says%s\n", r.Last, r.Seq, mask.Visible(r.Time), signed)
		if r.Warning != nil {
			a.printf("warning: the removal of records 1 to %d: %s\n", r.Last, *r.Warning)
		}
	}
	if checkpoints > 0 {
		a.printf("held against %s\n", plural.Of(checkpoints, "checkpoint"))
	}
}
