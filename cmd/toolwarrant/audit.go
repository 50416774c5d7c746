package main

import (
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/audit"
)

func (a *app) auditCmd() *cobra.Command {
	c := &cobra.Command{
		Use:     "audit",
		Short:   "Work with the audit log",
		Example: "  toolwarrant audit verify ~/.local/share/toolwarrant/audit/audit.ndjson",
		Args:    cobra.NoArgs,
		RunE:    needsVerb,
	}
	c.AddCommand(a.auditVerifyCmd())
	return c
}

func (a *app) auditVerifyCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check that a log is whole: no record altered, removed, added or moved",
		Long: `Check every record's own sum and its link to the record before it. Exit status
1 names each line that does not hold. Records cut off at the end of a log can
only be missed by somebody who knows its head: keep the head that this prints.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			report, err := audit.Verify(c.Context(), files, audit.VerifyOptions{})
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(report)
			} else {
				for _, f := range report.Findings {
					a.printf("%s:%d: %s\n", f.File, f.Line, f.Kind)
				}
				verdict := "whole"
				if !report.OK {
					verdict = "NOT VALID"
				}
				head := "none"
				if report.Head != nil {
					head = *report.Head
				}
				a.printf("%s: %d records, head %s\n", verdict, report.Records, head)
			}
			if !report.OK {
				return errAnswerNo
			}
			return nil
		},
	}
	a.formats(c, "text", "json")
	return c
}
