package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) approvalsCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "approvals",
		Short: "See and answer the calls that wait for a human",
		Example: `  toolwarrant approvals list
  toolwarrant approvals approve 4q2...
  toolwarrant approvals approve 4q2... --args '{"path":"safe.txt","content":"hi"}'
  toolwarrant approvals deny 4q2...`,
		Args: cobra.NoArgs,
		RunE: needsVerb,
	}
	c.AddCommand(a.approvalsListCmd(),
		a.answerCmd("approve", "Let exactly the call that is shown run, once", approval.ActionAccept),
		a.answerCmd("deny", "Refuse a call", approval.ActionDecline))
	return c
}

func (a *app) approvalsListCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List what waits for a human, oldest first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			waiting, err := s.PendingApprovals(c.Context())
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]any{"approvals": waiting})
				return nil
			}
			if len(waiting) == 0 {
				a.printf("Nothing waits for a human.\n")
			}
			for _, p := range waiting {
				a.printPending(p)
			}
			return nil
		},
	}
	a.formats(c, "text", "json")
	return c
}

func (a *app) printPending(p approval.Pending) {
	a.printf("%s  %s  %s, asked by %s (%s), until %s\n    %s\n",
		p.ID, p.Question.RiskLevel, mask.Visible(p.Question.Tool), mask.Visible(p.Binding.Principal.Subject),
		mask.Visible(p.Binding.Principal.ClientID), p.Binding.ExpiresAt.Format("15:04:05 UTC"), strings.ReplaceAll(p.Question.Prompt, "\n", "\n    "))
	if needs := p.Needs(); needs != "" {
		a.printf("    needs %s\n", mask.Visible(needs))
	}
	for _, s := range p.Question.RiskSignals {
		a.printf("    %s %s: %s\n", s.Level, mask.Visible(s.ID), mask.Visible(s.Message))
	}
}

func (a *app) answerCmd(verb, short string, action approval.Action) *cobra.Command {
	var args string
	c := &cobra.Command{
		Use:   verb + " ID",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			raw, err := argument(args)
			if err != nil {
				return err
			}
			s, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			p, err := answer(c.Context(), s, pos[0], action, raw)
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]any{"approval": p})
				return nil
			}
			if p.Amended() {
				a.printf("%s: %s, with these arguments in the place of the caller's\n    %s\n", p.ID, p.State, strings.ReplaceAll(p.Shown().Prompt, "\n", "\n    "))
				return nil
			}
			a.printf("%s: %s\n", p.ID, p.State)
			return nil
		},
	}
	if action == approval.ActionAccept {
		c.Long = short + `. With --args the call runs with other arguments: they are
validated, and the call is decided about with them under the policy in force.`
		c.Flags().StringVar(&args, "args", "", "arguments in the place of the caller's, as a JSON object, or @FILE")
	}
	a.formats(c, "text", "json")
	return c
}

// answer gives the answer of the person at this terminal.
func answer(ctx context.Context, s *service.Service, id string, action approval.Action, args json.RawMessage) (approval.Pending, error) {
	if args != nil {
		return s.Modify(ctx, principal(), id, args)
	}
	return s.Answer(ctx, principal(), id, action)
}
