package main

import (
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/junit"
)

// testView is the JSON shape of one Local Pass among several.
type testView struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Mode   string `json:"mode"`
	callView
}

func (a *app) testCmd() *cobra.Command {
	var all, write bool
	justification := ""
	c := &cobra.Command{
		Use:   "test SPEC|NAME...",
		Short: "Run the Local Pass of tools: their code with their testValues",
		Long: `Run each tool with its testValues, in the sandbox and under the decision that
it would be served with. With --write a tool that passes is published: its
document gets draft false and its toolSafety; a bundled tool only its state.`,
		Example: `  toolwarrant test --all
  toolwarrant test ./mytool --write
  toolwarrant test --all --format junit > report.xml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, names []string) error {
			if all == (len(names) > 0) {
				return fault.New(fault.Usage, "arguments", "name the tools to test, or give --all")
			}
			ctx := c.Context()
			s, err := a.open(ctx, nil)
			if err != nil {
				return err
			}
			defer s.Close(ctx)
			var tools []*catalog.Tool
			if all {
				if tools, err = s.Catalog.List(ctx); err != nil {
					return err
				}
			}
			for _, n := range names {
				sub, err := a.subject(ctx, s.Catalog, n)
				if err != nil {
					return err
				}
				tools = append(tools, sub.tool)
			}
			views := make([]testView, 0, len(tools))
			for _, t := range tools {
				var res executor.Result
				var mode string
				if write {
					res, mode, err = s.Publish(ctx, principal(), t, justification)
					if err != nil && res.Outcome == fault.OK || err != nil && res.CallID == "" {
						return err
					}
				} else {
					res, mode = s.Test(ctx, principal(), t)
				}
				views = append(views, testView{Name: t.Spec.Name, Passed: res.Outcome == fault.OK, Mode: mode, callView: view(res)})
				if a.format == "text" {
					a.printTest(views[len(views)-1], res)
				}
			}
			return a.tested(views, all || len(names) > 1)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "test every tool of the catalog")
	c.Flags().BoolVar(&write, "write", false, "publish what passes")
	a.justificationFlag(c, &justification)
	a.formats(c, "text", "json", "junit")
	a.policyFlag(c)
	return c
}

func (a *app) printTest(v testView, res executor.Result) {
	if v.Passed {
		a.printf("PASS  %-20s %-7s %s  %s\n", v.Name, v.Mode, res.Decision.RiskLevel, short(text(res.Value)))
		return
	}
	a.printf("FAIL  %-20s %-7s %s\n", v.Name, v.Mode, mask.Visible(v.Error.Error()))
}

// short cuts a result to one line for a person.
func short(s string) string {
	s = mask.Visible(s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}

func (a *app) tested(views []testView, several bool) error {
	failed := 0
	for _, v := range views {
		if !v.Passed {
			failed++
		}
	}
	switch {
	case a.format == "json" && several:
		a.json(map[string]any{"results": views, "summary": map[string]int{"passed": len(views) - failed, "failed": failed}})
	case a.format == "json":
		a.json(views[0].callView)
	case a.format == "junit":
		if err := a.junit(views); err != nil {
			return err
		}
	default:
		a.printf("%d passed, %d failed\n", len(views)-failed, failed)
	}
	if failed == 0 {
		return nil
	}
	for _, v := range views {
		if v.Error != nil && v.Error.Code.Exit() == fault.ExitSystem {
			return exitOf(v.Error)
		}
	}
	return errAnswerNo
}

func (a *app) junit(views []testView) error {
	suite := junit.Suite{Name: "toolwarrant"}
	for _, v := range views {
		c := junit.Case{Name: v.Name, Class: "toolwarrant.localpass." + v.Mode}
		if v.Error != nil {
			c.Failure = &junit.Failure{Type: string(v.Error.Code), Text: v.Error.Error()}
		}
		suite.Cases = append(suite.Cases, c)
	}
	if err := suite.Write(a.std.out); err != nil {
		return fault.New(fault.Internal, "junit", "the report could not be written: %v", err)
	}
	return nil
}
