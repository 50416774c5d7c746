package impact

import (
	"slices"

	"github.com/toolwarrant/toolwarrant/decision"
)

// dimension is one thing in which two decisions can differ, and the one
// definition of which of the two is wider.
type dimension struct {
	path  string
	value func(*decision.Decision) any
	// within reports whether a permits nothing that b does not. Nil for what
	// permits nothing: a difference is then no more than a change.
	within func(a, b *decision.Decision) bool
	// applies says whether the dimension means anything for a decision; it is
	// compared where it does for both. Nil = always.
	applies func(*decision.Decision) bool
	// list is set for lists.
	list *list
	// follows marks what a decision derives from the grants: where both moved
	// in one direction it is no news of its own.
	follows bool
}

// list takes a list apart where neither of two holds the other.
type list struct {
	get func(*decision.Decision) []string
	// with is a decision that has the entries and nothing else of its kind.
	with func(d *decision.Decision, entries []string) *decision.Decision
	// denies marks a list whose entries take away.
	denies bool
}

// dimensions in the order in which they are reported. The grants come first,
// what follows from them after them.
var dimensions = slices.Concat(networkDimensions, grantDimensions, limitDimensions, judgementDimensions)

const policy = "effectivePolicy."

// grants says whether a dimension is one of what the executor enforces.
func (d dimension) grants() bool { return len(d.path) > len(policy) && d.path[:len(policy)] == policy }

// part is a decision that grants p and nothing else. Comparing parts asks
// decision.EffectivePolicy.Within about one dimension at a time.
func part(p decision.EffectivePolicy) *decision.Decision {
	return &decision.Decision{EffectivePolicy: p}
}

// withinPart compares what project keeps of two decisions.
func withinPart(project func(decision.EffectivePolicy) decision.EffectivePolicy) func(a, b *decision.Decision) bool {
	return func(a, b *decision.Decision) bool {
		_, ok := project(a.EffectivePolicy).Within(project(b.EffectivePolicy))
		return ok
	}
}

// grant makes the dimension of a single value of the effective policy.
func grant(path string, value func(decision.EffectivePolicy) any, project func(decision.EffectivePolicy) decision.EffectivePolicy) dimension {
	return dimension{
		path:   policy + path,
		value:  func(d *decision.Decision) any { return value(d.EffectivePolicy) },
		within: withinPart(project),
	}
}

// grantList makes the dimension of a list of the effective policy. keep gives
// the part of a policy that the list belongs to, with the entries given.
func grantList(path string, get func(decision.EffectivePolicy) []string, keep func(decision.EffectivePolicy, []string) decision.EffectivePolicy, denies bool) dimension {
	return dimension{
		path:  policy + path,
		value: func(d *decision.Decision) any { return get(d.EffectivePolicy) },
		within: withinPart(func(p decision.EffectivePolicy) decision.EffectivePolicy {
			return keep(p, get(p))
		}),
		list: &list{
			get:    func(d *decision.Decision) []string { return get(d.EffectivePolicy) },
			with:   func(d *decision.Decision, e []string) *decision.Decision { return part(keep(d.EffectivePolicy, e)) },
			denies: denies,
		},
	}
}

func (d dimension) when(applies func(*decision.Decision) bool) dimension {
	d.applies = applies
	return d
}

// shown sets how the value is written, where that is not the list itself.
func (d dimension) shown(value func(*decision.Decision) any) dimension {
	d.value = value
	return d
}
