package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
)

func (a *app) runCmd() *cobra.Command {
	var args string
	var watch bool
	c := &cobra.Command{
		Use:   "run SPEC|NAME",
		Short: "Run one audited call of a tool",
		Long: `Run one call of a tool of the catalog, or of a spec document that is in none,
through the same pipeline as over MCP. A served tool asks for approval on the
terminal where its decision demands one. With --watch a document is called again
whenever one of its files, or of its folder, changes; each call is on record.`,
		Example: `  toolwarrant run base64 --args '{"text":"hello world"}'
  toolwarrant run ./mytool --args @args.json --format json
  toolwarrant run ./mytool --watch --args '{"text":"hello"}'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			ctx := c.Context()
			s, err := a.open(ctx, flagValues(c))
			if err != nil {
				return err
			}
			defer s.Close(ctx)
			once := func() error {
				raw, err := argument(args)
				if err != nil {
					return err
				}
				sub, err := a.subject(ctx, s.Catalog, pos[0])
				if err != nil && fault.From(err).Code != fault.NotFound {
					return err
				}
				call := executor.Call{Principal: principal(), Origin: decision.OriginCLIRun, Name: pos[0], Args: raw, Asker: a.asker()}
				if err == nil && sub.unpublished {
					call.Unpublished = sub.tool
				}
				return a.called(s.Engine.Call(ctx, call))
			}
			if !watch {
				return once()
			}
			if sub, err := a.subject(ctx, s.Catalog, pos[0]); err == nil && !sub.unpublished {
				return fault.New(fault.Usage, "flags", "--watch follows the files of a document; name it by its path, such as ./%s", pos[0])
			}
			return a.watched(ctx, pos[0], once)
		},
	}
	c.Flags().StringVar(&args, "args", "", "arguments as a JSON object, or @FILE")
	c.Flags().BoolVar(&watch, "watch", false, "call again whenever a file of the document changes")
	catalogFlags(c)
	a.formats(c, "text", "json")
	a.policyFlag(c)
	return c
}

// called prints how a call ended and turns it into an exit status.
func (a *app) called(r executor.Result) error {
	if a.format == "json" {
		a.json(r.View())
		if r.Err != nil {
			return exitOf(r.Err)
		}
		return nil
	}
	for _, l := range r.Logs {
		fmt.Fprintf(a.std.err, "[%s] %s\n", l.Level, mask.Visible(l.Text))
	}
	if r.Note != "" {
		fmt.Fprintf(a.std.err, "toolwarrant: %s\n", mask.Visible(r.Note))
	}
	if r.Err != nil {
		return r.Err
	}
	a.printf("%s\n", text(r.Value))
	return nil
}

// text shows a result to a person: strings as they are, the rest as JSON.
func text(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// printed is a failure that was printed already and only sets the status.
type printed struct{ code fault.Code }

func (p printed) Error() string { return string(p.code) }

func exitOf(f *fault.Error) error { return printed{f.Code} }
