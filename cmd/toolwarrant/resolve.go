package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) resolveCmd() *cobra.Command {
	var args, who, origin string
	var explain bool
	c := &cobra.Command{
		Use:   "resolve SPEC|NAME",
		Short: "Show the decision for a tool: what it may do, its level, who must approve",
		Long: `Ask the policy about a tool without calling it. With --args the question is
about a call with these arguments, with --principal about another caller.

--explain says which layer set each value, which constraints bound it, which
rule gave each signal and why a human is asked. It then puts changed documents
to the policy and shows what would lower the level, what would pass without a
human, and what the layers would accept of a document that they reject.

A tool that the policy hides from the caller is not allowed, whatever else is
decided; of JSON, "visible" says so beside the decision.

Exit status: 0 the call is allowed, 1 it is denied, the tool is hidden from the
caller, or the layers reject the document, 2 wrong usage, 3 the policy could not
answer.`,
		Example: `  toolwarrant resolve writeTextFile
  toolwarrant resolve ./mytool --format json
  toolwarrant resolve mytool.json --explain`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			ctx := c.Context()
			raw, err := argument(args)
			if err != nil {
				return err
			}
			caller, err := principalFile(who)
			if err != nil {
				return err
			}
			home, cfg, err := a.settings(nil)
			if err != nil {
				return err
			}
			policy, err := service.OpenPolicy(ctx, home, cfg)
			if err != nil {
				return err
			}
			tools, err := service.OpenCatalog(ctx, home, cfg)
			if err != nil {
				return err
			}
			sub, err := a.subject(ctx, tools, pos[0])
			if err != nil {
				return err
			}
			t := sub.tool
			if raw != nil {
				valid, ferr := t.Spec.Args(raw)
				if ferr != nil {
					return ferr
				}
				raw = valid
			}
			req := resolver.Request{
				Tool:      resolver.Tool{Spec: t.Spec, Source: string(t.Source), ManifestEnv: t.Env},
				Principal: caller, Origin: decision.Origin(origin), Args: raw,
				Approvals: decision.Standing(t.Approval), Now: time.Now(),
			}
			seen, err := policy.Visible(ctx, caller, []resolver.Tool{req.Tool})
			if err != nil {
				return err
			}
			if explain {
				return a.explain(ctx, policy, req, seen[0])
			}
			d, err := policy.Resolve(ctx, req)
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(resolved{d, seen[0]})
			} else {
				a.printDecision(resolved{d, seen[0]})
			}
			return allowed(resolved{d, seen[0]})
		},
	}
	c.Flags().StringVar(&args, "args", "", "arguments as a JSON object, or @FILE")
	c.Flags().StringVar(&who, "principal", "", "file with the caller as JSON (default: you)")
	c.Flags().StringVar(&origin, "origin", string(decision.OriginCLIRun), "door through which the call comes")
	c.Flags().BoolVar(&explain, "explain", false, "show where each value, signal and demand comes from, and what would change the answer")
	c.PreRunE = func(*cobra.Command, []string) error { return knownOrigin(origin) }
	a.formats(c, "text", "json")
	a.policyFlag(c)
	return c
}

// resolved is a decision, and whether the tool is there for the caller at all:
// a call of one that is not ends before anything is decided.
type resolved struct {
	*decision.Decision
	Visible bool `json:"visible"`
}

// allowed is the exit status of a decision.
func allowed(d resolved) error {
	if !d.Allow || !d.Visible {
		return errAnswerNo
	}
	return nil
}

func knownOrigin(o string) error {
	all := []decision.Origin{decision.OriginMCPHTTP, decision.OriginMCPStdio, decision.OriginCLIRun, decision.OriginCLITest,
		decision.OriginAdmin, decision.OriginStudio, decision.OriginList, decision.OriginLint}
	names := make([]string, len(all))
	for i, k := range all {
		if string(k) == o {
			return nil
		}
		names[i] = string(k)
	}
	return fault.New(fault.Usage, "origin", "unknown origin %q; want one of %s", o, strings.Join(names, ", "))
}

// printDecision shows a decision to a person.
func (a *app) printDecision(d resolved) {
	table := newTable(a.std.out)
	row := func(k, format string, v ...any) { _ = table.add(k, fmt.Sprintf(format, v...)) }
	list := func(l []string) string {
		if len(l) == 0 {
			return "none"
		}
		out := make([]string, len(l))
		for i, s := range l {
			if out[i] = s; s == "" || strings.ContainsFunc(s, unicode.IsSpace) {
				out[i] = strconv.Quote(s) // " *" is not "*"
			}
		}
		return strings.Join(out, ", ")
	}
	p := d.EffectivePolicy
	row("tool", "%s (%s)", d.Tool.Name, d.Tool.ToolID)
	row("allowed", "%t", d.Allow && d.Visible)
	if !d.Visible {
		row("visible", "false: the policy hides the tool from this caller, whose call is answered with NOT_FOUND")
	}
	row("risk", "%s", d.RiskLevel)
	for _, s := range d.RiskSignals {
		row("", "%s %s: %s", s.Level, s.ID, s.Message)
	}
	row("approval", "%s (%s)", d.HumanInTheLoop.Mode, d.HumanInTheLoop.Source)
	row("network", "%s, hosts: %s", p.Network.Mode, list(p.Network.Hosts))
	row("files", "read %t, write %t, under %s", p.FS.Read, p.FS.Write, p.FS.BasePath)
	row("classes", "allow %s; deny %s", list(p.AllowClasses), list(p.DenyClasses))
	row("environment", "%s", list(p.Env))
	row("limits", "%d statements, %d s, %d MiB memory, %d KiB result", p.MaxStatements, p.TimeoutSeconds, p.MaxMemoryBytes>>20, p.MaxOutputBytes>>10)
	row("profiles", "%s", list(d.ProfileChain))
	row("policy", "%s", d.PolicyRevision)
	for _, r := range d.Reasons {
		row("denied", "%s: %s", r.ID, r.Message)
	}
	_ = table.flush()
}

var _ lookupper = (*catalog.Catalog)(nil)
