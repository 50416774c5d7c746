package main

import (
	"encoding/json"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/lint/regolint"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) policyLintCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "lint POLICY",
		Short: "Check a policy: what never comes, never holds, fails open, or has no test; offline",
		Long: `Check the Rego, the settings and the layers of a policy (a folder, a bundle, or
builtin): references into the input or the settings that never come,
conditions that never hold, "not" that fails open, builtins that give two
answers to one question, wildcard grants, rules without METADATA or a test.
Nothing is evaluated or written. Each finding has an id with a page in
docs/rules.

Exit status: 0 nothing of severity error, 1 at least one error, 2 wrong usage,
3 the policy cannot be read.`,
		Example: `  toolwarrant policy lint mypolicy
  toolwarrant policy lint builtin
  toolwarrant policy lint mypolicy --format sarif > policy.sarif   # code scanning
  toolwarrant policy lint mypolicy --format github                 # annotations in a workflow`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			a.policy = pos[0]
			home, cfg, err := a.settings(nil)
			if err != nil {
				return err
			}
			report, err := regolint.Run(c.Context(), regolint.Options{Policy: service.PolicyOptions(home, cfg), Categories: categories(), Version: version()})
			if err != nil {
				return err
			}
			if err := lintFormats[a.format](a.std.out, report); err != nil {
				return err
			}
			if !report.OK() {
				return errAnswerNo
			}
			return nil
		},
	}
	a.formats(c, "text", "json", "sarif", "junit", "github")
	return c
}

// categories are those of the vocabulary that every installation has.
func categories() (out []string) {
	var known catalog.Vocabulary
	text, err := fs.ReadFile(catalog.Bundled(), "vocabulary.json")
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		panic("the embedded vocabulary cannot be read: " + err.Error())
	}
	for _, c := range known.Categories {
		out = append(out, c.ID)
	}
	return out
}
