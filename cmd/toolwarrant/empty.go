package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

// mayBeEmpty are the flags of which the empty text is a value: the policy has
// its own words for a justification that is missing, and arguments are JSON.
var mayBeEmpty = []string{"justification", "args"}

// nothingEmpty refuses a flag that is given and empty, for every command. It
// is how a shell puts a variable that is not set, and to go on with the
// default would serve, sign or exclude something else than was meant.
func nothingEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		empty := false
		switch list, isList := f.Value.(pflag.SliceValue); {
		case err != nil || slices.Contains(mayBeEmpty, f.Name):
		case isList:
			empty = len(service.Names(list.GetSlice())) == 0
		case f.Value.Type() == "string":
			empty = strings.TrimSpace(f.Value.String()) == ""
		}
		if empty {
			err = fault.New(fault.Usage, "flag", "--%s is empty; give it a value or leave it out; see: %s --help", f.Name, c.CommandPath())
		}
	})
	return err
}
