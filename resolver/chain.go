package resolver

import (
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// maxChain is how many profiles a chain may hold, the leaf included.
const maxChain = 8

// leaf is the profile that the operator's mapping gives a tool, or "".
func (l *layers) leaf(s *spec.Spec, p decision.Principal) string {
	for _, b := range l.bindings {
		if (b.ToolID == "" || b.ToolID == s.ToolID) &&
			(b.Name == "" || b.Name == s.Name) &&
			(b.Category == "" || b.Category == s.Category) &&
			(b.Tag == "" || slices.Contains(s.Tags, b.Tag)) &&
			(b.Group == "" || slices.Contains(p.Groups, b.Group)) {
			return b.Profile
		}
	}
	return ""
}

// chain gives the profiles of a leaf, root first.
func (l *layers) chain(leaf, pointer string) ([]*layer, error) {
	var chain []*layer
	var names []string
	for name := leaf; name != ""; {
		if slices.Contains(names, name) {
			return nil, reject("profile-cycle", pointer, "the profile chain %s turns back to %q; remove one of the extends", arrows(names), name)
		}
		names = append(names, name)
		p, ok := l.profiles[name]
		if !ok {
			return nil, reject("unknown-profile", pointer, "there is no profile %q in the chain %s; the policy has %s",
				name, arrows(names), quoted(sortedKeys(l.profiles)))
		}
		chain = append(chain, p)
		name = p.extends
		if len(names) > maxChain {
			break
		}
	}
	slices.Reverse(chain)
	return chain, tooLong(chain, pointer)
}

// combine puts the profile that a document names behind those of the operator.
func combine(operator, document []*layer, pointer string) ([]*layer, error) {
	all := slices.Clone(operator)
	for _, p := range document {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all, tooLong(all, pointer)
}

func tooLong(chain []*layer, pointer string) error {
	if len(chain) <= maxChain {
		return nil
	}
	names := chainNames(chain)
	slices.Reverse(names)
	return reject("profile-chain-too-long", pointer, "the profile chain %s holds more than %d profiles, the leaf included", arrows(names), maxChain)
}

func chainNames(chain []*layer) []string {
	names := make([]string, len(chain))
	for i, p := range chain {
		names[i] = p.name
	}
	return names
}

// arrows writes a chain from the leaf to the root.
func arrows(names []string) string { return strings.Join(names, " -> ") }

func quoted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// reject makes a RESOLVER_REJECT without a file; at puts it into one.
func reject(reason, pointer, format string, args ...any) *fault.Error {
	return fault.New(fault.ResolverReject, reason, format, args...).At("", pointer, 0, 0)
}
