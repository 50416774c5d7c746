package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
	"github.com/toolwarrant/toolwarrant/internal/plural"
	"github.com/toolwarrant/toolwarrant/keyring"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

func (a *app) policyBundleCmd() *cobra.Command {
	var out, sign, revision string
	c := &cobra.Command{
		Use:   "bundle DIR -o FILE",
		Short: "Make one file of a policy: an OPA bundle, signed with --sign",
		Long: `Make an OPA bundle of a policy that compiles and passes its own tests. The
same policy, revision and key give the same bytes.

The key is a PEM file with an EC or RSA private key that only you can read:
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out release.pem
  openssl pkey -in release.pem -pubout -out release.pub.pem`,
		Example: `  toolwarrant policy bundle mypolicy -o policy.tar.gz
  toolwarrant policy bundle mypolicy -o policy.tar.gz --revision 42 --sign release.pem`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			if out == "" {
				return fault.New(fault.Usage, "flag", "name the file of the bundle with -o FILE")
			}
			var key *keyring.SigningKey
			if sign != "" {
				var err error
				if key, err = keyring.ReadSigningKey(sign); err != nil {
					return err
				}
			}
			// What is bundled is the operator's own folder: no trust is asked for.
			o := resolver.Options{Policy: pos[0]}
			raw, err := resolver.WriteBundle(c.Context(), o, revision, key)
			if err != nil {
				return err
			}
			if err := atomicfile.WriteFile(out, raw, 0o644); err != nil {
				return fault.New(fault.Usage, "path-unwritable", "%s cannot be written", out).Because(err)
			}
			held, err := resolver.Inspect(c.Context(), resolver.Options{Policy: out})
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(held)
				return nil
			}
			a.printf("%s: %d bytes\n", out, len(raw))
			a.printContents(held, "yes (policy verify --key FILE checks it)")
			return nil
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write")
	c.Flags().StringVar(&sign, "sign", "", "PEM file with the private key to sign with")
	c.Flags().StringVar(&revision, "revision", "", "revision of the bundle, such as 42 or 2026.1.7 (default the policyRevision)")
	a.formats(c, "text", "json")
	return c
}

// printContents says what a policy holds, and unverified of a signature that no
// key was given for.
func (a *app) printContents(held *resolver.Contents, unverified string) {
	a.printf("policy       %s\n", held.PolicyRevision)
	if b := held.Bundle; b != nil {
		signed := "no"
		switch {
		case b.Key != "":
			signed = "yes, verified with key " + b.Key
		case b.Signed:
			signed = unverified
		}
		a.printf("revision     %s\nsigned       %s\n", b.Revision, signed)
	}
	a.printf("holds        %s, %s, %s\n", plural.Of(held.Modules, "Rego module"), plural.Of(held.Layers, "layer"), plural.Of(held.TestModules, "test module"))
}

// verified is the answer of policy verify.
type verified struct {
	OK       bool               `json:"ok"`
	Contents *resolver.Contents `json:"contents"` // null when it is not trusted
	Tests    *resolver.Tally    `json:"tests"`    // null when they were not run
	Tools    int                `json:"tools"`    // of the catalog, that were decided about
	Error    *fault.Error       `json:"error"`    // why it would be refused, or null
}

func (a *app) policyVerifyCmd() *cobra.Command {
	var key, least string
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Say what a policy bundle holds, and whether it would be put into force",
		Long: `Check a policy bundle as serve does before it puts one into force: the
signature, the content, the revision, the policy's own tests, and a decision
about every tool of the catalog. Keys and the least revision come from the
configuration, or from --key and --min-revision.

Exit status: 0 it would be put into force, 1 it would be refused, 2 wrong usage
or a path that cannot be read, 3 the system itself failed.`,
		Example: `  toolwarrant policy verify policy.tar.gz --key release.pub.pem
  toolwarrant policy verify policy.tar.gz --min-revision 42 --format json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			flags := map[string]any{}
			if key != "" {
				flags["policy.keys"] = []string{key}
			}
			if least != "" {
				flags["policy.min-revision"] = least
			}
			if st, err := os.Stat(pos[0]); err != nil || !st.Mode().IsRegular() {
				return fault.New(fault.Usage, "path-unreadable", "%s is no file that can be read", pos[0]).Because(err)
			}
			a.policy = pos[0]
			home, cfg, err := a.settings(flags)
			if err != nil {
				return err
			}
			catalog, err := service.OpenCatalog(c.Context(), home, cfg)
			if err != nil {
				return err
			}
			tools, err := catalog.List(c.Context())
			if err != nil {
				return err
			}
			v := verified{}
			o := service.PolicyOptions(home, cfg)
			if v.Contents, err = resolver.Inspect(c.Context(), o); err == nil {
				v.Tests, err = service.Try(c.Context(), o, tools)
			}
			if errors.As(err, &v.Error) && v.Error.Code != fault.PolicyUnavailable {
				return err
			}
			if v.OK = err == nil; v.OK {
				v.Tools = len(tools)
			}
			return a.printVerified(v)
		},
	}
	c.Flags().StringVar(&key, "key", "", "PEM file with the public key that has to verify the signature")
	c.Flags().StringVar(&least, "min-revision", "", "least revision that is not refused")
	a.formats(c, "text", "json")
	return c
}

func (a *app) printVerified(v verified) error {
	return a.verdict(v, func() {
		if v.Contents != nil {
			a.printContents(v.Contents, "yes, not verified: no key is given (policy verify --key FILE does it)")
		}
		if v.Tests != nil {
			a.printf("tests        %d passed, %d failed\n", v.Tests.Passed, v.Tests.Failed)
		}
		if v.OK {
			a.printf("tools        %d decided about\nIt would be put into force.\n", v.Tools)
		} else {
			a.printf("It would be refused: %s\n", mask.Visible(v.Error.Error()))
		}
	}, v.OK)
}
