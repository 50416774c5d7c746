package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) catalogCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "catalog",
		Short: "See, publish, withdraw, import and export tools, and choose which ones are served",
		Example: `  toolwarrant catalog list
  toolwarrant catalog show writeTextFile
  toolwarrant catalog import mytool.json
  toolwarrant catalog preset dev-essentials
  toolwarrant catalog hide getWeather
  toolwarrant catalog approval readTextFile required`,
		Args: cobra.NoArgs,
		RunE: needsVerb,
	}
	c.AddCommand(a.catalogListCmd(), a.catalogShowCmd(), a.catalogPublishCmd(), a.catalogDraftCmd(),
		a.catalogImportCmd(), a.catalogExportCmd(), a.catalogCloneCmd(),
		a.catalogPresetCmd(), a.catalogExposeCmd(), a.catalogHideCmd(), a.catalogAutoExposeCmd(), a.catalogApprovalCmd())
	return c
}

func (a *app) catalogListCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tools with their state, level and approval, and why each is served or not",
		Long: `List the tools with their state, level and approval, and why each is served or
not. The preset, what is included, what was chosen with expose and hide, and what
is excluded count in this order; the flags show what serve would do with them.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context(), flagValues(c))
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			tools, err := s.List(c.Context(), principal())
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]any{"tools": tools, "overridden": s.Exposure().Overridden})
				return nil
			}
			table := newTable(a.std.out, "NAME", "CATEGORY", "TAGS", "STATE", "RISK", "APPROVAL", "SERVED")
			for _, t := range tools {
				served := "yes"
				if !t.Exposed {
					served = "no"
				}
				if t.Why != "" {
					served += ": " + t.Why
				}
				_ = table.add(t.Name, t.Category, strings.Join(t.Tags, ","), string(t.State), string(t.RiskLevel), string(t.Approval), served)
			}
			_ = table.flush()
			a.printOverridden(s.Exposure())
			for _, f := range s.Catalog.Findings() {
				fmt.Fprintln(a.std.err, mask.Visible(f.Error()))
			}
			return nil
		},
	}
	catalogFlags(c)
	a.formats(c, "text", "json")
	a.policyFlag(c)
	return c
}

// withTool opens the installation and finds the one tool that a verb is about.
func (a *app) withTool(do func(context.Context, *service.Service, *catalog.Tool) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, pos []string) error {
		ctx := c.Context()
		s, err := a.open(ctx, nil)
		if err != nil {
			return err
		}
		defer s.Close(ctx)
		t, err := s.Catalog.Lookup(ctx, pos[0])
		if err != nil {
			return err
		}
		return do(ctx, s, t)
	}
}

func (a *app) catalogShowCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Show one tool: its document, state and decision",
		Args:  cobra.ExactArgs(1),
		RunE: a.withTool(func(ctx context.Context, s *service.Service, t *catalog.Tool) error {
			d, err := s.Decide(ctx, t, principal(), decision.OriginCLIRun, nil)
			if err != nil {
				return err
			}
			seen, err := s.Policy.Visible(ctx, principal(), []resolver.Tool{{Spec: t.Spec, Source: string(t.Source), ManifestEnv: t.Env}})
			if err != nil {
				return err
			}
			exposed, why := s.Catalog.Exposed(t)
			if a.format == "json" {
				a.json(map[string]any{"spec": json.RawMessage(t.Spec.Bytes()), "state": t.State, "source": t.Source, "path": t.Path, "why": t.Why,
					"exposed": exposed, "exposure": why, "decision": d, "visible": seen[0]})
				return nil
			}
			a.printf("%s\n\n", mask.Visible(t.Spec.Name))
			for line := range strings.SplitSeq(t.Spec.Description, "\n") {
				a.printf("%s\n", mask.Visible(line))
			}
			a.printf("\n")
			for _, p := range t.Spec.Params {
				need := "optional"
				if p.Required {
					need = "required"
				}
				a.printf("  %-14s %-8s %s  %s\n", mask.Visible(p.Name), strings.ToLower(string(p.Type)), need, mask.Visible(p.Description))
			}
			a.printf("\nstate        %s %s\n", t.State, mask.Visible(t.Why))
			a.printf("exposed      %t: %s\n", exposed, mask.Visible(why))
			a.printDecision(resolved{d, seen[0]})
			return nil
		}),
	}
	a.formats(c, "text", "json")
	a.policyFlag(c)
	return c
}

// justificationFlag is what an author says for a tool of a high level.
func (a *app) justificationFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "justification", "", "why the tool is needed; goes on record, and the policy asks for it from a certain level on")
}

func (a *app) catalogPublishCmd() *cobra.Command {
	justification := ""
	var o service.TestOptions
	var consent service.Consent
	c := &cobra.Command{
		Use:   "publish NAME",
		Short: "Test a tool and, if it passes, serve exactly what passed",
		Long: "Test a tool and, if it passes, serve exactly what passed. The policy (package\n" +
			"toolwarrant.publish) says who may publish which level, and what has to be said\n" +
			"for it; the built-in one asks for a justification from L4 on, and lets trusted\n" +
			"authors alone publish L5.\n\n" +
			"A tool that asks a human less than when it was last in service needs a reason,\n" +
			"which goes on record, and a yes: on the terminal, or --yes.",
		Example: "  toolwarrant catalog publish shout\n" +
			"  toolwarrant catalog publish cleanup --justification \"clears the cache every night\"",
		Args: cobra.ExactArgs(1),
		RunE: a.withTool(func(ctx context.Context, s *service.Service, t *catalog.Tool) error {
			res, err := a.publish(ctx, s, t, justification, consent, o)
			if err != nil {
				return justify(err)
			}
			if a.format == "json" {
				a.json(res.Result.View())
				return nil
			}
			now, err := s.Catalog.Lookup(ctx, t.Spec.ToolID)
			if err != nil {
				return err
			}
			served := "served"
			if ok, why := s.Catalog.Exposed(now); !ok {
				served = "not served: " + why
			}
			a.printf("%s passed its test and is %s. What it may do:\n\n", mask.Visible(t.Spec.Name), mask.Visible(served))
			a.printDecision(resolved{res.Decision, true}) // an author's own test is no call that could find it hidden
			return nil
		}),
	}
	testFlags(c, &o)
	a.justificationFlag(c, &justification)
	consentFlags(c, &consent)
	a.formats(c, "text", "json")
	a.policyFlag(c)
	return c
}

func (a *app) catalogDraftCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "draft NAME",
		Short: "Take a tool out of service",
		Args:  cobra.ExactArgs(1),
		RunE: a.withTool(func(ctx context.Context, s *service.Service, t *catalog.Tool) error {
			if err := s.Draft(ctx, principal(), t); err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]any{"toolId": t.Spec.ToolID, "name": t.Spec.Name, "state": catalog.StateDraft})
				return nil
			}
			a.printf("%s is a draft now and not served.\n", mask.Visible(t.Spec.Name))
			return nil
		}),
	}
	a.formats(c, "text", "json")
	return c
}
