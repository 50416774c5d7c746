package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/junit"
	"github.com/toolwarrant/toolwarrant/internal/plural"
	"github.com/toolwarrant/toolwarrant/service"
)

// testView is the JSON shape of one Local Pass among several.
type testView struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Mode   string `json:"mode"`
	Cases  int    `json:"cases"` // that ended as cases.json says
	executor.View
}

func (a *app) testCmd() *cobra.Command {
	var all, write bool
	var o service.TestOptions
	var consent service.Consent
	justification := ""
	c := &cobra.Command{
		Use:   "test SPEC|NAME...",
		Short: "Run the Local Pass of tools: their code with their testValues",
		Long: `Run each tool with its testValues, in the sandbox and under the decision that
it would be served with, and then, where its folder has them, the calls of its
cases.json. With --write a tool that passes is published: its
document gets draft false and its toolSafety; a bundled tool only its state.
A tool that does not pass is left as it was.

Fetches of a tool with a fixtures.json are answered from there, with the made-up
credentials of that file (mode fixture). With --live they go to the network with
the real secrets, as far as the decision lets them (mode live), and the cases,
which are about the fixtures, are not run. With --repeat
each tool runs that many times, and has to give one result, unless its document
says "x-toolwarrant-repeatable": false.

Exit status: 0 all passed, 1 one did not, 2 wrong usage, 3 the system failed.`,
		Example: `  toolwarrant test --all
  toolwarrant test ./mytool --write
  toolwarrant test ./mytool --repeat 2
  toolwarrant test getWeather --live
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
			if o.Repeat < 1 || o.Repeat > service.MaxRepeat {
				return fault.New(fault.Usage, "repeat", "--repeat takes a number from 1 to %d", service.MaxRepeat)
			}
			several := all || len(names) > 1
			views := make([]testView, 0, len(tools))
			for i, t := range tools {
				if several {
					a.progress(i+1, len(tools), t.Spec.Name)
				}
				var run service.TestRun
				if write {
					run, err = a.publish(ctx, s, t, justification, consent, o)
					if err != nil && (run.Passed() || run.CallID == "") {
						if ctx.Err() != nil || !several && a.format != "junit" {
							a.progress(0, 0, "")
							return justify(err)
						}
						// One that is refused keeps no other from its test.
						run.Outcome, run.Err = fault.Failed, fault.From(justify(err))
					}
				} else {
					run = s.Test(ctx, principal(), t, o)
				}
				views = append(views, testView{t.Spec.Name, run.Passed(), run.Mode, run.Cases, run.Result.View()})
			}
			if several {
				a.progress(0, 0, "")
			}
			return a.tested(views, several)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "test every tool of the catalog")
	c.Flags().BoolVar(&write, "write", false, "publish what passes")
	testFlags(c, &o)
	a.justificationFlag(c, &justification)
	consentFlags(c, &consent)
	a.formats(c, "text", "json", "junit")
	a.policyFlag(c)
	return c
}

// justify names the flag of a justification that the policy asks for.
func justify(err error) error {
	f := fault.From(err)
	if f == nil || f.Reason != "publish-needs-justification" {
		return err
	}
	said := *f
	said.Message += " (--justification TEXT)"
	return &said
}

// testFlags are the options of a Local Pass.
func testFlags(c *cobra.Command, o *service.TestOptions) {
	c.Flags().IntVar(&o.Repeat, "repeat", 1, "run each test this many times, and want one result")
	c.Flags().BoolVar(&o.Live, "live", false, "send fetches to the network with the real secrets, not to the tool's fixtures")
}

// progress shows a person at a terminal how far the tests are; 0 takes the
// line away.
func (a *app) progress(n, of int, name string) {
	if !isTerminal(a.std.err) {
		return
	}
	const clear = "\r\x1b[K"
	if n == 0 {
		fmt.Fprint(a.std.err, clear)
		return
	}
	fmt.Fprintf(a.std.err, "%s%d/%d %s", clear, n, of, mask.Visible(name))
}

// printTests prints the table of results. Of a tool that did not pass, its logs
// and what it may do stand below its row.
func (a *app) printTests(views []testView) {
	wide := 20
	for _, v := range views {
		wide = max(wide, len(mask.Visible(v.Name)))
	}
	for _, v := range views {
		if v.Passed {
			more := ""
			if v.Cases > 0 {
				more = "  (and " + plural.Of(v.Cases, "case") + ")"
			}
			a.printf("PASS  %-*s %-7s %s  %s%s\n", wide, mask.Visible(v.Name), v.Mode, v.Decision.RiskLevel, short(text(v.Result)), more)
			continue
		}
		a.printf("FAIL  %-*s %-7s %s\n", wide, mask.Visible(v.Name), v.Mode, mask.Visible(v.Error.Error()))
		for _, l := range v.Logs {
			a.printf("      log %s: %s\n", l.Level, mask.Visible(l.Text))
		}
		if v.Decision != nil {
			a.printf("      risk %s\n", v.Decision.RiskLevel)
		}
	}
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
		a.json(views[0].View)
	case a.format == "junit":
		if err := a.junit(views); err != nil {
			return err
		}
	default:
		a.printTests(views)
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
