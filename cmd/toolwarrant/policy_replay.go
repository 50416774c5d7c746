package main

import (
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/impact"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) policyReplayCmd() *cobra.Command {
	var failOn string
	var unverified bool
	c := &cobra.Command{
		Use:   "replay LOG...",
		Short: "Decide the calls of an audit log again, under another policy",
		Long: `Decide every recorded call again with the input that the log has, and count
what would come out otherwise: newly denied (or hidden), newly allowed, approval
changed (whether somebody is asked, or who may accept), or changed in level,
grants or limits alone; by tool and by rule. Nothing runs.

What a record does not hold (limits, mask, isolation, who may accept) is what
the policy that decided the call says again. Where the log does not hold that
policy, the report says what was not compared.

LOG is a file, several files that are one log, or a folder of them. A log that
does not verify is refused. --policy recorded takes the policies that the log
itself holds: then every answer has to be the same.

A call is unrepeatable, and counted as that, if a rule reads a value that the
log masked, or if what decided or ran is in no object store and no catalog.

Exit status: 0 replayed; 1 --fail-on refuses the difference, or the log does
not verify; 2 wrong usage; 3 a policy does not compile or cannot decide.`,
		Example: `  toolwarrant policy replay audit.ndjson --policy mypolicy
  toolwarrant policy replay audit/ --policy mypolicy --fail-on widening
  toolwarrant policy replay audit.ndjson --policy recorded --fail-on any`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, logs []string) error {
			gate, err := impact.ParseGate(failOn)
			if err != nil {
				return err
			}
			home, cfg, err := a.settings(flagValues(c))
			if err != nil {
				return err
			}
			report, err := service.ReplayLog(c.Context(), home, cfg, logs, unverified)
			if err != nil {
				return err
			}
			return a.verdict(report, func() { a.printf("%s", report.Text()) }, !report.Refused(gate))
		},
	}
	c.Flags().StringSlice("catalog", nil, "folder of tools to look documents up in; may be repeated")
	c.Flags().StringVar(&failOn, "fail-on", string(impact.GateNone), "exit with 1 on: widening, any, none")
	c.Flags().BoolVar(&unverified, "unverified", false, "replay a log that does not verify too")
	a.formats(c, "text", "json")
	c.Flags().StringVar(&a.policy, "policy", "", `policy folder, "builtin", or "recorded" for those that the log holds`)
	return c
}
