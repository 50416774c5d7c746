package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) lintCmd() *cobra.Command {
	var suppressions, fix, diff bool
	c := &cobra.Command{
		Use:   "lint PATH...",
		Short: "Check spec documents: schema, invariants, policy; offline",
		Long: `Check spec documents, folders of them, or bundles: JSON and schema
(SPEC_PARSE), what holds between fields (SPEC_INVARIANT), and whether the
policy would accept them (RESOLVER_REJECT). Nothing is run, and nothing is
written without --fix. "-" reads one document from standard input.`,
		Example: `  toolwarrant lint tools/
  toolwarrant lint mytool.json --format json
  toolwarrant lint tools/ --diff                        # what would --fix do?
  toolwarrant lint tools/ --format sarif > lint.sarif   # code scanning
  toolwarrant lint tools/ --format github               # annotations in a workflow`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, paths []string) error {
			if suppressions && (fix || diff) {
				return fault.New(fault.Usage, "flags", "--print-suppressions lists and changes nothing; leave --fix and --diff out, or run them apart")
			}
			home, cfg, err := a.settings(nil)
			if err != nil {
				return err
			}
			policy, err := service.OpenPolicy(c.Context(), home, cfg)
			if err != nil {
				return err
			}
			options := service.LintOptions(policy, principal(), version())
			if fix || diff {
				if changed, err := a.fixes(c.Context(), paths, options, diff); err != nil || diff && changed {
					return cmp.Or(err, errAnswerNo)
				} else if diff {
					return nil
				}
			}
			report, err := lint.Run(c.Context(), paths, options)
			if err != nil {
				return err
			}
			if suppressions {
				return a.printSuppressions(report)
			}
			if err := lintFormats[a.format](a.std.out, report); err != nil {
				return err
			}
			if !report.OK() {
				return errAnswerNo
			}
			return nil
		},
	}
	a.formats(c, "text", "json", "sarif", "junit", "github")
	a.policyFlag(c)
	c.Flags().BoolVar(&fix, "fix", false, "put documents into order before the check: members, toolId, defaults, a stale toolSafety")
	c.Flags().BoolVar(&diff, "diff", false, "print what --fix would change, write nothing (with --fix as well), and end with 1 if there is something or a document cannot be read")
	c.Flags().BoolVar(&suppressions, "print-suppressions", false, "list the findings that the documents accept, instead of the report")
	return c
}

// fixes prints or applies what can be fixed without changing a tool.
func (a *app) fixes(ctx context.Context, paths []string, o lint.Options, dry bool) (changed bool, err error) {
	if dry && a.format != "text" {
		return false, fault.New(fault.Usage, "format", "--diff prints a unified diff; it knows the format text alone")
	}
	found, unread, err := lint.Fixes(ctx, paths, o)
	if err != nil {
		return false, err
	}
	// The check reports them after --fix; the standard output of --diff is a
	// patch and nothing else.
	if dry && !unread.OK() {
		if err := lint.Text(a.std.err, unread); err != nil {
			return false, err
		}
		defer func() { changed = true }()
	}
	for _, f := range found {
		if dry {
			if err := f.Diff(a.std.out); err != nil {
				return false, err
			}
			continue
		}
		if err := f.Apply(); err != nil {
			return false, err
		}
		fmt.Fprintln(a.std.err, "fixed: "+mask.Visible(f.File))
	}
	return len(found) > 0, nil
}

// printSuppressions lists what the documents accept, for a reviewer.
func (a *app) printSuppressions(r lint.Report) error {
	switch a.format {
	case "text":
		return lint.SuppressionsText(a.std.out, r)
	case "json":
		return lint.SuppressionsJSON(a.std.out, r)
	}
	return fault.New(fault.Usage, "format", "--print-suppressions knows the formats text and json")
}

// lintFormats are the printers of a report.
var lintFormats = map[string]func(io.Writer, lint.Report) error{
	"text": lint.Text, "json": lint.JSON, "sarif": lint.SARIF, "junit": lint.JUnit, "github": lint.GitHub,
}
