package main

import (
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/impact"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) policyShadowCmd() *cobra.Command {
	var failOn string
	var o impact.ShadowOptions
	c := &cobra.Command{
		Use:   "shadow LOG...",
		Short: "Count where the shadow policy of a server differed, by tool and by rule",
		Long: `Count what the records of an audit log say of the shadow policy that was asked
beside the one in force (serve --shadow-policy): the same, would be denied,
would be allowed, approval would change (whether somebody is asked, or who may
accept), or changed in level, grants or limits alone.
Nothing is decided again: the answers are those of then.

LOG is a file, several files that are one log, or a folder of them. A log that
does not verify is refused.

Exit status: 0 counted; 1 --fail-on refuses the difference, or the log does not
verify; 2 wrong usage. A call that the shadow policy did not answer is a
difference for --fail-on any.`,
		Example: `  toolwarrant policy shadow audit.ndjson
  toolwarrant policy shadow audit/ --revision sha256:3fa9 --format json
  toolwarrant policy shadow audit.ndjson --fail-on widening`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, logs []string) error {
			gate, err := impact.ParseGate(failOn)
			if err != nil {
				return err
			}
			report, err := service.ShadowLog(c.Context(), logs, o)
			if err != nil {
				return err
			}
			return a.verdict(report, func() { a.printf("%s", report.Text()) }, !report.Refused(gate))
		},
	}
	c.Flags().StringVar(&o.Revision, "revision", "", "count the shadow policy alone whose revision begins like this")
	c.Flags().StringVar(&failOn, "fail-on", string(impact.GateNone), "exit with 1 on: widening, any, none")
	c.Flags().BoolVar(&o.Unverified, "unverified", false, "count in a log that does not verify too")
	a.formats(c, "text", "json")
	return c
}
