package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/junit"
	"github.com/toolwarrant/toolwarrant/service"
)

// testView is the JSON shape of one Local Pass among several.
type testView struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Mode   string `json:"mode"`
	Cases  int    `json:"cases"`  // that ended as cases.json says
	Varies bool   `json:"varies"` // with --repeat: the second result was another
	callView
}

func (a *app) testCmd() *cobra.Command {
	var all, write bool
	var options service.TestOptions
	justification := ""
	c := &cobra.Command{
		Use:   "test SPEC|NAME...",
		Short: "Run the Local Pass of tools: their code with their testValues",
		Long: `Run each tool with its testValues, in the sandbox and under the decision that
it would be served with, and then, where its folder has them, the calls of its
cases.json. A tool with a fixtures.json is tested without the network, in mode
fixture, unless --live is given. With --write a tool that passes is published:
its document gets draft false and its toolSafety; a bundled tool only its state.

Exit status: 0 all passed, 1 one did not, 2 wrong usage, 3 the system failed.`,
		Example: `  toolwarrant test --all
  toolwarrant test ./mytool --write
  toolwarrant test ./mytool --live --repeat
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
				a.progress(len(views), len(tools), t.Spec.Name)
				var run service.TestRun
				if write {
					run, err = s.Publish(ctx, principal(), t, justification, options)
					if err != nil && (run.Passed() || run.CallID == "") {
						a.progress(0, 0, "")
						return err
					}
				} else {
					run = s.Test(ctx, principal(), t, options)
				}
				a.progress(0, 0, "")
				views = append(views, testView{t.Spec.Name, run.Passed(), run.Mode, run.Cases, run.Varies, view(run.Result)})
				if a.format == "text" {
					a.printTest(views[len(views)-1], run.Result)
				}
			}
			return a.tested(views, all || len(names) > 1)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "test every tool of the catalog")
	c.Flags().BoolVar(&write, "write", false, "publish what passes")
	c.Flags().BoolVar(&options.Live, "live", false, "let tools that have fixtures reach the network, with your secrets")
	c.Flags().BoolVar(&options.Repeat, "repeat", false, "run each twice, and say whether the second result is another")
	a.justificationFlag(c, &justification)
	a.formats(c, "text", "json", "junit")
	a.policyFlag(c)
	return c
}

func (a *app) printTest(v testView, res executor.Result) {
	if v.Passed {
		more := ""
		if v.Cases > 0 {
			more = fmt.Sprintf("  (and %d cases)", v.Cases)
		}
		if v.Varies {
			more += "  (the second result is another)"
		}
		a.printf("PASS  %-20s %-7s %s  %s%s\n", v.Name, v.Mode, res.Decision.RiskLevel, short(text(res.Value)), more)
		return
	}
	a.printf("FAIL  %-20s %-7s %s\n", v.Name, v.Mode, mask.Visible(v.Error.Error()))
}

// progress shows, on a terminal alone, which of several tools is tested; of 0
// it clears that again.
func (a *app) progress(i, of int, name string) {
	if of == 1 || a.format != "text" || !isTerminal(a.std.err) {
		return
	}
	if of == 0 {
		fmt.Fprint(a.std.err, "\r\x1b[K")
		return
	}
	fmt.Fprintf(a.std.err, "\r\x1b[K%d of %d: %s", i+1, of, mask.Visible(name))
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
