package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/impact"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) policyDiffCmd() *cobra.Command {
	var who, origin, failOn string
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what a change of policy changes for every tool",
		Long: `Put every tool of the catalog to two policies, each "builtin" or a policy
folder, and show where the answers differ: tools that are allowed, refused or
hidden, network, files, classes, limits, level, approval, and what publishing
asks for. Each difference is widened, tightened, or changed where it permits
neither more nor less.

The question is about the tools and not about calls: a rule that reads
arguments sees none, and "policy replay" shows what it does. The policies need
not pass their own tests, since none is put into force.

Exit status: 0 compared; 1 --fail-on refuses the difference; 2 wrong usage;
3 a policy does not compile or cannot decide.`,
		Example: `  toolwarrant policy diff builtin mypolicy
  toolwarrant policy diff builtin mypolicy --fail-on widening
  toolwarrant policy diff main/policy policy --catalog tools --format markdown`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, pos []string) error {
			gate, err := impact.ParseGate(failOn)
			if err != nil {
				return err
			}
			caller, err := principalFile(who)
			if err != nil {
				return err
			}
			home, cfg, err := a.settings(flagValues(c))
			if err != nil {
				return err
			}
			report, err := service.DiffPolicies(c.Context(), home, cfg, pos[0], pos[1],
				impact.Question{Principal: caller, Origin: decision.Origin(origin), Now: time.Now()})
			if err != nil {
				return err
			}
			switch a.format {
			case "json":
				a.json(report)
			case "markdown":
				a.printf("%s", report.Markdown())
			default:
				a.printf("%s", report.Text())
				if !c.Flags().Changed("catalog") {
					a.printf("Only the tools of this installation were compared; --catalog DIR adds those of a folder.\n")
				}
			}
			if report.Refused(gate) {
				return errAnswerNo
			}
			return nil
		},
	}
	c.Flags().StringSlice("catalog", nil, "folder of tools to compare too; may be repeated")
	c.Flags().StringVar(&who, "principal", "", "file with the caller as JSON (default: you)")
	c.Flags().StringVar(&origin, "origin", string(decision.OriginMCPHTTP), "door through which calls would come")
	c.Flags().StringVar(&failOn, "fail-on", string(impact.GateNone), "exit with 1 on: widening, any, none")
	c.PreRunE = func(*cobra.Command, []string) error { return knownOrigin(origin) }
	a.formats(c, "text", "json", "markdown")
	return c
}
