package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
	"github.com/toolwarrant/toolwarrant/spec"
)

func (a *app) lintCmd() *cobra.Command {
	suppressions := false
	c := &cobra.Command{
		Use:   "lint PATH...",
		Short: "Check spec documents: schema, invariants, policy; offline",
		Long: `Check spec documents, folders of them, or bundles: JSON and schema
(SPEC_PARSE), what holds between fields (SPEC_INVARIANT), and whether the
policy would accept them (RESOLVER_REJECT). Nothing is run and nothing is
written. "-" reads one document from standard input.`,
		Example: `  toolwarrant lint tools/
  toolwarrant lint mytool.json --format json
  toolwarrant lint tools/ --format sarif > lint.sarif   # code scanning
  toolwarrant lint tools/ --format github               # annotations in a workflow`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, paths []string) error {
			home, cfg, err := a.settings(nil)
			if err != nil {
				return err
			}
			policy, err := service.OpenPolicy(c.Context(), home, cfg)
			if err != nil {
				return err
			}
			report, err := lint.Run(c.Context(), paths, lint.Options{Resolve: resolves(policy), Titles: titles(policy), Version: version()})
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
	c.Flags().BoolVar(&suppressions, "print-suppressions", false, "list the findings that the documents accept, instead of the report")
	return c
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

// titles are those of the rules of a policy, by id.
func titles(policy *resolver.Resolver) map[string]string {
	out := map[string]string{}
	for id, rule := range policy.Rules() {
		out[id] = rule.Title
	}
	return out
}

// resolves asks the policy about a document.
func resolves(policy *resolver.Resolver) lint.Resolve {
	return func(ctx context.Context, s *spec.Spec) ([]*fault.Error, []lint.Finding, error) {
		tool := resolver.Tool{Spec: s, Source: string(catalog.SourceUser)}
		found, err := policy.Findings(ctx, tool, principal())
		var rejected *resolver.Rejection
		if errors.As(err, &rejected) {
			return rejected.All, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		findings := make([]lint.Finding, len(found))
		for i, f := range found {
			findings[i] = lint.Finding{RuleID: f.ID, Severity: lint.Severity(f.Severity), Message: f.Message, Pointer: f.Pointer}
		}
		return nil, findings, nil
	}
}
