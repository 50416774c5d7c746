package main

import (
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) policyCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "Start a policy of your own, test it, see what it changes, ship it signed",
		Example: `  toolwarrant policy init mypolicy
  toolwarrant policy test mypolicy
  toolwarrant policy lint mypolicy
  toolwarrant policy diff builtin mypolicy
  toolwarrant policy replay audit.ndjson --policy mypolicy
  toolwarrant serve --shadow-policy mypolicy
  toolwarrant policy shadow audit.ndjson
  toolwarrant serve --policy mypolicy
  toolwarrant policy bundle mypolicy -o policy.tar.gz --revision 42 --sign release.pem
  toolwarrant policy verify policy.tar.gz --key release.pub.pem`,
		Args: cobra.NoArgs,
		RunE: needsVerb,
	}
	c.AddCommand(a.policyInitCmd(), a.policyTestCmd(), a.policyLintCmd(), a.policyDiffCmd(), a.policyReplayCmd(), a.policyShadowCmd(), a.policyBundleCmd(), a.policyVerifyCmd())
	return c
}

// needsVerb is what a command does that only groups others.
func needsVerb(c *cobra.Command, _ []string) error {
	return fault.New(fault.Usage, "verb", "%s needs one of its verbs; see: %s --help", c.CommandPath(), c.CommandPath())
}

func (a *app) policyInitCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "init DIR",
		Short: "Copy the built-in policy, with its tests, into a new folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, pos []string) error {
			if err := resolver.WriteBuiltin(pos[0]); err != nil {
				return err
			}
			a.printf("The built-in policy is in %s: rules in rego/, layers in cue/, tests in policy_test/.\nChange it, then: toolwarrant policy test %s\n", pos[0], pos[0])
			return nil
		},
	}
}

func (a *app) policyTestCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "test [POLICY]",
		Short: "Run the tests of a policy (default: the built-in one)",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			a.policy = resolver.Builtin
			if len(pos) > 0 {
				a.policy = pos[0]
			}
			home, cfg, err := a.settings(nil)
			if err != nil {
				return err
			}
			report, err := resolver.TestPolicy(c.Context(), service.PolicyOptions(home, cfg))
			if err != nil {
				return err
			}
			return a.verdict(report, func() {
				for _, t := range report.Tests {
					if !t.Passed && !t.Skipped {
						a.printf("FAIL  %s  %s:%d\n", t.Name, t.File, t.Line)
						if t.Message != "" {
							a.printf("      %s\n", t.Message)
						}
					}
				}
				a.printf("%d passed, %d failed\n", report.Passed, report.Failed)
			}, report.OK())
		},
	}
	a.formats(c, "text", "json")
	return c
}
