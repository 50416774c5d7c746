package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/plural"
	"github.com/toolwarrant/toolwarrant/service"
)

// app is what all verbs share: streams, the global flags, and how a failure
// is said.
type app struct {
	std stdio
	env []string

	home       string
	configFile string
	format     string
	policy     string
	wantsJSON  bool // the command line says so, whether or not it was understood

	opened func(*service.Service) // gets the installation of a command, nil = nobody
}

const longHelp = `toolwarrant puts AI agent tools to work under policy, and proves what they
were allowed to do: every call is decided, approved where the decision asks
for a human, enforced and recorded.

Exit status: 0 fine, 1 the answer is no, 2 wrong usage or a path that cannot be
read, 3 the system itself failed.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "toolwarrant",
		Short:         "Policy-as-code for the tools of AI agents",
		Long:          longHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Example: `  toolwarrant serve                      # MCP at http://127.0.0.1:8282/mcp
  toolwarrant run base64 --args '{"text":"hello world"}'
  toolwarrant lint mytool/               # offline, also in CI
  toolwarrant resolve writeTextFile      # what may it do, and why`,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(&a.home, "home", "", "folder of this installation (default $TOOLWARRANT_HOME, else the user's data folder)")
	root.PersistentFlags().StringVar(&a.configFile, "config", "", "configuration file, YAML or JSON")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fault.New(fault.Usage, "flag", "%v; see: %s --help", err, c.CommandPath())
	})
	root.AddCommand(a.serveCmd(), a.newCmd(), a.typesCmd(), a.lintCmd(), a.resolveCmd(), a.runCmd(), a.testCmd(), a.policyCmd(), a.auditCmd(),
		a.approvalsCmd(), a.catalogCmd(), a.keysCmd(), a.sandboxCmd(), a.versionCmd())
	root.PersistentPreRunE = nothingEmpty
	for _, c := range root.Commands() {
		c.Args = usageArgs(c.Args)
		for _, sub := range c.Commands() {
			sub.Args = usageArgs(sub.Args)
		}
	}
	return root
}

// usageArgs makes a wrong number of arguments, an empty one, or an unknown
// sub-command, a usage failure.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		return nil
	}
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err != nil && strings.Contains(err.Error(), "arg(s)") { // how many cobra wants
			return fault.New(fault.Usage, "arguments", "it is called as \"%s\" and got %s; see: %s --help", c.UseLine(), plural.Of(len(args), "argument"), c.CommandPath())
		}
		if err != nil {
			return fault.New(fault.Usage, "arguments", "%v; see: %s --help", err, c.CommandPath())
		}
		for i, arg := range args {
			if strings.TrimSpace(arg) == "" {
				return fault.New(fault.Usage, "arguments", "argument %d is empty; see: %s --help", i+1, c.CommandPath())
			}
		}
		return nil
	}
}

// formats adds --format with the formats that the verb knows, the usual one
// first.
func (a *app) formats(c *cobra.Command, known ...string) {
	c.Flags().StringVar(&a.format, "format", known[0], "output: "+strings.Join(known, ", "))
	pre := c.PreRunE
	c.PreRunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("format") {
			a.format = known[0] // all verbs share the variable
		}
		for _, k := range known {
			if a.format == k {
				if pre != nil {
					return pre(cmd, args)
				}
				return nil
			}
		}
		f := a.format
		a.format = "text"
		return fault.New(fault.Usage, "format", "unknown format %q; want one of %s", f, strings.Join(known, ", "))
	}
}

func (a *app) policyFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.policy, "policy", "", `policy folder, file or URL of a policy bundle, or "builtin"`)
}

// errAnswerNo ends a verb whose answer is no and was printed already.
var errAnswerNo = errors.New("the answer is no")

// verdict prints a report in the format asked for. One that does not hold makes
// the answer of the verb no.
func (a *app) verdict(report any, text func(), holds bool) error {
	if a.format == "json" {
		a.json(report)
	} else {
		text()
	}
	if !holds {
		return errAnswerNo
	}
	return nil
}

// orNo makes an error with one of the reasons an answer: what was asked about
// does not hold, or is not there.
func orNo(err error, reasons ...string) error {
	var f *fault.Error
	if errors.As(err, &f) && slices.Contains(reasons, f.Reason) {
		answer := *f
		answer.Code = fault.NotProven
		return &answer
	}
	return err
}

// fail prints err once, in the format asked for, and gives the exit status.
func (a *app) fail(err error) int {
	if errors.Is(err, errAnswerNo) {
		return fault.ExitNo
	}
	var done printed
	if errors.As(err, &done) {
		return done.code.Exit()
	}
	var f *fault.Error
	switch {
	case errors.As(err, &f):
	case errors.Is(err, context.Canceled):
		f = fault.New(fault.Interrupted, "cancelled", "a signal ended the command before it was done")
	default:
		f = fault.New(fault.Usage, "command", "%v", err)
	}
	if a.format == "json" || a.wantsJSON {
		a.json(map[string]any{"error": f})
	} else {
		fmt.Fprintln(a.std.err, "toolwarrant: "+mask.Visible(f.Error()))
	}
	return f.Code.Exit()
}

// json prints one document.
func (a *app) json(v any) {
	enc := json.NewEncoder(a.std.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		fmt.Fprintln(a.std.err, "toolwarrant: the output could not be written: "+err.Error())
	}
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.std.out, format, args...) }

// settings gives the home and the configuration, with flags on top.
func (a *app) settings(flags map[string]any) (string, *config.Config, error) {
	home, err := config.Home(a.home, a.env)
	if err != nil {
		return "", nil, err
	}
	if flags == nil {
		flags = map[string]any{}
	}
	if a.policy != "" {
		flags["policy.path"] = a.policy
	}
	cfg, err := config.Load(a.configFile, a.env, flags)
	if err != nil {
		return "", nil, err
	}
	return home, cfg, nil
}

// open opens the installation for one command.
func (a *app) open(ctx context.Context, flags map[string]any) (*service.Service, error) {
	home, cfg, err := a.settings(flags)
	if err != nil {
		return nil, err
	}
	s, err := service.Open(ctx, service.Options{Home: home, Config: cfg, Logger: a.logger(cfg), Version: version()})
	if err == nil && a.opened != nil {
		a.opened(s)
	}
	return s, err
}

func (a *app) logger(cfg *config.Config) zerolog.Logger {
	return newLogger(a.std.err, cfg, isTerminal(a.std.err)).Level(levelOf(cfg))
}

// principal is the person at this terminal.
func principal() decision.Principal {
	subject := "user:" + os.Getenv("USERNAME")
	if runtime.GOOS != "windows" {
		subject = "uid:" + strconv.Itoa(os.Getuid())
	}
	return decision.Principal{Subject: subject, Method: "os-user", ClientID: "toolwarrant-cli", Groups: []string{}, Scopes: []string{}}
}
