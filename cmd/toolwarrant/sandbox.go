package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) sandboxCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "Run commands behind limits that are enforced, and see what this machine enforces",
		Long: `A sandbox is where commands and foreign code run: on its own file system,
network, processes and limits. Tools with java.lang.ProcessBuilder run their
commands in one; "sandbox run" is the same for a command of yours.`,
		Example: `  toolwarrant sandbox backends
  toolwarrant sandbox run -- python3 -c 'print(6 * 7)'`,
		Args: cobra.NoArgs,
		RunE: needsVerb,
	}
	c.AddCommand(a.sandboxBackendsCmd(), a.sandboxRunCmd())
	return c
}

func (a *app) sandboxBackendsCmd() *cobra.Command {
	var need string
	c := &cobra.Command{
		Use:   "backends",
		Short: "Try every back end and show what it enforces here",
		Long: `Try every back end, by running something in it, and show per dimension what it
enforces on this machine for this user: full, partial (with a gap, which the
JSON form describes) or none. Priorities order the choice where nobody names a
back end; one below 0 is only used by its name.

The status is 1 where no back end works, and with --need where that one does not.`,
		Example: `  toolwarrant sandbox backends
  toolwarrant sandbox backends --format json
  toolwarrant sandbox backends --need process     # in a script`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, cfg, err := a.settings(nil)
			if err != nil {
				return err
			}
			set, err := service.NewSandboxes(cfg)
			if err != nil {
				return err
			}
			defer set.Close()
			if need != "" {
				if _, err := set.ByID(need); err != nil {
					return err
				}
			}
			return a.backends(set.Probe(c.Context()), need)
		},
	}
	c.Flags().StringVar(&need, "need", "", "the answer is no where this back end does not work")
	a.formats(c, "text", "json")
	return c
}

// backends prints what the probes said. Without need, one that works is enough.
func (a *app) backends(list []sandbox.Probed, need string) error {
	works := false
	for _, p := range list {
		works = works || p.OK && (need == "" && p.Priority >= 0 || p.ID == need)
	}
	if a.format == "json" {
		a.json(map[string]any{"backends": list})
	} else if err := a.backendsTable(list); err != nil {
		return err
	}
	if !works {
		return errAnswerNo
	}
	return nil
}

func (a *app) backendsTable(list []sandbox.Probed) error {
	head := []string{"BACKEND", "PRIORITY", "WORKS"}
	for _, d := range sandbox.Dimensions() {
		head = append(head, string(d))
	}
	t := newTable(a.std.out, head...)
	for _, p := range list {
		row := []string{p.ID, strconv.Itoa(p.Priority), "no"}
		if p.OK {
			row[2] = "yes"
			for _, d := range sandbox.Dimensions() {
				row = append(row, p.Enforcement[d].Level.String())
			}
		}
		if err := t.add(row...); err != nil {
			return err
		}
	}
	if err := t.flush(); err != nil {
		return err
	}
	why := newTable(a.std.out)
	for _, p := range list {
		if !p.OK {
			if err := why.add(p.ID+":", p.Reason); err != nil {
				return err
			}
		}
	}
	if len(list) == 0 {
		return fault.New(fault.RuntimeError, "sandbox-unavailable", "there is no sandbox on this system, or sandbox.enabled is false")
	}
	return why.flush()
}
