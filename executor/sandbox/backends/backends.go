// Package backends is the list of all sandbox back ends that this program has
// for this system. A program that wants fewer makes its own sandbox.NewSet;
// what it does not import it does not contain.
package backends

import (
	"slices"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
)

// Options configure the back ends. The zero value is one that works without
// any configuration.
type Options struct {
	// Only names the back ends to have; nil = all. A name that there is not
	// is left out: Set.ByID then tells which there are.
	Only []string
	// Set is how they are probed.
	Set sandbox.SetOptions
	// Process are the options of that back end, and the agent of all.
	Process process.Options
}

// All makes the set of the back ends for this system. It starts nothing; the
// caller closes the set. On a system without any it is empty, and the set's
// methods say so.
func All(opts Options) *sandbox.Set {
	var list []sandbox.Factory
	for _, f := range factories(opts) {
		if opts.Only == nil || slices.Contains(opts.Only, f.ID()) {
			list = append(list, f)
		}
	}
	return sandbox.NewSet(opts.Set, list...)
}
