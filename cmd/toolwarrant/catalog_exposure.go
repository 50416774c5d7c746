package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) catalogPresetCmd() *cobra.Command {
	var reset bool
	c := &cobra.Command{
		Use:   "preset [NAME]",
		Short: "Choose the bundled tools to start from, or list the choices",
		Long: `Choose the bundled tools to start from; without a name, list the choices. The
choice is kept in the home, on record, and taken up by a running server within
two seconds. A preset or an include rule in the configuration, or as a flag of
serve, goes before it and is never written back.`,
		Example: `  toolwarrant catalog preset
  toolwarrant catalog preset dev-essentials
  toolwarrant catalog preset --reset     # back to the default`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			if reset && len(pos) > 0 {
				return fault.New(fault.Usage, "arguments", "--reset takes no name; see: %s --help", c.CommandPath())
			}
			s, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			if !reset && len(pos) == 0 {
				a.printPresets(s)
				return nil
			}
			id := ""
			if !reset {
				id = pos[0]
			}
			if err := s.KeepPreset(c.Context(), principal(), id); err != nil {
				return err
			}
			said := "The default preset is used."
			if id != "" {
				said = "The preset " + id + " is kept."
			}
			a.printExposure(s, said)
			return nil
		},
	}
	c.Flags().BoolVar(&reset, "reset", false, "take the choice back")
	a.formats(c, "text", "json")
	return c
}

// printPresets lists the presets, and which one is kept.
func (a *app) printPresets(s *service.Service) {
	presets, usual := s.Catalog.Presets()
	kept := s.Exposure()
	if a.format == "json" {
		a.json(map[string]any{"presets": presets, "default": usual, "preset": kept.Preset, "overridden": kept.Overridden})
		return
	}
	table := newTable(a.std.out)
	for _, id := range slices.Sorted(maps.Keys(presets)) {
		mark := ""
		switch {
		case id == kept.Preset:
			mark = "kept"
		case id == usual:
			mark = "default"
		}
		_ = table.add(id, mark, presets[id].Description)
	}
	_ = table.flush()
	a.printOverridden(kept)
}

// printExposure says what was done and what of the choices has no effect.
func (a *app) printExposure(s *service.Service, said string) {
	kept := s.Exposure()
	if a.format == "json" {
		a.json(kept)
		return
	}
	a.printf("%s\n", mask.Visible(said))
	a.printOverridden(kept)
}

func (a *app) printOverridden(kept service.Exposure) {
	for _, o := range kept.Overridden {
		fmt.Fprintln(a.std.err, mask.Visible(fmt.Sprintf("not in effect: %q is kept, and %s of the configuration goes before it", o.Kept, o.By)))
	}
}

func (a *app) catalogExposeCmd() *cobra.Command {
	return a.chooseCmd("expose", "Serve tools, also ones that the preset leaves out",
		`Serve tools, also bundled ones that the preset leaves out. A draft is served as
soon as it is published. The choice is kept in the home, on record, and taken up
by a running server within two seconds. What the configuration excludes stays
excluded, and where it names a preset or includes anything it alone says which
bundled tools are served.`, (*service.Service).Expose)
}

func (a *app) catalogHideCmd() *cobra.Command {
	return a.chooseCmd("hide", "Make tools not exist for callers",
		`Make tools not exist for callers: they are in no list, and a call is answered
with NOT_FOUND. You can still test and publish them. The choice is kept in the
home, on record, and taken up by a running server within two seconds. A tool
that the configuration includes by its name is served all the same: to take that
one out of service now, use catalog draft.`, (*service.Service).Hide)
}

type chooseFunc func(*service.Service, context.Context, decision.Principal, []string) ([]service.Exposed, error)

func (a *app) chooseCmd(verb, short, long string, choose chooseFunc) *cobra.Command {
	c := &cobra.Command{
		Use:     verb + " NAME...",
		Short:   short,
		Long:    long,
		Example: "  toolwarrant catalog " + verb + " getWeather readTextFile",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			s, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			tools, err := choose(s, c.Context(), principal(), service.Names(pos))
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]any{"tools": tools, "overridden": s.Exposure().Overridden})
				return nil
			}
			for _, t := range tools {
				served := "served"
				if !t.Exposed {
					served = "not served"
				}
				a.printf("%s\n", mask.Visible(fmt.Sprintf("%s: %s, %s", t.Name, served, t.Why)))
			}
			return nil
		},
	}
	a.formats(c, "text", "json")
	return c
}

func (a *app) catalogAutoExposeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "auto-expose on|off",
		Short: "Choose whether a tool is served as soon as it is published first",
		Long: `Choose whether a tool of the home is served as soon as it is published for the
first time (on, the default), or hidden until: toolwarrant catalog expose NAME.
Tools that were published before stay as they are, and so do bundled ones and
those of folders that the operator trusts.`,
		Example:   "  toolwarrant catalog auto-expose off",
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"on", "off"},
		RunE: func(c *cobra.Command, pos []string) error {
			if pos[0] != "on" && pos[0] != "off" {
				return fault.New(fault.Usage, "arguments", "%q is neither on nor off; see: %s --help", pos[0], c.CommandPath())
			}
			s, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			if err := s.AutoExpose(c.Context(), principal(), pos[0] == "on"); err != nil {
				return err
			}
			said := "A tool is served as soon as it is published."
			if pos[0] == "off" {
				said = "A tool that is published for the first time is hidden until it is exposed."
			}
			a.printExposure(s, said)
			return nil
		},
	}
	a.formats(c, "text", "json")
	return c
}
