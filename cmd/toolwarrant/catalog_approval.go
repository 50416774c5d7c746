package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) catalogApprovalCmd() *cobra.Command {
	reason, yes := "", false
	c := &cobra.Command{
		Use:   "approval NAME required|auto|disabled|default",
		Short: "Choose whether a human is asked about the calls of a tool",
		Long: `Choose whether a human is asked about the calls of a tool: for every call
(required), from a level on (auto), for none (disabled), or as the policy has it
for what says nothing (default). Floors and rules of the policy hold whatever is
chosen.

For a tool of yours this edits its document, which makes it a draft: publish it
again. For a bundled tool the choice is kept in the home, and "default" goes back
to what the tool ships with; a running server takes it up within two seconds.

Asking less than before needs a reason, which goes on record, and a yes: on the
terminal, or --yes. Asking more needs neither.`,
		Example: `  toolwarrant catalog approval getWeather required
  toolwarrant catalog approval writeTextFile disabled --reason "workspace is scratch" --yes`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, pos []string) error {
			return a.withTool(func(ctx context.Context, s *service.Service, t *catalog.Tool) error {
				return a.setApproval(ctx, s, t, pos[1], reason, yes)
			})(c, pos)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why a human need not be asked; goes on record, required for asking less")
	c.Flags().BoolVar(&yes, "yes", false, "asking less is meant so")
	a.formats(c, "text", "json")
	a.policyFlag(c)
	return c
}

func (a *app) setApproval(ctx context.Context, s *service.Service, t *catalog.Tool, mode, reason string, yes bool) error {
	plan, err := s.PlanApproval(ctx, principal(), t, mode)
	if err != nil {
		return err
	}
	if plan.Lowering && !yes && strings.TrimSpace(reason) != "" && isTerminal(a.std.in) && isTerminal(a.std.err) {
		if yes = a.confirmLowering(plan); !yes {
			a.printf("Nothing was changed.\n")
			return errAnswerNo
		}
	}
	done, err := s.SetApproval(ctx, principal(), t, mode, reason, yes)
	if err != nil {
		return err
	}
	if a.format == "json" {
		a.json(done)
		return nil
	}
	name := mask.Visible(done.Name)
	if done.Old == done.New {
		a.printf("%s: %s already, nothing was changed. The policy makes %s of it at level %s.\n", name, mask.Visible(done.New), done.Approval, done.RiskLevel)
		return nil
	}
	a.printf("%s: %s, was %s. The policy makes %s of it at level %s.\n", name, done.New, mask.Visible(done.Old), done.Approval, done.RiskLevel)
	if done.Draft {
		a.printf("Its document changed, so that it is a draft now. Publish it with: toolwarrant catalog publish %s\n", name)
	}
	return nil
}

// consentFlags are what a human says for asking less by a publication.
func consentFlags(c *cobra.Command, to *service.Consent) {
	c.Flags().StringVar(&to.Reason, "reason", "", "why a human need not be asked any more; goes on record, required for asking less than before")
	c.Flags().BoolVar(&to.Confirmed, "yes", false, "asking less is meant so")
}

// publish publishes a tool; where it would ask a human less and a reason is
// given, the person at the terminal confirms that.
func (a *app) publish(ctx context.Context, s *service.Service, t *catalog.Tool, justification string, by service.Consent, o service.TestOptions) (service.TestRun, error) {
	plan, err := s.PlanPublish(ctx, principal(), t)
	if err == nil && plan.Lowering && !by.Confirmed && strings.TrimSpace(by.Reason) != "" && isTerminal(a.std.in) && isTerminal(a.std.err) {
		by.Confirmed = a.confirmLowering(plan)
	}
	return s.PublishLowering(ctx, principal(), t, justification, by, o)
}

// confirmLowering asks the person at the terminal; only the whole word "yes"
// is one.
func (a *app) confirmLowering(plan service.ApprovalChange) bool {
	fmt.Fprintf(a.std.err, "Reduce human oversight of %s (level %s): %s instead of %s?\n", mask.Visible(plan.Name), plan.RiskLevel, plan.New, mask.Visible(plan.Old))
	switch plan.New {
	case service.ApprovalDisabled:
		fmt.Fprintln(a.std.err, "No client asks anybody any more, whoever calls: only the sandbox is left.")
	case service.ApprovalAuto:
		fmt.Fprintln(a.std.err, "Calls below the threshold of the policy run without anybody being asked, and are recorded so.")
	default:
		fmt.Fprintf(a.std.err, "The policy decides by the level, and makes %s of it.\n", plan.Approval)
	}
	fmt.Fprint(a.std.err, `Type "yes" to do it: `)
	line, _ := bufio.NewReader(a.std.in).ReadString('\n')
	return strings.TrimSpace(line) == "yes"
}
